// SPDX-License-Identifier: Apache-2.0
// The latency breakdown. For each operation and bucket of total latency it has the number of commands and the exact sum
// of each stage. For each stage it has a histogram. It checks that the stages of every command sum to its end-to-end
// latency.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/latency/timeline.h"
#include "common/stats/histogram.h"
#include "host_pcie/ports/completion_observer.h"

namespace ssdtlm {

class LatencyStats final : public CompletionObserver {
public:
    static constexpr std::size_t kOps = 4;  ///< read, write, trim, flush
    /// One line of latency.csv. Times are in us.
    struct Row {
        std::string op;
        std::string stage;  ///< a stage's name, or "total"
        std::uint64_t count = 0;
        double share = 0;  ///< share of the mean end-to-end latency
        double mean = 0, p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, p99_99 = 0, max = 0;
    };

    /// One line of latency_bins.csv: the measured commands whose total latency, rounded to ns, is in one of fio's
    /// buckets. The figures are whole numbers, so lines of several runs with the same operation and bucket may be
    /// added.
    struct BinRow {
        std::string op;
        unsigned bucket = 0;  ///< BucketCounts
        std::uint64_t count = 0;
        std::array<std::int64_t, kStageCount> ps{};  ///< sums; together they are the sum of the total latency
    };

    /// One line of latency_by_job.csv: the measured commands of one operation of a job, or of all jobs of a tenant.
    /// Times are in us.
    struct JobRow {
        std::uint32_t job = 0;  ///< or tenant, or stream
        std::string op;
        std::uint64_t count = 0;
        double mean = 0, p50 = 0, p99 = 0, p99_9 = 0, max = 0;
        std::array<double, kStageCount> stage{};  ///< means
    };

    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;

    /// The rows of latency.csv. Stages that were never entered are left out.
    std::vector<Row> rows() const;
    /// The rows of latency_bins.csv: buckets with commands, ascending for each operation.
    std::vector<BinRow> bins() const;
    /// Rows by job and operation.
    std::vector<JobRow> by_job() const;
    /// Rows by tenant and operation. `tenant_of`: the tenant of each job.
    std::vector<JobRow> by_tenant(const std::vector<std::uint32_t>& tenant_of) const;
    /// Rows by write stream, for the writes that name one.
    std::vector<JobRow> by_stream() const;
    std::uint64_t count(HostOp op) const { return ops_[static_cast<std::size_t>(op)].count; }
    std::uint64_t bytes(HostOp op) const { return ops_[static_cast<std::size_t>(op)].bytes; }
    std::uint64_t commands() const;
    /// Number of measured commands whose total latency, rounded to ns, is in this bucket.
    std::uint64_t count(HostOp op, unsigned bucket) const {
        const auto& bins = ops_[static_cast<std::size_t>(op)].bins;
        return bins.empty() ? 0 : bins[bucket].count;
    }
    /// The time from a job's first issue to its last completion of measured commands.
    struct JobSpan {
        SimTime begin = kNever;
        SimTime end{};
        std::uint32_t ops = 0;  ///< one bit per HostOp; 0: no measured command
    };
    const std::vector<JobSpan>& jobs() const { return jobs_; }
    /// The time from the first issue to the last completion of measured commands.
    Ps window() const;
    /// Number of all completions, measured or not.
    std::uint64_t all_commands() const;
    std::uint64_t all_bytes(HostOp op) const { return bytes(op) + ops_[static_cast<std::size_t>(op)].unmeasured_bytes; }
    /// Sum of the total latency of every completion, measured or not.
    Ps all_latency(HostOp op) const {
        const Op& o = ops_[static_cast<std::size_t>(op)];
        return Ps{o.total_ps + o.unmeasured_ps};
    }
    /// The longest total latency of a completion since the last call, measured or not; 0 without one.
    Ps take_longest(HostOp op) { return Ps{std::exchange(ops_[static_cast<std::size_t>(op)].recent_max_ps, 0)}; }
    /// 99th percentile of the total latency of the measured commands since the last call, in us; empty without one.
    std::optional<double> take_p99(HostOp op);
    /// Number of completions that are not measured: in a ramp, or of files that are laid out.
    std::uint64_t unmeasured_count() const {
        std::uint64_t sum = 0;
        for (const Op& op : ops_) sum += op.unmeasured_count;
        return sum;
    }
    /// Number of these completions that lay out files.
    std::uint64_t layout_count() const {
        std::uint64_t sum = 0;
        for (const Op& op : ops_) sum += op.layout_count;
        return sum;
    }
    std::uint64_t all_count(HostOp op) const { return count(op) + ops_[static_cast<std::size_t>(op)].unmeasured_count; }

private:
    /// Collects the durations of a stage. Mostly the same duration comes again, which is only counted here. Only a new
    /// duration goes to the histogram, or can be the largest.
    struct StageSum {
        std::int64_t last_ps = -1;
        std::uint64_t repeats = 0;  ///< times that the last duration came, which are not yet in the histogram
        std::int64_t max_ps = 0;
    };
    struct Bin {
        std::uint64_t count = 0;
        std::array<std::int64_t, kStageCount> ps{};
    };
    struct Op {
        std::vector<Bin> bins;  ///< by bucket of the total; empty before the first command
        std::uint64_t count = 0;
        std::uint64_t unmeasured_count = 0;
        std::int64_t total_ps = 0;
        std::int64_t unmeasured_ps = 0;
        std::int64_t max_ps = 0;
        std::int64_t recent_max_ps = 0;
        unsigned recent_low = BucketCounts::kBuckets, recent_high = 0;  ///< buckets that take_p99() has not looked at
        std::vector<std::uint64_t> seen;  ///< by bucket: count at the last take_p99(); empty before its first call
        std::uint64_t bytes = 0;
        std::uint64_t unmeasured_bytes = 0;
        std::uint64_t layout_count = 0;  ///< unmeasured commands with HostRequest::preparation
        alignas(64) std::array<StageSum, kStageCount> stage;
        std::array<BucketCounts, kStageCount> stage_ns;  ///< commands with time in the stage; the others count as zeros
    };
    /// Sums of one operation of a job.
    struct JobOp {
        Bin sum;
        std::int64_t max_ps = 0;
        std::vector<std::uint64_t> bins;  ///< commands by bucket of the total; empty before the first
    };
    using JobOps = std::array<JobOp, kOps>;
    static void add(JobOp& sum, const JobOp& one);
    void count_stream(const HostRequest& request, unsigned bucket, std::int64_t total_ps, const Timeline& timeline);
    static void add_rows(std::vector<JobRow>& rows, std::uint32_t job, const JobOps& ops);
    static void new_duration(StageSum& sum, BucketCounts& ns, std::int64_t ps);
    static Bin& bin_of(Op& op, unsigned bucket);
    static void settle(const StageSum& sum, BucketCounts& ns);
    JobSpan& add_job(std::uint32_t job);

    std::array<Op, kOps> ops_;
    BucketCounts recent_;  // counts for take_p99()
    std::vector<JobSpan> jobs_;
    std::vector<JobOps> job_ops_;  // as long as jobs_
    std::map<std::uint32_t, JobOps> streams_;
};

const char* host_op_name(HostOp op);

}  // namespace ssdtlm
