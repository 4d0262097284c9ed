// SPDX-License-Identifier: Apache-2.0
// Doorbell Buffer Config (NVMe 1.4 §5.7), offered by nvme.shadow_doorbells.
#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

bool has_shadows(const NvmeConfig& config, const DriveFacts&) {
    return config.shadow_doorbells;
}

AdminResult configure_shadows(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    if (sqe.prp1 == 0 || sqe.prp2 == 0) return admin_status(kStInvalidField);
    if ((sqe.prp1 & kPageMask) != 0 || (sqe.prp2 & kPageMask) != 0) return admin_status(kStInvalidPrpOffset);
    c.shadows->configure(sqe.prp1, sqe.prp2);
    return {};
}

}  // namespace

extern const AdminKind kDoorbellBufferKind;
const AdminKind kDoorbellBufferKind =
    AdminKind(kAdminDoorbellBuffer, "Doorbell Buffer Config", configure_shadows, {kStInvalidField, kStInvalidPrpOffset})
        .if_offered(has_shadows)
        .identified_by(IdCtrl::kOacsDoorbellBuffer);

}  // namespace ssdtlm
