// SPDX-License-Identifier: Apache-2.0
// Create and Delete I/O Submission and Completion Queue (NVMe 1.4 §5.3 to §5.6). Creation makes its checks in the order
// of QEMU 10.1 hw/nvme/ctrl.c.
#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

AdminResult create_cq(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    const std::uint32_t size = sqe.cdw10 >> 16;  // 0-based
    const auto vector = static_cast<std::uint16_t>(sqe.cdw11 >> 16);
    if (Cc::iosqes(c.registers.cc()) != 6 || Cc::iocqes(c.registers.cc()) != 4)
        return admin_status(kStInvalidQueueSize);
    if (qid == 0 || qid > c.features.granted_cqs() || c.queues.has_cq(qid)) return admin_status(kStInvalidQid);
    if (size == 0 || size > Cap::mqes(c.registers.cap())) return admin_status(kStInvalidQueueSize);
    if ((sqe.prp1 & kPageMask) != 0) return admin_status(kStInvalidPrpOffset);
    if (vector > c.queues.io_pairs()) return admin_status(kStInvalidVector);  // one a pair and the admin queue's
    if ((sqe.cdw11 & kQueuePhysContig) == 0) return admin_status(kStInvalidField);
    c.queues.create_cq(qid, sqe.prp1, size + 1, vector, (sqe.cdw11 & kCqInterruptEnable) != 0);
    return {};
}

AdminResult create_sq(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    const std::uint32_t size = sqe.cdw10 >> 16;  // 0-based
    const auto cqid = static_cast<std::uint16_t>(sqe.cdw11 >> 16);
    if (cqid == 0 || !c.queues.has_cq(cqid)) return admin_status(kStInvalidCq);
    if (qid == 0 || qid > c.features.granted_sqs() || c.queues.has_sq(qid)) return admin_status(kStInvalidQid);
    if (Cc::iosqes(c.registers.cc()) != 6 || size == 0 || size > Cap::mqes(c.registers.cap()))
        return admin_status(kStInvalidQueueSize);
    if ((sqe.prp1 & kPageMask) != 0) return admin_status(kStInvalidPrpOffset);
    if ((sqe.cdw11 & kQueuePhysContig) == 0) return admin_status(kStInvalidField);
    c.queues.create_sq(qid, cqid, sqe.prp1, size + 1, {sq_priority(sqe.cdw11), sq_tenant(sqe.cdw12)});
    if (c.shadows != nullptr) c.shadows->queue_created(qid);
    return {};
}

AdminResult delete_sq(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    if (qid == 0 || !c.queues.has_sq(qid) || c.queues.sq(qid).deleting) return admin_status(kStInvalidQid);
    AdminResult r;
    r.then = AdminResult::Then::delete_sq;
    r.qid = qid;
    return r;
}

AdminResult delete_cq(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    if (qid == 0 || !c.queues.has_cq(qid)) return admin_status(kStInvalidQid);
    if (c.queues.cq(qid).bound_sqs != 0) return admin_status(kStInvalidQueueDeletion);
    c.queues.delete_cq(qid);
    return {};
}

}  // namespace

extern const AdminKind kDeleteSqKind, kCreateSqKind, kDeleteCqKind, kCreateCqKind;
const AdminKind kDeleteSqKind =
    AdminKind(kAdminDeleteSq, "Delete I/O Submission Queue", delete_sq, {kStInvalidQid}).also_in_sanitize();
const AdminKind kCreateSqKind =
    AdminKind(kAdminCreateSq, "Create I/O Submission Queue", create_sq,
              {kStInvalidField, kStInvalidCq, kStInvalidQid, kStInvalidQueueSize, kStInvalidPrpOffset})
        .also_in_sanitize();
const AdminKind kDeleteCqKind =
    AdminKind(kAdminDeleteCq, "Delete I/O Completion Queue", delete_cq, {kStInvalidQid, kStInvalidQueueDeletion})
        .also_in_sanitize();
const AdminKind kCreateCqKind =
    AdminKind(kAdminCreateCq, "Create I/O Completion Queue", create_cq,
              {kStInvalidField, kStInvalidQid, kStInvalidQueueSize, kStInvalidPrpOffset, kStInvalidVector})
        .also_in_sanitize();

}  // namespace ssdtlm
