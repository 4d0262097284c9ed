// SPDX-License-Identifier: Apache-2.0
// A minimal workload for tests. Its request size, queue depth and number of requests are fixed.
#pragma once

#include <vector>

#include "common/random/random.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class ClosedLoop final : public Workload {
public:
    enum class Pattern { random, sequential, list };
    struct Spec {
        HostOp op = HostOp::read;
        std::uint32_t bytes = 4096;
        std::uint32_t depth = 1;
        std::uint64_t requests = 1000;
        std::uint64_t span = 0;  ///< bytes, from offset 0
        Pattern pattern = Pattern::random;
        std::vector<std::uint64_t> offsets;  ///< for Pattern::list
        std::uint64_t seed = 1;
        std::uint32_t jobs = 1;      ///< requests rotate over the jobs
        std::uint64_t skip = 0;      ///< requests at the start that are not measured
        unsigned write_percent = 0;  ///< not 0: share of writes in a mix of reads and writes; `op` is then ignored
        bool fua = false;
    };
    explicit ClosedLoop(Spec spec) : spec_(std::move(spec)), random_(spec_.seed) {}

    Next next(SimTime) override {
        Next n;
        if (issued_ == spec_.requests) return n;
        if (outstanding_ == spec_.depth) {
            n.state = State::blocked;
            return n;
        }
        n.state = State::ready;
        n.request.op = spec_.op;
        if (spec_.write_percent > 0) n.request.op = random_.percent(spec_.write_percent) ? HostOp::write : HostOp::read;
        n.request.fua = spec_.fua;
        n.request.job = static_cast<std::uint32_t>(issued_ % spec_.jobs);
        n.request.bytes = spec_.bytes;
        const std::uint64_t slots = spec_.span / spec_.bytes;
        switch (spec_.pattern) {
            case Pattern::random:
                n.request.offset = random_.below(slots) * spec_.bytes;
                break;
            case Pattern::sequential:
                n.request.offset = issued_ % slots * spec_.bytes;
                break;
            case Pattern::list:
                n.request.offset = spec_.offsets[issued_ % spec_.offsets.size()];
                break;
        }
        n.request.tag = issued_++;
        ++outstanding_;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override { --outstanding_; }
    std::uint32_t jobs() const override { return spec_.jobs; }
    std::uint32_t tenant(std::uint32_t job) const override { return job; }
    std::uint32_t depth(std::uint32_t) const override { return spec_.depth; }
    double progress(SimTime) const override {
        return static_cast<double>(issued_) / static_cast<double>(spec_.requests);
    }
    bool measuring(const HostRequest& r, SimTime) const override { return r.tag >= spec_.skip; }

private:
    Spec spec_;
    Random random_;
    std::uint64_t issued_ = 0;
    std::uint32_t outstanding_ = 0;
};

}  // namespace ssdtlm
