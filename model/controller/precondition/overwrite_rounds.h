// SPDX-License-Identifier: Apache-2.0
// The overwrites of preconditioning in rounds, each with its write amplification, and whether these say that the drive
// is in steady state. The rule is that of SNIA's Solid State Storage Performance Test Specification, with write
// amplification for the tracking variable: over the last five rounds, largest and smallest differ by at most 20 % of
// the mean, and the ends of the least-squares line through them by at most 10 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl_counters.h"

namespace ssdtlm {

struct Steadiness {
    static constexpr std::size_t kWindow = 5;  ///< rounds
    static constexpr double kMostExcursion = 0.2, kMostDrift = 0.1;
    double mean = 0;
    double excursion = 0;  ///< largest less smallest, as a share of the mean
    double slope = 0;      ///< of the line through them, in write amplification a round
    double drift =
        0;  ///< what the line changes from the first of the window to the last, as a share of the mean; not negative
    bool holds = false;
};
/// Judges Steadiness::kWindow consecutive rounds.
Steadiness steadiness(const double* rounds);

class OverwriteRounds {
public:
    OverwriteRounds() = default;
    /// `free_units`: erased room that the host may use now. Rounds in which the host writes to it say nothing about a
    /// steady state, because nothing had to be collected.
    OverwriteRounds(std::uint64_t round_units, std::uint64_t free_units, std::uint32_t units_per_page,
                    const FtlCounters& now)
        : round_units_(round_units),
          free_units_(free_units),
          units_per_page_(units_per_page),
          next_(round_units),
          begin_(now),
          last_(now),
          last_written_(now) {}

    /// True: with this many units written in all, the round under way is over, and end_round() must follow.
    bool is_over(std::uint64_t written) const { return written >= next_; }
    void end_round(const FtlCounters& now);
    void end(const FtlCounters& now) { last_written_ = now; }

    std::uint64_t round_units() const { return round_units_; }  ///< 0: there were no overwrites
    std::uint64_t units() const { return (last_written_ - begin_).host_units; }
    /// Write amplification of all overwrites, in whole rounds or not; 0 without overwrites. Overwrites are whole units,
    /// so it is also the WAF in bytes.
    double write_amplification() const { return (last_written_ - begin_).unit_write_amplification(units_per_page_); }
    const std::vector<double>& rounds() const { return rounds_; }  ///< write amplification of each that was whole
    std::size_t without_collection() const { return first_ < rounds_.size() ? first_ : rounds_.size(); }
    /// True: there are enough rounds to judge.
    bool is_judged() const { return rounds_.size() >= first_ + Steadiness::kWindow; }
    /// Judges the last rounds. Precondition: is_judged().
    Steadiness last() const { return steadiness(&rounds_[rounds_.size() - Steadiness::kWindow]); }
    bool is_steady() const { return is_judged() && last().holds; }

private:
    std::uint64_t round_units_ = 0, free_units_ = 0;
    std::uint32_t units_per_page_ = 1;
    std::uint64_t next_ = 0;
    std::size_t first_ = 0;  // of the rounds that are judged
    FtlCounters begin_, last_, last_written_;
    std::vector<double> rounds_;
};

}  // namespace ssdtlm
