// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/io_path.h"

#include <algorithm>

#include "common/report/error.h"
#include "host_pcie/protocol/nvme.h"

namespace ssdtlm {
namespace {

const char* op_name(HostOp op) {
    static constexpr const char* kNames[] = {"read", "write", "trim", "flush"};
    return kNames[static_cast<std::size_t>(op)];
}

constexpr std::uint8_t opcode(HostOp op) {
    constexpr std::uint8_t kOpcodes[] = {nvme::kIoRead, nvme::kIoWrite, nvme::kIoDatasetMgmt, nvme::kIoFlush};
    return kOpcodes[static_cast<std::size_t>(op)];
}

}  // namespace

IoPath::IoPath(Agenda& agenda, HostMemory& memory, const HostConfig& config, MmioPort& mmio, Workload& workload,
               CommandTracker& tracker, IntegrityOracle* oracle, CompletionObserver* observer)
    : agenda_(agenda),
      memory_(memory),
      config_(config),
      mmio_(mmio),
      workload_(workload),
      tracker_(tracker),
      oracle_(oracle),
      observer_(observer) {}

void IoPath::prepare(const ControllerInfo& info, std::vector<QueuePair> queues) {
    info_ = info;
    lba_shift_ = static_cast<unsigned>(__builtin_ctz(info.lba_bytes));
    SSDTLM_CHECK(oracle_ == nullptr || (oracle_->lba_bytes() == info.lba_bytes && oracle_->capacity_blocks() >= info.blocks),
                 "the integrity oracle was built for another namespace");
    queues_.reserve(queues.size());  // dirty_ points into it
    for (auto& q : queues) queues_.emplace_back(std::move(q));
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
    while (!exhausted_ && !stopped_ && backlog_ < kMaxBacklog) {
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
            exhausted_ = true;
        }
        break;
    }
    ring_doorbells();
    maybe_finish(0);
}

void IoPath::wait_until(SimTime when) {
    if (when == kNever) return;
    const SimTime at = epoch_ + when.time_since_epoch();
    if (at >= wake_at_) return;
    wake_at_ = at;
    agenda_.post<&IoPath::wake>(at, this);
}

void IoPath::wake(std::uint64_t) {
    if (agenda_.now() != wake_at_) return;  // an earlier wake has taken its place
    wake_at_ = kNever;
    pump();
}

void IoPath::accept(const HostRequest& request) {
    SSDTLM_CHECK(((request.offset | request.bytes) & (info_.lba_bytes - 1)) == 0, "request is not in whole blocks");
    ++counters_.requests_issued;
    Queue& q = queues_[request.job % queues_.size()];
    const bool data = request.op == HostOp::read || request.op == HostOp::write;
    SSDTLM_CHECK(request.bytes > 0 || request.op == HostOp::flush, "request without blocks");
    if (oracle_ != nullptr) oracle_->prefetch(request.offset >> lba_shift_);
    if (prefetch_ != nullptr) prefetch_(prefetch_self_, request.offset);
    const SimTime now = agenda_.now();
    if (!data || request.bytes <= info_.max_transfer_bytes) return enqueue(q, Part{request, now, kWhole});

    if (free_splits_.empty()) {
        free_splits_.push_back(static_cast<std::uint32_t>(splits_.size()));
        splits_.emplace_back();
    }
    const std::uint32_t index = free_splits_.back();
    free_splits_.pop_back();
    splits_[index] = Split{request, static_cast<std::uint32_t>(div_ceil(request.bytes, info_.max_transfer_bytes)), true, false};
    Part part{request, now, index};
    for (std::uint32_t done = 0; done < request.bytes; done += part.request.bytes) {
        part.request.offset = request.offset + done;
        part.request.bytes = std::min(info_.max_transfer_bytes, request.bytes - done);
        enqueue(q, part);
    }
}

void IoPath::enqueue(Queue& q, const Part& part) {
    if (config_.submit_time == Ps{} && q.backlog.empty() && q.pair.has_room()) return write_sqe(q, part);
    q.backlog.push(part);
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
    agenda_.post<&IoPath::submission_done>(occupy_cpu(q, config_.submit_time), this, q.pair.qid() - 1u);
}

void IoPath::submission_done(std::uint64_t queue) {
    Queue& q = queues_[queue];
    q.submitting = false;
    if (q.backlog.empty()) return;  // stopped meanwhile
    const Part part = q.backlog.front();
    q.backlog.pop();
    --backlog_;
    write_sqe(q, part);
    start_submission(q);
    // A place in the backlog is free: a workload that was held back may go on. Rings the doorbell too.
    pump();
}

void IoPath::drain_backlog(Queue& q) {
    if (config_.submit_time != Ps{}) return start_submission(q);
    while (!q.backlog.empty() && q.pair.has_room()) {
        const Part part = q.backlog.front();
        q.backlog.pop();
        --backlog_;
        write_sqe(q, part);
    }
}

void IoPath::write_sqe(Queue& q, const Part& part) {
    const std::uint16_t cid = q.pair.next_cid();
    if (cid >= q.slots.size()) q.slots.resize(cid + 1u);
    Slot& slot = q.slots[cid];
    if (slot.timeline == nullptr) slot.timeline = &tracker_.at(q.pair.qid(), cid);
    slot.part = part;
    slot.submitted = agenda_.now();

    const HostRequest& r = slot.part.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    nvme::Sqe sqe;
    sqe.opc = opcode(r.op);
    sqe.nsid = info_.nsid;
    std::uint32_t transfer = 0;
    switch (r.op) {
        case HostOp::read:
        case HostOp::write:
            transfer = r.bytes;
            sqe.set_slba(slba);
            sqe.cdw12 = (blocks - 1) | (r.fua ? nvme::kRwFua : 0u);
            slot.buffer.reserve(memory_, transfer, config_.page_bytes, config_.buffer_offset);
            break;
        case HostOp::trim:
            transfer = sizeof(nvme::DsmRange);
            sqe.cdw10 = 0;  // one range, 0-based
            sqe.cdw11 = nvme::kDsmDeallocate;
            slot.buffer.reserve(memory_, transfer, config_.page_bytes, config_.buffer_offset);
            nvme::store(slot.buffer.data, nvme::DsmRange{0, blocks, slba});
            break;
        case HostOp::flush:
            break;
    }
    if (transfer != 0) {
        const PrpPair prp = build_prp(memory_, config_.page_bytes, slot.buffer.address, transfer, slot.buffer.lists);
        sqe.prp1 = prp.prp1;
        sqe.prp2 = prp.prp2;
    }
    q.pair.submit(sqe);
    slot.timeline->begin(slot.submitted);
    ++counters_.commands_submitted;
    if (!q.dirty) {
        q.dirty = true;
        dirty_.push_back(&q);
    }
    // Last, so that what accept() has prefetched has had time to arrive. The doorbell is still to come.
    if (oracle_ != nullptr) begin_data(slot);
}

void IoPath::begin_data(Slot& slot) {
    const HostRequest& r = slot.part.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    switch (r.op) {
        case HostOp::read:
            slot.token = oracle_->begin_read(blocks, slot.buffer.data);
            break;
        case HostOp::write:
            oracle_->begin_write(slba, blocks, slot.buffer.data);
            break;
        case HostOp::trim:
            oracle_->begin_trim(slba, blocks);
            break;
        case HostOp::flush:
            break;
    }
}

void IoPath::ring_doorbells() {
    for (Queue* q : dirty_) {
        q->dirty = false;
        ++counters_.sq_doorbells;
        mmio_.write32(nvme::sq_tail_doorbell(q->pair.qid()), q->pair.tail());
    }
    dirty_.clear();
}

// ---------------------------------------------------------------------------------------------------------------
// Completion.

void IoPath::interrupt(std::uint16_t qid) {
    if (qid == 0 || qid > queues_.size()) return;  // a vector the driver has not set up
    ++counters_.interrupts;
    if (config_.interrupt_latency == Ps{})
        handler(qid - 1u);
    else
        agenda_.post<&IoPath::handler>(agenda_.now() + config_.interrupt_latency, this, qid - 1u);
}

void IoPath::handler(std::uint64_t queue) {
    Queue& q = queues_[queue];
    if (q.reaping) return;  // the running handler looks again before it ends
    if (config_.completion_time != Ps{}) {
        if (!q.pair.has_completion()) return;
        q.reaping = true;
        agenda_.post<&IoPath::reap_one>(occupy_cpu(q, config_.completion_time), this, queue);
        return;
    }
    nvme::Cqe cqe;
    if (!q.pair.reap(cqe)) return;
    do complete(q, cqe);
    while (q.pair.reap(cqe));
    handler_done(q);
}

void IoPath::reap_one(std::uint64_t queue) {
    Queue& q = queues_[queue];
    nvme::Cqe cqe;
    q.pair.reap(cqe);
    complete(q, cqe);
    if (q.pair.has_completion()) {
        agenda_.post<&IoPath::reap_one>(occupy_cpu(q, config_.completion_time), this, queue);
        return;
    }
    q.reaping = false;
    handler_done(q);
}

void IoPath::handler_done(Queue& q) {
    ++counters_.cq_doorbells;
    mmio_.write32(nvme::cq_head_doorbell(q.pair.qid()), q.pair.head());
    drain_backlog(q);
    pump();
}

void IoPath::complete(Queue& q, const nvme::Cqe& cqe) {
    Slot& slot = q.slots[cqe.cid];
    const SimTime now = agenda_.now();
    const bool ok = cqe.status() == nvme::kStSuccess;
    ++counters_.commands_completed;

    slot.timeline->charge(Stage::completion, now);
    // That the stages add up to now - submitted is the observer's check: it looks at each of them anyway.
    SSDTLM_CHECK(slot.timeline->start() == slot.submitted, "latency stages do not begin at the submission");
    if (!ok) note_error(q, slot, cqe);
    if (oracle_ != nullptr) end_data(q, slot, cqe.cid, ok);

    if (slot.part.split == kWhole) return finish_request(slot.part.request, slot, ok);
    Split& split = splits_[slot.part.split];
    split.ok = split.ok && ok;
    if (--split.remaining != 0) return;
    free_splits_.push_back(slot.part.split);
    if (!split.dropped) finish_request(split.request, slot, split.ok);
}

void IoPath::end_data(Queue& q, Slot& slot, std::uint16_t cid, bool ok) {
    const HostRequest& r = slot.part.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    switch (r.op) {
        case HostOp::read:
            if (ok)
                oracle_->check_read(slot.token, slba, blocks, slot.buffer.data,
                                    IntegrityOracle::Reader{q.pair.qid(), cid, since_epoch(agenda_.now())});
            else
                oracle_->abandon_read();
            break;
        case HostOp::write:
            oracle_->end_write(slba, blocks, ok);
            break;
        case HostOp::trim:
            oracle_->end_trim(slba, blocks, ok);
            break;
        case HostOp::flush:
            break;
    }
}

void IoPath::finish_request(const HostRequest& request, const Slot& slot, bool ok) {
    const SimTime now = since_epoch(agenda_.now());
    const SimTime issued = since_epoch(slot.part.issued);
    const SimTime submitted = since_epoch(slot.submitted);
    ++counters_.requests_completed;
    if (observer_ != nullptr)
        observer_->on_complete(request, issued, submitted, now, *slot.timeline, workload_.measuring(request, now));
    workload_.completed(request, issued, submitted, now, ok);
}

void IoPath::note_error(const Queue& q, const Slot& slot, const nvme::Cqe& cqe) {
    if (counters_.errors++ != 0) return;
    const HostRequest& r = slot.part.request;
    first_error_ = std::string(op_name(r.op)) + " of " + std::to_string(r.bytes >> lba_shift_) + " blocks at LBA " +
                   std::to_string(r.offset >> lba_shift_) + ": status SCT " + std::to_string(cqe.status() >> 8) + " SC " +
                   std::to_string(cqe.status() & 0xFF) + ", queue " + std::to_string(q.pair.qid()) + " CID " +
                   std::to_string(cqe.cid) + ", completed at " +
                   std::to_string(since_epoch(agenda_.now()).time_since_epoch().count()) + " ps";
}

// ---------------------------------------------------------------------------------------------------------------
// The end.

void IoPath::stop_submitting() {
    if (stopped_) return;
    stopped_ = true;
    for (Queue& q : queues_) {
        for (; !q.backlog.empty(); q.backlog.pop()) {
            const std::uint32_t split = q.backlog.front().split;
            if (split == kWhole) continue;
            splits_[split].dropped = true;
            if (--splits_[split].remaining == 0) free_splits_.push_back(split);
        }
    }
    backlog_ = 0;
    if (started_) agenda_.post<&IoPath::maybe_finish>(agenda_.now(), this);
}

void IoPath::maybe_finish(std::uint64_t) {
    if (finished_ || !(exhausted_ || stopped_) || outstanding() != 0 || backlog_ != 0) return;
    finished_ = true;
    if (on_finished_) on_finished_(since_epoch(agenda_.now()));
}

std::string IoPath::dump() const {
    std::string s = "host: " + std::to_string(counters_.requests_issued) + " requests issued, " +
                    std::to_string(counters_.requests_completed) + " completed, " + std::to_string(outstanding()) +
                    " commands in the device, " + std::to_string(backlog_) + " waiting in the host, " +
                    std::to_string(counters_.errors) + " errors\n";
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
