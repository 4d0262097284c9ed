// SPDX-License-Identifier: Apache-2.0
#include "sim/limits/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace ssdtlm {

namespace {

/// Less is no gain.
constexpr double kGain = 0.02;
/// A resource that limits should bring more than that, with a margin for what the network of queues does not know.
constexpr double kSureGain = 0.03;
/// Share of the time from which on a wait is there most of it. assumed: below, half of the load sees no wait at all.
constexpr double kMostly = 0.5;

struct ResourceParameters {
    const char* resource;
    std::vector<std::string> parameters;
};
const std::vector<ResourceParameters>& parameters_of_resources() {
    static const std::vector<ResourceParameters> all = {
        {"host CPU", {"host.submit_time", "host.completion_time"}},
        {"link to device", {"link.lanes", "link.generation"}},
        {"link to host", {"link.lanes", "link.generation"}},
        {"firmware core", {"firmware.clock", "firmware.cores"}},
        {"DRAM port", {"dram.bandwidth"}},
        {"channel bus", {"nand.onfi.rate", "nand.geometry.channels"}},
        {"scheduler", {"scheduler.clock"}},
        {"die", {"nand.t_read", "nand.t_program", "nand.t_erase", "nand.geometry.ways"}},
        {"plane", {"nand.t_read", "nand.t_program", "nand.t_erase", "nand.geometry.planes_per_die"}},
    };
    return all;
}

/// A closed network of queues with the demands that the busy shares tell.
class Network {
public:
    explicit Network(const std::vector<ResourceUse>& resources) {
        for (std::size_t r = 0; r < resources.size(); ++r)
            for (const double u : resources[r].busy)
                if (u > 1e-4) stations_.push_back({r, std::min(u, kAlmostOne)});
        double sum = 0;
        for (const Station& s : stations_) sum += s.busy;
        if (sum > 1) commands_ = zero(1, 1e9, [this](double n) { return held(1, n, {}) - n; });
    }
    /// No more than one command at a time uses the resources.
    bool is_idle() const { return commands_ == 0; }
    /// Throughput with so many times the commands, and with these resources twice as fast, as a factor of the present one.
    double throughput(double times, const std::vector<std::size_t>& faster) const {
        const double n = commands_ * times;
        double most = 0;
        for (const Station& s : stations_) most = std::max(most, demand(s, faster));
        return zero(0, n / (most * (n - 1) + 1e-12) * (1 - 1e-9), [&](double x) { return n - held(x, n, faster); });
    }

private:
    static constexpr double kAlmostOne = 0.9995;
    struct Station {
        std::size_t resource;
        double busy;
    };
    static double demand(const Station& s, const std::vector<std::size_t>& faster) {
        return std::find(faster.begin(), faster.end(), s.resource) == faster.end() ? s.busy : s.busy / 2;
    }
    /// Commands at all stations with x times the present throughput and n commands in the network.
    double held(double x, double n, const std::vector<std::size_t>& faster) const {
        double sum = 0;
        for (const Station& s : stations_) {
            const double u = x * demand(s, faster);
            sum += u / (1 - u * (n - 1) / n);
        }
        return sum;
    }
    /// Of a function that falls.
    template <class F>
    static double zero(double low, double high, F f) {
        for (int i = 0; i < 80; ++i) {
            const double middle = low + (high - low) / 2;
            (f(middle) > 0 ? low : high) = middle;
        }
        return low;
    }

    std::vector<Station> stations_;
    double commands_ = 0;
};

struct WaitRow {
    WaitKind kind;
    const char* name;
    std::vector<std::string> parameters;
    const char* says;
};
const std::vector<WaitRow>& wait_rows() {
    static const std::vector<WaitRow> rows = {
        {WaitKind::look_ahead, "look-ahead of the scheduler", {"scheduler.look_ahead"}, "planes are idle while reads for them wait behind those that a grant looks at"},
        {WaitKind::gc_pace, "pace of garbage collection", {"gc.pace"}, "programs wait for a free block, and collection keeps its pace"},
        {WaitKind::gc_depth, "pages that collection has under way", {"gc.max_inflight_pages"}, "programs wait for a free block, and collection may have no more pages under way"},
        {WaitKind::free_blocks, "free blocks", {"ftl.user_capacity"}, "programs wait for a free block"},
        {WaitKind::map_dirty, "dirty translation pages", {"map.power_protected"}, "programs wait until fewer translation pages are dirty"},
        {WaitKind::flush_depth, "programs of the write buffer", {"buffer.flush_depth_per_die"}, "data wait in the write buffer, which may have no more programs under way"},
        {WaitKind::read_tags, "tags of reads over the link", {"link.read_tags"}, "reads of the host's memory wait for a tag"},
        {WaitKind::buffer_room, "room in the write buffer", {"buffer.size"}, "writes wait for room in the write buffer"},
        {WaitKind::fetch_window, "fetch window", {"nvme.fetch_window"}, "commands wait behind the doorbell, as no more of their queue may be in the controller"},
        {WaitKind::fetch_depth, "fetches under way", {"nvme.fetch_depth"}, "commands wait behind the doorbell, as no more fetches may be under way"},
        {WaitKind::queue_slots, "queue slots", {"host.queue_entries"}, "requests wait in the host, as their queue is full"},
    };
    return rows;
}

std::string joined(const std::vector<std::string>& words, const char* last) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) all += (i == 0 ? "" : i + 1 == words.size() ? fmt::format(" {} ", last) : ", ") + words[i];
    return all;
}

/// The share that counts: of the members, or of one that is much busier than the others.
bool is_uneven(const ResourceUse& r) { return r.max - r.mean > 0.1; }
double counted(const ResourceUse& r) { return is_uneven(r) ? r.max : r.mean; }

std::string busy_text(const ResourceUse& r) {
    if (r.members == 1) return fmt::format("{} ({:.1f} % busy)", r.name, 100 * r.mean);
    if (is_uneven(r)) return fmt::format("{} ({:.1f} % busy, while the mean of {} is {:.1f} %: uneven load)", r.busiest, 100 * r.max, r.members, 100 * r.mean);
    return fmt::format("{} ({:.1f} % busy, mean of {})", r.name, 100 * r.mean, r.members);
}

std::optional<LimitVerdict::Most> most_of(const std::vector<ResourceUse>& all) {
    const ResourceUse& top = *std::max_element(all.begin(), all.end(), [](const ResourceUse& a, const ResourceUse& b) { return counted(a) < counted(b); });
    if (counted(top) < 0.01) return std::nullopt;
    return LimitVerdict::Most{is_uneven(top) ? top.busiest : top.name, 1 / counted(top)};
}

LimitVerdict by_resources(const std::vector<ResourceUse>& all, const Network& network, const LimitContext& context) {
    LimitVerdict v;
    v.kind = LimitVerdict::Kind::resource;
    std::vector<std::size_t> named;
    // A die that has read a page keeps it until the bus is free: its own busy share says nothing while the bus is full. A clocked scheduler decides
    // while the bus is free, so that the two fill the time together.
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].name != "channel bus") continue;
        const bool clocked = i + 1 < all.size() && all[i + 1].name == "scheduler";
        const double deciding = clocked ? all[i + 1].mean : 0;
        if (all[i].mean + deciding >= 1 - 2 * kGain) named.push_back(deciding > all[i].mean ? i + 1 : i);
    }
    double gain = named.empty() ? 0 : kSureGain;
    while (gain < kSureGain && named.size() < all.size()) {
        std::size_t best = all.size();
        double most = -1;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (std::find(named.begin(), named.end(), i) != named.end()) continue;
            std::vector<std::size_t> with = named;
            with.push_back(i);
            // While none of them brings anything alone, the busiest one is the first.
            const double g = network.throughput(1, with) - 1 + 1e-3 * all[i].max;
            if (g > most) {
                most = g;
                best = i;
            }
        }
        named.push_back(best);
        gain = most;
    }
    std::vector<std::string> texts;
    for (const std::size_t i : named) {
        v.names.push_back(all[i].name);
        texts.push_back(busy_text(all[i]));
        if ((all[i].name == "die" || all[i].name == "plane") && context.collection >= 0.01) {
            texts.back().pop_back();
            texts.back() += fmt::format("; {:.0f} % of its work is garbage collection)", 100 * context.collection);
        }
        for (const ResourceParameters& p : parameters_of_resources())
            if (p.resource == all[i].name) v.parameters.insert(v.parameters.end(), p.parameters.begin(), p.parameters.end());
    }
    v.most = most_of(all);
    v.sentence = joined(texts, "and") + (named.size() == 1 ? " limits throughput" : " limit throughput together");
    return v;
}

/// Dies (or planes) count as busy when they have something to do, and a bus while a clocked scheduler decides for it.
std::vector<ResourceUse> with_work(std::vector<ResourceUse> resources, double share, double deciding) {
    for (ResourceUse& r : resources) {
        if (r.name == "channel bus")
            for (double& u : r.busy) u = std::min(1.0, u + deciding);
        if ((r.name != "die" && r.name != "plane") || share <= r.mean) continue;
        for (double& u : r.busy) u += (share - r.mean) * (1 - u) / (1 - r.mean);
    }
    return resources;
}

}  // namespace

const char* limit_kind_name(LimitVerdict::Kind kind) {
    static constexpr std::array<const char*, 4> names = {"unknown", "load", "resource", "wait"};
    return names[static_cast<std::size_t>(kind)];
}

double gain_of_twice_the_load(const std::vector<ResourceUse>& resources) {
    const Network network(resources);
    return network.is_idle() ? 1.0 : network.throughput(2, {}) - 1;
}

double gain_of_twice_the_speed(const std::vector<ResourceUse>& resources, const std::vector<std::size_t>& faster) {
    const Network network(resources);
    return network.is_idle() ? 0.0 : network.throughput(1, faster) - 1;
}

std::vector<WaitUse> wait_uses(const WaitShares& shares, const LimitContext& context) {
    std::vector<WaitUse> all;
    for (const WaitRow& row : wait_rows()) {
        WaitUse use{row.name, row.parameters, row.says, shares[static_cast<std::size_t>(row.kind)]};
        if (row.kind == WaitKind::queue_slots) use.parameters = {context.queue_entries};
        if (row.kind == WaitKind::buffer_room) use.parameters = {context.buffer_room};
        all.push_back(std::move(use));
    }
    return all;
}

LimitVerdict judge_limits(const std::vector<ResourceUse>& resources, const WaitShares& waits, const LimitContext& context) {
    std::vector<ResourceUse> used = resources;
    // Where planes read on their own, a die is busy while one of them is.
    if (context.independent_planes) used.erase(std::remove_if(used.begin(), used.end(), [](const ResourceUse& r) { return r.name == "die"; }), used.end());
    LimitVerdict v;
    if (used.empty()) {
        v.sentence = "nothing was measured";
        return v;
    }
    const double deciding = waits[static_cast<std::size_t>(WaitKind::scheduler)];
    if (deciding > 0) {
        const auto bus = std::find_if(used.begin(), used.end(), [](const ResourceUse& r) { return r.name == "channel bus"; });
        if (bus != used.end()) used.insert(bus + 1, ResourceUse{"scheduler", 1, deciding, deciding, "scheduler", {deciding}});
    }
    const Network network(used);
    // A die that waits for the bus, or for its other planes, is not busy; more load would not make it so if it has work.
    const Network of_work(with_work(used, waits[static_cast<std::size_t>(WaitKind::flash_work)], deciding));
    // Idle time of planes, which is what more look-ahead wins.
    const bool look_ahead = waits[static_cast<std::size_t>(WaitKind::look_ahead)] >= kSureGain;
    if (!look_ahead && !network.is_idle() && of_work.throughput(2, {}) - 1 < kGain) return by_resources(used, network, context);
    for (const WaitUse& wait : wait_uses(waits, context)) {
        if (wait.share < (look_ahead && wait.parameters.front() == "scheduler.look_ahead" ? kSureGain : kMostly)) continue;
        v.kind = LimitVerdict::Kind::wait;
        v.names = {wait.name};
        v.parameters = wait.parameters;
        v.sentence = fmt::format("{} limits throughput: {} ({:.0f} % of the time)", joined(wait.parameters, "and"), wait.says, 100 * wait.share);
        return v;
    }
    v.kind = LimitVerdict::Kind::load;
    const ResourceUse& top = *std::max_element(used.begin(), used.end(), [](const ResourceUse& a, const ResourceUse& b) { return a.mean < b.mean; });
    const bool paced = waits[static_cast<std::size_t>(WaitKind::own_time)] >= kMostly;
    v.names = {paced ? "rate" : "depth"};
    v.most = most_of(used);
    v.sentence = fmt::format("no resource is saturated, the offered load limits ({}); busiest is {}",
                             paced ? "the times that the workload keeps" : fmt::format("{:.1f} commands outstanding on average", context.commands), busy_text(top));
    return v;
}

}  // namespace ssdtlm
