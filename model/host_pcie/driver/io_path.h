// SPDX-License-Identifier: Apache-2.0
// The host's I/O path above a driver. It makes commands from the requests of the workload, and reports their
// completions. A command has at most the size that drive and driver accept. The protocol is below CommandQueues.
// HostCpu has the costs of commands on the host's cores. A block layer that merges and schedules (host_block) is a
// workload for this class. Kernel-free.
//
// - A request is issued when the workload hands it out. Its timeline begins then, and is complete when the request has
//   completed. The device may add its own stages; else all of its time is stage `completion`.
// - A request that is larger than a command is split. It completes with its last command, and has that command's
//   submission time and timeline.
// - If its queue is full or its CPU is busy, a request waits in the queue's backlog (stage host_queue). Its `submitted`
//   time is when its command is written.
// - A flush for a drive without a volatile write cache completes at once, without a command.
// - Commands written in one go are announced together.
// - A reset cancels the commands in the device. They are submitted again once the drive has started, before the
//   requests that waited. The integrity oracle learns that a cancelled write may or may not have taken effect.
// - All times given to the workload, the observer and on_finished count from epoch(), the end of bring-up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/containers/pool.h"
#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "host_pcie/driver/data_check.h"
#include "host_pcie/driver/driver_errors.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/driver/host_cpu.h"
#include "host_pcie/driver/io_queue.h"
#include "host_pcie/driver/queue_plan.h"
#include "host_pcie/ports/command_queues.h"
#include "host_pcie/ports/completion_observer.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// A command for whose completion the host waits.
struct PendingCommand {
    std::uint16_t queue = 0;
    std::uint16_t tag = 0;
    HostOp op = HostOp::read;
    std::uint64_t slba = 0;
    std::uint32_t blocks = 0;
    SimTime submitted{};  ///< when it was written, absolute
};

class IoPath {
public:
    /// `device`, `oracle` and `observer` may be null. Without them the device's stages are unknown, integrity is not
    /// checked, and nobody observes.
    IoPath(Agenda& agenda, const HostConfig& config, const QueuePlan& plan, CommandQueues& commands, Workload& workload,
           CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer);
    IoPath(const IoPath&) = delete;
    IoPath& operator=(const IoPath&) = delete;

    /// Call it when the drive has started and its queues are dealt out. This instant is time zero of the workload.
    void prepare(const DriveInfo& info);
    /// Begins to submit. Precondition: prepare() was called.
    void start();
    /// The drive's interrupt for this queue has arrived. For a host that polls: commands of this queue have ended.
    void interrupt(std::uint16_t qid) {
        if (qid == 0 || qid > queue_count_) return;  // it is no I/O queue
        if (cpu_.polls()) return look(queues_[qid - 1u]);
        ++counters_.interrupts;
        if (config_.interrupt_latency == Ps{})
            handler(qid - 1u);
        else
            agenda_.post(agenda_.now() + config_.interrupt_latency, Then::to<&IoPath::handler>(this, qid - 1u));
    }
    /// Asks the workload again, because it has new requests although no request has completed and no time that it named
    /// has come.
    void more() {
        if (started_) pump();
    }
    /// Submits no more commands. Commands in the device complete; the backlog is dropped.
    void stop_submitting();
    /// Submits no commands until resume(), because the drive is about to be reset. Completions are still taken.
    void pause() { paused_ = true; }
    /// The drive has stopped. Takes the commands that it has completed before, and cancels all others. Precondition:
    /// paused.
    void drive_stopped();
    /// The drive has started again, with the same queues.
    void resume();
    /// `f` is called once, when the workload is done (or stopped) and no command is outstanding.
    void set_on_finished(std::function<void(SimTime)> f) { on_finished_ = std::move(f); }

    /// Sets the receiver of requests that a reset has cancelled, or that waited here. The workload's next() must return
    /// them again. Without a receiver they wait here. Precondition: no request is larger than a command.
    void set_requeue(std::function<void(const HostRequest&)> f) { requeue_ = std::move(f); }

    SimTime epoch() const { return epoch_; }
    bool started() const { return started_; }
    bool paused() const { return paused_; }
    /// True: a completion handler is at work on some queue.
    bool handles() const {
        return std::any_of(queues_.begin(), queues_.end(), [](const IoQueue& q) { return q.reaping; });
    }
    bool finished() const { return finished_; }
    /// Number of commands in the device.
    std::uint64_t outstanding() const {
        return counters_.commands_submitted - counters_.commands_completed - counters_.commands_cancelled;
    }
    /// Number of requests and parts of requests that wait in the host.
    std::uint64_t backlog() const { return backlog_; }
    /// The absolute times at which the request of a command in the device was issued, and at which the command was
    /// written. `tag`: the command's tag in the drive. It is empty for a command that the driver itself has sent.
    struct Times {
        SimTime issued, submitted;
    };
    std::optional<Times> times_of(std::uint16_t queue, std::uint16_t tag) const;
    /// The state of one queue pair at this instant.
    struct PairState {
        std::uint32_t outstanding = 0;
        bool in_use = false;          ///< something was ever submitted to it
        bool waits_for_slot = false;  ///< a request waits, and the queue has no room
        bool waits_for_cpu = false;   ///< a request waits, there is room, and the CPU is busy
    };
    std::uint32_t pairs() const { return queue_count_; }
    PairState pair_state(std::uint32_t pair) const;
    /// True: the pair has nothing but flushes under way, and no request waits behind them. It looks at every slot.
    bool only_flushes(std::uint32_t pair) const { return queues_[pair].only_flushes(); }
    std::uint32_t cores() const { return cpu_.cores(); }
    /// The busy time of a core so far.
    Ps cpu_busy(std::uint32_t core) const { return cpu_.busy(core, agenda_.now()); }
    /// Returns true if the workload has more requests: it is neither done nor stopped.
    bool taking() const { return taking_; }
    /// Returns true if the workload gives no request before a time of its own (a rate, think time, a time stamp), and
    /// no request waits in the host.
    bool waits_for_time() const { return taking_ && !paused_ && backlog_ == 0 && wake_at_ != kNever; }
    /// The command that has been in the device for the longest time. It looks at every slot, so it is for reports and
    /// the watchdog.
    std::optional<PendingCommand> oldest() const;
    /// Returns true if the workload waits for a completion although no request is under way.
    bool waits_for_nothing() const {
        return started_ && taking_ && !paused_ && outstanding() == 0 && backlog_ == 0 && wake_at_ == kNever;
    }
    const DriverCounters& counters() const { return counters_; }
    /// See DriverErrors.
    const std::string& first_error() const { return errors_.first(); }
    std::string dump() const;
    /// Throws CheckFailed if requests wait in the host although the device has room, or the workload waits for
    /// something other than a time or a completion. Call it between two entries of the agenda.
    void check_waiters() const;

private:
    /// The driver takes no more requests at this backlog. Only an open-loop workload reaches it.
    static constexpr std::uint64_t kMaxBacklog = 65536;

    static constexpr SplitHandle kWhole{};

    SimTime since_epoch(SimTime t) const { return SimTime{t - epoch_}; }
    void pump();
    void accept(const HostRequest& request);
    void split(IoQueue& q, const HostRequest& request, SimTime now);
    /// Bytes of the command that begins `done` bytes into the request.
    std::uint32_t part_bytes(const HostRequest& request, std::uint32_t done) const;
    void enqueue(IoQueue& q, const HostRequest& request, SimTime issued, SplitHandle split);
    void start_submission(IoQueue& q);
    void drain_backlog(IoQueue& q);
    void write_front(IoQueue& q);
    void submission_done(std::uint64_t entry);
    void write(IoQueue& q, const HostRequest& request, SimTime issued, SplitHandle split);
    void announce();
    void wait_until(SimTime when);
    void wake();

    std::uint64_t entry(const IoQueue& q) const { return std::uint64_t{starts_} << 32 | (q.number - 1u); }
    /// The queue of an agenda entry. Null: the drive has started again meanwhile.
    IoQueue* queue_of(std::uint64_t entry) {
        return entry >> 32 != starts_ ? nullptr : &queues_[static_cast<std::uint32_t>(entry)];
    }
    void cancel_commands(IoQueue& q);
    void hand_back(IoQueue& q);

    void handler(std::uint64_t queue);
    void look(IoQueue& q);
    void seen(std::uint64_t entry);
    void reap(IoQueue& q, SimTime from, Ps before);
    void reap_all(IoQueue& q);
    void reap_one(std::uint64_t entry);
    void handler_done(IoQueue& q);
    void complete(IoQueue& q, const CommandQueues::Ended& ended);
    void part_done(IoSlot& slot, bool ok);
    void finish_request(const HostRequest& request, const IoSlot& slot, bool ok);
    void maybe_finish();

    Agenda& agenda_;
    const HostConfig& config_;
    const QueuePlan& plan_;
    CommandQueues& commands_;
    Workload& workload_;
    CommandTracker* const device_;  // null: own_ serves
    CommandTracker own_;
    DataCheck data_;
    CompletionObserver* observer_;
    HostCpu cpu_;
    const bool submits_in_time_;
    const bool completes_in_time_;

    DriveInfo info_;
    unsigned lba_shift_ = 9;
    std::vector<IoQueue> queues_;
    std::uint32_t queue_count_ = 0;
    std::vector<IoQueue*> dirty_;
    Pool<SplitRequest> splits_;
    std::uint64_t backlog_ = 0;
    SimTime epoch_{};
    SimTime wake_at_ = kNever;
    Agenda::Entry wake_;  // at wake_at_
    bool started_ = false;
    bool taking_ = true;  // the workload is neither done nor stopped
    bool stopped_ = false;
    bool finished_ = false;
    bool paused_ = false;
    std::uint32_t starts_ = 0;  // starts of the drive; agenda entries from before a reset are ignored
    DriverCounters counters_;
    DriverErrors errors_;
    std::function<void(SimTime)> on_finished_;
    std::function<void(const HostRequest&)> requeue_;
};

}  // namespace ssdtlm
