// SPDX-License-Identifier: Apache-2.0
// A drive that answers every request after a fixed time, for tests of the fio workload.
#pragma once

#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_workload.h"

namespace ssdtlm {

struct Issue {
    SimTime at;
    HostRequest request;
    bool measured = false;  ///< at completion
    SimTime done{};
};

inline FioJobFile parse_fio(const std::string& text, std::uint64_t capacity = 1_MiB, std::uint64_t seed = 0) {
    return parse_fio_job_text(text, "test.fio", FioDevice{capacity, 512, seed});
}

/// Runs the workload to its end and returns everything it issued.
inline std::vector<Issue> drain(FioWorkload& workload, Ps latency, std::size_t most = 2'000'000) {
    struct Event {
        SimTime at;
        std::size_t issue;
        bool operator>(const Event& o) const { return at > o.at || (at == o.at && issue > o.issue); }
    };
    std::priority_queue<Event, std::vector<Event>, std::greater<>> pending;
    std::vector<Issue> issues;
    SimTime now{};
    for (;;) {
        Workload::Next n = workload.next(now);
        if (n.state == Workload::State::ready) {
            if (issues.size() == most) return issues;
            issues.push_back({now, n.request, false, {}});
            pending.push({now + latency, issues.size() - 1});
            continue;
        }
        if (pending.empty() && n.state == Workload::State::done) return issues;
        if (n.state == Workload::State::wait && (pending.empty() || n.when < pending.top().at)) {
            now = n.when;
            continue;
        }
        if (pending.empty()) return issues;  // blocked for nothing: the caller's counts fail
        const Event e = pending.top();
        pending.pop();
        now = e.at;
        Issue& i = issues[e.issue];
        i.done = now;
        i.measured = workload.measuring(i.request, now);
        workload.completed(i.request, i.at, i.at, now, true);
    }
}

inline std::vector<Issue> run_fio(const std::string& text, std::uint64_t capacity = 1_MiB, Ps latency = 10us) {
    const FioDevice device{capacity, 512, 0};
    FioWorkload workload(parse_fio_job_text(text, "test.fio", device));
    return drain(workload, latency);
}

inline std::uint64_t count(const std::vector<Issue>& issues, HostOp op) {
    std::uint64_t n = 0;
    for (const Issue& i : issues) n += i.request.op == op;
    return n;
}
inline std::uint64_t bytes(const std::vector<Issue>& issues, HostOp op) {
    std::uint64_t n = 0;
    for (const Issue& i : issues) n += i.request.op == op ? i.request.bytes : 0;
    return n;
}

}  // namespace ssdtlm
