// SPDX-License-Identifier: Apache-2.0
// cfq: contexts take turns. A turn is a slice of time in which only requests of one queue go. The rules are those of
// Linux's cfq-iosched.c until 5.0:
// - A context has two queues: one for awaited requests, and one for buffered writes. Queues of realtime go before those
//   of best effort, and these before idle ones. In a class the queue with the least key is next. The key is the time at
//   which the queue came. For each other queue, it grows by as much as the slice is shorter than an awaited one of
//   level 0. It shrinks by the unused rest of the queue's last slice. An idle queue comes 200 ms behind the last idle
//   queue.
// - A slice lasts slice_sync or slice_async, plus a fifth for each level before 4, minus a fifth for each level behind
//   it. With low_latency slices shrink so that all queues of the class have a turn within target_latency. The time of a
//   slice begins with its first completion.
// - In a slice the request that is nearest to the end of the last one goes next (back_seek_max, back_seek_penalty). A
//   slice begins with the oldest request instead if that is older than fifo_expire_sync or fifo_expire_async.
// - While others wait, a queue has at most quantum / 2 requests in the drive. It has up to quantum once its time runs
//   and the rest of its slice is longer than slice_idle for each of its requests in the drive. An idle queue has one
//   request in the drive.
// - Buffered writes wait until no awaited request is in the drive. A slice has 2 * slice_async_rq * (8 - level) of
//   them. With low_latency, one more may be in the drive for each slice_sync since an awaited request was last late.
// - When a queue of awaited requests has no more of them, the drive stays idle for slice_idle, or until the slice ends.
//   If the drive queues commands and does not rotate, this time is group_idle, and the context must not have buffered
//   writes that wait. A slice that is waited for does not end before one of its requests in the drive has ended. The
//   drive never waits for idle queues, nor for a context that thinks longer than the wait.
// - A request of a higher class ends the slice of a lower one. An awaited request ends the slice of buffered writes.
// These rules are the model's own. A weight scales the slice, where the kernel has virtual time of groups. One buffered
// write goes before an awaited request may end the slice, because buffered writes could starve otherwise. A context
// whose gate closes in its slice loses the turn, and keeps the rest of the slice. If the gate allows it (AntiBDL),
// queues without a slice fill the time in which the drive would be idle, free of charge and in the order of their keys.
// Not modelled: cooperating queues, seeky and deep queues, trees by kind of workload, slices of groups.
#include <algorithm>
#include <deque>
#include <tuple>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/address_order.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

constexpr Ps kIdleDelay = 200ms;    // CFQ_IDLE_DELAY
constexpr Ps kFrontDelay = 1s;      // how far before the first queue a preempting one is put
constexpr std::int64_t kFifth = 5;  // CFQ_SLICE_SCALE
constexpr std::uint32_t kLevels = 8;

struct CfqSettings {
    std::uint32_t quantum, slice_async_rq;
    Ps fifo_expire_sync, fifo_expire_async, slice_sync, slice_async, slice_idle, group_idle, target_latency;
    std::uint64_t back_seek_max, back_seek_penalty;
    bool low_latency, per_queue;
    Ps idle() const { return per_queue ? slice_idle : group_idle; }
};

/// The mean time of a context from the end of a request to its next request.
class ThinkTime {
public:
    void ended(SimTime now) { last_end_ = now; }
    void asked(SimTime now, Ps most) {
        const Ps t = std::min(now - last_end_, most);
        samples_ = (7 * samples_ + 256) / 8;
        total_ = (7 * total_ + 256 * t) / 8;
        mean_ = (total_ + Ps{128}) / samples_;
    }
    bool longer_than(Ps t) const { return samples_ > kValid && mean_ > t; }

private:
    static constexpr std::int64_t kValid = 80;  // sample_valid()
    SimTime last_end_{};
    std::int64_t samples_ = 0;
    Ps total_{}, mean_{};
};

class Cfq final : public QueueingScheduler {
public:
    explicit Cfq(const CfqSettings& settings) : settings_(settings) {}

    SimTime ask_again() const override {
        return idle_until_ == kNever || held() == 0 ? kNever : std::min(idle_until_, active_->slice_end);
    }
    std::int64_t anticipates() const override {
        if (active_ == nullptr || !active_->waiting.empty() || draining()) return -1;
        const bool waits = idle_until_ != kNever || (active_->in_drive != 0 && waits_for(*active_));
        return waits ? active_->context : -1;
    }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"cfq_slices", slices_}, {"cfq_idle_waits", idle_waits_}};
    }

protected:
    void add(Waiting& w, SimTime now) override {
        const IoContext& c = w.request->context;
        Queue& q = queue(w);
        q.context = c.number;
        q.sync = w.request->sync;
        q.level = c.level;
        q.weight = c.weight;
        q.io_class = c.io_class;
        if (q.sync) think_[c.number].asked(now, 2 * settings_.idle());
        q.waiting.add(w);
        if (!q.busy) {
            q.busy = true;
            place(q, now);
        }
        if (active_ == &q) {
            idle_until_ = kNever;
        } else if (active_ != nullptr && preempts(q, *active_)) {
            expire(now, true);
            place_first(q, now);
        }
    }
    void grown(Waiting& w) override { queue(w).waiting.grown(w); }
    Waiting* take(SimTime now, OpenContexts& open) override {
        Queue* const q = select(now, open);
        if (q == nullptr) return nullptr;
        if (q != active_) return fill(*q);
        if (!may_send(*q, now)) return nullptr;
        const Ps limit = q->sync ? settings_.fifo_expire_sync : settings_.fifo_expire_async;
        Waiting* w = &q->waiting.fifo.front();
        const bool oldest = !q->oldest_checked && w->request->arrived + limit <= now;
        q->oldest_checked = true;
        if (!oldest) w = &q->waiting.nearest(last_end_, settings_.back_seek_max, settings_.back_seek_penalty);
        go(*q, *w);
        ++q->sent;
        const bool enough = q->io_class == IoClass::idle ||
                            (!q->sync && q->sent >= 2 * settings_.slice_async_rq * (kLevels - q->level));
        if (enough && count(false) > 1) expire(now, false);
        return w;
    }
    void ended(Waiting& w, SimTime now) override {
        Queue& q = queue(w);
        --q.in_drive;
        --in_drive_[q.sync];
        if (q.sync) {
            think_[q.context].ended(now);
            if (w.request->arrived + settings_.fifo_expire_sync <= now) last_late_ = now;
        }
        if (active_ != &q) return;
        if (q.slice_new) {
            q.slice_new = false;
            q.slice_end = now + slice(q);
        }
        if (now >= q.slice_end || q.io_class == IoClass::idle) {
            expire(now, true);
        } else if (q.waiting.empty() && q.in_drive == 0 && waits_for(q) &&
                   !think_[q.context].longer_than(q.slice_end - now)) {
            idle_until_ = now + settings_.idle();
            ++idle_waits_;
        }
    }
    void returned(Waiting& w, SimTime) override {
        Queue& q = queue(w);
        --q.in_drive;
        --in_drive_[q.sync];
    }
    std::string state() const override {
        std::string text;
        for (const Queue& q : queues_)
            if (q.busy || q.in_drive != 0)
                text += "context " + std::to_string(q.context) + (q.sync ? "" : ", buffered writes") + ": " +
                        std::to_string(q.waiting.fifo.size()) + " wait, " + std::to_string(q.in_drive) +
                        " in the drive" + (active_ == &q ? ", its slice\n" : "\n");
        return text;
    }

private:
    struct Queue {
        AddressQueue waiting;
        std::uint32_t context = 0, weight = 100, in_drive = 0, sent = 0;
        std::uint8_t level = 4;
        IoClass io_class = IoClass::best_effort;
        bool sync = true, busy = false, slice_new = false, oldest_checked = false;
        SimTime key{}, slice_end{};
        std::uint64_t since = 0;
        Ps left{};
    };

    Queue& queue(const Waiting& w) {
        const std::size_t i = 2 * std::size_t{w.context()} + (w.request->sync ? 1 : 0);
        while (queues_.size() <= i) queues_.emplace_back();
        while (think_.size() <= w.context()) think_.emplace_back();
        return queues_[i];
    }
    const Queue* other_of(const Queue& q) const {
        const std::size_t i = 2 * std::size_t{q.context} + (q.sync ? 0 : 1);
        return i < queues_.size() ? &queues_[i] : nullptr;
    }
    std::uint32_t count(bool sync_only) const {
        return static_cast<std::uint32_t>(std::count_if(
            queues_.begin(), queues_.end(), [&](const Queue& q) { return q.busy && (q.sync || !sync_only); }));
    }
    Ps plain_slice(bool sync, std::uint8_t level) const {
        const Ps base = sync ? settings_.slice_sync : settings_.slice_async;
        return base + base / kFifth * (4 - level);
    }
    Ps slice(const Queue& q) const {
        const std::int64_t full = std::max<std::int64_t>(plain_slice(q.sync, q.level).count() * q.weight / 100, 1);
        if (!settings_.low_latency) return Ps{full};
        const auto queues = std::count_if(queues_.begin(), queues_.end(),
                                          [&](const Queue& o) { return o.busy && o.io_class == q.io_class; });
        const Ps expected = settings_.slice_sync * std::max<std::int64_t>(queues, 1);
        if (expected <= settings_.target_latency) return Ps{full};
        const std::int64_t least =
            std::min(full, scaled(2 * settings_.slice_idle.count(), full, settings_.slice_sync.count()));
        return Ps{std::max({scaled(full, settings_.target_latency.count(), expected.count()), least, std::int64_t{1}})};
    }
    /// Sets the key of a queue that waits for a slice. The rest of its last slice moves it ahead.
    void place(Queue& q, SimTime now) {
        q.since = ++changes_;
        if (q.io_class == IoClass::idle) {
            SimTime last = SimTime::min();
            for (const Queue& o : queues_)
                if (&o != &q && o.busy && o.io_class == IoClass::idle) last = std::max(last, o.key);
            q.key = (last == SimTime::min() ? now : last) + kIdleDelay;
            return;
        }
        const std::int64_t others = std::int64_t{count(false)} - 1;
        q.key = now + others * (plain_slice(true, 0) - plain_slice(q.sync, q.level)) - q.left;
        q.left = Ps{0};
    }
    void place_first(Queue& q, SimTime now) {
        SimTime least = kNever;
        for (const Queue& o : queues_)
            if (&o != &q && o.busy && o.io_class == q.io_class) least = std::min(least, o.key);
        q.key = (least == kNever ? now : least) - kFrontDelay;
        q.since = ++changes_;
    }
    bool preempts(const Queue& q, const Queue& a) const {
        if (q.io_class != a.io_class) return q.io_class == IoClass::realtime || a.io_class == IoClass::idle;
        return q.io_class != IoClass::idle && q.sync && !a.sync && a.sent != 0;
    }
    bool waits_for(const Queue& q) const {
        const Queue* const other = other_of(q);
        return settings_.idle() > Ps{0} && q.sync && q.io_class != IoClass::idle && !draining() &&
               (settings_.per_queue || other == nullptr || !other->busy) &&
               !think_[q.context].longer_than(settings_.idle());
    }
    void expire(SimTime now, bool keeps_rest) {
        Queue& q = *active_;
        if (keeps_rest) q.left = q.slice_new ? slice(q) : q.slice_end - now;
        active_ = nullptr;
        idle_until_ = kNever;
        q.busy = !q.waiting.empty();
        if (q.busy) place(q, now);
    }
    void go(Queue& q, Waiting& w) {
        q.waiting.remove(w);
        last_end_ = w.request->end();
        ++q.in_drive;
        ++in_drive_[q.sync];
    }
    /// Takes a request of a queue that has no slice, while the scheduler waits for the queue that has one.
    Waiting* fill(Queue& q) {
        Waiting& w = q.waiting.nearest(last_end_, settings_.back_seek_max, settings_.back_seek_penalty);
        go(q, w);
        q.busy = !q.waiting.empty();
        return &w;
    }
    Queue* next(OpenContexts& open) {
        Queue* best = nullptr;
        for (Queue& q : queues_)
            if (&q != active_ && !q.waiting.empty() && open(q.context) &&
                (best == nullptr ||
                 std::tie(q.io_class, q.key, q.since) < std::tie(best->io_class, best->key, best->since)))
                best = &q;
        return best;
    }
    Queue* filler(OpenContexts& open) { return open.fills_waits() ? next(open) : nullptr; }
    Queue* select(SimTime now, OpenContexts& open) {
        if (active_ != nullptr) {
            Queue& a = *active_;
            const bool used = !a.slice_new && now >= a.slice_end;
            if (!a.waiting.empty() && !open(a.context)) {
                if (next(open) == nullptr) return nullptr;
                expire(now, true);
            } else if (!used && !a.waiting.empty()) {
                return &a;
            } else if (!used && idle_until_ != kNever && !draining()) {
                if (now < idle_until_) return filler(open);
                expire(now, true);
            } else if (a.in_drive != 0 && waits_for(a)) {
                return filler(open);
            } else {
                expire(now, false);
            }
        }
        active_ = next(open);
        if (active_ == nullptr) return nullptr;
        active_->slice_new = true;
        active_->slice_end = kNever;
        active_->oldest_checked = false;
        active_->sent = 0;
        ++slices_;
        return active_;
    }
    bool may_send(const Queue& q, SimTime now) const {
        if (settings_.per_queue && waits_for(q) && in_drive_[false] != 0) return false;
        if (!q.sync && in_drive_[true] != 0) return false;
        const bool idle = q.io_class == IoClass::idle;
        std::uint64_t most = idle ? 1 : std::max(settings_.quantum / 2, 1u);
        if (q.in_drive >= most) {
            if (idle) return false;
            const std::uint32_t busy = count(false);
            const bool alone = busy == 1 || (q.sync && count(true) == 1);
            const bool soon = q.slice_new || now + settings_.slice_idle * q.in_drive > q.slice_end;
            if (busy > 1 && soon && !alone) return false;
            most = alone ? ~std::uint64_t{0} : settings_.quantum;
        }
        if (!q.sync && settings_.low_latency) {
            std::uint64_t depth = static_cast<std::uint64_t>((now - last_late_) / settings_.slice_sync);
            if (depth == 0 && q.in_drive == 0) depth = 1;
            most = std::min(most, depth);
        }
        return q.in_drive < most;
    }

    const CfqSettings settings_;
    std::deque<Queue> queues_;
    std::deque<ThinkTime> think_;
    Queue* active_ = nullptr;
    SimTime idle_until_ = kNever;
    SimTime last_late_ = SimTime{} - 1s;  // as if a request had been late long ago; the kernel begins so as well
    std::uint64_t last_end_ = 0, changes_ = 0, slices_ = 0, idle_waits_ = 0;
    std::uint32_t in_drive_[2] = {0, 0};
};

std::vector<PolicyParameter> cfq_parameters() {
    const char* const source = "Linux block/cfq-iosched.c";
    const auto time = [&](const char* name, std::int64_t ms, const char* low, const char* high, const char* sentence) {
        return policy_quantity(name, Dimension::time, ms * 1'000'000'000).range(low, high).says(sentence).from(source);
    };
    return {
        policy_integer("quantum", 8)
            .range("1", "1024")
            .says("Requests of a context in the drive while others wait")
            .from(source),
        time("fifo_expire_sync", 125, "1us", "100s", "Age at which an awaited request begins its context's slice"),
        time("fifo_expire_async", 250, "1us", "100s", "Age at which a buffered write begins its context's slice"),
        policy_quantity("back_seek_max", Dimension::bytes, 16 << 20)
            .range("0B", "1TiB")
            .says("How far back from the last request another is taken")
            .from(source),
        policy_integer("back_seek_penalty", 2)
            .range("1", "1000")
            .says("How many times as far a request behind the last one counts")
            .from(source),
        time("slice_sync", 100, "1us", "10s", "Time for awaited requests of a context, of level 4 and weight 100"),
        time("slice_async", 40, "1us", "10s", "The same for its buffered writes"),
        policy_integer("slice_async_rq", 2)
            .range("1", "1000")
            .says("Buffered writes in a slice: 2 * slice_async_rq * (8 - level)")
            .from(source),
        time("slice_idle", 8, "0ps", "1s",
             "Wait for the next request of a context. Only of drives without a queue of commands"),
        time("group_idle", 8, "0ps", "1s", "The same of drives with a queue of commands. 0: no wait"),
        policy_boolean("low_latency", true)
            .says("Slices shrink so that all contexts have a turn within target_latency, and buffered writes are "
                  "held back after awaited requests that were late")
            .from(source),
        time("target_latency", 300, "1us", "10s", "Time in which all contexts are to have a turn (low_latency)"),
    };
}

const IoSchedulers::Registered kCfq{{"cfq", "contexts take turns by slices of time", cfq_parameters(),
                                     [](const IoSchedulerSetup& setup, const PolicySettings& own) {
                                         const auto time = [&](const char* name) { return Ps{own.number(name)}; };
                                         CfqSettings s{};
                                         s.quantum = static_cast<std::uint32_t>(own.number("quantum"));
                                         s.slice_async_rq = static_cast<std::uint32_t>(own.number("slice_async_rq"));
                                         s.fifo_expire_sync = time("fifo_expire_sync");
                                         s.fifo_expire_async = time("fifo_expire_async");
                                         s.slice_sync = time("slice_sync");
                                         s.slice_async = time("slice_async");
                                         s.slice_idle = time("slice_idle");
                                         s.group_idle = time("group_idle");
                                         s.target_latency = time("target_latency");
                                         s.back_seek_max = static_cast<std::uint64_t>(own.number("back_seek_max"));
                                         s.back_seek_penalty =
                                             static_cast<std::uint64_t>(own.number("back_seek_penalty"));
                                         s.low_latency = own.flag("low_latency");
                                         s.per_queue = setup.rotational || !setup.queueing;
                                         return std::make_unique<Cfq>(s);
                                     }}};

}  // namespace
}  // namespace ssdtlm
