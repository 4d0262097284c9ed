// SPDX-License-Identifier: Apache-2.0
// The host's block layer with an I/O scheduler: between the workload and the I/O path, a workload to the one and a host
// to the other. Requests of the workload wait here for the scheduler; what it dispatches is one command of the drive.
// Plain C++, told the time since the start of I/O, never waits.
//
//   Workload -> [virtual queue of its context] -> split -> merge, or a request of its own -> plug -> IoScheduler ->
//   IoPath
//
// - A request is issued when the workload hands it out. What is larger than a command is split; a part that lies next
//   to a waiting request of the same kind joins it, unless either is FUA, a flush or a trim. As block/blk-merge.c.
// - Requests in scheduler and drive are at most `nr_requests`. A part that can neither merge nor have a request of its
//   own waits, and the workload is not asked: as a thread that sleeps in blk_mq_get_tag().
// - Commands in the drive are at most `queue_depth`, over all queues.
// - A flush is a barrier: the scheduler dispatches what came before it before it, and what came after it after it.
// - Commands that a reset has cancelled come back to the scheduler.
// - Each request completes once, with the last of its commands: with that command's timeline, and stage block_queue in
//   front of it, from its own issue to the dispatch.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/containers/pool.h"
#include "host_block/block_config.h"
#include "host_block/block_contexts.h"
#include "host_block/nass/context_use.h"
#include "host_block/nass/nass.h"
#include "host_block/ports/io_scheduler.h"
#include "host_pcie/ports/command_queues.h"
#include "host_pcie/ports/completion_observer.h"

namespace ssdtlm {

class BlockLayer final : public Workload, public CompletionObserver, private DispatchGate {
public:
    /// `observer` may be null: nobody observes. All arguments must outlive it. `by_tenant`: see BlockContexts.
    BlockLayer(const BlockConfig& config, Workload& inner, CompletionObserver* observer, bool by_tenant);

    /// The drive has started for the first time. `queue_of`: the driver's queue of each job, from 1 on. Makes the
    /// scheduler that the configuration names; throws UserError when there is none of that name.
    void prepare(const DriveInfo& info, std::vector<std::uint16_t> queue_of);
    /// As prepare(), with a scheduler of the caller's.
    void prepare(const DriveInfo& info, std::vector<std::uint16_t> queue_of, std::unique_ptr<IoScheduler> scheduler);
    /// Most commands that are in such a drive at a time.
    static std::uint32_t depth_of(const BlockConfig& config, const DriveInfo& info);
    /// Most requests in scheduler and drive, by the kernel's rule. With several queues it is twice the depth, where the
    /// depth counts as 128 at most (blk_mq_init_sched()). For schedulers of the block layer with one queue it is 128
    /// (BLKDEV_MAX_RQ).
    static std::uint32_t requests_of(const BlockConfig& config, std::uint32_t depth);

    // The following functions are those of Workload, for the I/O path.
    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return inner_.jobs(); }
    std::uint32_t tenant(std::uint32_t job) const override { return inner_.tenant(job); }
    std::uint32_t depth(std::uint32_t job) const override { return inner_.depth(job); }
    double progress(SimTime now) const override { return inner_.progress(now); }
    /// The block layer itself asks the workload about the workload's own requests.
    bool measuring(const HostRequest&, SimTime) const override { return true; }
    std::optional<JobTime> job_time(std::uint32_t job) const override { return inner_.job_time(job); }
    /// This is CompletionObserver's, also for the I/O path. Its timeline is that of the completed() which follows.
    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;

    /// A command that next() has given will not end. It comes back to the scheduler.
    void cancelled(const HostRequest& request, SimTime now);
    /// Gives nothing more. What is in the drive completes.
    void stop();

    /// True: the workload has more to give, or was not asked yet.
    bool taking() const { return !done_ && !stopped_; }
    /// True: no request of the workload is here or below.
    bool is_empty() const { return requests_.in_use() == 0; }
    /// True: requests wait for the scheduler, the scheduler waits for a time of its own, and the drive has room.
    bool scheduler_waits() const;
    /// What keeps the requests of scheduler_waits() from the drive is the scheduler, or a limit of NASS.
    enum class Holder : std::uint8_t { scheduler, aggre, seq };
    Holder holder() const;
    /// True: requests wait, and the drive, or scheduler and drive, have as many commands as they may.
    bool waits_for_depth() const;
    /// True: only the limit of their virtual machines keeps requests from the drive.
    bool waits_for_virtual_room() const;
    struct Counters {
        std::uint64_t requests = 0;  ///< of the workload
        std::uint64_t completed = 0;
        std::uint64_t dropped = 0;  ///< by a run that was interrupted
        std::uint64_t splits = 0;   ///< requests of several commands
        std::uint64_t front_merges = 0, back_merges = 0, plug_merges = 0;
        std::uint64_t dispatched = 0;
        std::uint64_t requeued = 0;   ///< cancelled by resets
        std::uint64_t held_back = 0;  ///< times that a part waited for a request of its own
        std::uint64_t most_in_drive = 0;
    };
    const Counters& counters() const { return counters_; }
    const BlockContexts& contexts() const { return contexts_; }
    std::uint32_t queue_depth() const { return depth_; }
    std::uint32_t nr_requests() const { return most_requests_; }
    std::uint32_t in_drive() const { return in_drive_; }
    /// Null until prepare().
    const IoScheduler* scheduler() const { return scheduler_.get(); }
    /// Null: no NASS.
    const Nass* nass() const { return nass_ ? &*nass_ : nullptr; }
    /// Figures by context, since the start.
    std::vector<ContextUse> uses(SimTime now);
    std::string dump() const;
    /// Throws CheckFailed if somebody waits although there is room. Call it between two calls.
    void check_waiters() const;

private:
    /// A request of the workload.
    struct Request {
        HostRequest request;
        SimTime issued{};
        std::uint32_t context = 0;
        std::uint32_t parts = 0;  ///< that have not completed
        bool ok = true;
        Request* next = nullptr;  ///< in its context's virtual queue
    };
    /// The part of a request that lies in one command.
    struct Part {
        Request* of = nullptr;
        std::uint64_t offset = 0;
        std::uint32_t bytes = 0;
        Part* next = nullptr;  ///< of the same command
    };
    /// A request of the scheduler, which will be one command.
    struct Command : BlockRequest {
        Part* parts = nullptr;
        bool preparation = false;
        std::uint32_t job = 0;
        std::uint16_t stream = 0;
        SimTime dispatched{};
        bool in_drive = false;
    };
    struct Context {
        ContextMeter meter;
        std::vector<Command*> plug;
        std::uint32_t below = 0;  ///< requests below its virtual queue
        Request* first = nullptr;
        Request* last = nullptr;
    };

    bool may_dispatch(std::uint32_t context) const override;
    bool fills_waits() const override { return nass_ && nass_->fills_waits(in_drive_); }
    bool others_idle(std::uint32_t context) const;
    bool is_awaited(const HostRequest& r) const { return r.op != HostOp::write || !contexts_.is_buffered(r.job); }

    Command* dispatch(SimTime now);
    bool pull(SimTime now);
    void accept(const HostRequest& request, SimTime now);
    void admit(Request& request);
    bool place(SimTime now);
    bool joins(Part& part, SimTime now);
    bool fits(const Command& command, const Part& part, bool front) const;
    void join(Command& command, Part& part, bool front);
    bool unplug(SimTime now);
    void unplug(Context& context, SimTime now);
    Next nothing() const;
    void finish(Request& request, SimTime dispatched, SimTime submitted, SimTime now, const Timeline* timeline);
    void look_at_window(SimTime now);

    const BlockConfig config_;
    Workload& inner_;
    CompletionObserver* const observer_;
    const BlockContexts contexts_;
    std::vector<Context> context_;
    DriveInfo info_;
    std::vector<std::uint16_t> queue_of_;  // by job
    std::unique_ptr<IoScheduler> scheduler_;
    std::optional<Nass> nass_;
    std::uint32_t depth_ = 0, most_requests_ = 0, most_bytes_ = 0;

    Pool<Request> requests_;
    Pool<Part> parts_;
    Pool<Command> commands_;
    std::deque<Part*> incoming_;           // wait for a request of their own; mostly empty
    std::vector<std::uint64_t> last_end_;  // by job
    std::uint64_t orders_ = 0;
    std::uint32_t plugged_ = 0, virtual_ = 0, in_drive_ = 0;
    Next last_{State::blocked, {}, {}};  // what the workload said, when it was not ready
    bool done_ = false;                  // it will give nothing more
    bool stopped_ = false;
    const Timeline* timeline_ = nullptr;  // of the command that is completing
    SimTime path_issued_{};               // and when the I/O path took it
    Timeline line_;
    Counters counters_;
};

}  // namespace ssdtlm
