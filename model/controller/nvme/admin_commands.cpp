// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/admin_commands.h"

#include "controller/nvme/media/self_test_job.h"

namespace ssdtlm {

using namespace nvme;

std::uint16_t AdminCommands::refusal(const Sqe& sqe, bool cid_in_use, const AdminKind* kind) const {
    if (kind == nullptr) return kStInvalidOpcode;
    if (cid_in_use) return kStCidConflict;
    if (sqe.fuse() != 0 || sqe.psdt() != 0) return kStInvalidField;  // no SGLs for admin commands over PCIe
    if (kind->in_sanitize) return kStSuccess;
    switch (context_.memory.sanitize.state) {
        case SanitizeStatus::running:
            return kStSanitizeInProgress;
        case SanitizeStatus::failed:
            return kStSanitizeFailed;
        default:
            return kStSuccess;
    }
}

std::uint32_t AdminCommands::host_bytes(const Sqe& sqe, bool cid_in_use) const {
    const AdminKind* const kind = find_admin(sqe.opc, context_.config, context_.device);
    if (refusal(sqe, cid_in_use, kind) != kStSuccess || kind->host_bytes == nullptr) return 0;
    return kind->host_bytes(context_, sqe);
}

AdminResult AdminCommands::execute(const Sqe& sqe, bool cid_in_use, SimTime now, std::vector<std::uint8_t>& data,
                                   std::uint64_t token) {
    const AdminKind* const kind = find_admin(sqe.opc, context_.config, context_.device);
    if (const std::uint16_t status = refusal(sqe, cid_in_use, kind); status != kStSuccess) return admin_status(status);
    context_.now = now;
    context_.token = token;
    return kind->execute(context_, sqe, data);
}

void AdminCommands::reset() {
    context_.streams.reset();
    context_.context_open = false;
    if (context_.self_test != nullptr && context_.self_test->test() == SelfTest::short_test)
        context_.self_test->abort(SelfTestResult::aborted_by_reset);  // the extended self-test continues over a reset
}

}  // namespace ssdtlm
