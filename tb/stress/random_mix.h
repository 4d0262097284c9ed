// SPDX-License-Identifier: Apache-2.0
// A closed-loop workload of random commands of every kind: reads, writes (forced and not), trims and flushes, in whole
// mapping units and in single logical blocks, spread over several jobs.
#pragma once

#include <algorithm>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class RandomMix final : public Workload {
public:
    struct Spec {
        unsigned read = 42, write = 48, trim = 7, flush = 3;  ///< percent
        unsigned fua = 10;                                    ///< percent of the writes
        unsigned whole = 60;                                  ///< percent of the commands that cover whole units only
        unsigned hot = 30;                                    ///< percent of the commands that go to the first 32 units
        std::uint32_t depth = 32;                             ///< per job
        std::uint32_t jobs = 4;
        std::uint32_t most_bytes = 32768;
        std::uint64_t requests = 4000;
        std::uint64_t seed = 1;
    };
    RandomMix(const Spec& spec, std::uint64_t capacity, std::uint32_t lba_bytes, std::uint32_t unit_bytes)
        : spec_(spec),
          capacity_(capacity),
          lba_bytes_(lba_bytes),
          unit_bytes_(unit_bytes),
          random_(spec.seed, 21),
          outstanding_(spec.jobs) {}

    Next next(SimTime) override {
        Next n;
        if (issued_ == spec_.requests) return n;
        n.state = State::blocked;
        for (std::uint32_t i = 0; i < spec_.jobs; ++i) {
            const std::uint32_t job = (turn_ + i) % spec_.jobs;
            if (outstanding_[job] == spec_.depth) continue;
            turn_ = job + 1;
            ++outstanding_[job];
            n.state = State::ready;
            n.request = draw();
            n.request.job = job;
            n.request.tag = issued_++;
            break;
        }
        return n;
    }
    void completed(const HostRequest& r, SimTime, SimTime, SimTime, bool) override { --outstanding_[r.job]; }
    std::uint32_t jobs() const override { return spec_.jobs; }
    std::uint32_t depth(std::uint32_t) const override { return spec_.depth; }
    double progress(SimTime) const override {
        return static_cast<double>(issued_) / static_cast<double>(spec_.requests);
    }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    HostRequest draw() {
        HostRequest r;
        const std::uint64_t what = random_.below(100);
        if (what < spec_.read) {
            r.op = HostOp::read;
        } else if (what < spec_.read + spec_.write) {
            r.op = HostOp::write;
            r.fua = random_.percent(spec_.fua);
        } else if (what < spec_.read + spec_.write + spec_.trim) {
            r.op = HostOp::trim;
        } else {
            r.op = HostOp::flush;
            return r;
        }
        const std::uint64_t grain = random_.percent(spec_.whole) ? unit_bytes_ : lba_bytes_;
        const std::uint64_t span =
            random_.percent(spec_.hot) ? std::min<std::uint64_t>(capacity_, 32ull * unit_bytes_) : capacity_;
        const std::uint64_t most = std::max<std::uint64_t>(1, std::min<std::uint64_t>(spec_.most_bytes, span) / grain);
        const std::uint64_t n = 1 + random_.below(most);
        r.bytes = static_cast<std::uint32_t>(n * grain);
        r.offset = random_.below(span / grain - n + 1) * grain;
        return r;
    }

    const Spec spec_;
    const std::uint64_t capacity_;
    const std::uint32_t lba_bytes_, unit_bytes_;
    Random random_;
    std::vector<std::uint32_t> outstanding_;
    std::uint32_t turn_ = 0;
    std::uint64_t issued_ = 0;
};

}  // namespace ssdtlm
