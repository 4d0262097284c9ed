// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/admin_queue.h"

#include <fmt/format.h>

#include "controller/nvme/identify.h"

namespace ssdtlm {

using namespace nvme;

AdminQueue::AdminQueue(const NvmeConfig& config, const DriveFacts& device, const Peers& peers)
    : agenda_(peers.agenda),
      dma_(peers.dma),
      state_(peers.state),
      queues_(peers.queues),
      features_(peers.features),
      posting_(peers.posting),
      lists_(peers.lists),
      errors_(peers.memory.errors),
      counters_(peers.counters),
      effects_(peers.effects),
      commands_(config, device, peers.state.registers(), peers.queues, peers.features, events_, peers.memory,
                peers.counters) {}

void AdminQueue::accept(const FetchedEntries& fetched, SubmissionQueue& queue) {
    for (std::uint32_t i = 0; i < fetched.count; ++i) accept_one(fetched.entries[i], queue);
}

void AdminQueue::accept_one(const Sqe& sqe, SubmissionQueue& queue) {
    const bool conflict = queue.cid_in_use(sqe.cid);
    ++counters_.admin;
    data_.clear();
    if (const std::uint32_t bytes = commands_.host_bytes(sqe, conflict); bytes != 0) {
        data_.resize(bytes);
        begin_data(sqe, 0, true, queue);
    } else {
        execute(sqe, conflict, queue);
    }
}

void AdminQueue::execute(const Sqe& sqe, bool conflict, SubmissionQueue& queue) {
    const std::uint64_t token = ++tokens_;
    const AdminResult r = commands_.execute(sqe, conflict, agenda_.now(), data_, token);
    if (r.status != kStSuccess) return refuse(sqe.cid, r.status, r.dw0, sqe.nsid);
    switch (r.then) {
        case AdminResult::Then::complete:
            if (sqe.opc == kAdminSetFeatures) effects_.features_changed();
            if (sqe.opc == kAdminSetFeatures || sqe.opc == kAdminKeepAlive) restart_keep_alive();
            posting_.post(0, sqe.cid, r.status, r.dw0);
            if (sqe.opc == kAdminSetFeatures) check_health();
            break;
        case AdminResult::Then::send_data:
            begin_data(sqe, r.dw0, false, queue);
            break;
        case AdminResult::Then::hold:
            queue.take_cid(sqe.cid);
            check_health();
            raise_waiting();
            break;
        case AdminResult::Then::later:
            queue.take_cid(sqe.cid);
            later_.push_back({token, sqe.cid, sqe.nsid});
            break;
        case AdminResult::Then::delete_sq:
            delete_queue(r.qid, sqe.cid, queue);
            break;
        case AdminResult::Then::abort_event:
            queue.free_cid(r.aborted_cid);
            posting_.post(0, r.aborted_cid, kStAbortRequested, 0);
            posting_.post(0, sqe.cid, kStSuccess, r.dw0);
            break;
        case AdminResult::Then::abort_command:
            posting_.post(0, sqe.cid, kStSuccess, effects_.abort_io(r.qid, r.aborted_cid) ? 0 : r.dw0);
            break;
    }
    effects_.work_started();
}

void AdminQueue::admin_ended(std::uint64_t token, std::uint16_t status) {
    for (std::size_t i = 0; i < later_.size(); ++i) {
        if (later_[i].token != token) continue;
        if (!state_.serving()) return;  // its queue will be dropped, so its end does not matter
        const Later ended = later_[i];
        later_.erase(later_.begin() + static_cast<std::ptrdiff_t>(i));
        queues_.sq(0).free_cid(ended.cid);
        if (status != kStSuccess) return refuse(ended.cid, status, 0, ended.nsid);
        return posting_.post(0, ended.cid, status, 0);
    }
    // A reset came between, and nobody waits any more.
}

void AdminQueue::refuse(std::uint16_t cid, std::uint16_t status, std::uint32_t dw0, std::uint32_t nsid) {
    ++counters_.refused;
    errors_.add(0, cid, status, 0, nsid);
    posting_.post(0, cid, status, dw0);
}

/// Begins the transfer of data_ to the host or from it.
void AdminQueue::begin_data(const Sqe& sqe, std::uint32_t dw0, bool from_host, SubmissionQueue& queue) {
    Op& op = ops_.acquire();
    queue.take_cid(sqe.cid);
    op.sqe = sqe;
    op.dw0 = dw0;
    op.from_host = from_host;
    op.data.swap(data_);
    op.place.clear();
    DataWalk walk;
    switch (walk.start(sqe, op.data.size(), !from_host, op.place)) {
        case WalkStep::done:
            move_data(op);
            break;
        case WalkStep::need_list:
            lists_.read_list(walk, op.place, *this, Pool<Op>::handle_of(op).number());
            break;
        case WalkStep::refused:
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
    effects_.queue_deleting(sqid);  // the commands that waited in it may have been the only ones
    if (victim.valid) queue_drained(sqid, victim);
}

void AdminQueue::queue_drained(std::uint16_t sqid, SubmissionQueue& queue) {
    if (queue.in_flight != 0) return;
    const std::uint16_t cid = queue.delete_cid;
    queues_.delete_sq(sqid);
    queues_.sq(0).free_cid(cid);
    posting_.post(0, cid, kStSuccess, 0);
}

void AdminQueue::move_data(Op& op) {
    segments_.clear();
    op.place.segments(0, op.data.size(), segments_);
    const auto count = static_cast<std::uint32_t>(segments_.size());
    const std::uint64_t number = Pool<Op>::handle_of(op).number();
    if (op.from_host)
        dma_.read_host(segments_.data(), count, op.data.data(), DmaThen::to<&AdminQueue::data_fetched>(this, number));
    else
        dma_.write_host(segments_.data(), count, op.data.data(), DmaThen::to<&AdminQueue::data_sent>(this, number));
}

void AdminQueue::data_fetched(std::uint64_t number, DmaEnd end) {
    if (end.failed) return list_failed(number, nvme::kStDataTransferError);
    Op& op = ops_.at(number);
    if (!state_.serving()) {
        drop(op);
    } else {
        const Sqe sqe = op.sqe;
        data_.swap(op.data);
        ops_.release(op);
        queues_.sq(0).free_cid(sqe.cid);
        execute(sqe, false, queues_.sq(0));
    }
    state_.settle();
}

void AdminQueue::data_sent(std::uint64_t number, DmaEnd end) {
    Op& op = ops_.at(number);
    if (state_.serving()) {
        queues_.sq(0).free_cid(op.sqe.cid);
        posting_.post(0, op.sqe.cid, kStSuccess,
                      op.dw0);  // behind the data on the link, so the host sees the data first
        raise_waiting();
    }
    agenda_.post(end.data_free_at(), Then::to<&AdminQueue::data_visible>(this, number));
}

void AdminQueue::data_visible(std::uint64_t op) {
    ops_.release(ops_.at(op));
    state_.settle();
}

void AdminQueue::list_known(std::uint64_t token) {
    Op& op = ops_.at(token);
    if (state_.serving())
        move_data(op);
    else
        drop(op);
}

void AdminQueue::list_failed(std::uint64_t token, std::uint16_t status) {
    Op& op = ops_.at(token);
    if (!state_.serving()) {
        ++counters_.refused;
        return drop(op);
    }
    const std::uint16_t cid = op.sqe.cid;
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
    if (events_.raise(type, info, cid, dw0)) post_event(cid, dw0);
}

void AdminQueue::tell(std::uint32_t type, std::uint32_t info, std::uint8_t log) {
    if (!state_.serving()) return;
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    if (events_.raise({type, info, log}, cid, dw0)) post_event(cid, dw0);
}

void AdminQueue::raise_waiting() {
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    while (events_.raise_waiting(cid, dw0)) post_event(cid, dw0);
}

void AdminQueue::post_event(std::uint16_t cid, std::uint32_t dw0) {
    queues_.sq(0).free_cid(cid);
    posting_.post(0, cid, kStSuccess, dw0);
}

/// NVMe 1.4 §7.12: when the keep-alive timer runs out, the controller only sets CFS.
void AdminQueue::restart_keep_alive() {
    agenda_.cancel(keep_alive_);
    keep_alive_ = {};
    if (features_.keep_alive_ms() == 0) return;
    constexpr std::uint64_t kUnit = kKeepAliveUnits * std::uint64_t{100};  // rounded up to a multiple of this
    const std::uint64_t ms = div_ceil(features_.keep_alive_ms(), kUnit) * kUnit;
    keep_alive_ = agenda_.post_cancellable(agenda_.now() + Ps{1ms} * static_cast<std::int64_t>(ms),
                                           Then::to<&AdminQueue::keep_alive_expired>(this));
}

void AdminQueue::keep_alive_expired() {
    keep_alive_ = {};
    if (state_.serving()) state_.fatal();
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
    commands_.reset();
    later_.clear();
    restart_keep_alive();  // KATO is 0 again
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
