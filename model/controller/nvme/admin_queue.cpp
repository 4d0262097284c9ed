// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/admin_queue.h"

#include <fmt/format.h>

namespace ssdtlm {

using namespace nvme;

AdminQueue::AdminQueue(const NvmeConfig& config, const DriveFacts& device, const Surroundings& around)
    : agenda_(around.agenda),
      dma_(around.dma),
      state_(around.state),
      queues_(around.queues),
      features_(around.features),
      posting_(around.posting),
      lists_(around.lists),
      errors_(around.errors),
      counters_(around.counters),
      effects_(around.effects),
      commands_(config, device, around.state.registers(), around.queues, around.features, events_, around.errors,
                around.counters) {}

void AdminQueue::accept(const FetchedEntries& fetched, SubmissionQueue& queue) {
    for (std::uint32_t i = 0; i < fetched.count; ++i) accept_one(fetched.entries[i], queue);
}

void AdminQueue::accept_one(const Sqe& sqe, SubmissionQueue& queue) {
    const bool conflict = queue.cid_in_use(sqe.cid);
    ++counters_.admin;
    const AdminResult r = commands_.execute(sqe, conflict, agenda_.now(), data_);
    if (r.status != kStSuccess) return refuse(sqe.cid, r.status, r.dw0, sqe.nsid);
    switch (r.then) {
        case AdminResult::Then::complete:
            if (sqe.opc == kAdminSetFeatures) effects_.features_changed();
            posting_.post(0, sqe.cid, r.status, r.dw0);
            if (sqe.opc == kAdminSetFeatures) check_health();
            break;
        case AdminResult::Then::send_data:
            begin_data(sqe, r.dw0, queue);
            break;
        case AdminResult::Then::hold:
            queue.take_cid(sqe.cid);
            check_health();
            break;
        case AdminResult::Then::delete_sq:
            delete_queue(r.qid, sqe.cid, queue);
            break;
        case AdminResult::Then::abort_event:
            queue.free_cid(r.aborted_cid);
            posting_.post(0, r.aborted_cid, kStAbortRequested, 0);
            posting_.post(0, sqe.cid, kStSuccess, r.dw0);
            break;
    }
}

void AdminQueue::refuse(std::uint16_t cid, std::uint16_t status, std::uint32_t dw0, std::uint32_t nsid) {
    ++counters_.refused;
    errors_.add(0, cid, status, 0, nsid);
    posting_.post(0, cid, status, dw0);
}

void AdminQueue::begin_data(const Sqe& sqe, std::uint32_t dw0, SubmissionQueue& queue) {
    Op& op = ops_.acquire();
    queue.take_cid(sqe.cid);
    op.cid = sqe.cid;
    op.dw0 = dw0;
    op.data.swap(data_);
    op.place.clear();
    PrpWalk walk;
    switch (walk.start(sqe.prp1, sqe.prp2, op.data.size(), op.place)) {
        case PrpWalk::Step::done:
            send_data(op);
            break;
        case PrpWalk::Step::need_list:
            lists_.read_list(walk, op.place, *this, Pool<Op>::handle_of(op).number());
            break;
        case PrpWalk::Step::bad_offset:
            ops_.release(op);
            queue.free_cid(sqe.cid);
            refuse(sqe.cid, kStInvalidPrpOffset, 0, sqe.nsid);
            break;
    }
}

void AdminQueue::delete_queue(std::uint16_t sqid, std::uint16_t cid, SubmissionQueue& queue) {
    SubmissionQueue& victim = queues_.sq(sqid);
    queue.take_cid(cid);
    victim.deleting = true;
    victim.delete_cid = cid;
    effects_.queue_deleting(sqid);
    queue_drained(sqid, victim);
}

void AdminQueue::queue_drained(std::uint16_t sqid, SubmissionQueue& queue) {
    if (queue.in_flight != 0) return;
    const std::uint16_t cid = queue.delete_cid;
    queues_.delete_sq(sqid);
    queues_.sq(0).free_cid(cid);
    posting_.post(0, cid, kStSuccess, 0);
}

void AdminQueue::send_data(Op& op) {
    segments_.clear();
    op.place.segments(0, op.data.size(), segments_);
    dma_.write_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()), op.data.data(),
                    DmaThen::to<&AdminQueue::data_sent>(this, Pool<Op>::handle_of(op).number()));
}

void AdminQueue::data_sent(std::uint64_t number, DmaEnd end) {
    if (state_.serving()) {
        const Op& op = ops_.at(number);
        queues_.sq(0).free_cid(op.cid);
        posting_.post(0, op.cid, kStSuccess, op.dw0);  // behind the data on the wire, so the host sees the data first
    }
    // The data buffer must stay unchanged until the last TLP is visible.
    agenda_.post(end.at, Then::to<&AdminQueue::data_visible>(this, number));
}

void AdminQueue::data_visible(std::uint64_t op) {
    ops_.release(ops_.at(op));
    state_.settle();
}

void AdminQueue::list_known(std::uint64_t token) {
    Op& op = ops_.at(token);
    if (state_.serving())
        send_data(op);
    else
        drop(op);
}

void AdminQueue::list_failed(std::uint64_t token, std::uint16_t status) {
    Op& op = ops_.at(token);
    const std::uint16_t cid = op.cid;
    if (!state_.serving()) {
        ++counters_.refused;
        errors_.add(0, cid, status, 0, 0);
        return drop(op);
    }
    ops_.release(op);
    queues_.sq(0).free_cid(cid);
    refuse(cid, status, 0, 0);
}

void AdminQueue::drop(Op& op) {
    --queues_.sq(0).in_flight;
    ++counters_.dropped;
    ops_.release(op);
}

void AdminQueue::report_doorbell(DoorbellResult result) {
    ++counters_.doorbell_errors;
    raise_event(AsyncEvents::kTypeError, result == DoorbellResult::no_queue ? AsyncEvents::kInfoInvalidDoorbellRegister
                                                                            : AsyncEvents::kInfoInvalidDoorbellValue);
}

void AdminQueue::raise_event(std::uint32_t type, std::uint32_t info) {
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    if (!events_.raise(type, info, cid, dw0)) return;
    queues_.sq(0).free_cid(cid);
    posting_.post(0, cid, kStSuccess, dw0);
}

void AdminQueue::check_health() {
    const unsigned warning = critical_warning() & features_.async_events();  // Feature 0Bh has the same bits
    if (warning == 0) return;
    raise_event(AsyncEvents::kTypeSmart, (warning & kHealthReadOnly) != 0 ? AsyncEvents::kInfoReliability
                                         : (warning & kHealthSpare) != 0  ? AsyncEvents::kInfoSpare
                                                                          : AsyncEvents::kInfoTemperature);
}

void AdminQueue::reset() {
    events_.reset();
    features_.reset();
    commands_.streams().reset();
    effects_.features_changed();
}

void AdminQueue::check_waiters() const {
    for (std::uint32_t i = 0; i < queues_.count(); ++i) {
        if (!queues_.has_sq(i)) continue;
        const SubmissionQueue& q = queues_.sq(static_cast<std::uint16_t>(i));
        if (q.deleting && q.in_flight == 0)
            throw CheckFailed(
                fmt::format("nvme: queue {}: Delete SQ waits for commands in flight, and there are none", i));
    }
}

}  // namespace ssdtlm
