// SPDX-License-Identifier: Apache-2.0
// none: blk-mq without a scheduler. Requests go in the order in which they came. A request joins one of the last eight
// of its context that still wait, behind or before it. The youngest is tried first. Not modelled: blk-mq keeps one
// queue per processor, and takes them in turn when the drive is busy.
#include "host_block/io_schedulers.h"
#include "host_block/schedulers/queueing_scheduler.h"
#include "host_block/schedulers/recent_requests.h"

namespace ssdtlm {
namespace {

class NoScheduler final : public QueueingScheduler {
public:
    NoScheduler() { search_own_lists(); }

protected:
    void add(Waiting& w, SimTime) override {
        fifo_.push_back(w);
        recent_.add(w, w.context());
    }
    Waiting* take(SimTime, OpenContexts& open) override {
        Waiting* const w = open.first(fifo_);
        if (w == nullptr) return nullptr;
        fifo_.erase(fifo_.iterator_to(*w));
        recent_.remove(*w, w->context());
        return w;
    }
    Waiting* find(const BlockRequest& candidate, bool& front) override {
        return recent_.find(candidate, candidate.context.number, front);
    }

private:
    WaitingList fifo_;
    RecentRequests recent_;
};

const IoSchedulers::Registered kNone{
    {"none",
     "requests in the order in which they come, merged with the last of their context",
     {},
     [](const IoSchedulerSetup&, const PolicySettings&) { return std::make_unique<NoScheduler>(); }}};

}  // namespace
}  // namespace ssdtlm
