// SPDX-License-Identifier: Apache-2.0
#include "sim/results/block_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ssdtlm {

using Json = nlohmann::ordered_json;

namespace {
constexpr std::size_t kRows = 25;  // rows on the terminal; assumed to fit on a screen
}

Json block_json(const BlockFigures& f) {
    const BlockLayer::Counters& n = f.counters;
    Json j{{"scheduler", f.scheduler},
           {"queue_depth", f.queue_depth},
           {"nr_requests", f.nr_requests},
           {"utilisation", f.utilisation()},
           {"requests", n.requests},
           {"completed", n.completed},
           {"dropped", n.dropped},
           {"split", n.splits},
           {"front_merges", n.front_merges},
           {"back_merges", n.back_merges},
           {"plug_merges", n.plug_merges},
           {"dispatched", n.dispatched},
           {"requeued", n.requeued},
           {"held_back", n.held_back},
           {"most_in_drive", n.most_in_drive}};
    for (const auto& [name, value] : f.scheduler_counts) j["scheduler_counts"][name] = value;
    if (f.nass_windows) j["nass_windows"] = *f.nass_windows;
    for (const BlockFigures::Context& c : f.contexts) {
        Json one{{"name", c.name},
                 {"weight", c.weight},
                 {"requests", c.use.completions},
                 {"merged", c.use.merged},
                 {"commands", c.use.commands},
                 {"bytes", c.use.command_bytes},
                 {"requests_mean", f.requests(c)},
                 {"tags_mean", f.tags(c)},
                 {"starved", f.starved(c)}};
        if (c.use.commands != 0)
            one["command_us"] = static_cast<double>(c.use.latency_ps) * 1e-6 / static_cast<double>(c.use.commands);
        if (c.limit) {
            one["limit"] = *c.limit;
            one["limit_mean"] = f.limit(c);
            one["limit_least"] = c.least_limit;
        }
        j["contexts"].push_back(std::move(one));
    }
    return j;
}

std::string block_text(const BlockFigures& f) {
    std::string t =
        fmt::format("\nblock layer: {}, {} of {} tags in use on average ({:.1f}%), {} requests in {} commands\n",
                    f.scheduler, fmt::format("{:.2f}", f.utilisation() * f.queue_depth), f.queue_depth,
                    f.utilisation() * 100, f.counters.completed, f.counters.dispatched);
    t += "  context           weight  requests   merged  commands  requests there     tags  starved  limit";
    // A limit of NASS may change with each window, so the table has its mean and its least value.
    t += f.nass_windows ? "  least\n" : "\n";
    for (std::size_t i = 0; i < std::min(kRows, f.contexts.size()); ++i) {
        const BlockFigures::Context& c = f.contexts[i];
        t += fmt::format("  {:<18}{:>6}{:>10}{:>9}{:>10}{:>16.2f}{:>9.2f}{:>8.1f}%{:>7}{}\n", c.name, c.weight,
                         c.use.completions, c.use.merged, c.use.commands, f.requests(c), f.tags(c), f.starved(c) * 100,
                         c.limit ? fmt::format("{:.2f}", f.limit(c)) : "-",
                         c.limit ? fmt::format("{:>7}", c.least_limit) : "");
    }
    if (f.contexts.size() > kRows)
        t += fmt::format("  the first {} of {}; all are in result.json\n", kRows, f.contexts.size());
    return t;
}

}  // namespace ssdtlm
