// SPDX-License-Identifier: Apache-2.0
// deadline and mq-deadline a second time, from the rules of the kernel's documentation.
#include "unit/block/naive_scheduler.h"

namespace ssdtlm::naive {
namespace {

bool reads(const BlockRequest& r) {
    return r.op == HostOp::read;
}

class DeadlineBase : public NaiveScheduler {
public:
    explicit DeadlineBase(const Settings& s) : settings_(s), batch_(s.at("fifo_batch")) {}
    BlockRequest* merge(const BlockRequest& c, bool& front) override {
        return merge_with_any(c, front, settings_.at("front_merges") != 0);
    }

protected:
    bool expired(const BlockRequest& r, SimTime now) const {
        return (now - r.arrived).count() >= settings_.at(reads(r) ? "read_expire" : "write_expire");
    }
    Settings settings_;
    std::int64_t batch_, passed_ = 0;
};

class Deadline final : public DeadlineBase {
public:
    using DeadlineBase::DeadlineBase;
    BlockRequest* choose(SimTime now) override {
        // `open` is in order of arrival: the first of a direction is its oldest.
        BlockRequest* oldest_read = nullptr;
        BlockRequest* oldest_write = nullptr;
        for (std::size_t i = open.size(); i-- != 0;) (reads(*open[i]) ? oldest_read : oldest_write) = open[i];
        if (oldest_read == nullptr && oldest_write == nullptr) return nullptr;
        BlockRequest* const next = successor();
        if (next != nullptr && batch_ < settings_.at("fifo_batch")) {
            ++batch_;
            return next;
        }
        bool write = oldest_read == nullptr;
        if (oldest_read != nullptr && oldest_write != nullptr) {
            write = passed_ >= settings_.at("writes_starved");
            ++passed_;
        }
        if (write) passed_ = 0;
        batch_ = 1;
        BlockRequest* const oldest = write ? oldest_write : oldest_read;
        if (expired(*oldest, now) || next == nullptr || reads(*next) == write) return oldest;
        return next;
    }
    void goes(BlockRequest& r, SimTime) override {
        mark_ = nullptr;
        for (BlockRequest* w : all) {
            if (reads(*w) != reads(r)) continue;
            // Behind r by address; of equal addresses, by arrival.
            const bool behind = w->offset > r.offset || (w->offset == r.offset && rank_[w->handle] > rank_[r.handle]);
            if (behind && (mark_ == nullptr || w->offset < mark_->offset)) mark_ = w;
        }
    }
    void arrives(BlockRequest& r, SimTime) override { rank_[r.handle] = ++ranks_; }

private:
    /// The request that was next by address when the last one went, or the first one behind it whose gate is open.
    BlockRequest* successor() {
        if (mark_ == nullptr) return nullptr;
        BlockRequest* best = nullptr;
        for (BlockRequest* w : open) {
            if (reads(*w) != reads(*mark_)) continue;
            if (w->offset < mark_->offset) continue;
            if (w->offset == mark_->offset && rank_[w->handle] < rank_[mark_->handle]) continue;
            if (best == nullptr || w->offset < best->offset) best = w;
        }
        return best;
    }
    BlockRequest* mark_ = nullptr;
    std::map<std::uint32_t, std::uint64_t> rank_;
    std::uint64_t ranks_ = 0;
};

class MqDeadline final : public DeadlineBase {
public:
    using DeadlineBase::DeadlineBase;
    BlockRequest* choose(SimTime now) override {
        bool used[3] = {};
        bool drive[3] = {};
        for (const BlockRequest* r : open) used[static_cast<int>(r->context.io_class)] = true;
        for (const BlockRequest* r : in_drive) drive[static_cast<int>(r->context.io_class)] = true;
        int classes = 0;
        for (int c = 0; c < 3; ++c) classes += used[c] || drive[c];
        for (int c = 1; c < 3 && classes >= 2; ++c) {
            const Plan p = plan(c, now);
            if (p.request != nullptr && (now - p.request->arrived).count() >= settings_.at("prio_aging_expire"))
                return carry_out(p, c);
        }
        for (int c = 0; c < 3; ++c) {
            const Plan p = plan(c, now);
            if (p.request != nullptr) return carry_out(p, c);
            if (drive[c]) return nullptr;
        }
        return nullptr;
    }

private:
    struct Plan {
        BlockRequest* request = nullptr;
        bool fresh = false, write = false, both = false;
    };
    BlockRequest* at_or_above(int c, bool write) {
        BlockRequest* best = nullptr;
        for (BlockRequest* r : open) {
            if (static_cast<int>(r->context.io_class) != c || reads(*r) == write) continue;
            if (r->offset >= position_[c][write] && (best == nullptr || r->offset < best->offset)) best = r;
        }
        return best;
    }
    Plan plan(int c, SimTime now) {
        BlockRequest* oldest[2] = {nullptr, nullptr};
        for (BlockRequest* r : open)
            if (static_cast<int>(r->context.io_class) == c && oldest[!reads(*r)] == nullptr) oldest[!reads(*r)] = r;
        Plan p;
        if (oldest[0] == nullptr && oldest[1] == nullptr) return p;
        p.write = write_;
        p.request = at_or_above(c, write_);
        if (p.request != nullptr && batch_ < settings_.at("fifo_batch")) return p;
        p.fresh = true;
        p.both = oldest[0] != nullptr && oldest[1] != nullptr;
        p.write = oldest[0] == nullptr || (p.both && passed_ >= settings_.at("writes_starved"));
        p.request = at_or_above(c, p.write);
        if (p.request == nullptr || expired(*oldest[p.write], now)) p.request = oldest[p.write];
        return p;
    }
    BlockRequest* carry_out(const Plan& p, int c) {
        if (p.fresh) {
            batch_ = 0;
            write_ = p.write;
            if (p.write) passed_ = 0;
            if (!p.write && p.both) passed_ += 1;
        }
        batch_ += 1;
        position_[c][p.write] = p.request->offset;
        return p.request;
    }
    std::uint64_t position_[3][2] = {};
    bool write_ = false;
};

}  // namespace

std::unique_ptr<IoScheduler> deadline(const Settings& s) {
    return std::make_unique<Deadline>(s);
}
std::unique_ptr<IoScheduler> mq_deadline(const Settings& s) {
    return std::make_unique<MqDeadline>(s);
}

}  // namespace ssdtlm::naive
