// SPDX-License-Identifier: Apache-2.0
#include "controller/precondition/steady_state.h"

#include <algorithm>
#include <cmath>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
/// Finds the x in [low, high] at which `rises` becomes true. It is false below and true above.
template <class Rises>
double where(double low, double high, Rises&& rises) {
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (rises(middle) ? high : low) = middle;
    }
    return high;
}

/// The share of blocks with i valid units, when `above` have more (of those that are drawn), and `pace` relates the
/// flow to i times their number: i x share = pace x (1 - (above + share)^drawn).
double share_with(std::uint32_t i, double above, double pace, double drawn) {
    const double left = 1 - above;
    if (left <= 0) return 0;
    if (drawn == 1) return pace * left / (i + pace);
    // Newton's method from the right of the zero: the difference of the two sides rises and is convex, so no step goes
    // beyond it.
    double share = std::min(left, pace / i);
    for (int k = 0; k < 60; ++k) {
        const double all = above + share, power = std::pow(all, drawn - 1);
        const double step = (i * share - pace * (1 - power * all)) / (i + pace * drawn * power);
        share -= step;
        if (std::abs(step) < 1e-15) break;
    }
    return std::clamp(share, 0.0, left);
}

std::vector<double> shares_at(const ChoiceLaw& law, std::uint32_t n, double pace) {
    const std::uint32_t most = std::min(law.most_valid, n);
    std::vector<double> shares(n + 1);
    double never = 0;  // too many valid units to be drawn
    for (std::uint32_t i = n; i > most; --i) never += shares[i] = std::min(pace / i, 1 - never);
    const double drawn_ones = 1 - never;
    double above = 0;
    for (std::uint32_t i = most; i > 0; --i) {
        const double left = drawn_ones - above;
        shares[i] = law.drawn == ChoiceLaw::kAll ? std::clamp(pace / i, 0.0, left)
                    : drawn_ones <= 0            ? 0
                                      : drawn_ones * share_with(i, above / drawn_ones, pace / drawn_ones, law.drawn);
        above += shares[i];
    }
    shares[0] = std::max(0.0, drawn_ones - above);
    return shares;
}

double mean(const std::vector<double>& shares) {
    double sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) sum += static_cast<double>(i) * shares[i];
    return sum;
}

std::uint32_t binomial(std::uint32_t n, double p, Random& random) {
    std::uint32_t k = 0;
    for (std::uint32_t i = 0; i < n; ++i) k += random.unit() < p;
    return k;
}

/// Adds one to or takes one from blocks that are drawn, until the sum is right.
void make_sum(std::vector<std::uint32_t>& counts, std::uint32_t n, std::uint64_t units, Random& random) {
    std::uint64_t sum = 0;
    for (const std::uint32_t c : counts) sum += c;
    while (sum != units) {
        std::uint32_t& c = counts[random.below(counts.size())];
        if (sum < units ? c == n : c == 0) continue;
        if (sum < units)
            ++c, ++sum;
        else
            --c, --sum;
    }
}
}  // namespace

std::vector<double> valid_shares(const ChoiceLaw& law, std::uint32_t n, double density) {
    SSDTLM_CHECK(law.kind == ChoiceLaw::Kind::best_of && density > 0 && density < 1,
                 "a steady state without a formula");
    // The mean rises with the pace: the slower a block passes a count, the more blocks are there.
    const double pace = where(0, 64.0 * n, [&](double p) { return mean(shares_at(law, n, p)) >= density * n; });
    return shares_at(law, n, pace);
}

double oldest_share(double density) {
    // Over a life of x overwrites per valid unit of the device, e^-x are left; on average of all ages (1 - e^-x) / x =
    // density.
    const double x = where(1e-12, 2 / density + 2, [&](double life) { return -std::expm1(-life) / life <= density; });
    return std::exp(-x);
}

std::vector<std::uint32_t> steady_counts(const ChoiceLaw& law, std::uint32_t n, std::uint32_t blocks,
                                         std::uint64_t units, Random& random) {
    SSDTLM_CHECK(units <= std::uint64_t{blocks} * n, "more valid units than full blocks have room for");
    std::vector<std::uint32_t> counts(blocks);
    if (units == 0 || units == std::uint64_t{blocks} * n) {
        std::fill(counts.begin(), counts.end(), units == 0 ? 0 : n);
        return counts;
    }
    const double density = static_cast<double>(units) / n / blocks;
    if (law.kind == ChoiceLaw::Kind::oldest) {
        const double life = -std::log(oldest_share(density));
        for (std::uint32_t i = 0; i < blocks; ++i)
            counts[i] = binomial(n, std::exp(-life * (blocks - i - 0.5) / blocks), random);
    } else {
        const std::vector<double> shares = valid_shares(law, n, density);
        double upto = shares[0];
        for (std::uint32_t i = 0, valid = 0; i < blocks; ++i) {
            while (upto < (i + 0.5) / blocks && valid < n) upto += shares[++valid];
            counts[i] = valid;
        }
    }
    make_sum(counts, n, units, random);
    return counts;
}

}  // namespace ssdtlm
