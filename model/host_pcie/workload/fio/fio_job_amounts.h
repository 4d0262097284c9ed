// SPDX-License-Identifier: Apache-2.0
// Counts the work of one fio job clone, and decides whether it is complete, by size, io_size, number_ios, loops and
// time_based.
#pragma once

#include <cstdint>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/fio/fio_generator.h"
#include "host_pcie/workload/fio/fio_job.h"

namespace ssdtlm {

class FioJobAmounts {
public:
    /// `job` must outlive it.
    explicit FioJobAmounts(const FioJob& job) : job_(job), loops_left_(job.loops) {}

    /// The job starts its first loop.
    void start() { --loops_left_; }
    void begin_pass();
    void issued(HostOp op, std::uint32_t bytes) {
        issued_bytes_[fio_index(op)] += bytes;
        pass_bytes_ += bytes;
    }
    void completed(std::uint32_t bytes) {
        ++done_ios_;
        done_bytes_ += bytes;
    }
    /// Makes amounts count from here on.
    void restart_counts() { done_ios_ = done_bytes_ = 0; }
    /// Notes that this pass had no offset left.
    void region_is_done() { region_done_ = true; }

    bool pass_is_over(std::uint32_t outstanding) const {
        return !job_.time_based && (limits_reached(outstanding) || pass_bytes_ >= pass_limit_);
    }
    bool pass_did_something() const { return pass_bytes_ != 0; }
    /// Returns true if another pass follows, and then takes one of the loops if any are left.
    bool another_pass();
    /// The share of its amounts that the job has done, 0 to 1. It is 0 if the job has no amounts.
    double share() const;

    std::uint64_t done_ios() const { return done_ios_; }
    std::uint64_t done_bytes() const { return done_bytes_; }
    std::uint32_t passes() const { return passes_; }

private:
    bool limits_reached(std::uint32_t outstanding) const;
    std::uint64_t byte_limit() const { return job_.io_size != 0 ? job_.io_size : job_.size; }
    std::uint64_t io_limit() const { return job_.number_ios * (job_.trimwrite() ? 2 : 1) * job_.loops; }

    const FioJob& job_;
    PerDirection<std::uint64_t> issued_bytes_{};  // over all passes
    std::uint64_t pass_bytes_ = 0;
    std::uint64_t pass_limit_ = 0;
    std::uint64_t done_ios_ = 0;  // since the ramp
    std::uint64_t done_bytes_ = 0;
    std::uint32_t loops_left_;
    std::uint32_t passes_ = 0;
    bool region_done_ = false;  // this pass ended because no offset was left
};

}  // namespace ssdtlm
