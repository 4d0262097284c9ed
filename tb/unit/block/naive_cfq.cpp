// SPDX-License-Identifier: Apache-2.0
// cfq a second time, from the rules at the head of schedulers/cfq.cpp. Times are plain picoseconds.
#include <algorithm>

#include "unit/block/naive_scheduler.h"

namespace ssdtlm::naive {
namespace {

constexpr std::int64_t kMs = 1'000'000'000;
constexpr std::int64_t kForever = INT64_MAX;

std::int64_t ps(SimTime t) {
    return t.time_since_epoch().count();
}

class Cfq final : public NaiveScheduler {
public:
    explicit Cfq(const Settings& s) : settings_(s), classic_(s.at("queue_depth") == 1) {
        wait_ = s.at(classic_ ? "slice_idle" : "group_idle");
    }

    void arrives(BlockRequest& r, SimTime t) override {
        const std::int64_t now = ps(t);
        const Id id = id_of(r);
        Turn& q = turns_[id];
        q.context = r.context;
        if (id.second) {
            Habit& h = habits_[id.first];
            const std::int64_t thought = std::min(now - h.last_end, 2 * wait_);
            h.samples = (7 * h.samples + 256) / 8;
            h.total = (7 * h.total + 256 * thought) / 8;
            h.mean = (h.total + 128) / h.samples;
        }
        pending_[id].push_back(&r);
        if (!q.listed) {
            q.listed = true;
            enlist(id, now);
        }
        if (holder_ == id && held_) {
            waiting_until_ = kForever;
            return;
        }
        if (!held_) return;
        const Turn& a = turns_[holder_];
        const int mine = static_cast<int>(r.context.io_class), its = static_cast<int>(a.context.io_class);
        bool pushes = mine < its;
        if (mine == its && mine != 2 && id.second && !holder_.second && a.sent > 0) pushes = true;
        if (!pushes) return;
        release(now, true);
        std::int64_t least = kForever;
        for (const auto& [other, turn] : turns_)
            if (other != id && turn.listed && turn.context.io_class == r.context.io_class)
                least = std::min(least, turn.key);
        q.key = (least == kForever ? now : least) - 1000 * kMs;
        q.stamp = ++stamps_;
    }
    BlockRequest* choose(SimTime t) override {
        const std::int64_t now = ps(t);
        blocked_ = false;
        if (held_ && !keep(now)) held_ = false;
        filling_ = blocked_;
        if (blocked_ && !fills) return nullptr;
        if (!held_ || blocked_) {
            Id best{};
            bool found = false;
            for (const auto& [id, turn] : turns_) {
                if (!has_open(id) || (held_ && id == holder_)) continue;
                if (!found || goes_before(turn, turns_[best])) best = id;
                found = true;
            }
            if (!found) return nullptr;
            if (blocked_) return nearest(pending_[best]);
            held_ = true;
            holder_ = best;
            Turn& q = turns_[best];
            q.running = false;
            q.end = kForever;
            q.looked = false;
            q.sent = 0;
        }
        if (!allowed(now)) return nullptr;
        std::vector<BlockRequest*> mine = pending_[holder_];
        BlockRequest* const oldest = mine.front();
        Turn& q = turns_[holder_];
        const bool late =
            ps(oldest->arrived) + settings_.at(holder_.second ? "fifo_expire_sync" : "fifo_expire_async") <= now;
        const bool first = !q.looked;
        q.looked = true;
        if (late && first) return oldest;
        return nearest(mine);
    }
    void goes(BlockRequest& r, SimTime t) override {
        const Id id = id_of(r);
        auto& list = pending_[id];
        list.erase(std::find(list.begin(), list.end(), &r));
        head_ = r.end();
        Turn& q = turns_[id];
        if (filling_) {
            q.listed = !list.empty();
            return;
        }
        ++q.sent;
        int listed = 0;
        for (const auto& [other, turn] : turns_) listed += turn.listed;
        const bool idle = q.context.io_class == IoClass::idle;
        const bool full = !id.second && q.sent >= 2 * settings_.at("slice_async_rq") * (8 - q.context.level);
        if (listed > 1 && (idle || full)) release(ps(t), false);
    }
    void ends(const BlockRequest& r, SimTime t, bool unserved) override {
        if (unserved) return;
        const std::int64_t now = ps(t);
        const Id id = id_of(r);
        if (id.second) {
            habits_[id.first].last_end = now;
            if (ps(r.arrived) + settings_.at("fifo_expire_sync") <= now) late_ = now;
        }
        if (!held_ || holder_ != id) return;
        Turn& q = turns_[id];
        if (!q.running) {
            q.running = true;
            q.end = now + length(id);
        }
        if (now >= q.end || q.context.io_class == IoClass::idle) {
            release(now, true);
            return;
        }
        if (!pending_[id].empty() || out(id) > 0 || !worth_waiting(id)) return;
        const Habit& h = habits_[id.first];
        if (h.samples > 80 && h.mean > q.end - now) return;
        waiting_until_ = now + wait_;
    }

private:
    using Id = std::pair<std::uint32_t, bool>;  // context, awaited
    struct Turn {
        IoContext context;
        bool listed = false, running = false, looked = false;
        std::int64_t key = 0, stamp = 0, end = kForever, rest = 0, sent = 0;
    };
    struct Habit {
        std::int64_t last_end = 0, samples = 0, total = 0, mean = 0;
    };

    static Id id_of(const BlockRequest& r) { return {r.context.number, r.sync}; }
    static bool goes_before(const Turn& a, const Turn& b) {
        if (a.context.io_class != b.context.io_class) return a.context.io_class < b.context.io_class;
        return a.key != b.key ? a.key < b.key : a.stamp < b.stamp;
    }
    bool has_open(Id id) const {
        for (const BlockRequest* r : open)
            if (id_of(*r) == id) return true;
        return false;
    }
    int out(Id id) const {
        int n = 0;
        for (const BlockRequest* r : in_drive) n += id_of(*r) == id;
        return n;
    }
    std::int64_t level_slice(bool sync, int level) const {
        const std::int64_t base = settings_.at(sync ? "slice_sync" : "slice_async");
        return base + base / 5 * (4 - level);
    }
    std::int64_t length(Id id) {
        const Turn& q = turns_[id];
        std::int64_t full = level_slice(id.second, q.context.level) * q.context.weight / 100;
        if (full < 1) full = 1;
        if (settings_.at("low_latency") == 0) return full;
        std::int64_t queues = 0;
        for (const auto& [other, turn] : turns_) queues += turn.listed && turn.context.io_class == q.context.io_class;
        if (queues == 0) queues = 1;
        const std::int64_t round = settings_.at("slice_sync") * queues;
        if (round <= settings_.at("target_latency")) return full;
        __extension__ using Wide = __int128;
        const auto part = static_cast<std::int64_t>(Wide{full} * settings_.at("target_latency") / round);
        const auto least =
            static_cast<std::int64_t>(Wide{full} * (2 * settings_.at("slice_idle")) / settings_.at("slice_sync"));
        return std::max<std::int64_t>(1, std::max(part, std::min(full, least)));
    }
    void enlist(Id id, std::int64_t now) {
        Turn& q = turns_[id];
        q.stamp = ++stamps_;
        std::int64_t others = 0, last = INT64_MIN;
        for (const auto& [other, turn] : turns_) {
            if (other == id || !turn.listed) continue;
            ++others;
            if (turn.context.io_class == IoClass::idle) last = std::max(last, turn.key);
        }
        if (q.context.io_class == IoClass::idle) {
            q.key = (last == INT64_MIN ? now : last) + 200 * kMs;
            return;
        }
        q.key = now + others * (level_slice(true, 0) - level_slice(id.second, q.context.level)) - q.rest;
        q.rest = 0;
    }
    void release(std::int64_t now, bool keeps) {
        Turn& q = turns_[holder_];
        if (keeps) q.rest = q.running ? q.end - now : length(holder_);
        held_ = false;
        waiting_until_ = kForever;
        q.listed = !pending_[holder_].empty();
        if (q.listed) enlist(holder_, now);
    }
    bool worth_waiting(Id id) {
        if (wait_ == 0 || !id.second || turns_[id].context.io_class == IoClass::idle || barrier_waits()) return false;
        if (!classic_ && turns_.count({id.first, false}) != 0 && turns_[{id.first, false}].listed) return false;
        const Habit& h = habits_[id.first];
        return !(h.samples > 80 && h.mean > wait_);
    }
    /// The holder goes on, or (blocked_) nobody may go; false: the turn is over.
    bool keep(std::int64_t now) {
        Turn& q = turns_[holder_];
        const bool has = !pending_[holder_].empty();
        const bool over = q.running && now >= q.end;
        if (has && !has_open(holder_)) {
            if (open.empty()) {
                blocked_ = true;
                return true;
            }
            release(now, true);
            return false;
        }
        if (has && !over) return true;
        if (!over && waiting_until_ != kForever && !barrier_waits()) {
            blocked_ = now < waiting_until_;
            if (!blocked_) release(now, true);
            return blocked_;
        }
        blocked_ = out(holder_) > 0 && worth_waiting(holder_);
        if (!blocked_) release(now, false);
        return blocked_;
    }
    bool allowed(std::int64_t now) {
        const Turn& q = turns_[holder_];
        std::int64_t awaited = 0, buffered = 0, listed = 0, listed_awaited = 0;
        for (const BlockRequest* r : in_drive) ++(r->sync ? awaited : buffered);
        for (const auto& [id, turn] : turns_) {
            listed += turn.listed;
            listed_awaited += turn.listed && id.second;
        }
        const std::int64_t mine = out(holder_);
        if (classic_ && buffered > 0 && worth_waiting(holder_)) return false;
        if (!holder_.second && awaited > 0) return false;
        if (q.context.io_class == IoClass::idle) {
            if (mine >= 1) return false;
        } else if (mine >= std::max<std::int64_t>(1, settings_.at("quantum") / 2)) {
            const bool alone = listed == 1 || (holder_.second && listed_awaited == 1);
            const bool near_end = !q.running || now + settings_.at("slice_idle") * mine > q.end;
            if (!alone && (near_end || mine >= settings_.at("quantum"))) return false;
        }
        if (!holder_.second && settings_.at("low_latency") != 0) {
            const std::int64_t depth = (now - late_) / settings_.at("slice_sync");
            if (mine > 0 && mine >= depth) return false;
        }
        return true;
    }
    BlockRequest* nearest(const std::vector<BlockRequest*>& mine) const {
        const auto reach = static_cast<std::uint64_t>(settings_.at("back_seek_max"));
        const auto penalty = static_cast<std::uint64_t>(settings_.at("back_seek_penalty"));
        BlockRequest* best = nullptr;
        std::pair<int, std::uint64_t> best_cost{};
        for (BlockRequest* r : mine) {
            std::pair<int, std::uint64_t> cost{0, r->offset - head_};
            if (r->offset < head_) {
                cost = {0, (head_ - r->offset) * penalty};
                if (head_ - r->offset > reach) cost = {1, r->offset};
            }
            const bool ahead_of_equal = cost == best_cost && best != nullptr && best->offset < r->offset;
            if (best == nullptr || cost < best_cost || ahead_of_equal) {
                best = r;
                best_cost = cost;
            }
        }
        return best;
    }

    const Settings settings_;
    const bool classic_;
    std::int64_t wait_ = 0;
    std::map<Id, Turn> turns_;
    std::map<Id, std::vector<BlockRequest*>> pending_;
    std::map<std::uint32_t, Habit> habits_;
    bool held_ = false, blocked_ = false, filling_ = false;
    Id holder_{};
    std::int64_t waiting_until_ = kForever, late_ = -1000 * kMs, stamps_ = 0;
    std::uint64_t head_ = 0;
};

}  // namespace

std::unique_ptr<IoScheduler> cfq(const Settings& s) {
    return std::make_unique<Cfq>(s);
}

}  // namespace ssdtlm::naive
