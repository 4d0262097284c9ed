// SPDX-License-Identifier: Apache-2.0
// A drive that answers after fixed times, for tests of the TPC-C workload: all that was issued, in order.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "host_pcie/workload/tpcc/tpcc_workload.h"

namespace ssdtlm {

struct TpccIssue {
    HostRequest request;
    SimTime at, done;
};

struct TpccLatency {
    Ps read = 80us, write = 20us, flush = 200us;
    Ps of(HostOp op) const { return op == HostOp::read ? read : op == HostOp::write ? write : flush; }
};

/// Runs the workload to its end; `look` is called when a request is issued. A workload that stops in between gives a
/// short list.
inline std::vector<TpccIssue> run_tpcc(TpccWorkload& workload, const TpccLatency& latency = {},
                                       const std::function<void(const TpccIssue&)>& look = {}) {
    struct Pending {
        SimTime at;
        std::size_t issue;
        bool operator>(const Pending& o) const { return at > o.at || (at == o.at && issue > o.issue); }
    };
    std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending;
    std::vector<TpccIssue> issues;
    SimTime now{};
    for (;;) {
        const Workload::Next n = workload.next(now);
        if (n.state == Workload::State::ready) {
            issues.push_back({n.request, now, now + latency.of(n.request.op)});
            pending.push({issues.back().done, issues.size() - 1});
            if (look) look(issues.back());
            continue;
        }
        if (pending.empty()) return issues;
        now = pending.top().at;
        const TpccIssue i = issues[pending.top().issue];
        pending.pop();
        workload.completed(i.request, i.at, i.at, now, true);
    }
}

}  // namespace ssdtlm
