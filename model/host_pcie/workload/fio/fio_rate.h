// SPDX-License-Identifier: Apache-2.0
// Applies rate, rate_iops and rate_process of a fio job clone. It decides which direction may go, and when.
#pragma once

#include <cstdint>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/fio/fio_generator.h"
#include "host_pcie/workload/fio/fio_job.h"

namespace ssdtlm {

class FioRate {
public:
    /// `job` must outlive it.
    explicit FioRate(const FioJob& job) : job_(job), poisson_(job.seed, 20), limited_(job.rate_limited()) {}

    bool limited() const { return limited_; }
    /// Makes amounts count from here on.
    void restart(SimTime epoch);
    /// The direction that may go next, and when. With a mix, it is the other direction if that comes earlier.
    struct Turn {
        HostOp op;
        SimTime when;
    };
    Turn turn(HostOp op, SimTime now, FioGenerator& generator) const;
    void issued(HostOp op, std::uint32_t bytes);
    /// The job has thought for `time` after an I/O of this direction. Its rate does not make up for that
    /// (rate_ignore_thinktime).
    void thought(HostOp op, Ps time);

private:
    const FioJob& job_;
    Random poisson_;
    const bool limited_;
    SimTime epoch_{};
    PerDirection<std::uint64_t> count_{};  // bytes, or I/Os for rate_iops, since the epoch
    PerDirection<Ps> thought_{};           // think time that does not count for the rate
    PerDirection<SimTime> next_{};
};

}  // namespace ssdtlm
