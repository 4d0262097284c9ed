// SPDX-License-Identifier: Apache-2.0
// Judges whether a run measured a steady state. The measured window is cut into five rounds. By the rule of SNIA's
// Solid State Storage Performance Test Specification, throughput, mean latency and WAF of the rounds must be within 20
// % of their mean, and the line through them within 10 %. A round is too short if it does not turn over, at least once,
// all that the drive keeps for its writes and its map. This does not hold for a read cache that answers almost no
// reads, and would not if it were full.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "controller/precondition/overwrite_rounds.h"

namespace ssdtlm {

/// Counts since the run began. All are sums, except for free_blocks.
struct SteadyCounts {
    std::uint64_t commands = 0;
    Ps latency{};  ///< sum over all commands
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    std::uint64_t nand_bytes = 0;  ///< programmed
    std::uint64_t erased_blocks = 0;
    std::uint64_t map_lookups = 0;
    std::uint64_t cache_lookups = 0, cache_hits = 0;  ///< of the read cache
    std::uint64_t free_blocks = 0;                    ///< at this instant
};

/// The counts over time at equal distances, in bounded memory: when there are many, every second one is dropped.
class SteadyHistory {
public:
    void begin(SimTime now, const SteadyCounts& counts);
    /// True: call look() before anything at `now` is counted.
    bool is_due(SimTime now) const { return now >= next_; }
    void look(SimTime now, const SteadyCounts& counts);
    void end(SimTime now, const SteadyCounts& counts);

    Ps window() const { return end_at_ - begin_at_; }
    const SteadyCounts& first() const { return begin_; }
    const SteadyCounts& last() const { return end_; }
    /// The values of a sum at the edges of the rounds, interpolated between two looks.
    template <class Sum>
    std::array<double, Steadiness::kWindow + 1> at_edges(Sum sum) const {
        std::array<double, Steadiness::kWindow + 1> edges{};
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const double at = static_cast<double>(window().count()) * static_cast<double>(i) / Steadiness::kWindow;
            edges[i] = value_at(at, sum);
        }
        return edges;
    }

private:
    static constexpr std::size_t kMost = 640;
    template <class Sum>
    double value_at(double at, Sum sum) const {
        const double step = static_cast<double>(interval_.count());
        const std::size_t whole = std::min(static_cast<std::size_t>(at / step), looks_.size());
        const double from = static_cast<double>(whole) * step;
        const double to = whole < looks_.size() ? from + step : static_cast<double>(window().count());
        const double low = sum(whole == 0 ? begin_ : looks_[whole - 1]),
                     high = sum(whole < looks_.size() ? looks_[whole] : end_);
        return to <= from ? high : low + (high - low) * (at - from) / (to - from);
    }

    SimTime begin_at_{}, end_at_{}, next_ = kNever;
    Ps interval_{1'000'000};
    SteadyCounts begin_, end_;
    std::vector<SteadyCounts> looks_;  // entry i: after i + 1 intervals
};

/// The amounts that the drive keeps, and that a round must turn over. They are 0 if the drive has no such part.
struct KeptByDrive {
    std::uint64_t write_buffer_bytes = 0, slc_bytes = 0, read_cache_bytes = 0;
    std::uint64_t map_entries = 0;  ///< in the cache of a map on the flash
    std::uint64_t read_spread = 0;  ///< bytes over which reads are spread (ReadSpread); 0: not known
};

struct SteadyVerdict {
    enum class Kind : std::uint8_t { steady, not_steady, too_short };
    struct Judged {
        const char* what;
        const char* unit;
        std::array<double, Steadiness::kWindow> by_round;
        Steadiness found;
    };
    struct Turnover {
        const char* of;
        const char* unit;
        double needed = 0, held = 0;  ///< in one round
        bool enough() const { return held >= needed; }
    };
    Kind kind = Kind::too_short;
    Ps round{};
    std::vector<Judged> judged;
    std::vector<Turnover> turnover;
    std::string reason;  ///< one sentence in figures
};

/// Judges the window. Precondition: begin() and end() were called, with a command between them.
SteadyVerdict judge(const SteadyHistory& history, const KeptByDrive& kept);
const char* name_of(SteadyVerdict::Kind kind);
nlohmann::ordered_json steadiness_json(const SteadyVerdict& verdict);

}  // namespace ssdtlm
