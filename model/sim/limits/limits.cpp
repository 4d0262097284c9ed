// SPDX-License-Identifier: Apache-2.0
#include "sim/limits/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/limits/closed_network.h"
#include "sim/limits/limit_tables.h"

namespace ssdtlm {

namespace {

/// A smaller gain counts as none.
constexpr double kGain = 0.02;
/// The share of the time from which on a resource counts as full, together with a wait that keeps it idle.
constexpr double kFull = 1 - 2 * kGain;
/// The share of the time from which on a wire counts as idle for want of tags. Assumed: the first answer to a command's
/// reads takes less than this, whatever the number of tags.
constexpr double kIdleEnough = 0.1;

std::string joined(const std::vector<std::string>& words, const char* last) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i)
        all += (i == 0 ? "" : i + 1 == words.size() ? fmt::format(" {} ", last) : ", ") + words[i];
    return all;
}

/// True: one member is much busier than the mean, so its share counts instead of the mean.
bool is_uneven(const ResourceUse& r) {
    return r.max - r.mean > 0.1;
}
double counted(const ResourceUse& r) {
    return is_uneven(r) ? r.max : r.mean;
}

std::string busy_text(const ResourceUse& r) {
    if (r.members == 1) return fmt::format("{} ({:.1f} % busy)", r.name, 100 * r.mean);
    if (is_uneven(r))
        return fmt::format("{} ({:.1f} % busy, while the mean of {} is {:.1f} %: uneven load)", r.busiest, 100 * r.max,
                           r.members, 100 * r.mean);
    return fmt::format("{} ({:.1f} % busy, mean of {})", r.name, 100 * r.mean, r.members);
}

const ResourceUse& busiest(const std::vector<ResourceUse>& all) {
    return *std::max_element(all.begin(), all.end(),
                             [](const ResourceUse& a, const ResourceUse& b) { return counted(a) < counted(b); });
}

std::optional<LimitVerdict::Most> most_of(const std::vector<ResourceUse>& all) {
    const ResourceUse& top = busiest(all);
    if (counted(top) < 0.01) return std::nullopt;
    return LimitVerdict::Most{is_uneven(top) ? top.busiest : top.name, 1 / counted(top)};
}

/// The measured data of one run.
struct Evidence {
    const std::vector<ResourceUse>& resources;
    const WaitShares& waits;
    const LimitContext& context;

    double share(WaitKind kind) const { return waits[static_cast<std::size_t>(kind)]; }
    WaitUse wait(WaitKind kind) const {
        std::vector<WaitUse> all = wait_uses(waits, context);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (wait_rows()[i].kind == kind) return all[i];
        return {};
    }
    /// False: somebody waits for this, but more of it would not help. While data are on the wire, another tag would
    /// only lengthen the queue for it.
    bool binds(WaitKind kind) const { return kind != WaitKind::read_tags || share(WaitKind::tags_idle) >= kIdleEnough; }
    /// The share of the time in which the host's scheduler leaves the drive empty. It is 0 if that alone limits.
    double emptied() const {
        const double held = share(WaitKind::held_empty);
        return held < kMostly ? held : 0;
    }
    /// Returns the row of credits for which this resource waits a relevant share of the time; null: there is none.
    const CreditRow* credits(const ResourceUse& r) const {
        for (const CreditRow& row : credit_rows())
            if (r.name == row.resource && share(row.any) >= kSureGain) return &row;
        return nullptr;
    }
};

/// Returns the resources (by index) that must be twice as fast for a gain: one, or several that limit together.
std::vector<std::size_t> bottlenecks(const Evidence& run, const ClosedNetwork& network) {
    const std::vector<ResourceUse>& all = run.resources;
    std::vector<std::size_t> named;
    // A die keeps a page that it has read until the bus is free, so its busy share means nothing while the bus is full.
    // A clocked scheduler decides while the bus is free, and a link waits for credits while it is free. So the shares
    // of work and wait add up.
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (const CreditRow* const credits = run.credits(all[i]);
            credits != nullptr && all[i].mean + run.share(credits->any) >= kFull)
            named.push_back(i);
        if (all[i].name != "channel bus") continue;
        const double deciding = run.share(WaitKind::scheduler);
        if (all[i].mean + deciding >= kFull) named.push_back(deciding > all[i].mean ? i + 1 : i);
    }
    double gain = named.empty() ? 0 : kSureGain;
    while (gain < kSureGain && named.size() < all.size()) {
        std::size_t best = all.size();
        double most = -1;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (std::find(named.begin(), named.end(), i) != named.end()) continue;
            std::vector<std::size_t> with = named;
            with.push_back(i);
            // If no resource brings a gain alone, the busiest one is taken first.
            const double g = network.throughput(1, with) - 1 + 1e-3 * all[i].max;
            if (g > most) {
                most = g;
                best = i;
            }
        }
        named.push_back(best);
        gain = most;
    }
    return named;
}

/// Returns the credits that limit: those of headers or of data. It returns both if more of the scarcer ones alone would
/// bring no gain.
std::vector<WaitUse> credits_of(const Evidence& run, const CreditRow& row) {
    const double headers = run.share(row.headers), data = run.share(row.data);
    std::vector<WaitUse> uses;
    if (headers >= data || headers > run.share(row.any) - kSureGain) uses.push_back(run.wait(row.headers));
    if (data >= headers || data > run.share(row.any) - kSureGain) uses.push_back(run.wait(row.data));
    return uses;
}

LimitVerdict by_resources(const Evidence& run, const std::vector<std::size_t>& named) {
    LimitVerdict v;
    v.kind = LimitVerdict::Kind::wait;
    std::vector<std::string> texts;
    for (const std::size_t i : named) {
        const ResourceUse& r = run.resources[i];
        if (const CreditRow* const row = run.credits(r)) {
            std::vector<std::string> parameters;
            for (const WaitUse& use : credits_of(run, *row)) {
                v.names.push_back(use.name);
                parameters.insert(parameters.end(), use.parameters.begin(), use.parameters.end());
            }
            texts.push_back(fmt::format("{} ({} wait for credits {:.1f} % of the time, and the {} is {:.1f} % busy)",
                                        joined(parameters, "and"), row->who, 100 * run.share(row->any), r.name,
                                        100 * r.mean));
            v.parameters.insert(v.parameters.end(), parameters.begin(), parameters.end());
            continue;
        }
        v.kind = LimitVerdict::Kind::resource;
        v.names.push_back(r.name);
        texts.push_back(busy_text(r));
        if ((r.name == "die" || r.name == "plane") && !run.context.background.empty()) {
            texts.back().pop_back();
            texts.back() += fmt::format("; of its work {})", run.context.background);
        }
        if (run.emptied() >= kGain) {
            texts.back().pop_back();
            texts.back() +=
                fmt::format("; the I/O scheduler leaves the drive empty for {:.1f} %)", 100 * run.emptied());
        }
        for (const ResourceParameters& p : parameters_of_resources())
            if (p.resource == r.name) v.parameters.insert(v.parameters.end(), p.parameters.begin(), p.parameters.end());
        if (r.name == "host CPU")
            v.parameters.insert(v.parameters.end(), run.context.host_cpu.begin(), run.context.host_cpu.end());
    }
    if (v.kind == LimitVerdict::Kind::resource) v.most = most_of(run.resources);
    v.sentence = joined(texts, "and") + (v.names.size() == 1 ? " limits throughput" : " limit throughput together");
    return v;
}

std::string bound_text(const std::vector<std::string>& parameters, const std::string& fixed) {
    return fixed.empty() ? joined(parameters, "and") : fixed;
}
/// The ending of the verb after the bound: "s" for one parameter.
const char* verb_end(const std::vector<std::string>& parameters, const std::string& fixed) {
    return parameters.size() == 1 && fixed.empty() ? "s" : "";
}

LimitVerdict by_wait(const WaitUse& wait) {
    LimitVerdict v;
    v.kind = LimitVerdict::Kind::wait;
    v.names = {wait.name};
    v.parameters = wait.parameters;
    v.sentence =
        fmt::format("{} limit{} throughput: {} ({:.0f} % of the time)", bound_text(wait.parameters, wait.fixed),
                    verb_end(wait.parameters, wait.fixed), wait.says, 100 * wait.share);
    return v;
}

/// Says that more load brings more throughput, if there is room for it in the queues and fetch windows.
LimitVerdict by_load(const Evidence& run, const ClosedNetwork& network) {
    LimitVerdict v;
    v.kind = LimitVerdict::Kind::load;
    const ResourceUse& top = busiest(run.resources);
    v.most = most_of(run.resources);
    std::string who = fmt::format("{:.1f} commands outstanding on average", run.context.commands);
    if (run.share(WaitKind::own_time) >= kMostly) {
        v.names = {"rate"};
        who = "the times that the workload keeps";
    } else if (run.share(WaitKind::own_flush) >= kMostly) {
        v.names = {"flushes"};
        who = fmt::format("jobs wait for their flushes {:.0f} % of the time", 100 * run.share(WaitKind::own_flush));
    } else {
        v.names = {"depth"};
        std::string fixed;
        for (const auto& [fill, wait] : {std::pair{WaitKind::slots_filled, WaitKind::queue_slots},
                                         std::pair{WaitKind::window_filled, WaitKind::fetch_window}}) {
            if (run.share(fill) <= 0.5) continue;
            const double times = 1 / run.share(fill);
            if ((network.is_idle() ? times : network.throughput(times, {})) - 1 >= kGain) continue;
            const WaitUse use = run.wait(wait);
            v.names.push_back(use.name);
            v.parameters.insert(v.parameters.end(), use.parameters.begin(), use.parameters.end());
            if (fixed.empty()) fixed = use.fixed;
        }
        if (v.names.size() > 1)
            who += fmt::format("; {} allow{} no more of them", bound_text(v.parameters, fixed),
                               verb_end(v.parameters, fixed));
    }
    v.sentence =
        fmt::format("no resource is saturated, the offered load limits ({}); busiest is {}", who, busy_text(top));
    return v;
}

/// Removes the resources of the flash, which only drain the write buffer. Returns text about what was busy there.
std::string without_drain(std::vector<ResourceUse>& resources) {
    const auto of_flash = std::stable_partition(resources.begin(), resources.end(), [](const ResourceUse& r) {
        return r.name != "die" && r.name != "plane" && r.name != "channel bus";
    });
    const auto top = std::max_element(of_flash, resources.end(),
                                      [](const ResourceUse& a, const ResourceUse& b) { return a.mean < b.mean; });
    std::string text;
    if (top != resources.end() && counted(*top) >= 0.5)
        text = fmt::format("; {} drains the write buffer, for whose room no command waits", busy_text(*top));
    resources.erase(of_flash, resources.end());
    return text;
}

/// Returns the resources with all time in which more load would not help. Dies (or planes) count as busy when they have
/// work, a bus while a clocked scheduler decides for it, and a link while it lacks credits. All count as busy while the
/// host's scheduler leaves the drive empty.
std::vector<ResourceUse> with_work(const Evidence& run) {
    std::vector<ResourceUse> resources = run.resources;
    const double emptied = run.emptied();
    for (ResourceUse& r : resources) {
        const CreditRow* const credits = run.credits(r);
        const double more = r.name == "channel bus" ? run.share(WaitKind::scheduler)
                            : credits != nullptr    ? run.share(credits->any)
                                                    : 0;
        for (double& u : r.busy) u = std::min(1.0, u + more + emptied);
        if (r.name != "die" && r.name != "plane") continue;
        const double share = run.share(r.name == "die" ? WaitKind::die_work : WaitKind::flash_work);
        if (share <= r.mean) continue;
        for (double& u : r.busy) u += (share - r.mean) * (1 - u) / (1 - r.mean);
    }
    return resources;
}

}  // namespace

namespace {
/// Names the limits of NASS instead of the scheduler if they hold back most of the waiting requests.
void name_nass(WaitUse& use, const WaitShares& shares) {
    const auto of = [&shares](WaitKind kind) { return shares[static_cast<std::size_t>(kind)]; };
    const double aggre = of(WaitKind::held_by_aggre), seq = of(WaitKind::held_by_seq);
    if (2 * (aggre + seq) <= use.share || aggre + seq == 0) return;
    use.name = "limits of NASS";
    use.parameters.clear();
    if (aggre >= seq || aggre > use.share - kSureGain) use.parameters.emplace_back("block.nass.aggre");
    if (seq > aggre || seq > use.share - kSureGain) use.parameters.emplace_back("block.nass.seq");
    use.says = "it lets contexts have no more commands in the drive, which has room for them";
}
}  // namespace

const char* limit_kind_name(LimitVerdict::Kind kind) {
    static constexpr std::array<const char*, 4> names = {"unknown", "load", "resource", "wait"};
    return names[static_cast<std::size_t>(kind)];
}

double gain_of_twice_the_load(const std::vector<ResourceUse>& resources) {
    const ClosedNetwork network(resources);
    return network.is_idle() ? 1.0 : network.throughput(2, {}) - 1;
}

double gain_of_twice_the_speed(const std::vector<ResourceUse>& resources, const std::vector<std::size_t>& faster) {
    const ClosedNetwork network(resources);
    return network.is_idle() ? 0.0 : network.throughput(1, faster) - 1;
}

std::vector<WaitUse> wait_uses(const WaitShares& shares, const LimitContext& context) {
    std::vector<WaitUse> all;
    for (const WaitRow& row : wait_rows()) {
        WaitUse use{row.name, row.parameters, row.says, shares[static_cast<std::size_t>(row.kind)]};
        for (const auto& [kind, bound] : {std::pair{WaitKind::queue_slots, &context.queue_entries},
                                          std::pair{WaitKind::block_depth, &context.block_depth}})
            if (row.kind == kind) {
                use.parameters = bound->parameters;
                use.fixed = bound->fixed;
            }
        if (row.kind == WaitKind::io_scheduler) name_nass(use, shares);
        if (row.kind == WaitKind::fetch_window) use.parameters = {context.fetch_window};
        if (row.kind == WaitKind::buffer_room) use.parameters = {context.buffer_room};
        all.push_back(std::move(use));
    }
    return all;
}

LimitVerdict judge_limits(const std::vector<ResourceUse>& resources, const WaitShares& waits,
                          const LimitContext& context) {
    std::vector<ResourceUse> used = resources;
    // If planes read independently, a die is busy while one of them is, so its share is no measure. A program or an
    // erase takes the whole die, whatever its planes do.
    const char* const no_measure = context.independent_planes ? "die" : "plane";
    used.erase(
        std::remove_if(used.begin(), used.end(), [no_measure](const ResourceUse& r) { return r.name == no_measure; }),
        used.end());
    LimitVerdict v;
    std::string behind;
    if (context.only_buffered_writes && waits[static_cast<std::size_t>(WaitKind::buffer_room)] < kGain)
        behind = without_drain(used);
    if (used.empty()) {
        v.sentence = "nothing was measured";
        return v;
    }
    const double deciding = waits[static_cast<std::size_t>(WaitKind::scheduler)];
    if (deciding > 0) {
        const auto bus =
            std::find_if(used.begin(), used.end(), [](const ResourceUse& r) { return r.name == "channel bus"; });
        if (bus != used.end())
            used.insert(bus + 1, ResourceUse{"scheduler", 1, deciding, deciding, "scheduler", {deciding}});
    }
    const Evidence run{used, waits, context};
    const ClosedNetwork network(used);
    // A die that waits for the bus, or for its other planes, is not busy. But if it has work, more load would not make
    // it busy.
    const ClosedNetwork of_work(with_work(run));
    const bool gains_by_load = network.is_idle() || of_work.throughput(2, {}) - 1 >= kGain;
    // Less waiting cannot bring more than the idle time of a full resource.
    const bool waits_gain = counted(busiest(used)) < kFull;
    const auto binds = [&](const WaitRow& row) { return run.share(row.kind) >= row.enough && run.binds(row.kind); };
    const bool somebody_waits = std::any_of(wait_rows().begin(), wait_rows().end(), [&](const WaitRow& row) {
        return row.kind != WaitKind::look_ahead && binds(row);
    });
    const bool saturated = !gains_by_load || (somebody_waits && !waits_gain);
    const std::vector<std::size_t> named = saturated ? bottlenecks(run, network) : std::vector<std::size_t>{};
    // More look-ahead only wins idle time of planes, so it counts only if the planes limit.
    const bool planes_limit =
        !saturated || std::any_of(named.begin(), named.end(), [&](std::size_t i) { return used[i].name == "plane"; });
    for (const WaitRow& row : wait_rows()) {
        if (!binds(row)) continue;
        if (row.kind == WaitKind::look_ahead ? !planes_limit : saturated) continue;
        return by_wait(run.wait(row.kind));
    }
    v = saturated ? by_resources(run, named) : by_load(run, network);
    v.sentence += behind;
    return v;
}

}  // namespace ssdtlm
