// SPDX-License-Identifier: Apache-2.0
// flashfq: fair queueing by start tags for flash (Shen, Park, "FlashFQ: A Fair Queueing I/O Scheduler for Flash-Based
// SSDs", USENIX ATC 2013). The rules are those that are public, and the model's own where they are not:
// - A request costs a fixed time plus a time for each 4 KiB (linear cost). Reads and writes have costs of their own. A
//   trim costs the fixed time of a write.
// - The next request of a context starts at tag S and finishes at F = S + cost / weight. The request behind it starts
//   at F. The virtual time is the greatest S of all requests that went. A context that comes starts at the larger of
//   the virtual time and of its own last F. The request with the least S goes next. If tags are equal, the context that
//   went or came earlier is first.
// - Throttled dispatch: a request goes only if its S is at most `throttle` ahead of the slowest context. The progress
//   of a context is the S of its oldest request in the drive, or else of its next request.
// - Anticipation: when the last request of a context has ended and was awaited, the context stays for `anticipation`.
//   It keeps its tag, and others get no further ahead of it, unless the gate lets them (AntiBDL).
// - The weight is the weight of the context times (8 - level) / 4.
// These rules are the model's own. The cost of a request that comes back from the drive unserved is paid back. Classes
// have no effect. Costs are parameters, where FlashFQ measures the drive.
#include <algorithm>
#include <deque>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

class FlashFq final : public QueueingScheduler {
public:
    struct Settings {
        std::uint64_t fixed[2], per_4k[2];  // ps, by direction
        std::uint64_t throttle;             // ps
        Ps anticipation;
    };
    explicit FlashFq(const Settings& settings) : settings_(settings) {}

    SimTime ask_again() const override { return again_; }
    std::int64_t anticipates() const override { return holds_for_; }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"flashfq_throttled", throttled_}, {"flashfq_anticipated", anticipated_}};
    }

protected:
    void add(Waiting& w, SimTime now) override {
        while (contexts_.size() <= w.context()) contexts_.emplace_back();
        Context& c = contexts_[w.context()];
        if (c.waiting.empty()) {
            const bool here = !c.in_drive.empty() || now < c.expected_until;
            if (now < c.expected_until) ++anticipated_;
            if (!here) c.start = std::max(c.start, virtual_time_);
            c.expected_until = SimTime{};
            c.since = ++changes_;
        }
        c.waiting.push_back(w);
    }
    Waiting* take(SimTime now, OpenContexts& open) override {
        again_ = kNever;
        holds_for_ = -1;
        Context* best = nullptr;
        for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
            Context& c = contexts_[i];
            if (!c.waiting.empty() && open(i) &&
                (best == nullptr || std::tie(c.start, c.since) < std::tie(best->start, best->since)))
                best = &c;
        }
        if (best == nullptr || throttled(*best, now, open)) return nullptr;
        Waiting& w = best->waiting.front();
        best->waiting.pop_front();
        best->in_drive.push_back(w);
        w.tag = best->start;
        w.value = cost(*w.request);
        virtual_time_ = std::max(virtual_time_, best->start);
        best->start += w.value;
        best->since = ++changes_;
        return &w;
    }
    void ended(Waiting& w, SimTime now) override {
        Context& c = contexts_[w.context()];
        c.in_drive.erase(c.in_drive.iterator_to(w));
        if (w.request->sync && c.waiting.empty() && c.in_drive.empty()) c.expected_until = now + settings_.anticipation;
    }
    void returned(Waiting& w, SimTime) override {
        Context& c = contexts_[w.context()];
        c.in_drive.erase(c.in_drive.iterator_to(w));
        c.start -= w.value;
    }
    std::string state() const override {
        std::string text = "virtual time " + std::to_string(virtual_time_) + "\n";
        for (std::size_t i = 0; i < contexts_.size(); ++i)
            text += "context " + std::to_string(i) + ": " + std::to_string(contexts_[i].waiting.size()) + " wait, " +
                    std::to_string(contexts_[i].in_drive.size()) + " in the drive, next start " +
                    std::to_string(contexts_[i].start) + "\n";
        return text;
    }

private:
    struct Context {
        WaitingList waiting;
        WaitingList in_drive;     // the oldest in the drive first
        std::uint64_t start = 0;  // tag of its next request: the finish of the one before, or later
        std::uint64_t since = 0;
        SimTime expected_until{};
    };

    /// The cost of a request divided by the weight, in ps.
    std::uint64_t cost(const BlockRequest& r) const {
        const std::size_t d = r.op == HostOp::read ? 0 : 1;
        const std::uint64_t time =
            settings_.fixed[d] + (r.op == HostOp::trim ? 0 : settings_.per_4k[d] * r.bytes / 4096);
        return std::max<std::uint64_t>(1, time * 400 / (std::uint64_t{r.context.weight} * (8u - r.context.level)));
    }
    /// True: another context is too far behind. It has requests in the drive, or is expected.
    bool throttled(const Context& best, SimTime now, const OpenContexts& open) {
        const std::uint64_t limit = best.start > settings_.throttle ? best.start - settings_.throttle : 0;
        bool held = false;
        for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
            const Context& c = contexts_[i];
            if (!c.in_drive.empty()) {
                held |= c.in_drive.front().tag < limit;
            } else if (now < c.expected_until && !draining() && c.start < limit) {
                held |= !open.fills_waits();
                if (c.expected_until < again_) holds_for_ = i;
                again_ = std::min(again_, c.expected_until);
            }
        }
        if (held)
            ++throttled_;
        else
            again_ = kNever;
        return held;
    }

    const Settings settings_;
    std::deque<Context> contexts_;
    std::uint64_t virtual_time_ = 0, changes_ = 0, throttled_ = 0, anticipated_ = 0;
    SimTime again_ = kNever;
    std::int64_t holds_for_ = -1;
};

PolicyParameter flashfq_cost(const char* name, std::int64_t us, const char* sentence, const char* source) {
    return policy_quantity(name, Dimension::time, us * 1'000'000).range("0ps", "1s").says(sentence).from(source);
}

const IoSchedulers::Registered kFlashFq{
    {"flashfq",
     "contexts share the time that their requests cost, by start tags (Shen and Park 2013)",
     {flashfq_cost("read_cost", 60, "Fixed cost of a read", "assumed: a page is read from a busy drive"),
      flashfq_cost("read_cost_4k", 8, "Cost of each 4 KiB of a read", "assumed: 4 KiB at 550 MB/s"),
      flashfq_cost("write_cost", 40, "Fixed cost of a write or trim", "assumed: it ends in the write buffer"),
      flashfq_cost("write_cost_4k", 12, "Cost of each 4 KiB of a write",
                   "assumed: 4 KiB at 340 MB/s, as programs allow"),
      flashfq_cost("throttle", 1000, "How far the tag of a request may be ahead of the context that has come least far",
                   "assumed: some requests, so that the drive has work from all"),
      flashfq_cost("anticipation", 2000,
                   "Time in which a context is expected to ask again after its last awaited request",
                   "assumed: some times the time of a request, and less than a time slice")},
     [](const IoSchedulerSetup&, const PolicySettings& own) {
         const auto number = [&](const char* name) { return static_cast<std::uint64_t>(own.number(name)); };
         FlashFq::Settings s{};
         s.fixed[0] = number("read_cost");
         s.fixed[1] = number("write_cost");
         s.per_4k[0] = number("read_cost_4k");
         s.per_4k[1] = number("write_cost_4k");
         s.throttle = number("throttle");
         s.anticipation = Ps{own.number("anticipation")};
         return std::make_unique<FlashFq>(s);
     }}};

}  // namespace
}  // namespace ssdtlm
