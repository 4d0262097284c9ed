// SPDX-License-Identifier: Apache-2.0
// Sanitize (NVMe 1.4 §5.24). It runs in the background and continues over resets and losses of power. A failure stays
// over them, too. An overwrite writes its pattern over the whole drive, pass by pass, and then deallocates the drive
// unless NDAS forbids it. Block erase and crypto erase deallocate the drive, so that no read can return the old data;
// garbage collection erases the flash later. Commands to the media, and most others, are refused until the end.
#include <algorithm>

#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/admin/sanitize.h"
#include "controller/nvme/identify.h"
#include "controller/nvme/media/deallocation_job.h"
#include "controller/nvme/media/overwrite_job.h"
#include "controller/nvme/media/self_test_job.h"

namespace ssdtlm {

using namespace nvme;

namespace {

enum Action : std::uint32_t { kExitFailure = 1, kBlockErase = 2, kOverwrite = 3, kCryptoErase = 4 };
constexpr std::uint32_t action_of(std::uint32_t cdw10) {
    return cdw10 & 7u;
}

void sanitize_ended(AdminContext& c, bool well) {
    SanitizeStatus& s = c.memory.sanitize;
    s.state = well ? SanitizeStatus::done : SanitizeStatus::failed;
    s.writes = c.memory.former.writes + c.counters.writes;
    c.memory.namespaces.set_all_busy(well ? kStSuccess : kStSanitizeFailed);
    if (well) c.memory.uncorrectable = BlockMarks{};
    std::vector<std::uint8_t> event(8), log;
    s.write(s.writes, log);
    std::copy_n(log.begin(), 4, event.begin());
    c.memory.events.add(PersistentEvents::sanitize_completion, std::move(event), c.memory.clock.field(c.media->now()));
    c.media->ends().tell(AsyncEvents::kTypeCommandSet, AsyncEvents::kInfoSanitized, kLogSanitize);
}

void deallocate_all(AdminContext& c, double from) {
    const std::uint64_t blocks = c.device.drive_bytes / c.config.lba_bytes;
    c.media->start(std::make_unique<DeallocationJob>(
        "sanitize", DeallocationJob::part(0, blocks, c.config.lba_bytes, c.device.unit_bytes),
        [&c, blocks, from](std::uint64_t to_go) {
            const double part = from + (1.0 - from) * static_cast<double>(blocks - to_go) / static_cast<double>(blocks);
            c.memory.sanitize.progress = static_cast<std::uint16_t>(part * 65535.0);
        },
        [&c](bool well) { sanitize_ended(c, well); }));
}

AdminResult sanitize(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    SanitizeStatus& s = c.memory.sanitize;
    const std::uint32_t action = action_of(sqe.cdw10);
    if (s.state == SanitizeStatus::running) return admin_status(kStSanitizeInProgress);
    if (action < kExitFailure || action > kCryptoErase) return admin_status(kStInvalidField);
    if (action == kExitFailure) {
        if (s.state != SanitizeStatus::failed) return {};
        if (!s.unrestricted) return admin_status(kStSanitizeFailed);
        s.state = SanitizeStatus::never;
        c.memory.namespaces.set_all_busy(kStSuccess);
        return {};
    }
    for (std::uint32_t id = 1; id <= c.memory.namespaces.most(); ++id)
        if (c.memory.namespaces.refusal(id) == kStFormatInProgress) return admin_status(kStFormatInProgress);
    if (c.self_test != nullptr) c.self_test->abort(SelfTestResult::aborted_by_sanitize);
    s.cdw10 = sqe.cdw10;
    s.pattern = sqe.cdw11;
    s.unrestricted = (sqe.cdw10 >> 3 & 1u) != 0;
    std::vector<std::uint8_t> event(12);
    store(event.data(), kSanitizeCapabilities);
    store(event.data() + 4, sqe.cdw10);
    store(event.data() + 8, sqe.cdw11);
    c.record(PersistentEvents::sanitize_start, std::move(event));
    begin_sanitize(c);
    return {};
}

}  // namespace

void begin_sanitize(AdminContext& c) {
    SanitizeStatus& s = c.memory.sanitize;
    s.state = SanitizeStatus::running;
    s.progress = 0;
    s.passes = 0;
    c.memory.namespaces.set_all_busy(kStSanitizeInProgress);
    if (action_of(s.cdw10) != kOverwrite) return deallocate_all(c, 0.0);
    OverwriteJob::Plan plan;
    plan.blocks = c.device.drive_bytes / c.config.lba_bytes;
    plan.lba_bytes = c.config.lba_bytes;
    // Whole mapping units: a write of a part of one reads the rest, which the flash may have lost.
    const std::uint32_t unit = std::max(c.device.unit_bytes, c.config.lba_bytes);
    plan.piece_bytes = firmware_command_bytes(OverwriteJob::kPieceBytes, c.config.max_transfer_bytes) / unit * unit;
    plan.piece_bytes = std::max(plan.piece_bytes, unit);
    plan.passes = s.cdw10 >> 4 & 0xFu;
    if (plan.passes == 0) plan.passes = 16;
    plan.pattern = s.pattern;
    plan.inverts = (s.cdw10 >> 8 & 1u) != 0;
    const bool deallocates = (s.cdw10 >> 9 & 1u) == 0;
    constexpr double kDeallocation = 0.01;  // share of the whole in the progress that is reported; assumed
    const double share = deallocates ? 1.0 - kDeallocation : 1.0;
    c.media->start(std::make_unique<OverwriteJob>(
        plan,
        [&c, share](std::uint32_t passes, double part) {
            c.memory.sanitize.passes = static_cast<std::uint8_t>(passes);
            c.memory.sanitize.progress = static_cast<std::uint16_t>(part * share * 65535.0);
        },
        [&c, share, deallocates](bool well) {
            if (!well || !deallocates) return sanitize_ended(c, well);
            deallocate_all(c, share);
        }));
}

extern const AdminKind kSanitizeKind;
const AdminKind kSanitizeKind =
    AdminKind(kAdminSanitize, "Sanitize", sanitize,
              {kStInvalidField, kStFormatInProgress, kStSanitizeInProgress, kStSanitizeFailed})
        .changes(kEffectBlocks | kEffectAlone)
        .also_in_sanitize();

}  // namespace ssdtlm
