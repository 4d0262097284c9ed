// SPDX-License-Identifier: Apache-2.0
// Of the NVMe port of a case: Format NVM and Sanitize, and how the host learns their ends after resets and losses of
// power.
#include <utility>

#include "common/report/error.h"
#include "property/nvme_case_port.h"

namespace ssdtlm {

namespace {
constexpr Ps kBetweenLooks{100'000'000};       // 100 us
constexpr std::uint32_t kMostLooks = 100'000;  // ten seconds, in which a drive of a case is erased hundreds of times
constexpr std::uint32_t kMetadataBytes = 8;
constexpr std::uint32_t kFormats = 17;  // types 0 to 3, metadata in both places, their information in both: and none
}  // namespace

/// Sanitize goes on when the power is back, and over a reset. Its failure lasts as well. A format goes on over a reset,
/// and a loss of power ends it. Until their end the drive serves nobody.
void NvmeCasePort::go_on_erasing(const Done& started) {
    if (sanitize_ == Progress::none && format_ == Progress::none) return brought_up(started);
    if (sanitize_ == Progress::failed) {
        erased_ = [this, started](Erasure) { brought_up(started); };
    } else {
        client_.erasure_goes_on();
        erased_ = [this, started](Erasure end) {
            client_.erasure_ended(end);
            brought_up(started);
        };
    }
    looks_ = 0;
    sanitize_ != Progress::none ? look_at_sanitize() : look_at_format();
}

void NvmeCasePort::erase(std::uint32_t way, std::function<void(Erasure)> ended) {
    erased_ = std::move(ended);
    if (way % 3 == 0) return format(offers_metadata_ ? way / 3 % kFormats : 0);
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminSanitize;
    sqe.cdw10 = 1u << 3 | (way % 3 == 1 ? 2 : 3 | 1u << 4);  // AUSE; block erase, or one pass of zeros
    sanitize_ = Progress::asked;
    bring_up_.pass_through(sqe, [this](std::uint16_t s) {
        sanitize_ = s == nvme::kStSuccess ? Progress::begun : Progress::none;
        if (s != nvme::kStSuccess) return erasure_ended(Erasure::failed);
        looks_ = 0;
        if (!resets_) look_at_sanitize();
    });
}

/// To the drive's own blocks: 0: without metadata, then with each kind of them.
void NvmeCasePort::format(std::uint32_t kind) {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminFormat;
    sqe.nsid = nvme::kNsidAll;
    sqe.cdw10 = 1u << 9;
    asked_ = {};
    if (kind != 0) {
        const std::uint32_t type = (kind - 1) % 4, extended = (kind - 1) / 4 % 2, first = (kind - 1) / 8;
        sqe.cdw10 |= format_with_metadata_ | extended << 4 | type << 5 | first << 8;
        asked_ = {kMetadataBytes, type, extended != 0};
    }
    format_ = Progress::asked;
    bring_up_.pass_through(sqe, [this](std::uint16_t s) {
        format_ = Progress::none;
        format_ended(s == nvme::kStSuccess ? Erasure::done : Erasure::failed);
    });
}

/// The drive has the blocks that were asked for if it was formatted, and else those that it had.
void NvmeCasePort::format_ended(Erasure end) {
    if (!offers_metadata_) return erasure_ended(end);
    const CaseMetadata was = facts_.metadata;
    look_for_metadata([this, end, was] {
        const bool has_new = facts_.metadata == asked_, has_old = facts_.metadata == was;
        if (!(end == Erasure::done ? has_new : end == Erasure::failed ? has_old : has_new || has_old))
            throw CheckFailed("the drive has not the blocks that a format leaves");
        const bool tells = !(asked_ == was);
        erasure_ended(tells && has_new ? Erasure::done : tells && end == Erasure::over ? Erasure::failed : end);
    });
}

/// What its blocks have beside their data, and which format has metadata.
void NvmeCasePort::look_for_metadata(Done then) {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminIdentify;
    sqe.nsid = bring_up_.info().namespaces.front().nsid;
    sqe.cdw10 = nvme::kCnsNamespace;
    ask(sqe, [this, then = std::move(then)](std::uint16_t s) {
        if (s != nvme::kStSuccess) throw CheckFailed("the drive does not describe its namespace");
        const auto byte = [this](std::size_t at) { return memory_.load<std::uint8_t>(log_ + at); };
        const auto format = [this](std::uint32_t n) {
            return memory_.load<std::uint32_t>(log_ + nvme::IdNs::kLbaf0 + 4 * n);
        };
        const std::uint32_t own = (lba_bytes_ == 512 ? 9u : 12u) << 16;
        for (std::uint32_t n = 0; n <= byte(nvme::IdNs::kNlbaf); ++n)
            if (format(n) == (own | kMetadataBytes)) format_with_metadata_ = n;
        const std::uint8_t flbas = byte(nvme::IdNs::kFlbas);
        const CaseMetadata was = facts_.metadata,
                           now{format(flbas & 15u) & 0xFFFF, byte(nvme::IdNs::kDps) & 7u, (flbas & 16u) != 0};
        if (!(now == was) && !(now == asked_)) throw CheckFailed("nobody has asked for the blocks that the drive has");
        facts_.metadata = now;
        facts_.most_blocks = bring_up_.info().max_transfer_bytes / (lba_bytes_ + (now.extended ? now.bytes : 0));
        then();
    });
}

/// The drive could not be sanitized. It serves again when the host has left the failure.
void NvmeCasePort::leave_failure() {
    sanitize_ = Progress::failed;
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminSanitize;
    sqe.cdw10 = 1;
    bring_up_.pass_through(sqe, [this](std::uint16_t s) {
        if (s != nvme::kStSuccess) throw CheckFailed("the failure of a sanitize operation is not left");
        sanitize_ = Progress::none;
        erasure_ended(Erasure::failed);
    });
}

/// An admin command that fills the page at log_.
void NvmeCasePort::ask(nvme::Sqe& sqe, std::function<void(std::uint16_t)> ended) {
    if (log_ == 0) log_ = memory_.allocate(nvme::kIdentifyBytes, nvme::kIdentifyBytes);
    sqe.prp1 = log_;
    bring_up_.pass_through(sqe, std::move(ended));
}

void NvmeCasePort::look_again(Then look) {
    if (resets_) return;  // when the drive is up again
    if (++looks_ > kMostLooks) throw CheckFailed("an erasure does not end");
    next_look_ = agenda_.post_cancellable(agenda_.now() + kBetweenLooks, look);
}

/// Log 81h, until the operation has ended.
void NvmeCasePort::look_at_sanitize() {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminGetLogPage;
    sqe.nsid = nvme::kNsidAll;
    sqe.cdw10 = nvme::kLogSanitize | 127u << 16;
    ask(sqe, [this](std::uint16_t s) {
        if (s != nvme::kStSuccess) throw CheckFailed("the drive does not tell how far it is sanitized");
        enum : unsigned { kNone, kDone, kRunning, kFailed };
        const unsigned state = memory_.load<std::uint16_t>(log_ + 2) & 7u;
        if ((state == kNone && sanitize_ == Progress::begun) || (state == kDone && sanitize_ == Progress::failed))
            throw CheckFailed("a sanitize operation was forgotten");
        if (state == kRunning) {
            if (sanitize_ == Progress::failed) throw CheckFailed("a sanitize operation that has failed goes on");
            sanitize_ = Progress::begun;
            return look_again(Then::to<&NvmeCasePort::look_at_sanitize>(this));
        }
        // The power may have gone, or a reset have come, before the host heard that the operation had begun. Its
        // failure lasts.
        if (state == kFailed) {
            if (!resets_) leave_failure();
            return;
        }
        const Progress was = std::exchange(sanitize_, Progress::none);
        erasure_ended(was == Progress::begun ? Erasure::done : state == kDone ? Erasure::unknown : Erasure::not_begun);
    });
}

/// The progress of the format in Identify Namespace, until there is none. Before a reset the command's end tells it.
void NvmeCasePort::look_at_format() {
    nvme::Sqe sqe;
    sqe.opc = nvme::kAdminIdentify;
    sqe.nsid = bring_up_.info().namespaces.front().nsid;
    sqe.cdw10 = nvme::kCnsNamespace;
    ask(sqe, [this](std::uint16_t s) {
        if (s != nvme::kStSuccess) throw CheckFailed("the drive does not describe its namespace");
        if ((memory_.load<std::uint8_t>(log_ + nvme::IdNs::kFpi) & 0x7Fu) != 0) {
            format_ = Progress::begun;
            return look_again(Then::to<&NvmeCasePort::look_at_format>(this));
        }
        // What had not begun is over, or the reset has come before it.
        const bool begun = std::exchange(format_, Progress::none) == Progress::begun;
        format_ended(begun ? Erasure::over : Erasure::not_begun);
    });
}

}  // namespace ssdtlm
