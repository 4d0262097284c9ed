// SPDX-License-Identifier: Apache-2.0
// Draws fio's non-uniform random offsets as block numbers: zipf, pareto, normal, zoned. A permutation scatters popular
// blocks over the region, where fio uses a hash. So the shares are those of the formula, without collisions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/fio/permutation.h"

namespace ssdtlm {

/// Ranks 1..n with probability proportional to rank^-theta, exact and without a table: rejection-inversion
/// (Hoermann, Derflinger: "Rejection-inversion to generate variates from monotone discrete distributions", 1996).
class ZipfRank {
public:
    ZipfRank(std::uint64_t n, double theta);
    /// Draws a 0-based rank.
    std::uint64_t draw(Random& random) const;

private:
    double integral(double x) const;
    double density(double x) const;
    double inverse(double x) const;
    double n_;
    double theta_;
    double first_;
    double last_;
    double shift_;
};

/// The source for zipf, pareto and normal over `blocks` blocks. The other distributions do not use it.
class FioDistributionSource {
public:
    FioDistributionSource(const FioJob& job, std::uint64_t blocks, std::uint64_t seed);
    std::uint64_t draw();

private:
    std::uint64_t normal();
    FioDistribution kind_;
    std::uint64_t blocks_;
    Random random_;
    Permutation scatter_;
    ZipfRank zipf_;
    double pareto_power_ = 0;
    std::uint64_t deviation_ = 0;
    std::uint64_t shift_ = 0;
};

/// The source for zoned and zoned_abs of one direction. It draws a zone by access percent, and a uniform block in the
/// zone.
class FioZoneSource {
public:
    /// `blocks`: blocks of the region; `align`: bytes per block.
    FioZoneSource(const std::vector<FioZone>& zones, bool absolute, std::uint64_t blocks, std::uint64_t align);
    std::uint64_t draw(Random& random) const;

private:
    struct Range {
        std::uint64_t first;
        std::uint64_t count;
    };
    std::vector<Range> ranges_;
    std::uint16_t by_percent_[100];
};

}  // namespace ssdtlm
