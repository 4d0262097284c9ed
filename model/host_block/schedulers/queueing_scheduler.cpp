// SPDX-License-Identifier: Apache-2.0
#include "host_block/schedulers/queueing_scheduler.h"

#include "common/report/error.h"

namespace ssdtlm {

Waiting& QueueingScheduler::note(const BlockRequest& request) {
    while (notes_.size() <= request.handle) notes_.emplace_back();  // a deque keeps the addresses of its elements
    return notes_[request.handle];
}

void QueueingScheduler::insert(BlockRequest& request, SimTime now) {
    Waiting& w = note(request);
    SSDTLM_CHECK(!w.waits, "two waiting requests have one handle");
    w.request = &request;
    w.waits = true;
    if (request.barrier || draining())
        behind_.push_back(w);
    else
        admit(w, now);
}

void QueueingScheduler::admit(Waiting& w, SimTime now) {
    w.sequence = ++sequence_;
    ++in_policy_;
    if (indexed_ && mergeable(*w.request)) index_.add(w);
    add(w, now);
}

BlockRequest* QueueingScheduler::find_merge(const BlockRequest& candidate, bool& front) {
    if (draining() || !mergeable(candidate)) return nullptr;
    Waiting* const w = find(candidate, front);
    return w == nullptr ? nullptr : w->request;
}

void QueueingScheduler::merged(BlockRequest& request, std::uint64_t) {
    Waiting& w = note(request);
    SSDTLM_CHECK(w.waits, "a request grows that does not wait");
    if (indexed_) index_.moved(w);
    grown(w);
}

BlockRequest* QueueingScheduler::dispatch(SimTime now, const DispatchGate& gate) {
    OpenContexts open(gate);
    Waiting* w = nullptr;
    if (in_policy_ != 0) {
        w = take(now, open);
        if (w == nullptr) return nullptr;
        --in_policy_;
        if (indexed_ && mergeable(*w->request)) index_.remove(*w);
    } else {
        if (behind_.empty() || !open(behind_.front().context())) return nullptr;
        w = &behind_.front();
        behind_.pop_front();
        while (!behind_.empty() && !behind_.front().request->barrier) {
            Waiting& next = behind_.front();
            behind_.pop_front();
            admit(next, now);
        }
    }
    w->waits = false;
    ++in_drive_;
    return w->request;
}

void QueueingScheduler::completed(const BlockRequest& request, SimTime now) {
    --in_drive_;
    if (!request.barrier) ended(note(request), now);
}

void QueueingScheduler::cancelled(const BlockRequest& request, SimTime now) {
    --in_drive_;
    if (!request.barrier) returned(note(request), now);
}

std::string QueueingScheduler::dump() const {
    return std::to_string(in_policy_) + " requests wait, " + std::to_string(behind_.size()) +
           " at and behind a barrier, " + std::to_string(in_drive_) + " in the drive\n" + state();
}

}  // namespace ssdtlm
