// SPDX-License-Identifier: Apache-2.0
// Namespace Management and Namespace Attachment (NVMe 1.4 §5.20, §5.19), on drives with more than one namespace. A
// namespace is deallocated before it is deleted, which takes time.
#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/identify.h"
#include "controller/nvme/media/deallocation_job.h"

namespace ssdtlm {

using namespace nvme;

void AdminContext::tell_change(std::uint32_t nsid) {
    for (const std::uint32_t known : memory.changed)
        if (known == nsid) return;
    memory.changed.push_back(nsid);
    if ((features.async_events() & IdCtrl::kOaesNamespaceAttributes) != 0)
        media->ends().tell(AsyncEvents::kTypeNotice, AsyncEvents::kInfoNamespaces, kLogChangedNamespaces);
}

namespace {

bool has_namespaces(const NvmeConfig& config, const DriveFacts&) {
    return manages_namespaces(config);
}

/// Adds the event Change Namespace (NVMe 1.4 §5.14.1.13) to the persistent event log.
void record_change(AdminContext& c, std::uint32_t cdw10, const Namespace& n) {
    std::vector<std::uint8_t> event(48);
    store(event.data(), cdw10);
    store(event.data() + 8, n.blocks);
    store(event.data() + 24, n.blocks);
    store(event.data() + 44, n.id);
    c.memory.events.add(PersistentEvents::change_namespace, std::move(event), c.memory.clock.field(c.media->now()));
}

std::uint32_t management_bytes(const AdminContext&, const Sqe& sqe) {
    return (sqe.cdw10 & 0xF) == 0 ? kIdentifyBytes : 0;  // Create sends fields of Identify Namespace
}

AdminResult create_namespace(AdminContext& c, const Sqe& sqe, const std::uint8_t* d) {
    const auto size = load<std::uint64_t>(d + IdNs::kNsze);
    const auto capacity = load<std::uint64_t>(d + IdNs::kNcap);
    const std::uint8_t flbas = d[IdNs::kFlbas], dps = d[IdNs::kDps];
    const BlockFormat format =
        block_format(c.memory.namespaces, flbas & 0xFu, (flbas & 0x10u) != 0, dps & 7u, (dps & 8u) != 0);
    const bool other_command_set = sqe.cdw11 >> 24 != 0;
    if (other_command_set || size == 0 || d[IdNs::kNmic] != 0) return admin_status(kStInvalidField);
    const bool reserved = flbas >> 5 != 0 || dps >> 4 != 0 || ((dps & 8u) != 0 && (dps & 7u) == 0);
    if (format.lba_bytes == 0 || reserved) return admin_status(kStInvalidFormat);
    if (capacity != size) return admin_status(kStThinNotSupported);
    AdminResult r;
    r.dw0 = c.memory.namespaces.create(size, format, c.device.unit_bytes, r.status);
    if (r.status == kStSuccess) record_change(c, sqe.cdw10, *c.memory.namespaces.allocated(r.dw0));
    return r;
}

/// Deletes `nsids` one after the other, then ends the command.
void delete_next(AdminContext& c, std::vector<std::uint32_t> nsids, std::uint64_t token, std::uint32_t cdw10,
                 bool well) {
    if (nsids.empty() || !well) return c.media->ends().admin_ended(token, well ? kStSuccess : kStInternalError);
    const std::uint32_t nsid = nsids.back();
    nsids.pop_back();
    const Namespace& n = *c.memory.namespaces.allocated(nsid);
    const std::uint64_t first = n.first_block, extent = n.extent;
    c.media->start(std::make_unique<DeallocationJob>(
        "deletion of a namespace", DeallocationJob::part(first, extent, c.config.lba_bytes, c.device.unit_bytes),
        [](std::uint64_t) {},
        [&c, nsid, first, extent, nsids = std::move(nsids), token, cdw10](bool this_well) mutable {
            Namespaces& all = c.memory.namespaces;
            const bool was_attached = all.attached(nsid) != nullptr;
            if (this_well) {
                record_change(c, cdw10, *all.allocated(nsid));
                c.memory.uncorrectable.remove(first, extent);
                all.remove(nsid);
            } else {
                all.set_busy(nsid, kStSuccess);
            }
            if (was_attached && this_well) c.tell_change(nsid);
            delete_next(c, std::move(nsids), token, cdw10, this_well);
        }));
}

AdminResult delete_namespace(AdminContext& c, const Sqe& sqe) {
    Namespaces& all = c.memory.namespaces;
    std::vector<std::uint32_t> nsids;
    if (sqe.nsid == kNsidAll) {
        for (std::uint32_t id = all.most(); id != 0; --id)
            if (all.allocated(id) != nullptr) nsids.push_back(id);
    } else {
        if (!all.is_valid(sqe.nsid)) return admin_status(kStInvalidNamespace);
        if (all.allocated(sqe.nsid) == nullptr) return admin_status(kStInvalidField);
        nsids.push_back(sqe.nsid);
    }
    for (const std::uint32_t id : nsids)
        if (all.attached(id) != nullptr && all.find(id) == nullptr) return admin_status(all.refusal(id));
    for (const std::uint32_t id : nsids) all.set_busy(id, kStInvalidField);  // the status of an inactive namespace
    AdminResult r;
    r.then = AdminResult::Then::later;
    delete_next(c, std::move(nsids), c.token, sqe.cdw10, true);
    return r;
}

AdminResult manage(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    switch (sqe.cdw10 & 0xF) {
        case 0:
            return create_namespace(c, sqe, data.data());
        case 1:
            return delete_namespace(c, sqe);
        default:
            return admin_status(kStInvalidField);
    }
}

std::uint32_t list_bytes(const AdminContext&, const Sqe&) {
    return 4096;
}

AdminResult attach(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    Namespaces& all = c.memory.namespaces;
    const std::uint32_t action = sqe.cdw10 & 0xF;
    if (action > 1) return admin_status(kStInvalidField);
    if (!all.is_valid(sqe.nsid)) return admin_status(kStInvalidNamespace);
    if (all.allocated(sqe.nsid) == nullptr) return admin_status(kStInvalidField);
    // The controller list is a count, then the numbers. There is one controller.
    if (load<std::uint16_t>(data.data()) != 1 || load<std::uint16_t>(data.data() + 2) != kControllerId)
        return admin_status(kStControllerListInvalid);
    const bool is_attached = all.attached(sqe.nsid) != nullptr;
    if (action == 0 && is_attached) return admin_status(kStNamespaceAttached);
    if (action == 1 && !is_attached) return admin_status(kStNamespaceNotAttached);
    if (is_attached && all.find(sqe.nsid) == nullptr) return admin_status(all.refusal(sqe.nsid));
    all.attach(sqe.nsid, action == 0);
    c.tell_change(sqe.nsid);
    return {};
}

}  // namespace

extern const AdminKind kNamespaceManagementKind, kNamespaceAttachmentKind;
const AdminKind kNamespaceManagementKind =
    AdminKind(kAdminNamespaceManagement, "Namespace Management", manage,
              {kStInvalidField, kStInvalidNamespace, kStInvalidFormat, kStFormatInProgress, kStNamespaceCapacity,
               kStNamespaceIdUnavailable, kStThinNotSupported, kStInternalError, kStInvalidPrpOffset})
        .if_offered(has_namespaces)
        .identified_by(IdCtrl::kOacsNamespaces)
        .takes(management_bytes)
        .changes(kEffectBlocks | kEffectInventory);
const AdminKind kNamespaceAttachmentKind =
    AdminKind(kAdminNamespaceAttachment, "Namespace Attachment", attach,
              {kStInvalidField, kStInvalidNamespace, kStFormatInProgress, kStNamespaceAttached, kStNamespaceNotAttached,
               kStControllerListInvalid, kStInvalidPrpOffset})
        .if_offered(has_namespaces)
        .identified_by(IdCtrl::kOacsNamespaces)
        .takes(list_bytes)
        .changes(kEffectInventory);

}  // namespace ssdtlm
