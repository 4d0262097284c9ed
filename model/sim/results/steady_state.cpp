// SPDX-License-Identifier: Apache-2.0
#include "sim/results/steady_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ssdtlm {

using Json = nlohmann::ordered_json;

namespace {
constexpr std::size_t kRounds = Steadiness::kWindow;
/// The fewest commands of a round. With fewer, the mean is too random: for 100 exponential times its standard deviation
/// is 10 %.
constexpr double kFewestCommands = 100;
/// The least length of a round in mean latencies. A round must be long compared with the commands in flight at its
/// edges.
constexpr double kLatencies = 10;
/// Writes (or reads) below this share of the bytes do not count.
constexpr double kLeastPart = 0.01;

constexpr const char *kCommands = "commands", *kFreeBlocks = "free blocks";

std::string figure(double value) {
    if (value >= 1e15) return fmt::format("{:.3g}", value);
    if (value < 100) return fmt::format("{:.3g}", value);
    std::string digits = fmt::format("{:.0f}", value);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}
}  // namespace

void SteadyHistory::begin(SimTime now, const SteadyCounts& counts) {
    begin_at_ = end_at_ = now;
    begin_ = end_ = counts;
    interval_ = Ps{1'000'000};
    next_ = now + interval_;
    looks_.clear();
    looks_.reserve(kMost);
}

void SteadyHistory::look(SimTime now, const SteadyCounts& counts) {
    while (next_ <= now) {
        if (looks_.size() == kMost) {
            for (std::size_t i = 0; 2 * i + 1 < looks_.size(); ++i) looks_[i] = looks_[2 * i + 1];
            looks_.resize(kMost / 2);
            interval_ *= 2;
            next_ = begin_at_ + interval_ * static_cast<std::int64_t>(looks_.size() + 1);
        } else {
            looks_.push_back(counts);
            next_ += interval_;
        }
    }
}

void SteadyHistory::end(SimTime now, const SteadyCounts& counts) {
    end_at_ = now;
    end_ = counts;
    next_ = kNever;
}

namespace {
class Judge {
public:
    Judge(const SteadyHistory& history, const KeptByDrive& kept) : h_(history), kept_(kept) {
        v_.round = h_.window() / static_cast<std::int64_t>(kRounds);
    }

    SteadyVerdict run() {
        const auto commands = rounds([](const SteadyCounts& c) { return static_cast<double>(c.commands); });
        const auto latency = rounds([](const SteadyCounts& c) { return to_seconds(c.latency) * 1e6; });
        const auto written = rounds([](const SteadyCounts& c) { return static_cast<double>(c.written_bytes); });
        const auto programmed = rounds([](const SteadyCounts& c) { return static_cast<double>(c.nand_bytes); });
        std::array<double, kRounds> iops{}, mean{}, waf{};
        const double seconds = to_seconds(h_.window()) / kRounds;
        for (std::size_t i = 0; i < kRounds; ++i) {
            iops[i] = commands[i] / seconds;
            mean[i] = latency[i] / commands[i];
            waf[i] = programmed[i] / written[i];
        }
        count_turnovers();
        add("throughput", "IOPS", iops);
        add("latency", "us", mean);
        if (writes()) add("WAF", "", waf);
        decide();
        return std::move(v_);
    }

private:
    template <class Sum>
    std::array<double, kRounds> rounds(Sum sum) const {
        const auto edges = h_.at_edges(sum);
        std::array<double, kRounds> of{};
        for (std::size_t i = 0; i < kRounds; ++i) of[i] = edges[i + 1] - edges[i];
        return of;
    }
    template <class Sum>
    double counted(Sum sum) const {
        return static_cast<double>(sum(h_.last()) - sum(h_.first()));
    }
    double written() const {
        return counted([](const SteadyCounts& c) { return c.written_bytes; });
    }
    double read() const {
        return counted([](const SteadyCounts& c) { return c.read_bytes; });
    }
    bool writes() const { return written() > kLeastPart * (written() + read()); }
    bool reads() const { return read() > kLeastPart * (written() + read()); }

    /// False: the reads are spread so far that even a full cache would answer too few of them to count, and it answers
    /// no more now.
    bool cache_matters() const {
        const double lookups = counted([](const SteadyCounts&c) { return c.cache_lookups; }),
                     hits = counted([](const SteadyCounts&c) { return c.cache_hits; });
        return static_cast<double>(kept_.read_cache_bytes) >= kLeastPart * static_cast<double>(kept_.read_spread) ||
               hits > kLeastPart * lookups;
    }

    void add(const char* what, const char* unit, const std::array<double, kRounds>& by_round) {
        // A round without commands or written bytes has no latency or WAF. It is too short, which count_turnovers()
        // finds.
        if (std::all_of(by_round.begin(), by_round.end(), [](double x) { return std::isfinite(x); }) &&
            by_round[0] + by_round[kRounds - 1] > 0)
            v_.judged.push_back({what, unit, by_round, steadiness(by_round.data())});
    }
    void turn_over(const char* of, const char* unit, double needed, double held_by_all) {
        if (needed > 0) v_.turnover.push_back({of, unit, needed, held_by_all / kRounds});
    }
    void count_turnovers() {
        const double window = to_seconds(h_.window());
        const double outstanding =
            window > 0 ? counted([](const SteadyCounts& c) { return c.latency.count(); }) * 1e-12 / window : 0;
        turn_over(kCommands, "commands", std::max(kFewestCommands, std::ceil(kLatencies * outstanding)),
                  counted([](const SteadyCounts& c) { return c.commands; }));
        turn_over("cached map", "look-ups", static_cast<double>(kept_.map_entries),
                  counted([](const SteadyCounts& c) { return c.map_lookups; }));
        if (reads() && cache_matters())
            turn_over("read cache", "read bytes", static_cast<double>(kept_.read_cache_bytes), read());
        if (!writes()) return;
        turn_over("write buffer", "written bytes", static_cast<double>(kept_.write_buffer_bytes), written());
        turn_over("SLC cache", "written bytes", static_cast<double>(kept_.slc_bytes), written());
        turn_over(kFreeBlocks, "erased blocks",
                  static_cast<double>(std::max({h_.first().free_blocks, h_.last().free_blocks, std::uint64_t{1}})),
                  counted([](const SteadyCounts& c) { return c.erased_blocks; }));
    }
    void decide() {
        const auto shortest =
            std::min_element(v_.turnover.begin(), v_.turnover.end(),
                             [](const auto& a, const auto& b) { return a.held / a.needed < b.held / b.needed; });
        if (!shortest->enough()) {
            v_.kind = SteadyVerdict::Kind::too_short;
            const std::string round = fmt::format("each of the {} rounds of {} has {}", kRounds,
                                                  duration(to_seconds(v_.round)), figure(shortest->held));
            v_.reason = shortest->of == kCommands
                            ? fmt::format("{} commands, {} are needed", round, figure(shortest->needed))
                            : fmt::format("a turnover of the {} takes {} {}, {}", shortest->of,
                                          figure(shortest->needed), shortest->unit, round);
            if (shortest->held > 0)
                v_.reason += fmt::format("; a measured time of {} would do",
                                         duration(to_seconds(h_.window()) * shortest->needed / shortest->held));
            else if (shortest->of == kFreeBlocks)
                v_.reason += ": nothing was erased, as on a fresh drive";
            return;
        }
        const bool all = std::all_of(v_.judged.begin(), v_.judged.end(), [](const auto& j) { return j.found.holds; });
        v_.kind = all ? SteadyVerdict::Kind::steady : SteadyVerdict::Kind::not_steady;
        std::string figures;
        for (const auto& j : v_.judged)
            if (all || !j.found.holds)
                figures += fmt::format("{}{} differs by {:.1f} % and drifts by {:.1f} %", figures.empty() ? "" : ", ",
                                       j.what, 100 * j.found.excursion, 100 * j.found.drift);
        v_.reason = fmt::format("over {} rounds of {}, {} (at most {:.0f} % and {:.0f} %)", kRounds,
                                duration(to_seconds(v_.round)), figures, 100 * Steadiness::kMostExcursion,
                                100 * Steadiness::kMostDrift);
    }
    static std::string duration(double seconds) {
        if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
        if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
        return seconds < 1000 ? fmt::format("{:.3g} s", seconds) : fmt::format("{} s", figure(seconds));
    }

    const SteadyHistory& h_;
    const KeptByDrive& kept_;
    SteadyVerdict v_;
};
}  // namespace

SteadyVerdict judge(const SteadyHistory& history, const KeptByDrive& kept) {
    return Judge(history, kept).run();
}

const char* name_of(SteadyVerdict::Kind kind) {
    switch (kind) {
        case SteadyVerdict::Kind::steady:
            return "steady";
        case SteadyVerdict::Kind::not_steady:
            return "not steady";
        case SteadyVerdict::Kind::too_short:
            return "too short to say";
    }
    return "?";
}

nlohmann::ordered_json steadiness_json(const SteadyVerdict& v) {
    Json j{{"verdict", name_of(v.kind)},
           {"reason", v.reason},
           {"rounds", kRounds},
           {"round_s", to_seconds(v.round)},
           {"most_excursion", Steadiness::kMostExcursion},
           {"most_drift", Steadiness::kMostDrift},
           {"judged", Json::array()},
           {"turnover", Json::array()}};
    for (const auto& one : v.judged)
        j["judged"].push_back({{"what", one.what},
                               {"unit", one.unit},
                               {"by_round", one.by_round},
                               {"mean", one.found.mean},
                               {"excursion", one.found.excursion},
                               {"drift", one.found.drift},
                               {"slope", one.found.slope},
                               {"steady", one.found.holds}});
    for (const auto& one : v.turnover)
        j["turnover"].push_back(
            {{"of", one.of}, {"unit", one.unit}, {"needed", one.needed}, {"held", one.held}, {"enough", one.enough()}});
    return j;
}

}  // namespace ssdtlm
