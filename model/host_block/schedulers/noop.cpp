// SPDX-License-Identifier: Apache-2.0
// noop: requests go in the order in which they came. A request may join any waiting one, behind or before it. The rules
// are those of Linux's noop-iosched.c until 5.0, except that Linux has front merges with the youngest request only.
// Requests of two contexts are never merged, as Linux never merges those of two cgroups since 5.10
// (blk_cgroup_mergeable()).
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
