// SPDX-License-Identifier: Apache-2.0
// Format NVM (NVMe 1.4 §5.23), of one namespace or of all. The namespace gets logical blocks of the new form and is
// deallocated from end to end. That takes the time of the changes to its map. The flash is erased later, by garbage
// collection. Whatever SES says, no read can return the old data.
#include <algorithm>

#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/identify.h"
#include "controller/nvme/media/deallocation_job.h"
#include "controller/nvme/media/self_test_job.h"

namespace ssdtlm {

using namespace nvme;

namespace {

void format_ended(AdminContext& c, std::uint32_t nsid, const BlockFormat& to, bool well) {
    Namespaces& all = c.memory.namespaces;
    if (well) all.format(nsid, to);
    all.set_remaining(nsid, 0);
    all.set_busy(nsid, kStSuccess);
    std::vector<std::uint8_t> event(12);
    store(event.data(), nsid);
    event[5] = well ? 0 : 1;
    c.memory.events.add(PersistentEvents::format_completion, std::move(event), c.memory.clock.field(c.media->now()));
    c.tell_change(nsid);
}

/// Formats `nsids` one after the other, then ends the command.
void format_next(AdminContext& c, std::vector<std::uint32_t> nsids, const BlockFormat& to, std::uint64_t token,
                 bool well) {
    if (nsids.empty()) return c.media->ends().admin_ended(token, well ? kStSuccess : kStInternalError);
    const std::uint32_t nsid = nsids.back();
    nsids.pop_back();
    const Namespace& n = *c.memory.namespaces.allocated(nsid);
    const std::uint64_t extent = n.extent;
    c.media->start(std::make_unique<DeallocationJob>(
        "format", DeallocationJob::part(n.first_block, extent, c.config.lba_bytes, c.device.unit_bytes),
        [&c, nsid, extent](std::uint64_t to_go) {
            // 0 would say that the namespace is formatted. The flush is still to come.
            const std::uint64_t percent = std::max<std::uint64_t>(div_ceil(to_go * 100, extent), 1);
            c.memory.namespaces.set_remaining(nsid, static_cast<std::uint8_t>(percent));
        },
        [&c, nsid, to, nsids = std::move(nsids), token, well](bool this_well) mutable {
            if (this_well)
                c.memory.uncorrectable.remove(c.memory.namespaces.allocated(nsid)->first_block,
                                              c.memory.namespaces.allocated(nsid)->extent);
            format_ended(c, nsid, to, this_well);
            format_next(c, std::move(nsids), to, token, well && this_well);
        }));
}

AdminResult format(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    Namespaces& all = c.memory.namespaces;
    const BlockFormat to = block_format(all, sqe.cdw10 & 0xF, (sqe.cdw10 & kFormatExtended) != 0, sqe.cdw10 >> 5 & 7u,
                                        (sqe.cdw10 & kFormatFirst) != 0);
    const std::uint32_t erase = sqe.cdw10 >> 9 & 7u;  // 0 none, 1 user data, 2 cryptographic
    std::vector<std::uint32_t> nsids;
    if (sqe.nsid == kNsidAll) {
        for (std::uint32_t id = all.most(); id != 0; --id)
            if (all.attached(id) != nullptr) nsids.push_back(id);
    } else {
        if (!all.is_valid(sqe.nsid)) return admin_status(kStInvalidNamespace);
        if (all.attached(sqe.nsid) == nullptr) return admin_status(kStInvalidField);
        nsids.push_back(sqe.nsid);
    }
    if (erase > 2) return admin_status(kStInvalidField);
    if (to.lba_bytes == 0) return admin_status(kStInvalidFormat);
    for (const std::uint32_t id : nsids)
        if (all.find(id) == nullptr) return admin_status(all.refusal(id));  // one of them is being formatted
    if (c.self_test != nullptr) c.self_test->abort(SelfTestResult::aborted_by_format);
    for (const std::uint32_t id : nsids) {
        std::vector<std::uint8_t> event(12);
        store(event.data(), id);
        event[4] = 1u << 2;  // FNA
        store(event.data() + 8, sqe.cdw10);
        c.record(PersistentEvents::format_start, std::move(event));
        all.set_remaining(id, 100);
        all.set_busy(id, kStFormatInProgress);
    }
    AdminResult r;
    r.then = AdminResult::Then::later;
    format_next(c, std::move(nsids), to, c.token, true);
    return r;
}

}  // namespace

extern const AdminKind kFormatKind;
const AdminKind kFormatKind =
    AdminKind(kAdminFormat, "Format NVM", format,
              {kStInvalidField, kStInvalidNamespace, kStInvalidFormat, kStFormatInProgress, kStInternalError})
        .identified_by(IdCtrl::kOacsFormat)
        .changes(kEffectBlocks | kEffectNamespace | kEffectOneInNamespace);

}  // namespace ssdtlm
