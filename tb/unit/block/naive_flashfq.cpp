// SPDX-License-Identifier: Apache-2.0
// flashfq a second time, from the rules at the head of schedulers/flashfq.cpp.
#include <algorithm>

#include "unit/block/naive_scheduler.h"

namespace ssdtlm::naive {
namespace {

class FlashFq final : public NaiveScheduler {
public:
    explicit FlashFq(const Settings& s) : settings_(s) {}

    void arrives(BlockRequest& r, SimTime now) override {
        Task& t = tasks_[r.context.number];
        if (t.queued++ > 0) return;
        const bool expected = t.hoped && now < t.until;
        if (!expected && t.out.empty() && t.next_tag < clock_) t.next_tag = clock_;
        t.hoped = false;
        t.turn = ++turns_;
    }
    BlockRequest* choose(SimTime now) override {
        BlockRequest* best = nullptr;
        for (BlockRequest* r : open)
            if (best == nullptr || earlier(tasks_[r->context.number], tasks_[best->context.number])) best = r;
        if (best == nullptr) return nullptr;
        const std::int64_t tag = tasks_[best->context.number].next_tag;
        for (const auto& [number, t] : tasks_) {
            std::int64_t reached = tag;
            if (!t.out.empty())
                reached = tags_[t.out.front()];
            else if (t.hoped && now < t.until && !barrier_waits() && !fills)
                reached = t.next_tag;
            if (tag - reached > settings_.at("throttle")) return nullptr;
        }
        return best;
    }
    void goes(BlockRequest& r, SimTime) override {
        Task& t = tasks_[r.context.number];
        tags_[r.handle] = t.next_tag;
        clock_ = std::max(clock_, t.next_tag);
        t.next_tag += cost(r);
        t.queued -= 1;
        t.out.push_back(r.handle);
        t.turn = ++turns_;
    }
    void ends(const BlockRequest& r, SimTime now, bool unserved) override {
        Task& t = tasks_[r.context.number];
        t.out.erase(std::find(t.out.begin(), t.out.end(), r.handle));
        if (unserved) {
            t.next_tag -= cost(r);
        } else if (r.sync && t.queued == 0 && t.out.empty()) {
            t.hoped = true;
            t.until = now + Ps{settings_.at("anticipation")};
        }
    }

private:
    struct Task {
        std::int64_t next_tag = 0, turn = 0;
        int queued = 0;
        std::vector<std::uint32_t> out;
        bool hoped = false;
        SimTime until{};
    };
    static bool earlier(const Task& a, const Task& b) {
        return a.next_tag < b.next_tag || (a.next_tag == b.next_tag && a.turn < b.turn);
    }
    std::int64_t cost(const BlockRequest& r) const {
        const bool read = r.op == HostOp::read;
        std::int64_t c = settings_.at(read ? "read_cost" : "write_cost");
        if (r.op != HostOp::trim) c += settings_.at(read ? "read_cost_4k" : "write_cost_4k") * r.bytes / 4096;
        c = c * 400 / (static_cast<std::int64_t>(r.context.weight) * (8 - r.context.level));
        return std::max<std::int64_t>(c, 1);
    }
    const Settings settings_;
    std::map<std::uint32_t, Task> tasks_;
    std::map<std::uint32_t, std::int64_t> tags_;
    std::int64_t clock_ = 0, turns_ = 0;
};

}  // namespace

std::unique_ptr<IoScheduler> flashfq(const Settings& s) {
    return std::make_unique<FlashFq>(s);
}

}  // namespace ssdtlm::naive
