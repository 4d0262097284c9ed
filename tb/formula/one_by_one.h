// SPDX-License-Identifier: Apache-2.0
// Requests one after the other, 10 ms apart: each finds an idle drive.
#pragma once

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/simulation.h"
#include "support/forked.h"

namespace ssdtlm {

class OneByOne final : public Workload {
public:
    struct Step {
        HostOp op;
        std::uint64_t offset;  ///< bytes
        std::uint32_t bytes = 4096;
        bool fua = false;
    };
    explicit OneByOne(std::vector<Step> steps) : steps_(std::move(steps)) {}
    Next next(SimTime now) override {
        Next n;
        n.state = at_ == steps_.size() ? State::done : State::ready;
        if (n.state == State::done) return n;
        const SimTime when{Ps{10'000'000'000} * static_cast<std::int64_t>(at_ + 1)};
        if (now < when) {
            n.state = State::wait;
            n.when = when;
            return n;
        }
        const Step& s = steps_[at_++];
        n.request.op = s.op;
        n.request.bytes = s.bytes;
        n.request.offset = s.offset;
        n.request.fua = s.fua;
        return n;
    }
    void completed(const HostRequest&, SimTime issued, SimTime, SimTime now, bool) override {
        latency.push_back((now - issued).count());
    }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

    std::vector<std::int64_t> latency;  ///< ps, by step

private:
    const std::vector<Step> steps_;
    std::size_t at_ = 0;
};

/// ps, by step.
inline std::vector<std::int64_t> latencies_one_by_one(const SsdConfig& c, const std::vector<OneByOne::Step>& steps) {
    return nlohmann::json::parse(in_child([&] {
        OneByOne workload(steps);
        Simulation simulation(c, workload, {});
        simulation.run();
        return nlohmann::json(workload.latency).dump();
    }));
}

}  // namespace ssdtlm
