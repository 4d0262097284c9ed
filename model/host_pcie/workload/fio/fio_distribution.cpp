// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_distribution.h"

#include <algorithm>
#include <cmath>

namespace ssdtlm {
namespace {

// (log(1+x))/x and (exp(x)-1)/x, computed so that they are stable near 0.
double log1p_over(double x) {
    return std::fabs(x) > 1e-8 ? std::log1p(x) / x : 1 - x * (0.5 - x * (1.0 / 3 - x * 0.25));
}
double expm1_over(double x) {
    return std::fabs(x) > 1e-8 ? std::expm1(x) / x : 1 + x * 0.5 * (1 + x / 3 * (1 + 0.25 * x));
}

}  // namespace

ZipfRank::ZipfRank(std::uint64_t n, double theta) : n_(static_cast<double>(n)), theta_(theta) {
    first_ = integral(1.5) - 1;
    last_ = integral(n_ + 0.5);
    shift_ = 2 - inverse(integral(2.5) - density(2));
}

double ZipfRank::integral(double x) const {
    const double l = std::log(x);
    return expm1_over((1 - theta_) * l) * l;
}
double ZipfRank::density(double x) const {
    return std::exp(-theta_ * std::log(x));
}
double ZipfRank::inverse(double x) const {
    return std::exp(log1p_over(std::max(-1.0, x * (1 - theta_))) * x);
}

std::uint64_t ZipfRank::draw(Random& random) const {
    for (;;) {
        const double u = last_ + random.unit() * (first_ - last_);
        const double x = inverse(u);
        const double k = std::clamp(std::floor(x + 0.5), 1.0, n_);
        if (k - x <= shift_ || u >= integral(k + 0.5) - density(k)) return static_cast<std::uint64_t>(k) - 1;
    }
}

FioDistributionSource::FioDistributionSource(const FioJob& job, std::uint64_t blocks, std::uint64_t seed)
    : kind_(job.distribution),
      blocks_(blocks),
      random_(seed, 1),
      scatter_(blocks, Random(seed, 2).next()),
      zipf_(blocks, job.distribution == FioDistribution::zipf ? job.distribution_value : 1.1) {
    const double value = job.distribution_value;
    const auto n = static_cast<double>(blocks);
    if (kind_ == FioDistribution::pareto) pareto_power_ = std::log(value) / std::log(1 - value);
    if (kind_ == FioDistribution::normal)
        deviation_ = std::min(static_cast<std::uint64_t>(std::ceil(n * value / 100)), blocks / 2);
    if (!job.distribution_center) return;
    const auto center = static_cast<std::uint64_t>(n * *job.distribution_center);
    // The most popular block lands on the center; a normal distribution is shifted by center - 0.5, as in fio.
    const std::uint64_t from = kind_ == FioDistribution::normal ? blocks / 2 : scatter_(0);
    shift_ = (center + blocks - from) % blocks;
}

std::uint64_t FioDistributionSource::draw() {
    std::uint64_t rank = 0;
    switch (kind_) {
        case FioDistribution::zipf:
            rank = zipf_.draw(random_);
            break;
        case FioDistribution::pareto:
            rank =
                static_cast<std::uint64_t>(static_cast<double>(blocks_ - 1) * std::pow(random_.unit(), pareto_power_));
            break;
        default:
            rank = normal();
            break;
    }
    return (scatter_(std::min(rank, blocks_ - 1)) + shift_) % blocks_;
}

/// Draws the mean of twelve uniform numbers, moved by a uniform deviation (fio's shape).
std::uint64_t FioDistributionSource::normal() {
    std::uint64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += random_.below(blocks_ + 1);
    const std::uint64_t mean = std::min((sum + 11) / 12, blocks_ - 1);
    if (deviation_ == 0) return mean;
    auto move = static_cast<std::int64_t>(random_.below(deviation_)) - static_cast<std::int64_t>(deviation_ / 2);
    const auto limit = static_cast<std::int64_t>(blocks_);
    const auto base = static_cast<std::int64_t>(mean);
    while (base + move < 0 || base + move >= limit) move /= 2;
    return static_cast<std::uint64_t>(base + move);
}

FioZoneSource::FioZoneSource(const std::vector<FioZone>& zones, bool absolute, std::uint64_t blocks,
                             std::uint64_t align) {
    std::uint64_t end = 0;      // of the previous zone: percent or bytes
    std::uint32_t percent = 0;  // of accesses up to the previous zone
    for (std::uint16_t& p : by_percent_) p = 0;
    for (const FioZone& zone : zones) {
        const std::uint64_t first = absolute ? end / align : end * blocks / 100;
        end += zone.size;
        const std::uint64_t count = absolute ? end / align - first : zone.size * blocks / 100;
        for (std::uint32_t i = 0; i < zone.access_percent && percent < 100; ++i)
            by_percent_[percent++] = static_cast<std::uint16_t>(ranges_.size());
        ranges_.push_back({std::min(first, blocks - 1), std::max<std::uint64_t>(count, 1)});
    }
}

std::uint64_t FioZoneSource::draw(Random& random) const {
    const Range& range = ranges_[by_percent_[random.below(100)]];
    return range.first + random.below(range.count);
}

}  // namespace ssdtlm
