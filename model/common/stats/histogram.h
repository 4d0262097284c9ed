// SPDX-License-Identifier: Apache-2.0
// A log-linear histogram of non-negative integers with fio's buckets. Values below 128 are exact. Above that each
// octave has 64 buckets, so a bucket's midpoint is within 1/128 of any value in it. Sum and sum of squares are exact
// integers, so merging in any order gives the same mean and deviation. It does not keep the values themselves. Buckets
// and percentile rule are those of fio 3.33 (FIO_IO_U_PLAT_BITS 6, 29 groups). The keys of fio's json+ "bins" are the
// midpoints.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

/// A histogram without sums, which is enough for percentiles. Each value costs one increment.
class BucketCounts {
public:
    static constexpr unsigned kBits = 6;
    static constexpr unsigned kPerOctave = 1u << kBits;
    static constexpr unsigned kGroups = 29;
    static constexpr unsigned kBuckets = kGroups * kPerOctave;

    /// The bucket of a value. Values of 2^34 and more share the last bucket, as in fio (17 s when the unit is ns).
    static constexpr unsigned index_of(std::uint64_t v) {
        // The number of low bits that the bucket ignores. The bit kPerOctave makes it 0 for all values below 2 *
        // kPerOctave.
        const unsigned drop = 63u - static_cast<unsigned>(__builtin_clzll(v | kPerOctave)) - kBits;
        // If bits are dropped, v >> drop is in [64, 128). So adding 64 for each dropped bit continues the numbering.
        const std::uint64_t i = drop * kPerOctave + (v >> drop);
        return static_cast<unsigned>(std::min<std::uint64_t>(i, kBuckets - 1));
    }
    /// The smallest value of a bucket. The largest is one below the smallest of the next bucket. The last bucket has no
    /// end.
    static constexpr std::uint64_t lowest_of(unsigned index) {
        if (index < 2 * kPerOctave) return index;
        return static_cast<std::uint64_t>(kPerOctave + index % kPerOctave) << (index / kPerOctave - 1);
    }
    /// The value that stands for a bucket: below 128 the value itself, else the middle of the bucket's range.
    static constexpr std::uint64_t midpoint_of(unsigned index) {
        if (index < 2 * kPerOctave) return index;
        return lowest_of(index) + (std::uint64_t{1} << (index / kPerOctave - 2));
    }

    BucketCounts() = default;
    BucketCounts(const BucketCounts& other) { *this = other; }
    BucketCounts& operator=(const BucketCounts& other);
    BucketCounts(BucketCounts&&) noexcept = default;
    BucketCounts& operator=(BucketCounts&&) noexcept = default;

    /// Takes O(1). Only the first value allocates (15 kB for the buckets).
    void record(std::uint64_t v, std::uint64_t times = 1) {
        if (__builtin_expect(!buckets_, 0)) allocate();
        (*buckets_)[index_of(v)] += times;
    }
    void merge(const BucketCounts& other);
    /// Forgets all values but keeps the memory.
    void clear() {
        if (buckets_) buckets_->fill(0);
    }
    bool empty() const { return count() == 0; }
    /// Number of values in all buckets.
    std::uint64_t count() const;
    std::uint64_t operator[](unsigned index) const { return buckets_ ? (*buckets_)[index] : 0; }

    /// Returns a value for each p of a list in ascending order, 0 <= p <= 100. It is the midpoint of the first used
    /// bucket at which the cumulative count reaches p percent, or 0 if there are no values. It needs one pass.
    std::vector<std::uint64_t> percentiles(const std::vector<double>& ascending) const;
    std::uint64_t percentile(double p) const { return percentiles({p}).front(); }

private:
    using Buckets = std::array<std::uint64_t, kBuckets>;
    void allocate();

    std::unique_ptr<Buckets> buckets_;
};

class Histogram {
public:
    static constexpr unsigned kBits = BucketCounts::kBits;
    static constexpr unsigned kPerOctave = BucketCounts::kPerOctave;
    static constexpr unsigned kGroups = BucketCounts::kGroups;
    static constexpr unsigned kBuckets = BucketCounts::kBuckets;

    static constexpr unsigned index_of(std::uint64_t v) { return BucketCounts::index_of(v); }
    static constexpr std::uint64_t midpoint_of(unsigned index) { return BucketCounts::midpoint_of(index); }

    /// Takes O(1). Only the first value allocates.
    void record(std::uint64_t v) {
        buckets_.record(v);
        ++count_;
        sum_ += v;
        squares_ += static_cast<Wide>(v) * v;
        min_ = std::min(min_, v);
        max_ = std::max(max_, v);
    }
    void merge(const Histogram& other);
    /// Forgets all values but keeps the memory.
    void clear();

    std::uint64_t count() const { return count_; }
    bool empty() const { return count_ == 0; }
    std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
    std::uint64_t max() const { return max_; }
    std::uint64_t sum() const { return sum_; }
    double mean() const { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }
    /// The sample deviation (n - 1), as fio prints it; 0 for fewer than two values.
    double stddev() const;

    /// The midpoint of the first bucket at which the cumulative count reaches p percent, 0 <= p <= 100; 0 if there are
    /// no values.
    std::uint64_t percentile(double p) const { return buckets_.percentile(p); }
    /// The percentiles for a list in ascending order, in one pass.
    std::vector<std::uint64_t> percentiles(const std::vector<double>& ascending) const {
        return buckets_.percentiles(ascending);
    }

    std::uint64_t bucket(unsigned index) const { return buckets_[index]; }
    /// Calls visit(midpoint, count) for each bucket that is not empty, in ascending order.
    template <typename Visit>
    void for_each(Visit visit) const {
        for (unsigned i = 0; i < kBuckets; ++i)
            if (buckets_[i] != 0) visit(midpoint_of(i), buckets_[i]);
    }

private:
    __extension__ using Wide = unsigned __int128;

    BucketCounts buckets_;
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t max_ = 0;
    Wide squares_ = 0;
};

/// A histogram of durations. The buckets count whole nanoseconds (rounded down); the sum is exact in picoseconds.
class LatencyHistogram {
public:
    /// Precondition: d is not negative.
    void record(Ps d) {
        const auto ps = static_cast<std::uint64_t>(d.count());
        sum_ps_ += ps;
        ns_.record(ps / 1000);
    }
    void merge(const LatencyHistogram& other) {
        sum_ps_ += other.sum_ps_;
        ns_.merge(other.ns_);
    }
    void clear() {
        sum_ps_ = 0;
        ns_.clear();
    }
    const Histogram& ns() const { return ns_; }
    std::uint64_t count() const { return ns_.count(); }
    /// The exact sum in ps. 64 signed bits would overflow after 106 days of latency, summed over all commands.
    __extension__ unsigned __int128 sum_ps() const { return sum_ps_; }
    double mean_ns() const {
        return ns_.empty() ? 0.0 : static_cast<double>(sum_ps_) / 1000.0 / static_cast<double>(ns_.count());
    }

private:
    __extension__ unsigned __int128 sum_ps_ = 0;
    Histogram ns_;
};

}  // namespace ssdtlm
