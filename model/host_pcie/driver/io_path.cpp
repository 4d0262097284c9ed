// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/io_path.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"
#include "protocol/nvme.h"

namespace ssdtlm {
namespace {

const char* op_name(HostOp op) {
    static constexpr const char* kNames[] = {"read", "write", "trim", "flush"};
    return kNames[static_cast<std::size_t>(op)];
}

/// By HostOp.
constexpr std::uint8_t kOpcodes[] = {nvme::kIoRead, nvme::kIoWrite, nvme::kIoDatasetMgmt, nvme::kIoFlush};

}  // namespace

IoPath::IoPath(Agenda& agenda, HostMemory& memory, const HostConfig& config, const QueuePlan& plan, MmioPort& mmio, Workload& workload,
               CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer)
    : agenda_(agenda),
      memory_(memory),
      config_(config),
      plan_(plan),
      mmio_(mmio),
      workload_(workload),
      device_(device),
      oracle_(oracle),
      observer_(observer) {}

void IoPath::prepare(const ControllerInfo& info, std::vector<QueuePair> queues) {
    info_ = info;
    lba_shift_ = static_cast<unsigned>(__builtin_ctz(info.lba_bytes));
    SSDTLM_CHECK(oracle_ == nullptr || (oracle_->lba_bytes() == info.lba_bytes && oracle_->capacity_blocks() >= info.blocks),
                 "the integrity oracle was built for another namespace");
    queues_.reserve(queues.size());  // dirty_ points into it
    for (auto& q : queues) queues_.emplace_back(std::move(q));
    queue_count_ = static_cast<std::uint32_t>(queues_.size());
    dirty_.reserve(queues_.size());
    epoch_ = agenda_.now();
}

void IoPath::start() {
    started_ = true;
    pump();
}

// ---------------------------------------------------------------------------------------------------------------
// Submission.

void IoPath::pump() {
    if (__builtin_expect(paused_, 0)) return;
    while (taking_ && backlog_ < kMaxBacklog) {
        const SimTime now = since_epoch(agenda_.now());
        const Workload::Next n = workload_.next(now);
        if (n.state == Workload::State::ready) {
            accept(n.request);
            continue;
        }
        if (n.state == Workload::State::wait) {
            SSDTLM_CHECK(n.when > now, "the workload waits for a time that has come");
            wait_until(n.when);
        } else if (n.state == Workload::State::done) {
            taking_ = false;
        }
        break;
    }
    if (!dirty_.empty()) ring_doorbells();
    if (!taking_) maybe_finish(0);
}

void IoPath::wait_until(SimTime when) {
    if (when == kNever) return;
    const SimTime at = epoch_ + when.time_since_epoch();
    if (at >= wake_at_) return;
    agenda_.cancel(wake_);
    wake_at_ = at;
    wake_ = agenda_.post_cancellable<&IoPath::wake>(at, this);
}

void IoPath::wake(std::uint64_t) {
    wake_at_ = kNever;
    pump();
}

inline void IoPath::accept(const HostRequest& request) {
    SSDTLM_CHECK(((request.offset | request.bytes) & (info_.lba_bytes - 1)) == 0, "request is not in whole blocks");
    ++counters_.requests_issued;
    Queue& q = queues_[plan_.pair_of(request.job)];
    SSDTLM_CHECK(request.bytes > 0 || request.op == HostOp::flush, "request without blocks");
    if (oracle_ != nullptr) oracle_->prefetch(request.offset >> lba_shift_);
    if (__builtin_expect(request.bytes > info_.max_transfer_bytes, 0) &&
        (request.op == HostOp::read || request.op == HostOp::write))
        return split(q, request, agenda_.now());
    enqueue(q, request, agenda_.now(), kWhole);
}

void IoPath::split(Queue& q, const HostRequest& request, SimTime now) {
    Split& whole = splits_.acquire();
    const SplitHandle handle = Pool<Split>::handle_of(whole);
    whole = Split{request, static_cast<std::uint32_t>(div_ceil(request.bytes, info_.max_transfer_bytes)), true, false};
    HostRequest part = request;
    for (std::uint32_t done = 0; done < request.bytes; done += part.bytes) {
        part.offset = request.offset + done;
        part.bytes = std::min(info_.max_transfer_bytes, request.bytes - done);
        enqueue(q, part, now, handle);
    }
}

inline void IoPath::enqueue(Queue& q, const HostRequest& request, SimTime issued, SplitHandle split) {
    if (config_.submit_time == Ps{} && q.backlog.empty() && q.pair.has_room()) return write_sqe(q, request, issued, split);
    q.backlog.push(Part{request, issued, split});
    ++backlog_;
    if (config_.submit_time != Ps{}) start_submission(q);
}

SimTime IoPath::occupy_cpu(Queue& q, Ps time) {
    q.cpu_free = std::max(q.cpu_free, agenda_.now()) + time;
    return q.cpu_free;
}

void IoPath::start_submission(Queue& q) {
    if (q.submitting || q.backlog.empty() || !q.pair.has_room()) return;
    q.submitting = true;
    agenda_.post<&IoPath::submission_done>(occupy_cpu(q, config_.submit_time), this, entry(q));
}

void IoPath::submission_done(std::uint64_t entry) {
    if (is_stale(entry)) return;
    Queue& q = queue_of(entry);
    q.submitting = false;
    if (paused_) return;
    if (q.backlog.empty()) return;  // stopped meanwhile
    write_front(q);
    start_submission(q);
    // A place in the backlog is free: a workload that was held back may go on. Rings the doorbell too.
    pump();
}

void IoPath::drain_backlog(Queue& q) {
    if (config_.submit_time != Ps{}) return start_submission(q);
    while (!q.backlog.empty() && q.pair.has_room()) write_front(q);
}

void IoPath::write_front(Queue& q) {
    const Part& part = q.backlog.front();
    write_sqe(q, part.request, part.issued, part.split);
    q.backlog.pop();
    --backlog_;
}

__attribute__((noinline, cold)) IoPath::Slot& IoPath::add_slot(Queue& q, std::uint16_t cid) {
    while (q.slots.size() <= cid) {
        const auto next = static_cast<std::uint16_t>(q.slots.size());
        q.slots.emplace_back().timeline = &(device_ != nullptr ? *device_ : own_).at(q.pair.qid(), next);
    }
    q.slot_count = cid + 1u;
    return q.slots[cid];
}

void IoPath::make_prp(Slot& slot, std::uint32_t bytes) {
    const std::uint8_t* const before = slot.buffer.data;
    slot.buffer.reserve(memory_, bytes, config_.page_bytes, config_.buffer_offset);
    if (slot.buffer.data != before) slot.spoiled = 0;
    slot.prp = build_prp(memory_, config_.page_bytes, slot.buffer.address, bytes, slot.buffer.lists);
    slot.prp_bytes = bytes;
}

void IoPath::write_sqe(Queue& q, const HostRequest& request, SimTime issued, SplitHandle split) {
    nvme::Sqe& sqe = q.pair.take_entry();
    Slot& slot = __builtin_expect(sqe.cid < q.slot_count, 1) ? q.slots[sqe.cid] : add_slot(q, sqe.cid);
    const SimTime now = agenda_.now();
    slot.request = request;
    slot.issued = issued;
    slot.submitted = now;
    slot.split = split;
    if (__builtin_expect(device_ == nullptr, 0)) slot.timeline->begin(now);

    const std::uint64_t slba = request.offset >> lba_shift_;
    const std::uint32_t blocks = request.bytes >> lba_shift_;
    sqe.opc = kOpcodes[static_cast<std::size_t>(request.op)];
    sqe.nsid = info_.nsid;
    if (__builtin_expect(request.op == HostOp::read || request.op == HostOp::write, 1)) {
        sqe.set_slba(slba);
        sqe.cdw12 = (blocks - 1) | (request.fua ? nvme::kRwFua : 0u);
        if (__builtin_expect(request.stream != 0, 0) && config_.streams && request.op == HostOp::write) {
            sqe.cdw12 |= nvme::kRwStreams;
            sqe.cdw13 = std::uint32_t{request.stream} << 16;
        }
        // Buffer and list are as the slot's last command has left them, if that was of the same size.
        if (__builtin_expect(slot.prp_bytes != request.bytes, 0)) make_prp(slot, request.bytes);
        sqe.prp1 = slot.prp.prp1;
        sqe.prp2 = slot.prp.prp2;
    } else if (request.op == HostOp::trim) {
        sqe.cdw10 = 0;  // one range, 0-based
        sqe.cdw11 = nvme::kDsmDeallocate;
        make_prp(slot, sizeof(nvme::DsmRange));
        nvme::store(slot.buffer.data, nvme::DsmRange{0, blocks, slba});
        slot.spoiled = 0;
        sqe.prp1 = slot.prp.prp1;
        sqe.prp2 = slot.prp.prp2;
    }
    ++counters_.commands_submitted;
    if (!q.dirty) {
        q.dirty = true;
        dirty_.push_back(&q);
    }
    // Last, so that what accept() has prefetched has had time to arrive. The doorbell is still to come.
    if (oracle_ != nullptr) begin_data(slot);
}

inline void IoPath::begin_data(Slot& slot) {
    const HostRequest& r = slot.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    if (r.op == HostOp::read) {
        slot.token = oracle_->begin_read(blocks, slot.buffer.data, slot.spoiled);
        slot.spoiled = 0;
    } else if (r.op == HostOp::write) {
        slot.token = oracle_->begin_write(slba, blocks, slot.buffer.data);
        slot.spoiled = 0;
    } else if (r.op == HostOp::trim) {
        slot.token = oracle_->begin_trim(slba, blocks);
    } else {
        slot.token = oracle_->begin_flush();
    }
}

inline void IoPath::ring_doorbells() {
    for (Queue* q : dirty_) {
        q->dirty = false;
        ++counters_.sq_doorbells;
        mmio_.write32(nvme::sq_tail_doorbell(q->pair.qid()), q->pair.tail());
    }
    dirty_.clear();
}

// ---------------------------------------------------------------------------------------------------------------
// Completion.

void IoPath::handler(std::uint64_t queue) {
    Queue& q = queues_[queue];
    if (q.reaping) return;  // the running handler looks again before it ends
    if (config_.completion_time != Ps{}) {
        if (!q.pair.has_completion()) return;
        q.reaping = true;
        agenda_.post<&IoPath::reap_one>(occupy_cpu(q, config_.completion_time), this, entry(q));
        return;
    }
    if (!q.pair.has_completion()) return;
    do complete(q, q.pair.take_completion());
    while (q.pair.has_completion());
    handler_done(q);
}

void IoPath::reap_one(std::uint64_t entry) {
    if (is_stale(entry)) return;
    Queue& q = queue_of(entry);
    complete(q, q.pair.take_completion());
    if (q.pair.has_completion()) {
        agenda_.post<&IoPath::reap_one>(occupy_cpu(q, config_.completion_time), this, entry);
        return;
    }
    q.reaping = false;
    handler_done(q);
}

inline void IoPath::handler_done(Queue& q) {
    ++counters_.cq_doorbells;
    mmio_.write32(nvme::cq_head_doorbell(q.pair.qid()), q.pair.head());
    if (__builtin_expect(!q.backlog.empty(), 0) && !paused_) drain_backlog(q);
    pump();
}

void IoPath::complete(Queue& q, const nvme::Cqe& cqe) {
    Slot& slot = q.slots[cqe.cid];
    const bool ok = cqe.status() == nvme::kStSuccess;
    ++counters_.commands_completed;

    // That the stages add up to now - issued is the observer's check: it looks at each of them anyway.
    Timeline& timeline = *slot.timeline;
    timeline.precede(slot.issued, slot.submitted);
    timeline.charge(Stage::completion, agenda_.now());
    if (__builtin_expect(!ok, 0)) note_error(q, slot, cqe);
    if (oracle_ != nullptr) end_data(q, slot, cqe.cid, ok);
    if (__builtin_expect(slot.split != kWhole, 0)) return part_done(slot, ok);
    finish_request(slot.request, slot, ok);
}

void IoPath::part_done(Slot& slot, bool ok) {
    Split& split = splits_.at(slot.split);
    split.ok = split.ok && ok;
    if (--split.remaining != 0) return;
    const Split whole = split;
    splits_.release(split);
    if (!whole.dropped) finish_request(whole.request, slot, whole.ok);
}

inline void IoPath::end_data(Queue& q, Slot& slot, std::uint16_t cid, bool ok) {
    const HostRequest& r = slot.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    if (r.op == HostOp::read) {
        if (__builtin_expect(!ok, 0)) return oracle_->abandon_read();
        oracle_->check_read(slot.token, slba, blocks, slot.buffer.data,
                            IntegrityOracle::Reader{q.pair.qid(), cid, since_epoch(agenda_.now())});
        slot.spoiled = blocks;
    } else if (r.op == HostOp::write) {
        oracle_->end_write(slba, blocks, ok, slot.token, r.fua);
    } else if (r.op == HostOp::trim) {
        oracle_->end_trim(slba, blocks, ok, slot.token);
    } else {
        oracle_->end_flush(slot.token, ok);
    }
}

inline void IoPath::finish_request(const HostRequest& request, const Slot& slot, bool ok) {
    const SimTime now = since_epoch(agenda_.now());
    const SimTime issued = since_epoch(slot.issued);
    const SimTime submitted = since_epoch(slot.submitted);
    ++counters_.requests_completed;
    if (observer_ != nullptr)
        observer_->on_complete(request, issued, submitted, now, *slot.timeline, workload_.measuring(request, now));
    workload_.completed(request, issued, submitted, now, ok);
}

void IoPath::note_error(const Queue& q, const Slot& slot, const nvme::Cqe& cqe) {
    const bool first_of_its_kind = counters_.errors == counters_.media_errors();  // none was another than a media error
    const bool first = counters_.errors++ == 0;
    switch (cqe.status()) {
        case nvme::kStUnrecoveredRead: ++counters_.unrecovered_reads; break;
        case nvme::kStWriteFault: ++counters_.write_faults; break;
        case nvme::kStReadOnlyRange: ++counters_.refused_read_only; break;
        default:
            if (first_of_its_kind) first_error_.clear();
    }
    if (!first && !first_error_.empty()) return;
    const HostRequest& r = slot.request;
    first_error_ = std::string(op_name(r.op)) + " of " + std::to_string(r.bytes >> lba_shift_) + " blocks at LBA " +
                   std::to_string(r.offset >> lba_shift_) + ": status SCT " + std::to_string(cqe.status() >> 8) + " SC " +
                   std::to_string(cqe.status() & 0xFF) + ", queue " + std::to_string(q.pair.qid()) + " CID " +
                   std::to_string(cqe.cid) + ", completed at " +
                   std::to_string(since_epoch(agenda_.now()).time_since_epoch().count()) + " ps";
}

// ---------------------------------------------------------------------------------------------------------------
// Controller reset.

void IoPath::controller_stopped() {
    SSDTLM_CHECK(paused_, "the controller stopped under a driver that submits");
    ++starts_;
    for (Queue& q : queues_) {
        q.submitting = q.reaping = false;
        while (q.pair.has_completion()) complete(q, q.pair.take_completion());
        cancel_commands(q);
        q.pair.reset();
    }
}

// What is submitted again goes ahead of the backlog, in the order in which it was submitted before.
void IoPath::cancel_commands(Queue& q) {
    std::vector<std::uint16_t> cancelled;
    for (std::uint32_t cid = 0; cid < q.slot_count; ++cid) {
        if (q.pair.outstanding(static_cast<std::uint16_t>(cid))) cancelled.push_back(static_cast<std::uint16_t>(cid));
    }
    std::stable_sort(cancelled.begin(), cancelled.end(),
                     [&q](std::uint16_t a, std::uint16_t b) { return q.slots[a].submitted < q.slots[b].submitted; });
    Fifo<Part> backlog;
    for (const std::uint16_t cid : cancelled) {
        Slot& slot = q.slots[cid];
        if (oracle_ != nullptr) end_data(q, slot, cid, false);  // nobody knows whether the device carried it out
        backlog.push(Part{slot.request, slot.issued, slot.split});
    }
    counters_.commands_cancelled += cancelled.size();
    backlog_ += cancelled.size();
    for (; !q.backlog.empty(); q.backlog.pop()) backlog.push(q.backlog.front());
    std::swap(q.backlog, backlog);
}

void IoPath::resume() {
    paused_ = false;
    for (Queue& q : queues_) drain_backlog(q);
    pump();
}

// ---------------------------------------------------------------------------------------------------------------
// The end.

void IoPath::stop_submitting() {
    if (stopped_) return;
    stopped_ = true;
    taking_ = false;
    for (Queue& q : queues_) {
        for (; !q.backlog.empty(); q.backlog.pop()) {
            if (q.backlog.front().split == kWhole) continue;
            Split& split = splits_.at(q.backlog.front().split);
            split.dropped = true;
            if (--split.remaining == 0) splits_.release(split);
        }
    }
    backlog_ = 0;
    if (started_) agenda_.post<&IoPath::maybe_finish>(agenda_.now(), this);
}

void IoPath::maybe_finish(std::uint64_t) {
    if (finished_ || taking_ || paused_ || outstanding() != 0 || backlog_ != 0) return;
    finished_ = true;
    if (on_finished_) on_finished_(since_epoch(agenda_.now()));
}

void IoPath::check_waiters() const {
    if (!started_ || finished_ || paused_) return;
    if (!dirty_.empty()) throw CheckFailed("host: commands were written, and their doorbell was not rung");
    for (const Queue& q : queues_) {
        if (q.backlog.empty() || q.submitting || q.reaping) continue;  // who looks at the backlog at his end
        if (q.pair.has_room() || q.pair.outstanding() == 0)
            throw CheckFailed("host: queue " + std::to_string(q.pair.qid()) + ": " + std::to_string(q.backlog.size()) +
                              " requests wait for room, and it has room or nothing will make any");
    }
    if (waits_for_nothing())
        throw CheckFailed("host: the workload is not done, and waits neither for a time nor for a completion");
    if (!taking_ && outstanding() == 0 && backlog_ == 0 && !stopped_)
        throw CheckFailed("host: the workload is done, and nobody has noticed");
}

std::optional<PendingCommand> IoPath::oldest() const {
    std::optional<PendingCommand> oldest;
    for (const Queue& q : queues_) {
        if (q.pair.outstanding() == 0) continue;
        for (std::uint32_t cid = 0; cid < q.slot_count; ++cid) {
            const Slot& slot = q.slots[cid];
            if (!q.pair.outstanding(static_cast<std::uint16_t>(cid)) || (oldest && oldest->submitted <= slot.submitted)) continue;
            const HostRequest& r = slot.request;
            oldest = PendingCommand{q.pair.qid(), static_cast<std::uint16_t>(cid), r.op, r.offset >> lba_shift_, r.bytes >> lba_shift_,
                                    slot.submitted};
        }
    }
    return oldest;
}

std::string IoPath::dump() const {
    std::string s = "host: " + std::to_string(counters_.requests_issued) + " requests issued, " +
                    std::to_string(counters_.requests_completed) + " completed, " + std::to_string(outstanding()) +
                    " commands in the device, " + std::to_string(backlog_) + " waiting in the host, " +
                    std::to_string(counters_.errors) + " errors\n";
    if (const auto c = oldest())
        s += std::string("  oldest: ") + op_name(c->op) + " of " + std::to_string(c->blocks) + " blocks at LBA " + std::to_string(c->slba) +
             ", queue " + std::to_string(c->queue) + " CID " + std::to_string(c->cid) + ", submitted " +
             std::to_string((agenda_.now() - c->submitted).count()) + " ps ago\n";
    for (const Queue& q : queues_) {
        if (q.pair.outstanding() == 0 && q.backlog.empty()) continue;
        s += "  queue " + std::to_string(q.pair.qid()) + ": outstanding " + std::to_string(q.pair.outstanding()) +
             ", backlog " + std::to_string(q.backlog.size()) + ", SQ tail " + std::to_string(q.pair.tail()) +
             ", SQ head " + std::to_string(q.pair.sq_head()) + ", CQ head " + std::to_string(q.pair.head()) +
             (q.pair.has_completion() ? ", completion not handled" : "") + "\n";
    }
    return s;
}

}  // namespace ssdtlm
