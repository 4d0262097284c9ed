// SPDX-License-Identifier: Apache-2.0
// The start, and the ways of waiting. Shutdown, reset and errors are in ahci_recovery.cpp.
#include "host_sata/driver/ahci_control.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/report/error.h"
#include "protocol/ata.h"

namespace ssdtlm {

using namespace ahci;

namespace {
constexpr std::uint16_t kUdma6 = 0x46;  // SET FEATURES transfer mode (ACS-3, 7.45.8): Ultra DMA mode 6
// Bits of words of IDENTIFY DEVICE (ACS-3, 7.12.7).
constexpr std::uint16_t kNcq = 1u << 8, kWriteCache = 1u << 5, kFuaExt = 1u << 6, kLongSectors = 1u << 12;
}  // namespace

AhciControl::AhciControl(Agenda& agenda, HostMemory& memory, AhciMemory& commands, const AhciDriverConfig& config,
                         AhciQueue& queue, MmioPort& mmio)
    : agenda_(agenda),
      memory_(memory),
      commands_(commands),
      config_(config),
      queue_(queue),
      mmio_(mmio),
      buffer_(memory.allocate(ata::kPageBytes, ata::kPageBytes)) {}

void AhciControl::fail(const std::string& what) const {
    throw CheckFailed(std::string("SATA drive, ") + doing_ + ": " + what);
}

// ---------------------------------------------------------------------------------------------------------------
// The ways of waiting: a register read, a poll of one, a time, a command.

void AhciControl::read(std::uint32_t offset, Next next) {
    after_read_ = next;
    ++reads_;
    mmio_.read32(offset, *this);
}

void AhciControl::mmio_read_done(std::uint32_t value) {
    --reads_;
    if (reads_ignored_ != 0) {  // reads come back in order
        --reads_ignored_;
        return;
    }
    (this->*after_read_)(value);
}

void AhciControl::poll(std::uint32_t offset, std::uint32_t mask, std::uint32_t expected, Ps step, Ps limit,
                       const char* doing, Next next) {
    doing_ = doing;
    poll_offset_ = offset;
    poll_mask_ = mask;
    poll_expected_ = expected;
    poll_step_ = step;
    poll_limit_ = agenda_.now() + limit;
    after_poll_ = next;
    look();
}

void AhciControl::look() {
    read(poll_offset_, &AhciControl::looked);
}

void AhciControl::looked(std::uint32_t value) {
    if (value == ~0u) fail("registers read all ones: the adapter is gone");
    if ((value & poll_mask_) == poll_expected_) return (this->*after_poll_)(value);
    if (agenda_.now() >= poll_limit_) {
        char text[80];
        std::snprintf(text, sizeof text, "timed out, register %03xh is %08xh", poll_offset_, value);
        fail(text);
    }
    timer_ = agenda_.post_cancellable(agenda_.now() + poll_step_, Then::to<&AhciControl::look>(this));
}

void AhciControl::wait(Ps time, const char* doing, Next next) {
    doing_ = doing;
    after_wait_ = next;
    timer_ = agenda_.post_cancellable(agenda_.now() + time, Then::to<&AhciControl::waited>(this));
}

void AhciControl::command(const sata::RegisterH2d& command, std::uint32_t bytes, bool may_fail, const char* doing,
                          Next next) {
    doing_ = doing;
    may_fail_ = may_fail;
    after_command_ = next;
    command_ = true;
    commands_.fill(0, command, buffer_, bytes, false);
    write(port(kPxCi), 1);
}

/// Gives up all waits.
void AhciControl::give_up_what_is_done() {
    agenda_.cancel(timer_);
    reads_ignored_ = reads_;
    command_ = recovering_ = listens_ = false;
    when_idle_ = nullptr;
    queue_.hold();
}

// ---------------------------------------------------------------------------------------------------------------
// Start, in order.

void AhciControl::start(std::function<void()> done) {
    done_ = std::move(done);
    doing_ = "probe";
    give_up_what_is_done();
    read(kRegCap, &AhciControl::capabilities);
}

void AhciControl::capabilities(std::uint32_t cap) {
    if (cap == ~0u) fail("CAP reads all ones: no adapter");
    slots_ = Cap::slots(cap);
    adapter_queues_ = (cap & Cap::kSncq) != 0;
    write(kRegGhc, Ghc::kAe);
    read(kRegPi, &AhciControl::ports);
}

void AhciControl::ports(std::uint32_t pi) {
    if ((pi & 1) == 0) fail("the adapter has no port 0");
    stop_engine("port stop", &AhciControl::set_up);
}

/// Clears PxCMD.ST, and waits until CR is clear too.
void AhciControl::stop_engine(const char* doing, Next next) {
    doing_ = doing;
    after_engine_ = next;
    read(port(kPxCmd), &AhciControl::engine_was);
}

void AhciControl::engine_was(std::uint32_t cmd) {
    write(port(kPxCmd), cmd & ~PxCmd::kSt);
    poll(port(kPxCmd), PxCmd::kCr, 0, kMillisecond, kEngineLimit, doing_, &AhciControl::engine_stopped);
}

void AhciControl::engine_stopped(std::uint32_t) {
    (this->*after_engine_)(0);
}

void AhciControl::set_up(std::uint32_t) {
    write(port(kPxIe), 0);
    write(port(kPxCmd), PxCmd::kSud);  // FRE is 0: no FIS comes while its area changes
    const auto both = [this](std::uint32_t low, std::uint32_t high, std::uint64_t value) {
        write(port(low), static_cast<std::uint32_t>(value));
        write(port(high), static_cast<std::uint32_t>(value >> 32));
    };
    both(kPxClb, kPxClbu, commands_.list());
    both(kPxFb, kPxFbu, commands_.received());
    write(port(kPxSerr), ~0u);
    write(port(kPxIs), ~0u);
    write(kRegIs, ~0u);
    write(port(kPxCmd), PxCmd::kSud | PxCmd::kFre);
    write(kRegGhc, Ghc::kAe | Ghc::kIe);
    comreset(0);
}

void AhciControl::comreset(std::uint32_t) {
    constexpr std::uint32_t kNoPowerStates = 3u << 8;  // PxSCTL.IPM, as libata without link power management
    write(port(kPxSctl), kNoPowerStates | Phy::kDetReset);
    wait(kResetHold, "COMRESET", &AhciControl::end_comreset);
}

void AhciControl::end_comreset(std::uint32_t) {
    if (stopped_) std::exchange(stopped_, nullptr)();
    constexpr std::uint32_t kNoPowerStates = 3u << 8;
    write(port(kPxSctl), kNoPowerStates);
    poll(port(kPxSsts), Phy::kDetMask, Phy::kDetReady, kMillisecond, kPhyLimit, "wait for the phy",
         &AhciControl::phy_up);
}

void AhciControl::phy_up(std::uint32_t) {
    if (config_.debounce == Ps{}) return debounced(Phy::kDetReady);
    wait(config_.debounce, "debounce", &AhciControl::debounced);
}

void AhciControl::debounced(std::uint32_t) {
    write(port(kPxSerr), ~0u);
    start_engine();
    poll(port(kPxTfd), Tfd::kBsy | Tfd::kDrq, 0, kReadyStep, kReadyLimit, "wait for the drive", &AhciControl::is_ready);
}

void AhciControl::start_engine() {
    write(port(kPxCmd), PxCmd::kSud | PxCmd::kFre | PxCmd::kSt);
}

void AhciControl::is_ready(std::uint32_t) {
    read(port(kPxSig), &AhciControl::thaw);
}

void AhciControl::thaw(std::uint32_t signature) {
    if (signature != kSignatureAta) fail("its signature is that of no ATA drive");
    write(port(kPxSerr), ~0u);
    write(port(kPxIs), ~0u);
    write(kRegIs, ~0u);
    listens_ = true;
    write(port(kPxIe), PxIs::kAll);
    identify(0);
}

void AhciControl::identify(std::uint32_t) {
    sata::RegisterH2d c;
    c.command = ata::kIdentifyDevice;
    command(c, ata::kPageBytes, false, "IDENTIFY DEVICE", &AhciControl::identified);
}

std::uint16_t AhciControl::word(std::size_t n) {
    return memory_.load<std::uint16_t>(buffer_ + 2 * n);
}

void AhciControl::identified(std::uint32_t) {
    sata::RegisterH2d c;
    c.command = ata::kSetFeatures;
    c.features = ata::kFeatureTransferMode;
    c.count = kUdma6;
    command(c, 0, false, "SET FEATURES transfer mode", &AhciControl::mode_set);
}

void AhciControl::mode_set(std::uint32_t) {
    if (config_.write_cache == WriteCacheWish::as_is) return cache_set(0);
    sata::RegisterH2d c;
    c.command = ata::kSetFeatures;
    c.features = config_.write_cache == WriteCacheWish::on ? ata::kFeatureWriteCacheOn : ata::kFeatureWriteCacheOff;
    command(c, 0, false, "SET FEATURES write cache", &AhciControl::cache_set);
}

/// The data of IDENTIFY show the new settings.
void AhciControl::cache_set(std::uint32_t) {
    sata::RegisterH2d c;
    c.command = ata::kIdentifyDevice;
    command(c, ata::kPageBytes, false, "IDENTIFY DEVICE", &AhciControl::identified_again);
}

void AhciControl::identified_again(std::uint32_t) {
    learn();
    if (config_.coalescing_commands != 0) {
        write(kRegCccCtl, 0);
        write(kRegCccCtl, CccCtl::of(config_.coalescing_commands, config_.coalescing_ms) & ~CccCtl::kEn);
        write(kRegCccPorts, 1);
        write(kRegCccCtl, CccCtl::of(config_.coalescing_commands, config_.coalescing_ms));
    }
    queue_.take(info_, drive_);
    running();
    std::exchange(done_, nullptr)();
}

void AhciControl::learn() {
    namespace id = ata::identify;
    const DriveInfo before = info_;
    std::uint64_t sectors = 0;
    for (unsigned i = 4; i-- != 0;) sectors = sectors << 16 | word(id::kSectors48 + i);
    const bool long_sectors = (word(id::kSectorSizes) & kLongSectors) != 0;
    const std::uint32_t words = word(id::kSectorWords) | std::uint32_t{word(id::kSectorWords + 1)} << 16;
    info_.lba_bytes = long_sectors ? 2 * words : 512;
    info_.blocks = sectors;
    if (info_.lba_bytes < 512 || !is_power_of_two(info_.lba_bytes) || sectors == 0)
        fail("IDENTIFY says " + std::to_string(sectors) + " sectors of " + std::to_string(info_.lba_bytes) + " bytes");
    info_.volatile_write_cache = (word(id::kEnabled) & kWriteCache) != 0;
    drive_.ncq = adapter_queues_ && (word(id::kSataCapabilities) & kNcq) != 0;
    drive_.forces_writes = (word(id::kSupported + 2) & kFuaExt) != 0;
    drive_.most_trim_blocks = std::clamp<std::uint32_t>(word(id::kTrimBlocks), 1, 8);
    const std::uint32_t tags = (word(id::kQueueDepth) & 0x1Fu) + 1;
    info_.queue_pairs = 1;
    // libata-scsi.c ata_scsi_dev_config(): without queueing the depth is 1, and requests wait above the driver.
    info_.queue_entries = (drive_.ncq && config_.ncq ? std::min({config_.queue_depth, tags, slots_}) : 1) + 1;
    info_.max_transfer_bytes =
        std::min(config_.max_transfer, 65535 * info_.lba_bytes) / info_.lba_bytes * info_.lba_bytes;
    if (std::exchange(identified_, true) && (before.blocks != info_.blocks || before.lba_bytes != info_.lba_bytes ||
                                             before.queue_entries != info_.queue_entries))
        fail("another drive than before the reset");
}

/// From now on commands of the queue go to the drive.
void AhciControl::running() {
    doing_ = "running";
    if (config_.coalescing_commands != 0)  // CCC then gives their interrupts
        write(port(kPxIe), PxIs::kAll & ~(PxIs::kSdbs | PxIs::kDhrs));
    queue_.go_on();
}

}  // namespace ssdtlm
