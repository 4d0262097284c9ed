// SPDX-License-Identifier: Apache-2.0
// The second implementation of each I/O scheduler, from its rules, in vectors that are searched from end to end. What
// they have in common is here: who waits, barriers, merges, gates.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host_block/ports/io_scheduler.h"

namespace ssdtlm::naive {

using Settings = std::map<std::string, std::int64_t>;

class NaiveScheduler : public IoScheduler {
public:
    void insert(BlockRequest& r, SimTime now) override {
        const bool behind = barrier_waits();
        waiting_.push_back(&r);
        if (!behind && !r.barrier) arrives(r, now);
    }
    BlockRequest* find_merge(const BlockRequest& c, bool& front) override {
        if (barrier_waits() || c.fua || c.barrier || c.op == HostOp::flush) return nullptr;
        return merge(c, front);
    }
    void merged(BlockRequest&, std::uint64_t) override {}
    BlockRequest* dispatch(SimTime now, const DispatchGate& gate) override {
        if (waiting_.empty()) return nullptr;
        if (waiting_.front()->barrier) {
            BlockRequest* const barrier = waiting_.front();
            if (!gate.may_dispatch(barrier->context.number)) return nullptr;
            waiting_.erase(waiting_.begin());
            for (std::size_t i = 0; i < waiting_.size() && !waiting_[i]->barrier; ++i) arrives(*waiting_[i], now);
            return barrier;
        }
        all.clear();
        open.clear();
        for (BlockRequest* r : waiting_) {
            if (r->barrier) break;
            all.push_back(r);
            if (gate.may_dispatch(r->context.number)) open.push_back(r);
        }
        fills = gate.fills_waits();
        BlockRequest* const chosen = choose(now);
        if (chosen == nullptr) return nullptr;
        for (std::size_t i = 0; i < waiting_.size(); ++i)
            if (waiting_[i] == chosen) waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        all.clear();
        for (BlockRequest* r : waiting_) {
            if (r->barrier) break;
            all.push_back(r);
        }
        in_drive.push_back(chosen);
        goes(*chosen, now);
        return chosen;
    }
    void completed(const BlockRequest& r, SimTime now) override { back(r, now, false); }
    void cancelled(const BlockRequest& r, SimTime now) override { back(r, now, true); }
    std::uint32_t waiting() const override { return static_cast<std::uint32_t>(waiting_.size()); }

protected:
    /// What the policy may know of: all before the first barrier, in order of arrival. `open`: those whose gate is
    /// open.
    std::vector<BlockRequest*> all, open, in_drive;
    bool fills = false;  ///< others may go while a context is waited for

    virtual void arrives(BlockRequest&, SimTime) {}
    virtual BlockRequest* choose(SimTime now) = 0;
    virtual void goes(BlockRequest&, SimTime) {}
    virtual void ends(const BlockRequest&, SimTime, bool unserved) { (void)unserved; }
    virtual BlockRequest* merge(const BlockRequest& c, bool& front) { return merge_with_any(c, front, true); }

    bool barrier_waits() const {
        for (const BlockRequest* r : waiting_)
            if (r->barrier) return true;
        return false;
    }
    static bool may_join(const BlockRequest& r, const BlockRequest& c) {
        return !r.fua && !r.barrier && r.op == c.op && r.sync == c.sync && r.context.number == c.context.number;
    }
    BlockRequest* merge_with_any(const BlockRequest& c, bool& front, bool fronts) {
        front = false;
        for (BlockRequest* r : waiting_)
            if (may_join(*r, c) && r->end() == c.offset) return r;
        front = true;
        for (BlockRequest* r : waiting_)
            if (fronts && may_join(*r, c) && r->offset == c.end()) return r;
        return nullptr;
    }
    /// Of the last eight of the same context (and operation).
    BlockRequest* merge_with_last(const BlockRequest& c, bool& front, bool same_operation) {
        int looked_at = 0;
        for (std::size_t i = waiting_.size(); i-- != 0 && looked_at < 8;) {
            BlockRequest* const r = waiting_[i];
            if (r->context.number != c.context.number || (same_operation && r->op != c.op)) continue;
            ++looked_at;
            if (!may_join(*r, c)) continue;
            front = false;
            if (r->end() == c.offset) return r;
            front = true;
            if (r->offset == c.end()) return r;
        }
        return nullptr;
    }
    bool waits(std::uint32_t context) const {
        for (const BlockRequest* r : all)
            if (r->context.number == context) return true;
        return false;
    }

private:
    void back(const BlockRequest& r, SimTime now, bool unserved) {
        if (r.barrier) return;
        for (std::size_t i = 0; i < in_drive.size(); ++i)
            if (in_drive[i] == &r) in_drive.erase(in_drive.begin() + static_cast<std::ptrdiff_t>(i));
        all.clear();
        for (BlockRequest* w : waiting_) {
            if (w->barrier) break;
            all.push_back(w);
        }
        ends(r, now, unserved);
    }
    std::vector<BlockRequest*> waiting_;
};

/// none: order of arrival, merges with the last eight of the context. noop: merges with any.
class Fifo final : public NaiveScheduler {
public:
    explicit Fifo(bool any) : any_(any) {}
    BlockRequest* choose(SimTime) override { return open.empty() ? nullptr : open.front(); }
    BlockRequest* merge(const BlockRequest& c, bool& front) override {
        return any_ ? merge_with_any(c, front, true) : merge_with_last(c, front, false);
    }

private:
    const bool any_;
};

std::unique_ptr<IoScheduler> fiops(const Settings& s);
std::unique_ptr<IoScheduler> deadline(const Settings& s);
std::unique_ptr<IoScheduler> mq_deadline(const Settings& s);
std::unique_ptr<IoScheduler> kyber(const Settings& s);
std::unique_ptr<IoScheduler> cfq(const Settings& s);
std::unique_ptr<IoScheduler> bfq(const Settings& s);
std::unique_ptr<IoScheduler> flashfq(const Settings& s);

}  // namespace ssdtlm::naive
