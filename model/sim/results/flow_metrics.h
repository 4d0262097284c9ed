// SPDX-License-Identifier: Apache-2.0
// Computes how flows that share a drive affect each other. It compares each flow beside the others with the same flow
// alone. Slow-down, fairness and weighted speed-up are those of Tavakkol et al. (MQSim, FAST '18). The part of its
// bandwidth that each flow keeps, and fairness and utilisation by bandwidth, are those of Fan et al. (NASS, IPDPS
// 2019).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ssdtlm {

/// The figures of one flow in one run: sums over its measured commands.
struct FlowFigures {
    std::string name;
    std::uint64_t commands = 0;
    std::uint64_t bytes = 0;
    std::int64_t response_ps = 0;                ///< from the SQ entry to the host's completion handler
    double active_s = 0;                         ///< seconds in which a job of the flow ran
    double chip_queue = 0;                       ///< mean number of its transactions in the chip queues over that time
    std::uint64_t map_hits = 0, map_misses = 0;  ///< look-ups in a map on the flash
    std::uint64_t reads = 0, reads_without_flash = 0;

    double response_us() const {
        return commands == 0 ? 0 : static_cast<double>(response_ps) / static_cast<double>(commands) * 1e-6;
    }
    double bytes_per_s() const { return active_s > 0 ? static_cast<double>(bytes) / active_s : 0; }
    double iops() const { return active_s > 0 ? static_cast<double>(commands) / active_s : 0; }
    std::optional<double> map_hit_ratio() const { return ratio(map_hits, map_hits + map_misses); }
    std::optional<double> read_hit_ratio() const { return ratio(reads_without_flash, reads); }

private:
    static std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
        if (whole == 0) return std::nullopt;
        return static_cast<double>(part) / static_cast<double>(whole);
    }
};

/// The figures of a flow beside the others, divided by those of the flow alone. A ratio is empty if there is no run
/// alone.
struct FlowChange {
    std::optional<double> slowdown;       ///< of the mean response time
    std::optional<double> throughput;     ///< of the IOPS
    std::optional<double> chip_queue;     ///< of the mean chip queue
    std::optional<double> map_hit_ratio;  ///< of the hit ratio
    std::optional<double> read_hit_ratio;
    std::optional<double> bandwidth;  ///< BDR: of the bytes per second
};

inline FlowChange change_of(const FlowFigures& shared, const FlowFigures& alone) {
    const auto over = [](double a, double b) { return b > 0 ? std::optional<double>(a / b) : std::nullopt; };
    const auto ratios = [&](const std::optional<double>& a, const std::optional<double>& b) {
        return a && b ? over(*a, *b) : std::nullopt;
    };
    FlowChange c;
    if (shared.commands != 0) c.slowdown = over(shared.response_us(), alone.response_us());
    c.throughput = over(shared.iops(), alone.iops());
    c.bandwidth = over(shared.bytes_per_s(), alone.bytes_per_s());
    c.chip_queue = over(shared.chip_queue, alone.chip_queue);
    c.map_hit_ratio = ratios(shared.map_hit_ratio(), alone.map_hit_ratio());
    c.read_hit_ratio = ratios(shared.read_hit_ratio(), alone.read_hit_ratio());
    return c;
}

/// Figures over all flows. They do not exist if a flow has no slow-down.
struct Interference {
    double fairness = 1;          ///< least slow-down over the largest; 1: all are slowed down alike
    double weighted_speedup = 0;  ///< sum of the inverse slow-downs; the number of flows without interference
};
inline std::optional<Interference> interference_of(const std::vector<FlowChange>& flows) {
    Interference all;
    double least = 0, most = 0;
    for (const FlowChange& f : flows) {
        if (!f.slowdown || !(*f.slowdown > 0)) return std::nullopt;
        least = most == 0 ? *f.slowdown : std::min(least, *f.slowdown);
        most = std::max(most, *f.slowdown);
        all.weighted_speedup += 1 / *f.slowdown;
    }
    if (flows.empty()) return std::nullopt;
    all.fairness = least / most;
    return all;
}

/// The figures by bandwidth. The paper uses "bandwidth degradation ratio" both for what flows keep and for what they
/// lose. Here it is what they keep. A flow loses 1 minus this, so the sum of losses is the number of flows minus
/// `utilisation`.
struct BandwidthShares {
    double utilisation = 0;  ///< EV: sum over the flows; above 1 the flows overlap
    double least = 1, most = 0;
    std::size_t flows = 0;
    double fairness() const { return 1 - (most - least); }        ///< for two flows: 1 - |BDR1 - BDR2|
    double ratio() const { return most > 0 ? least / most : 1; }  ///< least over largest
};
inline std::optional<BandwidthShares> bandwidth_shares_of(const std::vector<FlowChange>& flows) {
    BandwidthShares all;
    for (const FlowChange& f : flows) {
        if (!f.bandwidth) return std::nullopt;
        all.utilisation += *f.bandwidth;
        all.least = all.flows++ == 0 ? *f.bandwidth : std::min(all.least, *f.bandwidth);
        all.most = std::max(all.most, *f.bandwidth);
    }
    if (flows.empty()) return std::nullopt;
    return all;
}

}  // namespace ssdtlm
