// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/io_path.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

IoPath::IoPath(Agenda& agenda, const HostConfig& config, const QueuePlan& plan, CommandQueues& commands,
               Workload& workload, CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer)
    : agenda_(agenda),
      config_(config),
      plan_(plan),
      commands_(commands),
      workload_(workload),
      device_(device),
      data_(oracle),
      observer_(observer),
      cpu_(config),
      submits_in_time_(cpu_.submits_in_time()),
      completes_in_time_(cpu_.completes_in_time()) {}

void IoPath::prepare(const DriveInfo& info) {
    info_ = info;
    lba_shift_ = static_cast<unsigned>(__builtin_ctz(info.lba_bytes));
    data_.prepare(info);
    queue_count_ = commands_.count();
    queues_.reserve(queue_count_);  // dirty_ points into it
    for (std::uint32_t i = 0; i < queue_count_; ++i) queues_.emplace_back(commands_, static_cast<std::uint16_t>(i + 1));
    dirty_.reserve(queue_count_);
    cpu_.deal(queue_count_);
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
    if (!dirty_.empty()) announce();
    if (!taking_) maybe_finish();
}

void IoPath::wait_until(SimTime when) {
    if (when == kNever) return;
    const SimTime at = epoch_ + when.time_since_epoch();
    if (at >= wake_at_) return;
    agenda_.cancel(wake_);
    wake_at_ = at;
    wake_ = agenda_.post_cancellable(at, Then::to<&IoPath::wake>(this));
}

void IoPath::wake() {
    wake_at_ = kNever;
    pump();
}

inline void IoPath::accept(const HostRequest& request) {
    SSDTLM_CHECK(((request.offset | request.bytes) & (info_.lba_bytes - 1)) == 0, "request is not in whole blocks");
    ++counters_.requests_issued;
    IoQueue& q = queues_[plan_.pair_of(request.job)];
    SSDTLM_CHECK(request.bytes > 0 || request.op == HostOp::flush, "request without blocks");
    if (__builtin_expect(request.op == HostOp::flush, 0) && !info_.volatile_write_cache) {
        // The drive has no volatile cache, so the host's kernel answers the flush itself, as Linux does
        // (block/blk-core.c, submit_bio_noacct()).
        const SimTime now = since_epoch(agenda_.now());
        ++counters_.requests_completed;
        return workload_.completed(request, now, now, now, true);
    }
    if (data_.is_on()) data_.prefetch(request.offset);
    if (__builtin_expect(request.bytes > info_.max_transfer_bytes || !info_.borders.empty(), 0) &&
        part_bytes(request, 0) != request.bytes)
        return split(q, request, agenda_.now());
    enqueue(q, request, agenda_.now(), kWhole);
}

std::uint32_t IoPath::part_bytes(const HostRequest& request, std::uint32_t done) const {
    return command_bytes(info_, request, done);
}

void IoPath::split(IoQueue& q, const HostRequest& request, SimTime now) {
    SplitRequest& whole = splits_.acquire();
    const SplitHandle handle = Pool<SplitRequest>::handle_of(whole);
    std::uint32_t parts = 0;
    for (std::uint32_t done = 0; done < request.bytes; ++parts) done += part_bytes(request, done);
    whole = SplitRequest{request, parts, true, false};
    HostRequest part = request;
    for (std::uint32_t done = 0; done < request.bytes; done += part.bytes) {
        part.offset = request.offset + done;
        part.bytes = part_bytes(request, done);
        enqueue(q, part, now, handle);
    }
}

inline void IoPath::enqueue(IoQueue& q, const HostRequest& request, SimTime issued, SplitHandle split) {
    if (!submits_in_time_ && q.backlog.empty() && q.has_room()) return write(q, request, issued, split);
    q.backlog.push(WaitingCommand{request, issued, split});
    ++backlog_;
    if (submits_in_time_) start_submission(q);
}

void IoPath::start_submission(IoQueue& q) {
    if (q.submitting || q.backlog.empty() || !q.has_room()) return;
    q.submitting = true;
    const Ps cost = cpu_.submission(q.backlog.front().request);
    agenda_.post(cpu_.occupy(q.number - 1u, agenda_.now(), cost), Then::to<&IoPath::submission_done>(this, entry(q)));
}

void IoPath::submission_done(std::uint64_t entry) {
    IoQueue* const queue = queue_of(entry);
    if (queue == nullptr) return;
    IoQueue& q = *queue;
    q.submitting = false;
    if (paused_) return;
    if (q.backlog.empty()) return;  // the backlog was dropped meanwhile
    write_front(q);
    start_submission(q);
    // A place in the backlog is free, so a workload that was held back may go on. pump() also rings the doorbell.
    pump();
}

void IoPath::drain_backlog(IoQueue& q) {
    if (submits_in_time_) return start_submission(q);
    while (!q.backlog.empty() && q.has_room()) write_front(q);
}

void IoPath::write_front(IoQueue& q) {
    const WaitingCommand& part = q.backlog.front();
    write(q, part.request, part.issued, part.split);
    q.backlog.pop();
    --backlog_;
}

void IoPath::write(IoQueue& q, const HostRequest& request, SimTime issued, SplitHandle split) {
    const CommandQueues::Submitted command = commands_.submit(q.number, request);
    IoSlot& slot = __builtin_expect(command.tag < q.slot_count, 1)
                       ? q.slots[command.tag]
                       : q.add_slot(command.tag, device_ != nullptr ? *device_ : own_);
    const SimTime now = agenda_.now();
    slot.request = request;
    slot.issued = issued;
    slot.submitted = now;
    slot.split = split;
    if (__builtin_expect(device_ == nullptr, 0)) slot.timeline->begin(now);
    if (__builtin_expect(slot.data != command.data || request.op == HostOp::trim, 0)) {
        slot.data = command.data;
        slot.spoiled = 0;
    }
    ++counters_.commands_submitted;
    if (!q.dirty) {
        q.dirty = true;
        dirty_.push_back(&q);
    }
    // This comes last, so that the data that accept() has prefetched have arrived. The announcement follows.
    if (data_.is_on()) data_.begin(slot);
}

inline void IoPath::announce() {
    for (IoQueue* q : dirty_) {
        q->dirty = false;
        ++counters_.announcements;
        commands_.announce(q->number);
    }
    dirty_.clear();
}

// ---------------------------------------------------------------------------------------------------------------
// Completion.

void IoPath::handler(std::uint64_t queue) {
    IoQueue& q = queues_[queue];
    if (q.reaping) return;  // the running handler looks again before it ends
    if (!commands_.has_ended(q.number)) return;
    if (completes_in_time_) return reap(q, agenda_.now(), config_.interrupt_time);
    reap_all(q);
}

/// Does the work of handler() for a core that polls.
void IoPath::look(IoQueue& q) {
    if (q.reaping) return;  // the running reaper looks again before it ends
    const SimTime at = cpu_.next_look(q.number - 1u, agenda_.now());
    if (completes_in_time_) return reap(q, at, Ps{});
    q.reaping = true;
    agenda_.post(at, Then::to<&IoPath::seen>(this, entry(q)));
}

void IoPath::seen(std::uint64_t entry) {
    IoQueue* const queue = queue_of(entry);
    if (queue == nullptr) return;
    queue->reaping = false;
    reap_all(*queue);
}

void IoPath::reap_all(IoQueue& q) {
    do complete(q, commands_.take_ended(q.number));
    while (commands_.has_ended(q.number));
    handler_done(q);
}

/// Begins to take the next command that has ended, after `before` of CPU time.
void IoPath::reap(IoQueue& q, SimTime from, Ps before) {
    q.reaping = true;
    const Ps cost = cpu_.completes_pages() ? cpu_.completion(q.slots[commands_.next_ended(q.number)].request)
                                           : config_.completion_time;
    agenda_.post(cpu_.occupy(q.number - 1u, from, before + cost), Then::to<&IoPath::reap_one>(this, entry(q)));
}

void IoPath::reap_one(std::uint64_t entry) {
    IoQueue* const queue = queue_of(entry);
    if (queue == nullptr) return;
    IoQueue& q = *queue;
    complete(q, commands_.take_ended(q.number));
    if (commands_.has_ended(q.number)) return reap(q, agenda_.now(), Ps{});
    q.reaping = false;
    handler_done(q);
}

inline void IoPath::handler_done(IoQueue& q) {
    ++counters_.acknowledgements;
    commands_.acknowledge(q.number);
    if (__builtin_expect(!q.backlog.empty(), 0) && !paused_) drain_backlog(q);
    pump();
}

void IoPath::complete(IoQueue& q, const CommandQueues::Ended& ended) {
    IoSlot& slot = q.slots[ended.tag];
    const bool ok = ended.status == DriveStatus::ok;
    ++counters_.commands_completed;

    // The observer checks that the stages sum to now - issued, because it reads all of them anyway.
    Timeline& timeline = *slot.timeline;
    timeline.precede(slot.issued, slot.submitted);
    timeline.charge(Stage::completion, agenda_.now());
    if (__builtin_expect(!ok, 0))
        errors_.note(counters_, slot.request, lba_shift_, q.number, ended, commands_, since_epoch(agenda_.now()));
    if (data_.is_on()) data_.end(q.number, ended.tag, slot, since_epoch(agenda_.now()), ok);
    if (__builtin_expect(slot.split != kWhole, 0)) return part_done(slot, ok);
    finish_request(slot.request, slot, ok);
}

void IoPath::part_done(IoSlot& slot, bool ok) {
    SplitRequest& split = splits_.at(slot.split);
    split.ok = split.ok && ok;
    if (--split.remaining != 0) return;
    const SplitRequest whole = split;
    splits_.release(split);
    if (!whole.dropped) finish_request(whole.request, slot, whole.ok);
}

inline void IoPath::finish_request(const HostRequest& request, const IoSlot& slot, bool ok) {
    const SimTime now = since_epoch(agenda_.now());
    const SimTime issued = since_epoch(slot.issued);
    const SimTime submitted = since_epoch(slot.submitted);
    ++counters_.requests_completed;
    if (observer_ != nullptr)
        observer_->on_complete(request, issued, submitted, now, *slot.timeline, workload_.measuring(request, now));
    workload_.completed(request, issued, submitted, now, ok);
}

// ---------------------------------------------------------------------------------------------------------------
// Reset.

void IoPath::drive_stopped() {
    SSDTLM_CHECK(paused_, "the drive stopped under a driver that submits");
    ++starts_;
    for (IoQueue& q : queues_) {
        q.submitting = q.reaping = false;
        while (commands_.has_ended(q.number)) complete(q, commands_.take_ended(q.number));
        cancel_commands(q);
        commands_.forget(q.number);
    }
}

// Moves cancelled commands to the front of the backlog, in their former order, so that they are submitted again.
void IoPath::cancel_commands(IoQueue& q) {
    const std::vector<std::uint16_t> cancelled = q.in_device();
    Fifo<WaitingCommand> backlog;
    for (const std::uint16_t tag : cancelled) {
        IoSlot& slot = q.slots[tag];
        if (data_.is_on()) data_.end(q.number, tag, slot, since_epoch(agenda_.now()), false);
        backlog.push(WaitingCommand{slot.request, slot.issued, slot.split});
    }
    counters_.commands_cancelled += cancelled.size();
    backlog_ += cancelled.size();
    for (; !q.backlog.empty(); q.backlog.pop()) backlog.push(q.backlog.front());
    std::swap(q.backlog, backlog);
    if (requeue_) hand_back(q);
}

/// Hands waiting requests back to the block layer, whose scheduler decides about their order again.
void IoPath::hand_back(IoQueue& q) {
    backlog_ -= q.backlog.size();
    counters_.requests_issued -= q.backlog.size();
    for (; !q.backlog.empty(); q.backlog.pop()) requeue_(q.backlog.front().request);
}

void IoPath::resume() {
    paused_ = false;
    for (IoQueue& q : queues_) drain_backlog(q);
    pump();
}

// ---------------------------------------------------------------------------------------------------------------
// The end.

void IoPath::stop_submitting() {
    if (stopped_) return;
    stopped_ = true;
    taking_ = false;
    for (IoQueue& q : queues_) {
        for (; !q.backlog.empty(); q.backlog.pop()) {
            if (q.backlog.front().split == kWhole) {
                ++counters_.requests_dropped;
                continue;
            }
            SplitRequest& split = splits_.at(q.backlog.front().split);
            if (!std::exchange(split.dropped, true)) ++counters_.requests_dropped;
            if (--split.remaining == 0) splits_.release(split);
        }
    }
    backlog_ = 0;
    if (started_) agenda_.post(agenda_.now(), Then::to<&IoPath::maybe_finish>(this));
}

void IoPath::maybe_finish() {
    if (finished_ || taking_ || paused_ || outstanding() != 0 || backlog_ != 0) return;
    finished_ = true;
    if (on_finished_) on_finished_(since_epoch(agenda_.now()));
}

void IoPath::check_waiters() const {
    if (!started_ || finished_ || paused_) return;
    if (!dirty_.empty()) throw CheckFailed("host: commands were written, and the drive was not told");
    for (const IoQueue& q : queues_)
        if (const std::string stuck = q.stuck(); !stuck.empty()) throw CheckFailed("host: " + stuck);
    if (waits_for_nothing())
        throw CheckFailed("host: the workload is not done, and waits neither for a time nor for a completion");
    if (!taking_ && outstanding() == 0 && backlog_ == 0 && !stopped_)
        throw CheckFailed("host: the workload is done, and nobody has noticed");
}

std::optional<IoPath::Times> IoPath::times_of(std::uint16_t queue, std::uint16_t tag) const {
    const std::optional<std::uint16_t> own = commands_.tag_in_host(queue, tag);
    if (!own) return std::nullopt;
    const IoSlot& slot = queues_[queue - 1u].slots[*own];
    return Times{slot.issued, slot.submitted};
}

IoPath::PairState IoPath::pair_state(std::uint32_t pair) const {
    const IoQueue& q = queues_[pair];
    return {q.outstanding(), q.slot_count != 0, !q.backlog.empty() && !q.has_room(),
            !q.backlog.empty() && q.has_room() && cpu_.ahead(pair, agenda_.now()) != Ps{}};
}

std::optional<PendingCommand> IoPath::oldest() const {
    std::optional<PendingCommand> oldest;
    for (const IoQueue& q : queues_) {
        const std::optional<std::uint16_t> tag = q.oldest();
        if (!tag || (oldest && oldest->submitted <= q.slots[*tag].submitted)) continue;
        const HostRequest& r = q.slots[*tag].request;
        oldest = PendingCommand{
            q.number, *tag, r.op, r.offset >> lba_shift_, r.bytes >> lba_shift_, q.slots[*tag].submitted};
    }
    return oldest;
}

std::string IoPath::dump() const {
    std::string s = "host: " + std::to_string(counters_.requests_issued) + " requests issued, " +
                    std::to_string(counters_.requests_completed) + " completed, " + std::to_string(outstanding()) +
                    " commands in the device, " + std::to_string(backlog_) + " waiting in the host, " +
                    std::to_string(counters_.errors) + " errors\n";
    if (const auto c = oldest())
        s += std::string("  oldest: ") + op_name(c->op) + " of " + std::to_string(c->blocks) + " blocks at LBA " +
             std::to_string(c->slba) + ", queue " + std::to_string(c->queue) + " CID " + std::to_string(c->tag) +
             ", submitted " + std::to_string((agenda_.now() - c->submitted).count()) + " ps ago\n";
    for (const IoQueue& q : queues_) s += q.dump();
    return s;
}

}  // namespace ssdtlm
