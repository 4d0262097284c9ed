// SPDX-License-Identifier: Apache-2.0
// The base of all schedulers. It keeps the notes about requests, the barriers, the index for merges, and the count of
// waiting requests. A derived class is a policy. It sees neither barriers nor the requests that wait behind them.
//
// A barrier goes when all requests that were inserted before it have gone, and holds back all later ones. While a
// barrier waits, nothing is merged. No policy waits for more requests of a context then, because none would reach it. A
// policy treats a context whose gate is closed as a context without requests.
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
    /// Removes and returns the request that goes next, or null if none may go now.
    virtual Waiting* take(SimTime now, OpenContexts& open) = 0;
    virtual Waiting* find(const BlockRequest& candidate, bool& front) { return index_.find(candidate, true, front); }
    /// The request has grown.
    virtual void grown(Waiting& w) { (void)w; }
    virtual void ended(Waiting& w, SimTime now) {
        (void)w;
        (void)now;
    }
    /// The request comes back from the drive unserved. Override it to undo what the context was charged.
    virtual void returned(Waiting& w, SimTime now) { ended(w, now); }
    /// The policy's facts for dump(), one a line.
    virtual std::string state() const { return {}; }

    /// True: a barrier waits. Nothing is added to the policy until all of its requests have gone.
    bool draining() const { return !behind_.empty(); }
    /// Number of requests that the policy holds.
    std::uint32_t held() const { return in_policy_; }
    /// Switches the index for merges off. A policy that searches its own lists calls it in its constructor.
    void search_own_lists() { indexed_ = false; }
    MergeIndex& index() { return index_; }

private:
    Waiting& note(const BlockRequest& request);
    void admit(Waiting& w, SimTime now);

    std::deque<Waiting> notes_;  // by handle
    MergeIndex index_;
    WaitingList behind_;  // the first waiting barrier and all later requests
    std::uint64_t sequence_ = 0;
    std::uint32_t in_policy_ = 0, in_drive_ = 0;
    bool indexed_ = true;
};

}  // namespace ssdtlm
