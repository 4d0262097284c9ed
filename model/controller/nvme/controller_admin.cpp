// SPDX-License-Identifier: Apache-2.0
// What AdminCommands decides, carried out: data to the host, waiting deletions, held event requests.
#include "controller/nvme/controller.h"

namespace ssdtlm {

using namespace nvme;

void NvmeController::accept_admin(const Sqe& sqe) {
    SubmissionQueue& q = queues_.sq(0);
    const bool conflict = q.cid_in_use(sqe.cid);
    ++counters_.admin;
    const AdminResult r = admin_.execute(sqe, conflict, agenda_.now(), admin_scratch_);
    if (r.status != kStSuccess) {
        ++counters_.refused;
        errors_.add(0, sqe.cid, r.status, 0, sqe.nsid);
        post(0, sqe.cid, r.status, r.dw0);
        return;
    }
    switch (r.then) {
        case AdminResult::Then::complete:
            if (sqe.opc == kAdminSetFeatures) apply_features();
            post(0, sqe.cid, r.status, r.dw0);
            if (sqe.opc == kAdminSetFeatures) check_temperature();
            break;
        case AdminResult::Then::send_data: {
            AdminOp& op = acquire_admin_op();
            q.take_cid(sqe.cid);
            op.cid = sqe.cid;
            op.dw0 = r.dw0;
            op.data.swap(admin_scratch_);
            op.pages.clear();
            PrpWalk walk;
            const PrpWalk::Step step = walk.start(sqe.prp1, sqe.prp2, op.data.size(), op.pages);
            if (step == PrpWalk::Step::done) {
                send_admin_data(op);
            } else if (step == PrpWalk::Step::need_list) {
                const std::uint32_t index = acquire_list(nullptr, &op);
                lists_[index]->walk = walk;
                read_list(index);
            } else {
                ++counters_.refused;
                errors_.add(0, sqe.cid, kStInvalidPrpOffset, 0, sqe.nsid);
                release_admin_op(op);
                q.free_cid(sqe.cid);
                post(0, sqe.cid, kStInvalidPrpOffset, 0);
            }
            break;
        }
        case AdminResult::Then::hold:
            q.take_cid(sqe.cid);
            check_temperature();
            break;
        case AdminResult::Then::delete_sq: {
            SubmissionQueue& victim = queues_.sq(r.qid);
            q.take_cid(sqe.cid);
            victim.deleting = true;
            victim.delete_cid = sqe.cid;
            refresh(r.qid);
            if (victim.in_flight == 0) {
                queues_.delete_sq(r.qid);
                q.free_cid(sqe.cid);
                post(0, sqe.cid, kStSuccess, 0);
            }
            break;
        }
        case AdminResult::Then::abort_event:
            q.free_cid(r.aborted_cid);
            post(0, r.aborted_cid, kStAbortRequested, 0);
            post(0, sqe.cid, kStSuccess, r.dw0);
            break;
    }
}

NvmeController::AdminOp& NvmeController::acquire_admin_op() {
    if (free_admin_ops_.empty()) {
        free_admin_ops_.push_back(static_cast<std::uint32_t>(admin_ops_.size()));
        admin_ops_.push_back(std::make_unique<AdminOp>());
        admin_ops_.back()->index = free_admin_ops_.back();
    }
    AdminOp& op = *admin_ops_[free_admin_ops_.back()];
    free_admin_ops_.pop_back();
    return op;
}

void NvmeController::send_admin_data(AdminOp& op) {
    make_segments(op.pages, static_cast<std::uint32_t>(op.data.size()));
    const std::uint16_t cid = op.cid;
    const std::uint32_t dw0 = op.dw0;
    dma_.write_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()), op.data.data(), this,
                    cookie(Dma::admin_data, op.index));
    queues_.sq(0).free_cid(cid);
    post(0, cid, kStSuccess, dw0);  // posted behind the data, so the host sees the data first
}

void NvmeController::admin_data_visible(std::uint64_t index) {
    release_admin_op(*admin_ops_[index]);
    settle();
}

void NvmeController::drop_admin(AdminOp& op) {
    --queues_.sq(0).in_flight;
    ++counters_.dropped;
    release_admin_op(op);
}

void NvmeController::release_admin_op(AdminOp& op) { free_admin_ops_.push_back(op.index); }

}  // namespace ssdtlm
