// SPDX-License-Identifier: Apache-2.0
// What all schedulers share: notes about requests, barriers, merges, and the count of waiting requests. A policy sees
// neither barriers nor what waits behind them.
//
// A barrier lets all go that was inserted before it, then goes itself, and holds back what comes later. While one
// waits, nothing is merged and no policy waits for more requests of a context: none would reach it.
// A context whose gate is closed counts as one without requests.
#pragma once

#include <deque>
#include <string>

#include "host_block/schedulers/waiting_requests.h"

namespace ssdtlm {

class QueueingScheduler : public IoScheduler {
public:
    void insert(BlockRequest& request, SimTime now) final;
    BlockRequest* find_merge(const BlockRequest& candidate, bool& front) final;
    void merged(BlockRequest& request, std::uint64_t old_offset) final;
    BlockRequest* dispatch(SimTime now, const DispatchGate& gate) final;
    void completed(const BlockRequest& request, SimTime now) final;
    void cancelled(const BlockRequest& request, SimTime now) final;
    std::uint32_t waiting() const final { return in_policy_ + static_cast<std::uint32_t>(behind_.size()); }
    std::string dump() const final;

protected:
    virtual void add(Waiting& w, SimTime now) = 0;
    /// Takes a request out; null: none goes now.
    virtual Waiting* take(SimTime now, OpenContexts& open) = 0;
    virtual Waiting* find(const BlockRequest& candidate, bool& front) { return index_.find(candidate, true, front); }
    /// The request has grown.
    virtual void grown(Waiting& w) { (void)w; }
    virtual void ended(Waiting& w, SimTime now) {
        (void)w;
        (void)now;
    }
    /// The request comes back unserved: undo what it was charged.
    virtual void returned(Waiting& w, SimTime now) { ended(w, now); }
    /// Facts for dump(), one a line.
    virtual std::string state() const { return {}; }

    /// True: a barrier waits, so nothing will be added before all that waits has gone.
    bool draining() const { return !behind_.empty(); }
    /// Number of requests that the policy holds.
    std::uint32_t held() const { return in_policy_; }
    /// Switches the index off. Only policies that look for merges in their own lists call it.
    void search_own_lists() { indexed_ = false; }
    MergeIndex& index() { return index_; }

private:
    Waiting& note(const BlockRequest& request);
    void admit(Waiting& w, SimTime now);

    std::deque<Waiting> notes_;  // by handle
    MergeIndex index_;
    WaitingList behind_;  // the first barrier that waits, and all that came later
    std::uint64_t sequence_ = 0;
    std::uint32_t in_policy_ = 0, in_drive_ = 0;
    bool indexed_ = true;
};

}  // namespace ssdtlm
