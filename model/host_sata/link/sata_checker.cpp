// SPDX-License-Identifier: Apache-2.0
#include "host_sata/link/sata_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/error.h"
#include "protocol/ata.h"

namespace ssdtlm {

using namespace sata;

namespace {

constexpr std::size_t kRemembered = 16;  // frames that a report shows

bool is_queued(std::uint8_t command) {
    return command == ata::kReadFpdmaQueued || command == ata::kWriteFpdmaQueued;
}

}  // namespace

void SataChecker::frame(SimTime at, SataEnd from, const std::uint8_t* fis, std::uint32_t bytes) {
    ++frames_;
    if (seen_.size() == kRemembered) seen_.pop_front();
    Seen& seen = seen_.emplace_back(Seen{at, from, {}, bytes});
    std::copy_n(fis, std::min<std::size_t>(bytes, seen.head.size()), seen.head.begin());
    if (const char* const problem = fis_problem(fis, bytes)) breach(problem);
    const auto type = static_cast<FisType>(fis[0]);
    // Frames that were at the link when SRST came are ignored.
    if (in_reset_ && type != FisType::register_h2d) return;
    if (!ready_ && type == FisType::data && from == SataEnd::host) return;
    from == SataEnd::host ? from_host(fis, bytes) : from_device(fis, bytes);
}

void SataChecker::forget() {
    halted_ = activated_ = pio_ = false;
    unreleased_ = phase_ = kNobody;
    other_ = 0;
    queued_ = released_ = 0;
    left_ = 0;
}

void SataChecker::data_lost() {
    phase_ = kNobody;
    left_ = 0;
    activated_ = pio_ = false;
}

void SataChecker::reset() {
    forget();
    ready_ = in_reset_ = false;
}

/// Aborts all tags.
void SataChecker::halt() {
    forget();
    halted_ = true;
}

// ---------------------------------------------------------------------------------------------------------------

void SataChecker::from_host(const std::uint8_t* fis, std::uint32_t bytes) {
    switch (static_cast<FisType>(fis[0])) {
        case FisType::register_h2d:
            return command(fis);
        case FisType::data:
            return data(bytes - kDataHeaderBytes, false);
        default:
            breach("a frame that only a drive sends, from the host");
    }
}

void SataChecker::command(const std::uint8_t* fis) {
    const RegisterH2d r = RegisterH2d::from(fis);
    if (!r.command_update) {
        const bool reset_bit = (r.control & ata::kControlSrst) != 0;
        if (reset_bit || in_reset_) {
            forget();
            ready_ = false;
        }
        in_reset_ = reset_bit;
        return;
    }
    require(ready_, "a command before the signature");
    require(!busy(), "a command while the drive is busy with another one");
    if (!is_queued(r.command)) {
        require(queued_ == 0, "a command that is not queued, while tags are outstanding");
        other_ = r.command;
        return;
    }
    const int tag = r.count >> 3 & 31;
    require((queued_ >> tag & 1) == 0, "a tag that is outstanding is used again");
    unreleased_ = tag;
    if (halted_) return;  // the host does not know of the error yet, so the command is refused
    queued_ |= 1u << tag;
    tags_[static_cast<std::size_t>(tag)] =
        Tag{r.command == ata::kWriteFpdmaQueued, r.features == 0 ? 65536u : r.features, 0};
}

// ---------------------------------------------------------------------------------------------------------------

void SataChecker::from_device(const std::uint8_t* fis, std::uint32_t bytes) {
    switch (static_cast<FisType>(fis[0])) {
        case FisType::register_d2h:
            return answer(fis);
        case FisType::dma_setup:
            return dma_setup(fis);
        case FisType::dma_activate:
            return dma_activate();
        case FisType::pio_setup:
            return pio_setup(fis);
        case FisType::data:
            return data(bytes - kDataHeaderBytes, true);
        case FisType::set_device_bits:
            return device_bits(fis);
        case FisType::register_h2d:
        case FisType::bist:
            breach("a frame that only a host sends, from the drive");
    }
}

void SataChecker::answer(const std::uint8_t* fis) {
    const RegisterD2h r = RegisterD2h::from(fis);
    require((r.status & (ata::kStatusBsy | ata::kStatusDrq)) == 0, "a Register FIS that leaves the drive busy");
    if (!ready_) {
        ready_ = true;
        return;
    }
    require(busy(), "a Register FIS that answers no command");
    const bool error = (r.status & ata::kStatusErr) != 0;
    require(phase_ == kNobody, "a Register FIS inside a data phase");
    require(error || !pio_, "a Register FIS before the Data of a PIO Setup");
    if (unreleased_ != kNobody) {
        require(error || !halted_, "a queued command is accepted before the error of another one was read");
        if (error) return halt();
        released_ |= 1u << unreleased_;
        unreleased_ = kNobody;
        return;
    }
    other_ = 0;
    activated_ = pio_ = false;
}

void SataChecker::dma_setup(const std::uint8_t* fis) {
    const DmaSetup s = DmaSetup::from(fis);
    require(phase_ == kNobody, "a DMA Setup inside a data phase");
    require(s.tag < 32 && (queued_ & released_) >> s.tag & 1, "a DMA Setup for a tag that is not outstanding");
    const Tag& tag = tags_[s.tag];
    require(s.to_host != tag.writes, "a DMA Setup in the wrong direction");
    require(s.transfer_bytes != 0 && s.transfer_bytes % 2 == 0, "a DMA Setup for no, or an odd number of, bytes");
    require(s.buffer_offset == tag.moved, "a DMA Setup that does not go on where the data have ended");
    require(!(s.to_host && s.auto_activate), "auto-activate in a read");
    phase_ = s.tag;
    left_ = s.transfer_bytes;
    activated_ = s.auto_activate;
}

void SataChecker::dma_activate() {
    const bool queued = phase_ != kNobody && tags_[static_cast<std::size_t>(phase_)].writes && left_ != 0;
    require(queued || (phase_ == kNobody && other_ != 0 && !pio_), "a DMA Activate outside a write");
    require(!activated_, "a DMA Activate before the Data of the one before");
    activated_ = true;
}

void SataChecker::pio_setup(const std::uint8_t* fis) {
    const PioSetup s = PioSetup::from(fis);
    require(other_ != 0 && !pio_ && phase_ == kNobody, "a PIO Setup without a command for it");
    require(s.transfer_bytes != 0 && s.transfer_bytes % 2 == 0 && s.transfer_bytes <= kMostDataBytes,
            "a PIO Setup for more than one Data FIS, or an odd number of bytes");
    pio_ = true;
    pio_ends_ = s.to_host && (s.end_status & (ata::kStatusBsy | ata::kStatusDrq)) == 0;
    activated_ = !s.to_host;
    left_ = s.transfer_bytes;
}

void SataChecker::data(std::uint32_t bytes, bool to_host) {
    require(to_host || activated_, "Data from the host that the drive has not asked for");
    if (!to_host) activated_ = false;
    if (pio_) {
        require(bytes == left_, "Data of another length than its PIO Setup says");
        pio_ = false;
        left_ = 0;
        if (pio_ends_) other_ = 0;
        return;
    }
    if (phase_ == kNobody) return require(other_ != 0, "Data without a command");
    Tag& tag = tags_[static_cast<std::size_t>(phase_)];
    require(to_host != tag.writes, "Data in the wrong direction");
    require(bytes <= left_, "more data than its DMA Setup says");
    require(bytes == std::min<std::uint64_t>(left_, kMostDataBytes), "a Data FIS that ends before its DMA Setup does");
    left_ -= bytes;
    tag.moved += bytes;
    if (left_ == 0) phase_ = kNobody;
}

void SataChecker::device_bits(const std::uint8_t* fis) {
    const SetDeviceBits s = SetDeviceBits::from(fis);
    if ((s.status & ata::kStatusErr) != 0) {
        require(queued_ != 0 && !halted_, "Set Device Bits with an error of no queued command");
        const std::uint8_t other = other_;
        const int unreleased = unreleased_;
        halt();
        other_ = other;
        unreleased_ = unreleased;  // it came at the same time and will be refused
        return;
    }
    if (halted_) {
        require(s.active == ~0u && other_ == ata::kReadLogExt, "Set Device Bits before the error was read");
        halted_ = false;
        return;
    }
    require(s.active != 0 && (s.active & ~(queued_ & released_)) == 0,
            "Set Device Bits for a tag that is not outstanding");
    require(phase_ == kNobody || (s.active >> phase_ & 1) == 0, "Set Device Bits inside the tag's data phase");
    for (std::size_t t = 0; t < tags_.size(); ++t) {
        if ((s.active >> t & 1) == 0) continue;
        const Tag& tag = tags_[t];
        require(tag.moved == tag.sectors * 512 || tag.moved == tag.sectors * 4096,
                "Set Device Bits for a tag of which data are missing");
    }
    queued_ &= ~s.active;
    released_ &= ~s.active;
}

// ---------------------------------------------------------------------------------------------------------------

void SataChecker::breach(const char* what) const {
    throw CheckFailed(fmt::format("sata link: {}\n{}", what, dump()));
}

std::string SataChecker::dump() const {
    std::string out = fmt::format("sata checker: {} frames, tags {:08x}, released {:08x}{}{}\n", frames_, queued_,
                                  released_, busy() ? ", busy" : "", halted_ ? ", halted" : "");
    for (const Seen& s : seen_)
        out += fmt::format("sata checker: {} ps, {}: {}\n", s.at.time_since_epoch().count(),
                           s.from == SataEnd::host ? "host" : "drive",
                           s.bytes <= s.head.size() ? describe(s.head.data(), s.bytes)
                                                    : fmt::format("Data bytes={}", s.bytes - kDataHeaderBytes));
    return out;
}

}  // namespace ssdtlm
