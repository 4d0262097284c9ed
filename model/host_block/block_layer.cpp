// SPDX-License-Identifier: Apache-2.0
#include "host_block/block_layer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/report/error.h"
#include "host_block/io_schedulers.h"

namespace ssdtlm {

namespace {
constexpr std::uint32_t kMostVirtual = 65536;  // requests in virtual queues; only open-loop workloads reach it
constexpr std::uint32_t kDepthOfRule = 128;    // BLKDEV_MAX_RQ, later BLKDEV_DEFAULT_RQ, include/linux/blkdev.h
/// These schedulers belong to the block layer before Linux 5.0, which has one queue of requests for each drive.
constexpr const char* kOfOneQueue[] = {"noop", "deadline", "cfq", "fiops", "flashfq"};
}  // namespace

BlockLayer::BlockLayer(const BlockConfig& config, Workload& inner, CompletionObserver* observer, bool by_tenant)
    : config_(config),
      inner_(inner),
      observer_(observer),
      contexts_(inner, config, by_tenant),
      context_(contexts_.count()),
      last_end_(inner.jobs(), ~std::uint64_t{0}) {}

std::uint32_t BlockLayer::depth_of(const BlockConfig& config, const DriveInfo& info) {
    const std::uint32_t most = info.queue_pairs * (info.queue_entries - 1);
    return config.queue_depth == 0 ? most : std::min(config.queue_depth, most);
}

std::uint32_t BlockLayer::requests_of(const BlockConfig& config, std::uint32_t depth) {
    if (config.nr_requests != 0) return config.nr_requests;
    const bool one_queue =
        std::find(std::begin(kOfOneQueue), std::end(kOfOneQueue), config.scheduler) != std::end(kOfOneQueue);
    return one_queue ? kDepthOfRule : 2 * std::min(depth, kDepthOfRule);
}

void BlockLayer::prepare(const DriveInfo& info, std::vector<std::uint16_t> queue_of) {
    IoSchedulerSetup setup;
    setup.queue_depth = depth_of(config_, info);
    setup.queueing = setup.queue_depth > 1;
    setup.hardware_queues = info.queue_pairs;
    setup.drive_bytes = info.blocks * info.lba_bytes;
    prepare(info, std::move(queue_of),
            IoSchedulers::instance().make("block.scheduler", config_.scheduler, setup, config_.policies));
}

void BlockLayer::prepare(const DriveInfo& info, std::vector<std::uint16_t> queue_of,
                         std::unique_ptr<IoScheduler> scheduler) {
    info_ = info;
    most_bytes_ = std::max(info.lba_bytes, config_.max_sectors / info.lba_bytes * info.lba_bytes);
    info_.max_transfer_bytes = most_bytes_ = std::min(info.max_transfer_bytes, most_bytes_);
    queue_of_ = std::move(queue_of);
    depth_ = depth_of(config_, info);
    most_requests_ = requests_of(config_, depth_);
    scheduler_ = std::move(scheduler);
    if (config_.nass.on()) nass_.emplace(config_.nass, contexts_.weights(), depth_);
}

// ---------------------------------------------------------------------------------------------------------------
// From the workload to the scheduler.

Workload::Next BlockLayer::next(SimTime now) {
    if (nass_) look_at_window(now);
    for (;;) {
        if (Command* const c = dispatch(now)) {
            Next n;
            n.state = State::ready;
            n.request.op = c->op;
            n.request.fua = c->fua;
            n.request.preparation = c->preparation;
            n.request.job = c->job;
            n.request.offset = c->offset;
            n.request.bytes = c->bytes;
            n.request.stream = c->stream;
            n.request.tag = Pool<Command>::handle_of(*c).number();
            return n;
        }
        if (!pull(now) && !unplug(now)) return nothing();
    }
}

/// Takes one request or part a step towards the scheduler. Returns false if the workload has no request now, or if
/// there is no room for one.
bool BlockLayer::pull(SimTime now) {
    if (!incoming_.empty()) return place(now);
    if (done_ || stopped_ || virtual_ >= kMostVirtual) return false;
    last_ = inner_.next(now);
    if (last_.state == State::ready) {
        accept(last_.request, now);
        return true;
    }
    done_ = last_.state == State::done;
    return false;
}

void BlockLayer::accept(const HostRequest& request, SimTime now) {
    ++counters_.requests;
    if (request.op == HostOp::flush && !info_.volatile_write_cache) {
        // A drive without a volatile cache needs no command for a flush, as in IoPath::accept().
        ++counters_.completed;
        return inner_.completed(request, now, now, now, true);
    }
    SSDTLM_CHECK(request.bytes > 0 || request.op == HostOp::flush, "request without blocks");
    Request& r = requests_.acquire();
    r = Request{request, now, contexts_.of_job(request.job).number, 0, true, nullptr};
    Context& context = context_[r.context];
    context.meter.request_comes(now);
    ContextUse& use = context.meter.use();
    ++use.arrivals;
    use.arrived_bytes += request.bytes;
    if (request.op == HostOp::read) ++use.reads;
    if (last_end_[request.job] == request.offset) ++use.sequential;
    last_end_[request.job] = request.offset + request.bytes;

    if (config_.vm_queue_depth == 0 || context.below < config_.vm_queue_depth) return admit(r);
    (context.first == nullptr ? context.first : context.last->next) = &r;
    context.last = &r;
    ++virtual_;
}

/// Takes a request out of its context's virtual queue and cuts it into parts of at most a command's size.
void BlockLayer::admit(Request& r) {
    ++context_[r.context].below;
    std::uint32_t done = 0;
    do {
        Part& part = parts_.acquire();
        part = Part{&r, r.request.offset + done,
                    r.request.op == HostOp::flush ? 0 : command_bytes(info_, r.request, done), nullptr};
        done += part.bytes;
        ++r.parts;
        incoming_.push_back(&part);
    } while (done < r.request.bytes);
    if (r.parts > 1) ++counters_.splits;
}

/// Merges the first incoming part with a waiting request, or makes a new request for it. Returns false if there is no
/// room for a new one.
bool BlockLayer::place(SimTime now) {
    Part& part = *incoming_.front();
    if (joins(part, now)) {
        incoming_.pop_front();
        return true;
    }
    if (commands_.in_use() >= most_requests_) {
        ++counters_.held_back;
        return false;
    }
    incoming_.pop_front();
    const HostRequest& r = part.of->request;
    Command& c = commands_.acquire();
    BlockRequest& block = c;
    block = BlockRequest{};
    block.op = r.op;
    block.fua = r.fua;
    block.sync = is_awaited(r);
    block.barrier = r.op == HostOp::flush;
    block.context = contexts_.of_job(r.job);
    block.queue = queue_of_[r.job];
    block.offset = part.offset;
    block.bytes = part.bytes;
    block.arrived = now;
    block.order = ++orders_;
    block.handle = Pool<Command>::index_of(c);
    c.parts = &part;
    c.preparation = r.preparation;
    c.job = r.job;
    c.stream = r.stream;
    c.in_drive = false;
    if (config_.plug <= 1) {
        scheduler_->insert(c, now);
        return true;
    }
    Context& context = context_[part.of->context];
    context.plug.push_back(&c);
    ++plugged_;
    if (context.plug.size() >= config_.plug) unplug(context, now);
    return true;
}

/// Unplugs all contexts, as no submitter has more requests now. Returns false if no request was plugged.
bool BlockLayer::unplug(SimTime now) {
    if (plugged_ == 0) return false;
    for (Context& context : context_) unplug(context, now);
    return true;
}

void BlockLayer::unplug(Context& context, SimTime now) {
    plugged_ -= static_cast<std::uint32_t>(context.plug.size());
    for (Command* const c : context.plug) scheduler_->insert(*c, now);
    context.plug.clear();
}

// ---------------------------------------------------------------------------------------------------------------
// Merging.

bool BlockLayer::joins(Part& part, SimTime now) {
    const HostRequest& r = part.of->request;
    if (!config_.merges || r.fua || (r.op != HostOp::read && r.op != HostOp::write)) return false;
    const std::vector<Command*>& plug = context_[part.of->context].plug;
    for (auto c = plug.rbegin(); c != plug.rend() && !(*c)->barrier; ++c) {
        const bool front = part.offset + part.bytes == (*c)->offset;
        if ((!front && (*c)->end() != part.offset) || !fits(**c, part, front)) continue;
        join(**c, part, front);
        ++counters_.plug_merges;
        return true;
    }
    if (scheduler_->waiting() == 0) return false;
    BlockRequest candidate;
    candidate.op = r.op;
    candidate.sync = is_awaited(r);
    candidate.context = contexts_.of_job(r.job);
    candidate.queue = queue_of_[r.job];
    candidate.offset = part.offset;
    candidate.bytes = part.bytes;
    candidate.arrived = now;
    bool front = false;
    BlockRequest* const found = scheduler_->find_merge(candidate, front);
    if (found == nullptr) return false;
    Command& c = static_cast<Command&>(*found);
    SSDTLM_CHECK(front ? candidate.end() == c.offset : c.end() == candidate.offset,
                 "a scheduler merges what does not lie side by side");
    if (!fits(c, part, front)) return false;
    const std::uint64_t old_offset = c.offset;
    join(c, part, front);
    scheduler_->merged(c, old_offset);
    ++(front ? counters_.front_merges : counters_.back_merges);
    return true;
}

bool BlockLayer::fits(const Command& c, const Part& part, bool front) const {
    const HostRequest& r = part.of->request;
    if (c.op != r.op || c.sync != is_awaited(r) || c.fua || c.barrier || c.stream != r.stream ||
        c.preparation != r.preparation || std::uint64_t{c.bytes} + part.bytes > most_bytes_)
        return false;
    const std::uint64_t middle = front ? c.offset : part.offset;
    return !std::binary_search(info_.borders.begin(), info_.borders.end(), middle);
}

void BlockLayer::join(Command& c, Part& part, bool front) {
    c.bytes += part.bytes;
    if (front) {
        c.offset = part.offset;
        part.next = c.parts;
        c.parts = &part;
    } else {
        Part* last = c.parts;
        while (last->next != nullptr) last = last->next;
        last->next = &part;
    }
    ++context_[part.of->context].meter.use().merged;
}

// ---------------------------------------------------------------------------------------------------------------
// From the scheduler to the drive.

BlockLayer::Command* BlockLayer::dispatch(SimTime now) {
    if (in_drive_ >= depth_ || stopped_ || scheduler_->waiting() == 0) return nullptr;
    BlockRequest* const block = scheduler_->dispatch(now, *this);
    if (block == nullptr) return nullptr;
    Command& c = static_cast<Command&>(*block);
    SSDTLM_CHECK(!c.in_drive, "a scheduler dispatches a request twice");
    c.in_drive = true;
    c.dispatched = now;
    ++counters_.dispatched;
    ++in_drive_;
    counters_.most_in_drive = std::max<std::uint64_t>(counters_.most_in_drive, in_drive_);
    context_[c.context.number].meter.command_goes(now);
    return &c;
}

bool BlockLayer::may_dispatch(std::uint32_t context) const {
    if (!nass_) return true;
    const std::uint32_t own = context_[context].meter.tags();
    if (own < nass_->limit(context)) return true;
    return nass_->lends() && nass_->may_dispatch(context, own, in_drive_, others_idle(context));
}

/// True: another active context that is not limited has no waiting request, or the scheduler expects its next one.
bool BlockLayer::others_idle(std::uint32_t context) const {
    const std::int64_t expected = scheduler_->anticipates();
    const auto& features = nass_->model().features();
    for (std::uint32_t i = 0; i < context_.size(); ++i) {
        if (i == context || nass_->is_limited(i) || !features[i].active) continue;
        if (i == expected || context_[i].meter.requests() <= context_[i].meter.tags()) return true;
    }
    return false;
}

void BlockLayer::look_at_window(SimTime now) {
    if (nass_->window_is_over(now)) nass_->window_ends(uses(now), now);
}

Workload::Next BlockLayer::nothing() const {
    Next n;
    n.state = State::blocked;
    SimTime when = kNever;
    if (in_drive_ < depth_ && !stopped_ && scheduler_->waiting() != 0) when = scheduler_->ask_again();
    if (last_.state == State::wait && incoming_.empty()) when = std::min(when, last_.when);
    if (when != kNever) {
        n.state = State::wait;
        n.when = when;
    } else if (done_ && requests_.in_use() == 0) {
        n.state = State::done;
    }
    return n;
}

bool BlockLayer::scheduler_waits() const {
    return scheduler_ && in_drive_ < depth_ && scheduler_->waiting() != 0;
}

BlockLayer::Holder BlockLayer::holder() const {
    if (!nass_ || scheduler_->anticipates() >= 0) return Holder::scheduler;
    for (std::uint32_t i = 0; i < context_.size(); ++i)
        if (context_[i].meter.requests() > context_[i].meter.tags() && !may_dispatch(i))
            return nass_->is_by_aggre(i) ? Holder::aggre : Holder::seq;
    return Holder::scheduler;
}

bool BlockLayer::waits_for_depth() const {
    if (!scheduler_) return false;
    return (in_drive_ >= depth_ && scheduler_->waiting() != 0) || (in_drive_ >= most_requests_ && !incoming_.empty());
}

bool BlockLayer::waits_for_virtual_room() const {
    return scheduler_ && virtual_ != 0 && in_drive_ < depth_ && scheduler_->waiting() == 0;
}

// ---------------------------------------------------------------------------------------------------------------
// Completion.

void BlockLayer::on_complete(const HostRequest&, SimTime issued, SimTime, SimTime, const Timeline& timeline, bool) {
    timeline_ = &timeline;
    path_issued_ = issued;
}

void BlockLayer::completed(const HostRequest& request, SimTime, SimTime submitted, SimTime now, bool ok) {
    Command& c = commands_.at(request.tag);
    const Timeline* const timeline = std::exchange(timeline_, nullptr);
    --in_drive_;
    ContextMeter& meter = context_[c.context.number].meter;
    meter.command_returns(now);
    ContextUse& use = meter.use();
    ++use.commands;
    use.command_bytes += c.bytes;
    use.latency_ps += (now - c.dispatched).count();
    if (nass_) nass_->command_ended();
    c.in_drive = false;
    scheduler_->completed(c, now);
    const SimTime dispatched = c.dispatched;
    Part* part = c.parts;
    commands_.release(c);
    while (part != nullptr) {
        Part& done = *part;
        part = done.next;
        Request& r = *done.of;
        parts_.release(done);
        r.ok = r.ok && ok;
        if (--r.parts == 0) finish(r, dispatched, submitted, now, timeline);
    }
}

void BlockLayer::finish(Request& r, SimTime dispatched, SimTime submitted, SimTime now, const Timeline* timeline) {
    const Request whole = r;
    requests_.release(r);
    ++counters_.completed;
    if (stopped_) --counters_.dropped;
    Context& context = context_[whole.context];
    context.meter.request_ends(now);
    --context.below;
    if (context.first != nullptr && !stopped_) {
        Request& waiting = *context.first;
        context.first = waiting.next;
        waiting.next = nullptr;
        --virtual_;
        admit(waiting);
    }
    if (observer_ != nullptr && timeline != nullptr) {
        // The timeline counts time from the start of the simulation, the block layer from the start of I/O.
        const Ps epoch = timeline->start() - path_issued_;
        SSDTLM_CHECK(path_issued_ == dispatched, "a command went to the drive at another time than it was dispatched");
        line_ = *timeline;
        line_.precede_block(SimTime{(whole.issued + epoch).time_since_epoch()});
        observer_->on_complete(whole.request, whole.issued, submitted, now, line_,
                               inner_.measuring(whole.request, now));
    }
    inner_.completed(whole.request, whole.issued, submitted, now, whole.ok);
}

void BlockLayer::cancelled(const HostRequest& request, SimTime now) {
    Command& c = commands_.at(request.tag);
    SSDTLM_CHECK(c.in_drive, "a command is cancelled that is not in the drive");
    --in_drive_;
    ++counters_.requeued;
    c.in_drive = false;
    context_[c.context.number].meter.command_returns(now);
    scheduler_->cancelled(c, now);
    scheduler_->insert(c, now);
}

/// Drops all waiting requests. A request with a part in the drive counts as dropped until all of its parts have
/// completed.
void BlockLayer::stop() {
    stopped_ = true;
    counters_.dropped = counters_.requests - counters_.completed;
}

std::vector<ContextUse> BlockLayer::uses(SimTime now) {
    std::vector<ContextUse> all;
    for (Context& c : context_) {
        c.meter.advance(now);
        all.push_back(c.meter.use());
        if (nass_) all.back().limit_ps = nass_->limit_ps(static_cast<std::uint32_t>(all.size() - 1), now);
    }
    return all;
}

void BlockLayer::check_waiters() const {
    if (!scheduler_ || stopped_) return;
    if (!incoming_.empty() && commands_.in_use() < most_requests_)
        throw CheckFailed("block layer: a request waits for room that there is");
    if (plugged_ != 0) throw CheckFailed("block layer: requests are plugged, and nobody unplugs them");
    for (const Context& c : context_)
        if (c.first != nullptr && c.below < config_.vm_queue_depth)
            throw CheckFailed("block layer: a request waits in a virtual queue that has room");
}

std::string BlockLayer::dump() const {
    if (!scheduler_) return "";
    std::string s = "block layer: " + config_.scheduler + ", " + std::to_string(requests_.in_use()) + " requests, " +
                    std::to_string(scheduler_->waiting()) + " commands with the scheduler, " +
                    std::to_string(in_drive_) + " of " + std::to_string(depth_) + " with the driver, " +
                    std::to_string(incoming_.size()) + " parts wait for one of " + std::to_string(most_requests_) +
                    " requests, " + std::to_string(virtual_) + " in virtual queues\n";
    for (std::uint32_t i = 0; i < context_.size(); ++i)
        if (const ContextMeter& m = context_[i].meter; m.requests() != 0)
            s += "  context " + std::to_string(i) + ": " + std::to_string(m.requests()) + " requests, " +
                 std::to_string(m.tags()) + " commands in the drive" +
                 (nass_ ? ", at most " + std::to_string(nass_->limit(i)) : "") + "\n";
    return s + scheduler_->dump();
}

}  // namespace ssdtlm
