// SPDX-License-Identifier: Apache-2.0
// Identify (NVMe 1.4 §5.15), by CNS. Three pages of NVMe 2.0 are served because hosts ask each controller for them:
// those of the NVM command set (05h, 06h) and the namespace independent of its command set (08h).
#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/identify.h"

namespace ssdtlm {

using namespace nvme;

namespace {

/// Writes a list of the first 1,024 numbers above `nsid` that `has` accepts.
template <class Has>
void list_above(std::uint32_t nsid, std::uint32_t most, IdentifyData& page, Has has) {
    page.fill(0);
    std::size_t at = 0;
    for (std::uint32_t id = nsid + 1; id <= most && at < page.size(); ++id) {
        if (!has(id)) continue;
        store(page.data() + at, id);
        at += 4;
    }
}

std::uint16_t identify(const AdminContext& c, const Sqe& sqe, IdentifyData& page) {
    const Namespaces& all = c.memory.namespaces;
    const bool manages = manages_namespaces(c.config);
    const std::uint8_t command_set = static_cast<std::uint8_t>(sqe.cdw11 >> 24);
    const std::uint16_t controllers_from = static_cast<std::uint16_t>(sqe.cdw10 >> 16);
    const auto cns = static_cast<std::uint8_t>(sqe.cdw10);
    page.fill(0);
    switch (cns) {
        case kCnsNamespace:
            if (manages && sqe.nsid == kNsidAll) {
                identify_common(all, c.device, page);
                return kStSuccess;
            }
            [[fallthrough]];
        case kCnsIndependent:
        case kCnsSetNamespace:
        case kCnsNamespaceDescriptors: {
            const Namespace* const of = all.attached(sqe.nsid);
            if (!all.is_valid(sqe.nsid)) return kStInvalidNamespace;
            if (cns == kCnsSetNamespace && command_set != 0) return kStInvalidField;
            // An inactive namespace has a data structure of zeros, and no descriptors.
            if (of == nullptr) return cns == kCnsNamespaceDescriptors ? kStInvalidField : kStSuccess;
            if (cns == kCnsNamespace) identify_namespace(c.config, *of, all, c.device, page);
            if (cns == kCnsIndependent) identify_independent(page);
            if (cns == kCnsNamespaceDescriptors) identify_descriptors(*of, c.device, page);
            return kStSuccess;  // all fields of the page for the NVM command set concern protection information
        }
        case kCnsController:
            identify_controller(c.config, c.device, page);
            store(page.data() + IdCtrl::kUnvmcap, all.unallocated_bytes());
            return kStSuccess;
        case kCnsSetController:
            // Zeros say that Verify, Write Zeroes, Write Uncorrectable and Dataset Management have no limit of their
            // own.
            return command_set == 0 ? kStSuccess : kStInvalidField;
        case kCnsActiveNamespaces:
            if (sqe.nsid >= 0xFFFFFFFEu) return kStInvalidNamespace;
            list_above(sqe.nsid, all.most(), page, [&](std::uint32_t id) { return all.attached(id) != nullptr; });
            return kStSuccess;
        default:
            break;
    }
    if (!manages) return kStInvalidField;
    switch (cns) {
        case kCnsAllocatedNamespaces:
            if (sqe.nsid >= 0xFFFFFFFEu) return kStInvalidNamespace;
            list_above(sqe.nsid, all.most(), page, [&](std::uint32_t id) { return all.allocated(id) != nullptr; });
            return kStSuccess;
        case kCnsAllocatedNamespace:
            if (!all.is_valid(sqe.nsid)) return kStInvalidNamespace;
            if (const Namespace* const of = all.allocated(sqe.nsid); of != nullptr)
                identify_namespace(c.config, *of, all, c.device, page);
            return kStSuccess;
        case kCnsAttachedControllers:
            if (!all.is_valid(sqe.nsid)) return kStInvalidNamespace;
            // The only controller has number 0. It is in the list unless the host asks for higher numbers.
            if (all.attached(sqe.nsid) != nullptr && controllers_from == kControllerId)
                store(page.data(), std::uint16_t{1});
            return kStSuccess;
        case kCnsControllers:
            if (controllers_from == kControllerId) store(page.data(), std::uint16_t{1});
            return kStSuccess;
        default:
            return kStInvalidField;
    }
}

AdminResult execute_identify(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    IdentifyData page;
    const std::uint16_t status = identify(c, sqe, page);
    if (status == kStSuccess) data.assign(page.begin(), page.end());
    return admin_data(status);
}

}  // namespace

extern const AdminKind kIdentifyKind;
const AdminKind kIdentifyKind =
    AdminKind(kAdminIdentify, "Identify", execute_identify, {kStInvalidField, kStInvalidNamespace, kStInvalidPrpOffset})
        .also_in_sanitize();

}  // namespace ssdtlm
