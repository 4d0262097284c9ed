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
std::uint64_t to_ns(std::int64_t ps) { return static_cast<std::uint64_t>((ps + 500) / 1000); }

// Percentile over `zeros` zeros and the histogram's values.
double percentile_us(const BucketCounts& h, std::uint64_t zeros, double p) {
    const std::uint64_t n = h.count() + zeros;
    if (n == 0) return 0;
    const double rank = std::ceil(static_cast<double>(n) * p / 100.0);
    if (rank <= static_cast<double>(zeros)) return 0;
    const double within = (rank - static_cast<double>(zeros)) * 100.0 / static_cast<double>(h.count());
    return static_cast<double>(h.percentile(within > 100.0 ? 100.0 : within)) * 1e-3;
}

void fill(LatencyStats::Row& row, const BucketCounts& h, std::uint64_t zeros, std::int64_t sum_ps, std::int64_t max_ps) {
    row.count = h.count() + zeros;
    row.mean = row.count == 0 ? 0 : static_cast<double>(sum_ps) * 1e-6 / static_cast<double>(row.count);
    row.max = static_cast<double>(max_ps) * 1e-6;
    // The middle of the largest value's bucket may lie above that value.
    const auto percentile = [&](double p) { return std::min(percentile_us(h, zeros, p), row.max); };
    row.p50 = percentile(50);
    row.p90 = percentile(90);
    row.p99 = percentile(99);
    row.p99_9 = percentile(99.9);
    row.p99_99 = percentile(99.99);
}
}  // namespace

void LatencyStats::on_complete(const HostRequest& request, SimTime, SimTime submitted, SimTime now, const Timeline& timeline,
                               bool measured) {
    const auto o = static_cast<std::size_t>(request.op);
    ++all_;
    ++all_count_[o];
    all_bytes_[o] += request.bytes;
    const std::int64_t total = (now - submitted).count();
    std::int64_t sum = 0;
    if (!measured) {
        sum = timeline.sum().count();
    } else {
        Op& op = ops_[o];
        op.total.record(to_ns(total));
        ++op.count;
        op.total_ps += total;
        if (total > op.max_ps) op.max_ps = total;
        op.bytes += request.bytes;
        if (submitted < begin_) begin_ = submitted;
        if (now > end_) end_ = now;
        timeline.for_each([&op, &sum](Stage stage, std::int64_t ps) {
            sum += ps;
            StageSum& s = op.stage[static_cast<std::size_t>(stage)];
            s.ps += ps;
            if (ps > s.max_ps) s.max_ps = ps;
            s.ns.record(to_ns(ps));
        });
    }
    SSDTLM_CHECK(sum == total, "latency stages do not sum to the end-to-end latency");
}

std::uint64_t LatencyStats::commands() const {
    std::uint64_t n = 0;
    for (const auto& op : ops_) n += op.count;
    return n;
}

std::vector<LatencyStats::Row> LatencyStats::rows() const {
    std::vector<Row> rows;
    for (std::size_t o = 0; o < kOps; ++o) {
        const Op& op = ops_[o];
        if (op.count == 0) continue;
        for (std::size_t i = 0; i < kStageCount; ++i) {
            const StageSum& s = op.stage[i];
            if (s.ns.empty()) continue;
            Row row;
            row.op = host_op_name(static_cast<HostOp>(o));
            row.stage = stage_name(static_cast<Stage>(i));
            fill(row, s.ns, op.count - s.ns.count(), s.ps, s.max_ps);
            row.share = op.total_ps == 0 ? 0 : static_cast<double>(s.ps) / static_cast<double>(op.total_ps);
            rows.push_back(row);
        }
        Row total;
        total.op = host_op_name(static_cast<HostOp>(o));
        total.stage = "total";
        fill(total, op.total, 0, op.total_ps, op.max_ps);
        total.share = 1;
        rows.push_back(total);
    }
    return rows;
}

}  // namespace ssdtlm
