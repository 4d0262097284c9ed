// SPDX-License-Identifier: Apache-2.0
// noop: requests go in the order in which they came, and are merged with any that waits, behind or before it.
// Rules of Linux's noop-iosched.c until 5.0, but that its front merges were those with the youngest request only.
// Requests of two contexts are never merged, as of two cgroups since Linux 5.10 (blk_cgroup_mergeable()).
#include "host_block/io_schedulers.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

class Noop final : public QueueingScheduler {
protected:
    void add(Waiting& w, SimTime) override { fifo_.push_back(w); }
    Waiting* take(SimTime, OpenContexts& open) override {
        Waiting* const w = open.first(fifo_);
        if (w != nullptr) fifo_.erase(fifo_.iterator_to(*w));
        return w;
    }

private:
    WaitingList fifo_;
};

const IoSchedulers::Registered kNoop{
    {"noop",
     "requests in the order in which they come, merged with any that waits",
     {},
     [](const IoSchedulerSetup&, const PolicySettings&) { return std::make_unique<Noop>(); }}};

}  // namespace
}  // namespace ssdtlm
