// SPDX-License-Identifier: Apache-2.0
// The host's block layer with an I/O scheduler. It stands between the workload and the I/O path: it is a host to the
// workload, and a workload to the I/O path. Requests of the workload wait here for the scheduler. Each request that the
// scheduler dispatches is one command of the drive. The block layer is plain C++: its caller gives it the time since
// the start of I/O, and it never waits.
//
//   Workload -> [virtual queue of its context] -> split -> merge, or a request of its own -> plug -> IoScheduler ->
//   IoPath
//
// - A request is issued when the workload hands it out. A request that is larger than a command is split. A part that
//   lies next to a waiting request of the same kind joins it, unless either is FUA, a flush or a trim. These are the
//   rules of Linux's block/blk-merge.c.
// - Scheduler and drive hold at most `nr_requests` requests together. A part that can neither merge nor have a request
//   of its own waits. The workload is not asked for more meanwhile, as a thread then sleeps in blk_mq_get_tag().
// - The drive holds at most `queue_depth` commands over all queues.
// - A flush is a barrier: the scheduler dispatches all earlier requests before it, and all later ones after it.
// - Commands that a reset has cancelled return to the scheduler.
// - Each request completes once, together with the last of its commands. It has the timeline of that command, behind a
//   stage block_queue that lasts from the issue of the request to the dispatch of the command.
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
    /// `observer`: is told of each completed request; may be null. `by_tenant`: each tenant is one context
    /// (BlockContexts). The arguments must outlive the block layer.
    BlockLayer(const BlockConfig& config, Workload& inner, CompletionObserver* observer, bool by_tenant);

    /// Call it when the drive has started for the first time. It makes the scheduler that the configuration names, and
    /// throws UserError when no scheduler has this name. `queue_of`: the driver's queue of each job, counted from 1.
    void prepare(const DriveInfo& info, std::vector<std::uint16_t> queue_of);
    /// Uses the caller's scheduler instead of the one that the configuration names.
    void prepare(const DriveInfo& info, std::vector<std::uint16_t> queue_of, std::unique_ptr<IoScheduler> scheduler);
    /// The most commands that such a drive holds at a time.
    static std::uint32_t depth_of(const BlockConfig& config, const DriveInfo& info);
    /// The most requests that scheduler and drive hold together: nr_requests, or the kernel's rule if that is 0. The
    /// rule gives min(2 * depth, 256) (blk_mq_init_sched()). For schedulers of the block layer with one queue it gives
    /// 128 (BLKDEV_MAX_RQ).
    static std::uint32_t requests_of(const BlockConfig& config, std::uint32_t depth);

    // The I/O path calls the following functions of Workload.
    Next next(SimTime now) override;
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override;
    std::uint32_t jobs() const override { return inner_.jobs(); }
    std::uint32_t tenant(std::uint32_t job) const override { return inner_.tenant(job); }
    std::uint32_t depth(std::uint32_t job) const override { return inner_.depth(job); }
    double progress(SimTime now) const override { return inner_.progress(now); }
    /// Always true: finish() asks the workload about each of its requests, as a command may hold several of them.
    bool measuring(const HostRequest&, SimTime) const override { return true; }
    std::optional<JobTime> job_time(std::uint32_t job) const override { return inner_.job_time(job); }
    /// The I/O path calls this function of CompletionObserver before completed(), with the timeline of the same
    /// command.
    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;

    /// A command that next() has returned will never complete, so it returns to the scheduler.
    void cancelled(const HostRequest& request, SimTime now);
    /// Ends the supply: next() returns no more commands. Commands in the drive still complete.
    void stop();

    /// True: the workload may have more requests.
    bool taking() const { return !done_ && !stopped_; }
    /// True: neither the block layer nor the layers below hold a request of the workload.
    bool is_empty() const { return requests_.in_use() == 0; }
    /// True: the drive has room, but the scheduler dispatches none of the requests that wait.
    bool scheduler_waits() const;
    /// What keeps the requests from the drive when scheduler_waits(): the scheduler itself, or a limit of NASS.
    enum class Holder : std::uint8_t { scheduler, aggre, seq };
    Holder holder() const;
    /// True: requests wait because the drive holds `queue_depth` or `nr_requests` commands.
    bool waits_for_depth() const;
    /// True: requests wait although drive and scheduler have room, because their contexts have `vm_queue_depth`
    /// requests.
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
    /// Null before prepare().
    const IoScheduler* scheduler() const { return scheduler_.get(); }
    /// Null: NASS is off.
    const Nass* nass() const { return nass_ ? &*nass_ : nullptr; }
    /// The sums of each context since the start.
    std::vector<ContextUse> uses(SimTime now);
    std::string dump() const;
    /// Throws CheckFailed if a request waits although there is room for it. Do not call it from within another call.
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
    /// A request of the scheduler. It becomes one command of the drive.
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
    std::deque<Part*> incoming_;           // parts that wait for a request of their own; mostly empty
    std::vector<std::uint64_t> last_end_;  // by job
    std::uint64_t orders_ = 0;
    std::uint32_t plugged_ = 0, virtual_ = 0, in_drive_ = 0;
    Next last_{State::blocked, {}, {}};  // the workload's last answer
    bool done_ = false;                  // the workload has no more requests
    bool stopped_ = false;
    const Timeline* timeline_ = nullptr;  // timeline of the command that is completing
    SimTime path_issued_{};               // when the I/O path took that command
    Timeline line_;
    Counters counters_;
};

}  // namespace ssdtlm
