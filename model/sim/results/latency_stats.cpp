// SPDX-License-Identifier: Apache-2.0
#include "sim/results/latency_stats.h"

#include <algorithm>
#include <cmath>

namespace ssdtlm {

const char* host_op_name(HostOp op) {
    static constexpr const char* kNames[] = {"read", "write", "trim", "flush"};
    return kNames[static_cast<std::size_t>(op)];
}

namespace {
/// Rounds to whole ns. Precondition: ps is not negative.
std::uint64_t to_ns(std::int64_t ps) {
    return (static_cast<std::uint64_t>(ps) + 500) / 1000;
}

// The percentile over `zeros` zeros and the values of the histogram, in us.
double percentile_us(const BucketCounts& h, std::uint64_t zeros, double p) {
    const std::uint64_t n = h.count() + zeros;
    if (n == 0) return 0;
    const double rank = std::ceil(static_cast<double>(n) * p / 100.0);
    if (rank <= static_cast<double>(zeros)) return 0;
    const double within = (rank - static_cast<double>(zeros)) * 100.0 / static_cast<double>(h.count());
    return static_cast<double>(h.percentile(within > 100.0 ? 100.0 : within)) * 1e-3;
}

void fill(LatencyStats::Row& row, const BucketCounts& h, std::uint64_t zeros, std::int64_t sum_ps,
          std::int64_t max_ps) {
    row.count = h.count() + zeros;
    row.mean = row.count == 0 ? 0 : static_cast<double>(sum_ps) * 1e-6 / static_cast<double>(row.count);
    row.max = static_cast<double>(max_ps) * 1e-6;
    // The middle of a bucket may lie above the largest value, so percentiles are limited to it.
    const auto percentile = [&](double p) { return std::min(percentile_us(h, zeros, p), row.max); };
    row.p50 = percentile(50);
    row.p90 = percentile(90);
    row.p99 = percentile(99);
    row.p99_9 = percentile(99.9);
    row.p99_99 = percentile(99.99);
}
}  // namespace

inline void LatencyStats::settle(const StageSum& sum, BucketCounts& ns) {
    if (sum.repeats != 0) ns.record(to_ns(sum.last_ps), sum.repeats);
}

inline void LatencyStats::new_duration(StageSum& sum, BucketCounts& ns, std::int64_t ps) {
    settle(sum, ns);
    sum.last_ps = ps;
    sum.repeats = 0;
    if (ps > sum.max_ps) sum.max_ps = ps;
}

inline LatencyStats::Bin& LatencyStats::bin_of(Op& op, unsigned bucket) {
    if (__builtin_expect(op.bins.empty(), 0)) op.bins.resize(BucketCounts::kBuckets);
    return op.bins[bucket];
}

std::optional<double> LatencyStats::take_p99(HostOp of) {
    Op& op = ops_[static_cast<std::size_t>(of)];
    if (op.recent_low > op.recent_high) return std::nullopt;
    op.seen.resize(BucketCounts::kBuckets);
    recent_.clear();
    for (unsigned b = op.recent_low; b <= op.recent_high; ++b) {
        const std::uint64_t now = op.bins[b].count;
        if (now == op.seen[b]) continue;
        recent_.record(BucketCounts::lowest_of(b), now - op.seen[b]);
        op.seen[b] = now;
    }
    op.recent_low = BucketCounts::kBuckets;
    op.recent_high = 0;
    return static_cast<double>(recent_.percentile(99)) * 1e-3;
}

void LatencyStats::on_complete(const HostRequest& request, SimTime issued, SimTime, SimTime now,
                               const Timeline& timeline, bool measured) {
    Op& op = ops_[static_cast<std::size_t>(request.op)];
    const std::int64_t total = (now - issued).count();
    if (total > op.recent_max_ps) op.recent_max_ps = total;
    std::int64_t sum = 0;
    if (!measured) {
        ++op.unmeasured_count;
        op.layout_count += request.preparation;
        op.unmeasured_bytes += request.bytes;
        op.unmeasured_ps += total;
        sum = timeline.sum().count();
    } else {
        const unsigned bucket = BucketCounts::index_of(to_ns(total));
        if (bucket < op.recent_low) op.recent_low = bucket;
        if (bucket > op.recent_high) op.recent_high = bucket;
        Bin& bin = bin_of(op, bucket);
        ++bin.count;
        ++op.count;
        op.total_ps += total;
        if (total > op.max_ps) op.max_ps = total;
        op.bytes += request.bytes;
        JobSpan& job = __builtin_expect(request.job < jobs_.size(), 1) ? jobs_[request.job] : add_job(request.job);
        if (issued < job.begin) job.begin = issued;
        job.end = now;
        job.ops |= 1u << static_cast<unsigned>(request.op);
        JobOp& own = job_ops_[request.job][static_cast<std::size_t>(request.op)];
        if (__builtin_expect(own.bins.empty(), 0)) own.bins.resize(BucketCounts::kBuckets);
        ++own.bins[bucket];
        ++own.sum.count;
        if (total > own.max_ps) own.max_ps = total;
        timeline.for_each([&op, &bin, &own, &sum](Stage stage, std::int64_t ps) {
            const auto i = static_cast<std::size_t>(stage);
            sum += ps;
            StageSum& s = op.stage[i];
            bin.ps[i] += ps;
            own.sum.ps[i] += ps;
            if (ps != s.last_ps) new_duration(s, op.stage_ns[i], ps);
            ++s.repeats;
        });
        if (__builtin_expect(request.stream != 0, 0)) count_stream(request, bucket, total, timeline);
    }
    SSDTLM_CHECK(sum == total, "latency stages do not sum to the end-to-end latency");
}

__attribute__((noinline, cold)) LatencyStats::JobSpan& LatencyStats::add_job(std::uint32_t job) {
    jobs_.resize(job + std::size_t{1});
    job_ops_.resize(jobs_.size());
    return jobs_[job];
}

Ps LatencyStats::window() const {
    SimTime begin = kNever, end{};
    for (const JobSpan& j : jobs_) {
        if (j.ops == 0) continue;
        begin = std::min(begin, j.begin);
        end = std::max(end, j.end);
    }
    return end > begin ? end - begin : Ps{};
}

std::uint64_t LatencyStats::commands() const {
    std::uint64_t n = 0;
    for (const auto& op : ops_) n += op.count;
    return n;
}

std::uint64_t LatencyStats::all_commands() const {
    std::uint64_t n = commands();
    for (const auto& op : ops_) n += op.unmeasured_count;
    return n;
}

std::vector<LatencyStats::Row> LatencyStats::rows() const {
    std::vector<Row> rows;
    for (std::size_t o = 0; o < kOps; ++o) {
        const Op& op = ops_[o];
        if (op.count == 0) continue;
        BucketCounts totals;
        std::array<std::int64_t, kStageCount> ps{};
        for (unsigned b = 0; b < op.bins.size(); ++b) {
            if (op.bins[b].count == 0) continue;
            totals.record(BucketCounts::midpoint_of(b), op.bins[b].count);
            for (std::size_t i = 0; i < kStageCount; ++i) ps[i] += op.bins[b].ps[i];
        }
        for (std::size_t i = 0; i < kStageCount; ++i) {
            const StageSum& s = op.stage[i];
            BucketCounts ns = op.stage_ns[i];
            settle(s, ns);
            if (ns.empty()) continue;
            Row row;
            row.op = host_op_name(static_cast<HostOp>(o));
            row.stage = stage_name(static_cast<Stage>(i));
            fill(row, ns, op.count - ns.count(), ps[i], s.max_ps);
            row.share = op.total_ps == 0 ? 0 : static_cast<double>(ps[i]) / static_cast<double>(op.total_ps);
            rows.push_back(row);
        }
        Row total;
        total.op = host_op_name(static_cast<HostOp>(o));
        total.stage = "total";
        fill(total, totals, 0, op.total_ps, op.max_ps);
        total.share = 1;
        rows.push_back(total);
    }
    return rows;
}

std::vector<LatencyStats::BinRow> LatencyStats::bins() const {
    std::vector<BinRow> rows;
    for (std::size_t o = 0; o < kOps; ++o)
        for (unsigned b = 0; b < ops_[o].bins.size(); ++b)
            if (const Bin& bin = ops_[o].bins[b]; bin.count != 0)
                rows.push_back({host_op_name(static_cast<HostOp>(o)), b, bin.count, bin.ps});
    return rows;
}

__attribute__((noinline)) void LatencyStats::count_stream(const HostRequest& request, unsigned bucket,
                                                          std::int64_t total_ps, const Timeline& timeline) {
    JobOp& own = streams_[request.stream][static_cast<std::size_t>(request.op)];
    own.bins.resize(BucketCounts::kBuckets);
    ++own.bins[bucket];
    ++own.sum.count;
    own.max_ps = std::max(own.max_ps, total_ps);
    timeline.for_each([&own](Stage stage, std::int64_t ps) { own.sum.ps[static_cast<std::size_t>(stage)] += ps; });
}

void LatencyStats::add(JobOp& sum, const JobOp& one) {
    if (one.sum.count == 0) return;
    sum.sum.count += one.sum.count;
    for (std::size_t i = 0; i < kStageCount; ++i) sum.sum.ps[i] += one.sum.ps[i];
    sum.max_ps = std::max(sum.max_ps, one.max_ps);
    sum.bins.resize(BucketCounts::kBuckets);
    for (unsigned b = 0; b < BucketCounts::kBuckets; ++b) sum.bins[b] += one.bins[b];
}

void LatencyStats::add_rows(std::vector<JobRow>& rows, std::uint32_t job, const JobOps& ops) {
    for (std::size_t o = 0; o < kOps; ++o) {
        const JobOp& of = ops[o];
        if (of.sum.count == 0) continue;
        BucketCounts totals;
        for (unsigned b = 0; b < BucketCounts::kBuckets; ++b)
            if (of.bins[b] != 0) totals.record(BucketCounts::midpoint_of(b), of.bins[b]);
        std::int64_t sum = 0;
        for (const std::int64_t ps : of.sum.ps) sum += ps;
        Row total;
        fill(total, totals, 0, sum, of.max_ps);
        JobRow row{job,
                   host_op_name(static_cast<HostOp>(o)),
                   of.sum.count,
                   total.mean,
                   total.p50,
                   total.p99,
                   total.p99_9,
                   total.max,
                   {}};
        for (std::size_t i = 0; i < kStageCount; ++i)
            row.stage[i] = static_cast<double>(of.sum.ps[i]) * 1e-6 / static_cast<double>(of.sum.count);
        rows.push_back(std::move(row));
    }
}

std::vector<LatencyStats::JobRow> LatencyStats::by_job() const {
    std::vector<JobRow> rows;
    for (std::uint32_t job = 0; job < job_ops_.size(); ++job) add_rows(rows, job, job_ops_[job]);
    return rows;
}

std::vector<LatencyStats::JobRow> LatencyStats::by_stream() const {
    std::vector<JobRow> rows;
    for (const auto& [stream, ops] : streams_) add_rows(rows, stream, ops);
    return rows;
}

std::vector<LatencyStats::JobRow> LatencyStats::by_tenant(const std::vector<std::uint32_t>& tenant_of) const {
    std::vector<JobOps> tenants;
    for (std::uint32_t job = 0; job < job_ops_.size(); ++job) {
        if (tenant_of[job] >= tenants.size()) tenants.resize(tenant_of[job] + std::size_t{1});
        for (std::size_t o = 0; o < kOps; ++o) add(tenants[tenant_of[job]][o], job_ops_[job][o]);
    }
    std::vector<JobRow> rows;
    for (std::uint32_t t = 0; t < tenants.size(); ++t) add_rows(rows, t, tenants[t]);
    return rows;
}

}  // namespace ssdtlm
