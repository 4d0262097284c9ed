// SPDX-License-Identifier: Apache-2.0
// bfq a second time, from the rules at the head of schedulers/bfq.cpp.
#include <algorithm>

#include "unit/block/naive_scheduler.h"

namespace ssdtlm::naive {
namespace {

using Virtual = unsigned long long;
constexpr Virtual kOne = 1ull << 22;  // of virtual time: a sector by weight 1

class Bfq final : public NaiveScheduler {
public:
    explicit Bfq(const Settings& s) : settings_(s), limit_(static_cast<Virtual>(s.at("max_budget"))) {
        if (limit_ == 0) limit_ = 16384;
    }

    void arrives(BlockRequest& r, SimTime) override {
        const Id id = id_of(r);
        Entity& e = entities_.try_emplace(id, Entity{}).first->second;
        if (e.adapted == 0) e.adapted = 2 * limit_ / 3;
        e.requests.push_back(&r);
        if (serving_ && server_ == id) wait_until_ = kNever;
        if (e.backlogged) return;
        e.backlogged = true;
        e.weight = r.context.weight * (8u - r.context.level);
        e.io_class = r.context.io_class;
        e.s = std::max(e.f, clock_[static_cast<int>(e.io_class)]);
        queue_up(id);
    }
    BlockRequest* choose(SimTime now) override {
        if (settings_.at("strict_guarantees") != 0 && !in_drive.empty()) return nullptr;
        if (serving_) {
            Entity& e = entities_[server_];
            if (e.requests.empty()) {
                if (wait_until_ != kNever && !barrier_waits()) {
                    if (now < wait_until_) return fill(now);
                    stop(now >= e.ends ? kTimeout : kInVain);
                } else if (out(server_) > 0 && waits(server_)) {
                    return fill(now);
                } else {
                    stop(kNoMore);
                }
            } else if (!is_open(server_)) {
                if (open.empty()) return nullptr;
                stop(kRefused);
            } else if (now >= e.ends) {
                stop(kTimeout);
            } else {
                BlockRequest* const r = pick(e, server_.second, now);
                if (e.served == 0 || e.served + price(server_, *r) <= e.budget) return take(r);
                stop(kUsedUp);
            }
        }
        if (!find(now)) return nullptr;
        serving_ = true;
        server_ = found_;
        Entity& e = entities_[server_];
        e.looked = false;
        e.ends = now + Ps{settings_.at("timeout_sync")};
        return take(pick(entities_[server_], server_.second, now));
    }
    void goes(BlockRequest& r, SimTime) override {
        const Id id = id_of(r);
        Entity& e = entities_[id];
        e.requests.erase(std::find(e.requests.begin(), e.requests.end(), &r));
        head_ = r.end();
        if (!serving_ || server_ != id) {
            e.f = e.s = e.s + paid_[r.handle] * kOne / e.weight;
            e.backlogged = !e.requests.empty();
            if (e.backlogged) queue_up(id);
            return;
        }
        if (e.io_class != IoClass::idle) return;
        bool others = false;
        for (const auto& [other, o] : entities_) others |= other != id && o.backlogged;
        if (others) stop(kUsedUp);
    }
    void ends(const BlockRequest& r, SimTime now, bool unserved) override {
        const Id id = id_of(r);
        Entity& e = entities_[id];
        if (unserved) {
            const Virtual v = paid_[r.handle] * kOne / e.weight;
            e.s = e.s > v ? e.s - v : 0;
            e.f = e.f > v ? e.f - v : 0;
            return;
        }
        if (!serving_ || server_ != id) return;
        if (e.requests.empty() && waits(id)) {
            if (out(id) == 0) wait_until_ = now + Ps{settings_.at("slice_idle")};
        } else if (now >= e.ends) {
            stop(kTimeout);
        } else if (e.requests.empty()) {
            stop(kNoMore);
        }
    }

private:
    using Id = std::pair<std::uint32_t, bool>;  // context, awaited
    enum Why { kUsedUp, kTimeout, kNoMore, kInVain, kRefused };
    struct Entity {
        std::vector<BlockRequest*> requests;
        IoClass io_class = IoClass::best_effort;
        bool backlogged = false, looked = false;
        Virtual weight = 0, s = 0, f = 0, adapted = 0, budget = 0, served = 0, stamp = 0;
        SimTime ends{};
    };
    static Id id_of(const BlockRequest& r) { return {r.context.number, r.sync}; }
    bool is_open(Id id) const {
        return std::any_of(open.begin(), open.end(), [&](const BlockRequest* r) { return id_of(*r) == id; });
    }
    long out(Id id) const {
        return std::count_if(in_drive.begin(), in_drive.end(), [&](const BlockRequest* r) { return id_of(*r) == id; });
    }
    bool differ() const {
        std::vector<std::pair<Virtual, IoClass>> kinds;
        for (const auto& [id, e] : entities_)
            if (e.backlogged || out(id) > 0) kinds.emplace_back(e.weight, e.io_class);
        return std::any_of(kinds.begin(), kinds.end(), [&](const auto& k) { return k != kinds.front(); });
    }
    bool waits(Id id) const {
        if (barrier_waits()) return false;
        if (settings_.at("strict_guarantees") != 0) return true;
        if (!id.second || settings_.at("slice_idle") == 0 || entities_.at(id).io_class == IoClass::idle) return false;
        return settings_.at("queue_depth") == 1 || differ();
    }
    Virtual price(Id id, const BlockRequest& r) const {
        const Virtual sectors = (r.bytes + 511) / 512;
        return !id.second && !differ() ? 3 * sectors : sectors;
    }
    BlockRequest* nearest(const Entity& e) const {
        const auto reach = static_cast<std::uint64_t>(settings_.at("back_seek_max"));
        const auto penalty = static_cast<std::uint64_t>(settings_.at("back_seek_penalty"));
        BlockRequest *ahead = nullptr, *behind = nullptr, *lowest = nullptr;
        for (BlockRequest* r : e.requests) {
            if (lowest == nullptr || r->offset < lowest->offset) lowest = r;
            if (r->offset >= head_ && (ahead == nullptr || r->offset < ahead->offset)) ahead = r;
            if (r->offset < head_ && head_ - r->offset <= reach && (behind == nullptr || r->offset > behind->offset))
                behind = r;
        }
        if (ahead == nullptr && behind == nullptr) return lowest;
        if (ahead == nullptr) return behind;
        if (behind == nullptr) return ahead;
        return ahead->offset - head_ <= (head_ - behind->offset) * penalty ? ahead : behind;
    }
    BlockRequest* pick(const Entity& e, bool sync, SimTime now) const {
        const Ps age = now - e.requests.front()->arrived;
        const bool late = age.count() >= settings_.at(sync ? "fifo_expire_sync" : "fifo_expire_async");
        return late && !e.looked ? e.requests.front() : nearest(e);
    }
    void queue_up(Id id) {
        Entity& e = entities_[id];
        e.budget = std::max(e.adapted, price(id, *nearest(e)));
        e.f = e.s + e.budget * kOne / e.weight;
        e.stamp = ++stamps_;
    }
    BlockRequest* take(BlockRequest* r) {
        Entity& e = entities_[server_];
        const Virtual sectors = price(server_, *r);
        paid_[r->handle] = sectors;
        e.looked = true;
        e.served += sectors;
        advance(e, sectors);
        return r;
    }
    /// A request of another than the one that is served, while that one is waited for.
    BlockRequest* fill(SimTime now) {
        if (!fills || !find(now)) return nullptr;
        Entity& e = entities_[found_];
        BlockRequest* const r = nearest(e);
        paid_[r->handle] = price(found_, *r);
        advance(e, paid_[r->handle]);
        return r;
    }
    void advance(const Entity& e, Virtual sectors) {
        Virtual weights = 0;
        for (const auto& [id, o] : entities_)
            if (o.backlogged && o.io_class == e.io_class) weights += o.weight;
        clock_[static_cast<int>(e.io_class)] += sectors * kOne / weights;
    }
    void stop(Why why) {
        Entity& e = entities_[server_];
        const Virtual least = std::max<Virtual>(1, limit_ / 32);
        if (why != kRefused) {
            if (!server_.second)
                e.adapted = limit_;
            else if (why == kUsedUp)
                e.adapted = std::min(limit_, 4 * e.adapted);
            else if (why == kTimeout)
                e.adapted = std::min(limit_, 2 * e.adapted);
            else if (why == kNoMore)
                e.adapted = std::max(least, e.served);
            else
                e.adapted = e.adapted <= 5 * least ? least : e.adapted - 4 * least;
        }
        serving_ = false;
        wait_until_ = kNever;
        e.f = e.s + e.served * kOne / e.weight;
        e.served = 0;
        e.backlogged = !e.requests.empty();
        if (!e.backlogged) return;
        e.s = e.f;
        queue_up(server_);
    }
    bool start_class(int io_class) {
        std::vector<Id> here;
        for (const auto& [id, e] : entities_)
            if (static_cast<int>(e.io_class) == io_class && is_open(id) && !(serving_ && id == server_))
                here.push_back(id);
        if (here.empty()) return false;
        std::vector<Id> eligible;
        Virtual least = ~0ull;
        for (const Id& id : here) least = std::min(least, entities_[id].s);
        if (clock_[io_class] < least) clock_[io_class] = least;
        for (const Id& id : here)
            if (entities_[id].s <= clock_[io_class]) eligible.push_back(id);
        found_ = *std::min_element(eligible.begin(), eligible.end(), [&](const Id& a, const Id& b) {
            const Entity &x = entities_[a], &y = entities_[b];
            return x.f != y.f ? x.f < y.f : x.stamp < y.stamp;
        });
        return true;
    }
    /// Who would be served next: found_.
    bool find(SimTime now) {
        bool found = false;
        if ((now - idle_turn_).count() > 200'000'000'000) {
            idle_turn_ = now;
            found = start_class(2);
        }
        for (int c = 0; c < 3 && !found; ++c) found = start_class(c);
        return found;
    }

    const Settings settings_;
    Virtual limit_;
    std::map<Id, Entity> entities_;
    std::map<std::uint32_t, Virtual> paid_;
    Virtual clock_[3] = {0, 0, 0};
    Virtual stamps_ = 0;
    bool serving_ = false;
    Id server_{}, found_{};
    SimTime wait_until_ = kNever, idle_turn_{};
    std::uint64_t head_ = 0;
};

}  // namespace

std::unique_ptr<IoScheduler> bfq(const Settings& s) {
    return std::make_unique<Bfq>(s);
}

}  // namespace ssdtlm::naive
