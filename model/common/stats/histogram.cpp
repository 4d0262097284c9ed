// SPDX-License-Identifier: Apache-2.0
#include "common/stats/histogram.h"

#include <cmath>

namespace ssdtlm {

void BucketCounts::allocate() {
    buckets_ = std::make_unique<Buckets>();  // value-initialised: all zero
}

BucketCounts& BucketCounts::operator=(const BucketCounts& other) {
    if (this != &other) buckets_ = other.buckets_ ? std::make_unique<Buckets>(*other.buckets_) : nullptr;
    return *this;
}

void BucketCounts::merge(const BucketCounts& other) {
    if (!other.buckets_) return;
    if (!buckets_) allocate();
    for (unsigned i = 0; i < kBuckets; ++i) (*buckets_)[i] += (*other.buckets_)[i];
}

std::uint64_t BucketCounts::count() const {
    std::uint64_t n = 0;
    for (unsigned i = 0; buckets_ && i < kBuckets; ++i) n += (*buckets_)[i];
    return n;
}

std::vector<std::uint64_t> BucketCounts::percentiles(const std::vector<double>& ascending) const {
    std::vector<std::uint64_t> values(ascending.size(), 0);
    const std::uint64_t n = count();
    if (n == 0) return values;
    unsigned last = kBuckets - 1;
    while ((*buckets_)[last] == 0) --last;
    unsigned i = 0;
    while ((*buckets_)[i] == 0) ++i;
    std::uint64_t seen = (*buckets_)[i];
    for (std::size_t k = 0; k < ascending.size(); ++k) {
        const long double wanted = static_cast<long double>(ascending[k]) / 100.0L * static_cast<long double>(n);
        while (i < last && static_cast<long double>(seen) < wanted) seen += (*buckets_)[++i];
        values[k] = midpoint_of(i);
    }
    return values;
}

void Histogram::merge(const Histogram& other) {
    if (other.empty()) return;
    buckets_.merge(other.buckets_);
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

void Histogram::clear() {
    buckets_.clear();
    count_ = sum_ = max_ = 0;
    squares_ = 0;
    min_ = std::numeric_limits<std::uint64_t>::max();
}

double Histogram::stddev() const {
    if (count_ < 2) return 0.0;
    // The sum of (v - mean)^2 is squares - sum^2 / n. With sum = q n + r, all of it but r^2 / n is an exact integer. So
    // nothing cancels in floating point, even if the deviation is tiny beside the mean.
    const Wide q = sum_ / count_;
    const Wide r = sum_ % count_;
    const Wide whole = squares_ - q * q * count_ - 2 * q * r;
    const double deviations =
        static_cast<double>(whole) - static_cast<double>(r) * static_cast<double>(r) / static_cast<double>(count_);
    return std::sqrt(std::max(0.0, deviations) / static_cast<double>(count_ - 1));
}

}  // namespace ssdtlm
