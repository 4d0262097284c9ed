// SPDX-License-Identifier: Apache-2.0
// Directive Send and Directive Receive (NVMe 1.4 §5.8, §5.9). Streams carries them out.
#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

bool has_streams(const NvmeConfig& config, const DriveFacts&) {
    return config.streams != 0;
}

AdminResult send_directive(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    return admin_status(c.streams.send(sqe));
}

AdminResult receive_directive(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    AdminResult r;
    data.clear();
    r.status = c.streams.receive(sqe, r.dw0, data);
    if (r.status == kStSuccess && !data.empty()) r.then = AdminResult::Then::send_data;
    return r;
}

}  // namespace

extern const AdminKind kDirectiveSendKind, kDirectiveReceiveKind;
const AdminKind kDirectiveSendKind = AdminKind(kAdminDirectiveSend, "Directive Send", send_directive, {kStInvalidField})
                                         .if_offered(has_streams)
                                         .identified_by(IdCtrl::kOacsDirectives);
const AdminKind kDirectiveReceiveKind = AdminKind(kAdminDirectiveReceive, "Directive Receive", receive_directive,
                                                  {kStInvalidField, kStStreamResource, kStInvalidPrpOffset})
                                            .if_offered(has_streams)
                                            .identified_by(IdCtrl::kOacsDirectives);

}  // namespace ssdtlm
