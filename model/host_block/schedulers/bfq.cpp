// SPDX-License-Identifier: Apache-2.0
// bfq: contexts take turns in the order of B-WF2Q+, and a turn has a budget of sectors (Valente, Checconi, "High
// throughput disk scheduling with fair bandwidth distribution", IEEE Transactions on Computers 59(9), 2010). The rules
// are those of Linux's bfq-iosched.c and bfq-wf2q.c:
// - A context has two queues: one for awaited requests, and one for buffered writes. The weight of both is the weight
//   of the context times (8 - level). Realtime goes before best effort, and best effort before idle. Once in 200 ms a
//   queue of the idle class goes first.
// - A queue that gets its first request starts at S. This is the larger of the class's virtual time V and of the
//   queue's last finish. It will finish at F = S + budget / weight. The next turn goes to the queue with the least F
//   among those with S <= V. If no queue has S <= V, V first rises to the least S. V grows by the served sectors,
//   divided by the sum of the weights of all queues with requests. After its turn a queue has finished at S + served
//   sectors / weight, and starts there if it has more requests.
// - A turn ends when the next request exceeds the budget, after timeout_sync, or when the queue has no more requests. A
//   queue of the idle class also ends its turn after each request while others wait. Then the budget of a queue of
//   awaited requests changes. It grows fourfold if it was used up, and doubles after a timeout. It becomes the served
//   sectors if the queue had no more requests, and shrinks if the drive waited for one in vain. It stays between
//   max_budget / 32 and max_budget. Buffered writes have max_budget, and count three times while the queues at work
//   have equal weights and classes.
// - In a turn the request that is nearest to the end of the last one goes next (back_seek_max, back_seek_penalty). A
//   turn begins with the oldest request instead if that is older than fifo_expire_sync or fifo_expire_async.
// - When a queue in its turn has no more requests, the drive stays idle for slice_idle after the queue's last request
//   has ended. It does so only if the drive has no queue of commands, or if weights or classes of the queues at work
//   differ. It never does so for buffered writes and for the idle class. With strict_guarantees it does so for all, and
//   the drive has one request at a time.
// These rules are the model's own. A request that comes back from the drive unserved is credited to its queue. A
// context whose gate closes in its turn loses the turn, and pays for the sectors that were served. If the gate allows
// it (AntiBDL), other queues fill the time in which the drive would be idle, and pay as in a turn.
// Not modelled: low_latency (raising of weights), merging of cooperating queues, injection, early activation, groups in
// a tree, estimates of the drive's rate (max_budget = 0 is a fixed budget), charging of slow queues by time.
#include <algorithm>
#include <array>
#include <deque>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/address_order.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kAutoBudget = 16 * 1024;  // sectors; bfq_default_max_budget
constexpr std::uint64_t kAsyncCharge = 3;         // bfq_async_charge_factor
constexpr unsigned kShift = 22;                   // WFQ_SERVICE_SHIFT
constexpr Ps kIdleClassTurn = 200ms;              // BFQ_CL_IDLE_TIMEOUT

struct BfqSettings {
    Ps slice_idle, timeout, fifo_expire_sync, fifo_expire_async;
    std::uint64_t max_budget, back_seek_max, back_seek_penalty;
    bool strict, always_idles;
};

class Bfq final : public QueueingScheduler {
public:
    explicit Bfq(const BfqSettings& settings) : settings_(settings) {}

    SimTime ask_again() const override { return idle_until_ == kNever || held() == 0 ? kNever : idle_until_; }
    std::int64_t anticipates() const override {
        if (active_ == nullptr || !active_->waiting.empty() || draining()) return -1;
        const bool waits = idle_until_ != kNever || (active_->in_drive != 0 && may_wait(*active_));
        return waits ? active_->context : -1;
    }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"bfq_turns", turns_},
                {"bfq_budgets_used_up", used_up_},
                {"bfq_timeouts", timeouts_},
                {"bfq_idle_waits", idle_waits_}};
    }

protected:
    void add(Waiting& w, SimTime) override {
        Queue& q = queue(w);
        const IoContext& c = w.request->context;
        if (!q.busy) {
            q.context = c.number;
            q.sync = w.request->sync;
            q.io_class = c.io_class;
            q.weight = std::uint64_t{c.weight} * (8u - c.level);
        }
        q.waiting.add(w);
        if (active_ == &q) idle_until_ = kNever;
        if (q.busy) return;
        q.busy = true;
        class_of(q).weights += q.weight;
        q.start = std::max(class_of(q).time, q.finish);
        place(q);
    }
    void grown(Waiting& w) override { queue(w).waiting.grown(w); }
    Waiting* take(SimTime now, OpenContexts& open) override {
        if (settings_.strict && in_drive_ != 0) return nullptr;
        Queue* const from = select(now, open);
        if (from == nullptr) return nullptr;
        Queue& q = *from;
        const bool its_turn = from == active_;
        Waiting& w = its_turn ? next_of(q, now) : nearest(q);
        w.value = charge(q, *w.request);
        class_of(q).time += (w.value << kShift) / class_of(q).weights;
        q.waiting.remove(w);
        last_end_ = w.request->end();
        ++q.in_drive;
        ++in_drive_;
        if (its_turn) {
            q.oldest_checked = true;
            q.served += w.value;
            if (q.io_class == IoClass::idle && others_wait(q)) expire(End::used_up);
        } else {
            q.finish = q.start + (w.value << kShift) / q.weight;
            go_on(q);
        }
        return &w;
    }
    void ended(Waiting& w, SimTime now) override {
        Queue& q = queue(w);
        --q.in_drive;
        --in_drive_;
        if (active_ != &q) return;
        if (q.waiting.empty() && may_wait(q)) {
            if (q.in_drive != 0) return;
            idle_until_ = now + settings_.slice_idle;
            ++idle_waits_;
        } else if (now >= q.turn_ends) {
            expire(End::timeout);
        } else if (q.waiting.empty()) {
            expire(End::no_more);
        }
    }
    void returned(Waiting& w, SimTime) override {
        Queue& q = queue(w);
        --q.in_drive;
        --in_drive_;
        const std::uint64_t back = (w.value << kShift) / q.weight;
        q.start -= std::min(q.start, back);
        q.finish -= std::min(q.finish, back);
    }
    std::string state() const override {
        std::string text;
        for (const Queue& q : queues_)
            if (q.busy || q.in_drive != 0)
                text += "context " + std::to_string(q.context) + (q.sync ? "" : ", buffered writes") + ": " +
                        std::to_string(q.waiting.fifo.size()) + " wait, " + std::to_string(q.in_drive) +
                        " in the drive, start " + std::to_string(q.start >> kShift) + ", finish " +
                        std::to_string(q.finish >> kShift) + (active_ == &q ? ", its turn\n" : "\n");
        return text;
    }

private:
    enum class End { used_up, timeout, no_more, in_vain, refused };
    struct Queue {
        AddressQueue waiting;
        std::uint32_t context = 0, in_drive = 0;
        IoClass io_class = IoClass::best_effort;
        bool sync = true, busy = false, oldest_checked = false;
        std::uint64_t weight = 400;
        std::uint64_t start = 0, finish = 0;  // virtual
        std::uint64_t most = 0;               // sectors: the budget as the ends of turns have adapted it
        std::uint64_t budget = 0, served = 0;
        std::uint64_t since = 0;
        SimTime turn_ends{};
    };
    struct Class {
        std::uint64_t time = 0, weights = 0;
    };

    Queue& queue(const Waiting& w) {
        const std::size_t i = 2 * std::size_t{w.context()} + (w.request->sync ? 1 : 0);
        while (queues_.size() <= i) {
            queues_.emplace_back();
            queues_.back().most = 2 * settings_.max_budget / 3;
        }
        return queues_[i];
    }
    Class& class_of(const Queue& q) { return classes_[static_cast<std::size_t>(q.io_class)]; }
    bool others_wait(const Queue& q) const {
        return std::any_of(queues_.begin(), queues_.end(), [&](const Queue& o) { return &o != &q && o.busy; });
    }
    /// True: the weights or classes of the queues at work differ.
    bool asymmetric() const {
        const Queue* first = nullptr;
        for (const Queue& q : queues_) {
            if (!q.busy && q.in_drive == 0) continue;
            if (first != nullptr && (q.weight != first->weight || q.io_class != first->io_class)) return true;
            first = &q;
        }
        return false;
    }
    bool may_wait(const Queue& q) const {
        if (draining()) return false;
        if (settings_.strict) return true;
        if (settings_.slice_idle == Ps{0} || !q.sync || q.io_class == IoClass::idle) return false;
        return settings_.always_idles || asymmetric();
    }
    std::uint64_t charge(const Queue& q, const BlockRequest& r) const {
        const std::uint64_t sectors = div_ceil(r.bytes, kSector);
        return q.sync || asymmetric() ? sectors : sectors * kAsyncCharge;
    }
    Waiting& nearest(Queue& q) {
        return q.waiting.nearest(last_end_, settings_.back_seek_max, settings_.back_seek_penalty);
    }
    Waiting& next_of(Queue& q, SimTime now) {
        Waiting& oldest = q.waiting.fifo.front();
        const Ps limit = q.sync ? settings_.fifo_expire_sync : settings_.fifo_expire_async;
        return !q.oldest_checked && oldest.request->arrived + limit <= now ? oldest : nearest(q);
    }
    /// Sets budget and finish of a queue whose start is set.
    void place(Queue& q) {
        q.budget = std::max(q.most, charge(q, *nearest(q).request));
        q.finish = q.start + (q.budget << kShift) / q.weight;
        q.since = ++changes_;
    }
    void adapt(Queue& q, End why) const {
        const std::uint64_t least = std::max<std::uint64_t>(settings_.max_budget / 32, 1);
        if (why == End::refused) return;
        if (!q.sync) {
            q.most = settings_.max_budget;
        } else if (why == End::used_up) {
            q.most = std::min(4 * q.most, settings_.max_budget);
        } else if (why == End::timeout) {
            q.most = std::min(2 * q.most, settings_.max_budget);
        } else if (why == End::no_more) {
            q.most = std::max(q.served, least);
        } else {
            q.most = q.most > 5 * least ? q.most - 4 * least : least;
        }
    }
    void expire(End why) {
        Queue& q = *active_;
        if (why == End::used_up) ++used_up_;
        if (why == End::timeout) ++timeouts_;
        adapt(q, why);
        active_ = nullptr;
        idle_until_ = kNever;
        q.finish = q.start + (q.served << kShift) / q.weight;
        q.served = 0;
        go_on(q);
    }
    /// Call it when a queue was served and its finish is set. A queue with more requests starts there.
    void go_on(Queue& q) {
        if (q.waiting.empty()) {
            q.busy = false;
            class_of(q).weights -= q.weight;
        } else {
            q.start = q.finish;
            place(q);
        }
    }
    Queue* first_of(IoClass io_class, OpenContexts& open) {
        std::uint64_t& time = classes_[static_cast<std::size_t>(io_class)].time;
        Queue* best = nullptr;
        std::uint64_t least_start = ~std::uint64_t{0};
        const auto stands_here = [&](const Queue& q) {
            return &q != active_ && q.io_class == io_class && !q.waiting.empty() && open(q.context);
        };
        for (const Queue& q : queues_)
            if (stands_here(q)) least_start = std::min(least_start, q.start);
        if (least_start == ~std::uint64_t{0}) return nullptr;
        time = std::max(time, least_start);
        for (Queue& q : queues_)
            if (stands_here(q) && q.start <= time &&
                (best == nullptr || std::tie(q.finish, q.since) < std::tie(best->finish, best->since)))
                best = &q;
        return best;
    }
    bool any_open(OpenContexts& open) {
        return std::any_of(queues_.begin(), queues_.end(),
                           [&](const Queue& q) { return &q != active_ && !q.waiting.empty() && open(q.context); });
    }
    Queue* first(SimTime now, OpenContexts& open) {
        Queue* q = nullptr;
        if (now - last_idle_turn_ > kIdleClassTurn) {
            last_idle_turn_ = now;
            q = first_of(IoClass::idle, open);
        }
        for (const IoClass c : {IoClass::realtime, IoClass::best_effort, IoClass::idle})
            if (q == nullptr) q = first_of(c, open);
        return q;
    }
    Queue* filler(SimTime now, OpenContexts& open) { return open.fills_waits() ? first(now, open) : nullptr; }
    Queue* select(SimTime now, OpenContexts& open) {
        if (active_ != nullptr) {
            Queue& a = *active_;
            if (!a.waiting.empty() && !open(a.context)) {
                if (!any_open(open)) return nullptr;
                expire(End::refused);
            } else if (!a.waiting.empty()) {
                if (now >= a.turn_ends) {
                    expire(End::timeout);
                } else if (a.served != 0 && a.served + charge(a, *next_of(a, now).request) > a.budget) {
                    expire(End::used_up);
                } else {
                    return &a;
                }
            } else if (idle_until_ != kNever && !draining()) {
                if (now < idle_until_) return filler(now, open);
                expire(now >= a.turn_ends ? End::timeout : End::in_vain);
            } else if (a.in_drive != 0 && may_wait(a)) {
                return filler(now, open);
            } else {
                expire(End::no_more);
            }
        }
        active_ = first(now, open);
        if (active_ == nullptr) return nullptr;
        active_->turn_ends = now + settings_.timeout;
        active_->oldest_checked = false;
        ++turns_;
        return active_;
    }

    const BfqSettings settings_;
    std::deque<Queue> queues_;
    std::array<Class, 3> classes_;
    Queue* active_ = nullptr;
    SimTime idle_until_ = kNever, last_idle_turn_{};
    std::uint64_t last_end_ = 0, changes_ = 0, turns_ = 0, used_up_ = 0, timeouts_ = 0, idle_waits_ = 0;
    std::uint32_t in_drive_ = 0;
};

std::vector<PolicyParameter> bfq_parameters() {
    const char* const source = "Linux Documentation/block/bfq-iosched.rst and block/bfq-iosched.c";
    const auto time = [&](const char* name, std::int64_t ms, const char* low, const char* sentence) {
        return policy_quantity(name, Dimension::time, ms * 1'000'000'000)
            .range(low, "100s")
            .says(sentence)
            .from(source);
    };
    return {
        time("slice_idle", 8, "0ps",
             "Wait for the next request of a context whose turn it is: if weights or classes differ, or if the drive "
             "has no queue of commands. 0: no wait"),
        time("timeout_sync", 125, "1us", "Longest turn of a context"),
        policy_integer("max_budget", 0)
            .range("0", "1048576")
            .says("Sectors of 512 B in a turn of a context at most. 0: 16384, and no estimate of the drive's rate")
            .from(source),
        policy_boolean("strict_guarantees", false)
            .says("One request at a time in the drive, and always a wait for the next of a context in its turn")
            .from(source),
        time("fifo_expire_sync", 125, "1us", "Age at which an awaited request begins its context's turn"),
        time("fifo_expire_async", 250, "1us", "Age at which a buffered write begins its context's turn"),
        policy_quantity("back_seek_max", Dimension::bytes, 16 << 20)
            .range("0B", "1TiB")
            .says("How far back from the last request another is taken")
            .from(source),
        policy_integer("back_seek_penalty", 2)
            .range("1", "1000")
            .says("How many times as far a request behind the last one counts")
            .from(source),
    };
}

const IoSchedulers::Registered kBfq{{"bfq", "contexts share bandwidth by weight (B-WF2Q+)", bfq_parameters(),
                                     [](const IoSchedulerSetup& setup, const PolicySettings& own) {
                                         const auto number = [&](const char* name) {
                                             return static_cast<std::uint64_t>(own.number(name));
                                         };
                                         BfqSettings s{};
                                         s.slice_idle = Ps{own.number("slice_idle")};
                                         s.timeout = Ps{own.number("timeout_sync")};
                                         s.fifo_expire_sync = Ps{own.number("fifo_expire_sync")};
                                         s.fifo_expire_async = Ps{own.number("fifo_expire_async")};
                                         s.max_budget = number("max_budget") == 0 ? kAutoBudget : number("max_budget");
                                         s.back_seek_max = number("back_seek_max");
                                         s.back_seek_penalty = number("back_seek_penalty");
                                         s.strict = own.flag("strict_guarantees");
                                         s.always_idles = setup.rotational || !setup.queueing;
                                         return std::make_unique<Bfq>(s);
                                     }}};

}  // namespace
}  // namespace ssdtlm
