// SPDX-License-Identifier: Apache-2.0
// The figures of the host's block layer at the end of a run, as plain values, and their form in result.json and on the
// terminal.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host_block/block_layer.h"

namespace ssdtlm {

struct BlockFigures {
    std::string scheduler;
    std::uint32_t queue_depth = 0, nr_requests = 0;
    BlockLayer::Counters counters;  ///< whole run
    Ps window{};                    ///< measured
    /// Figures of one context in the measured window.
    struct Context {
        std::string name;
        std::uint32_t weight = 100;
        ContextUse use;
        std::optional<std::uint32_t> limit;  ///< limit at the end; none: NASS is off
        std::uint32_t least_limit = 0;       ///< least limit of the whole run
    };
    std::vector<Context> contexts;
    std::optional<std::uint64_t> nass_windows;  ///< none: NASS is off
    std::vector<std::pair<std::string, std::uint64_t>> scheduler_counts;

    /// Means over the window.
    double tags(const Context& c) const { return mean(c.use.tags_ps); }
    double requests(const Context& c) const { return mean(c.use.requests_ps); }
    double limit(const Context& c) const { return mean(c.use.limit_ps); }
    double starved(const Context& c) const { return mean(c.use.starved_ps); }
    /// U: the mean share of all tags that is in use.
    double utilisation() const {
        double sum = 0;
        for (const Context& c : contexts) sum += tags(c);
        return queue_depth == 0 ? 0 : sum / queue_depth;
    }

private:
    double mean(std::int64_t ps) const {
        return window == Ps{} ? 0 : static_cast<double>(ps) / static_cast<double>(window.count());
    }
};

nlohmann::ordered_json block_json(const BlockFigures& figures);
std::string block_text(const BlockFigures& figures);

}  // namespace ssdtlm
