// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {
namespace {

constexpr std::size_t kMaxSplits = 64;
constexpr std::size_t kMaxZones = 256;
constexpr std::uint32_t kRemainder = std::numeric_limits<std::uint32_t>::max();

bool need_value(FioOptionCall& call) {
    if (call.value && !call.value->empty()) return true;
    call.problem("this option needs a value");
    return false;
}

std::optional<std::uint64_t> plain(FioOptionCall& call, std::string_view text) {
    std::string why;
    const auto amount = parse_fio_amount(text, call.settings.kb_base, why);
    if (amount && !amount->percent) return amount->value;
    call.problem(amount ? "a percentage is not allowed here" : "allowed: " + why);
    return std::nullopt;
}

std::string range_text(std::uint64_t low, std::uint64_t high) {
    if (high == std::numeric_limits<std::uint64_t>::max()) return "allowed: " + std::to_string(low) + " or more";
    return "allowed: " + std::to_string(low) + " to " + std::to_string(high);
}

/// "a,b,c" -> per direction; fio's rule: one part is for all, the second of two for writes and trims.
std::vector<std::string> three_parts(std::string_view text) {
    std::vector<std::string> parts = split_fio_list(text, ',');
    if (parts.size() > kFioDirections) return {};
    while (parts.size() < kFioDirections) parts.push_back(parts.back());
    return parts;
}

/// "value/percent:value/percent"; percent kRemainder when not given, 0 or unreadable, as fio does.
struct Pair {
    std::uint64_t first;
    std::uint64_t second;
};
bool read_pairs(FioOptionCall& call, const std::string& text, bool second_is_size, std::size_t limit,
                std::vector<Pair>& out) {
    for (const std::string& entry : split_fio_list(text, ':')) {
        if (entry.empty()) break;
        const std::size_t slash = entry.find('/');
        const auto first = plain(call, std::string_view(entry).substr(0, slash));
        if (!first) return false;
        std::uint64_t second = second_is_size ? 0 : kRemainder;
        if (slash != std::string::npos && slash + 1 < entry.size()) {
            std::string_view rest = std::string_view(entry).substr(slash + 1);
            if (!second_is_size && rest.back() == '%') rest.remove_suffix(1);
            const auto value = plain(call, rest);
            if (!value) return false;
            second = *value;
            if (!second_is_size) second = second == 0 ? kRemainder : std::min<std::uint64_t>(second, 100);
        }
        if (out.size() == limit) {
            call.problem("at most " + std::to_string(limit) + " entries per direction");
            return false;
        }
        out.push_back({*first, second});
    }
    return true;
}

/// Shares the remaining percent among the entries without one. Returns the sum before that.
std::uint64_t fill_remainders(std::vector<Pair>& pairs) {
    std::uint64_t sum = 0;
    std::uint64_t missing = 0;
    for (const Pair& p : pairs) {
        if (p.second == kRemainder)
            ++missing;
        else
            sum += p.second;
    }
    for (Pair& p : pairs)
        if (p.second == kRemainder) p.second = sum >= 100 ? 0 : (100 - sum) / missing;
    return sum;
}

bool read_zones(FioOptionCall& call, std::string_view text, bool absolute) {
    const std::vector<std::string> parts = three_parts(text);
    if (parts.empty()) return call.problem("at most three lists: read,write,trim"), false;
    for (std::size_t d = 0; d < kFioDirections; ++d) {
        std::vector<Pair> pairs;
        if (!read_pairs(call, parts[d], absolute, kMaxZones, pairs)) return false;
        std::uint64_t access = 0;
        for (const Pair& p : pairs) access += p.first;
        if (access != 100) {
            call.problem("the access percentages must add up to 100, not " + std::to_string(access),
                         absolute ? "write zoned_abs:60/10g:40/90g" : "write zoned:60/10:40/90");
            return false;
        }
        if (!absolute && fill_remainders(pairs) > 100) {
            call.problem("the size percentages add up to more than 100");
            return false;
        }
        auto& zones = call.settings.job.zones[d];
        zones.clear();
        for (const Pair& p : pairs) {
            if (p.second == 0 && p.first != 0) {
                call.problem("a zone that is accessed needs a size after its '/'");
                return false;
            }
            zones.push_back({static_cast<std::uint32_t>(p.first), p.second});
        }
    }
    return true;
}

}  // namespace

std::vector<std::string> split_fio_list(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t at = text.find(separator);
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

bool read_fio_bool(FioOptionCall& call, bool& out) {
    if (!need_value(call)) return false;
    return read_fio_flag(call, out);
}

bool read_fio_flag(FioOptionCall& call, bool& out) {
    if (call.value && *call.value != "0" && *call.value != "1") {
        call.problem("allowed: 0 or 1");
        return false;
    }
    out = !call.value || *call.value == "1";
    return true;
}

bool read_fio_count(FioOptionCall& call, std::uint64_t low, std::uint64_t high, std::uint64_t& out) {
    if (!need_value(call)) return false;
    const auto value = plain(call, *call.value);
    if (!value) return false;
    if (*value < low || *value > high) {
        call.problem(range_text(low, high));
        return false;
    }
    out = *value;
    return true;
}

bool read_fio_count(FioOptionCall& call, std::uint64_t low, std::uint64_t high, std::uint32_t& out) {
    std::uint64_t wide = 0;
    if (!read_fio_count(call, low, std::min<std::uint64_t>(high, std::numeric_limits<std::uint32_t>::max()), wide))
        return false;
    out = static_cast<std::uint32_t>(wide);
    return true;
}

bool read_fio_amount(FioOptionCall& call, bool percent_allowed, FioAmount& out) {
    if (!need_value(call)) return false;
    std::string why;
    const auto amount = parse_fio_amount(*call.value, call.settings.kb_base, why);
    if (!amount || (amount->percent && !percent_allowed)) {
        call.problem(amount ? "a percentage is not allowed here" : "allowed: " + why);
        return false;
    }
    if (amount->percent && amount->value > 100) {
        call.problem("allowed: 0% to 100%");
        return false;
    }
    out = *amount;
    return true;
}

bool read_fio_duration(FioOptionCall& call, FioBareTime bare, Ps& out) {
    if (!need_value(call)) return false;
    std::string why;
    const auto time = parse_fio_time(*call.value, bare, why);
    if (!time) {
        call.problem("allowed: " + why + (bare == FioBareTime::seconds ? " (bare: seconds)" : " (bare: microseconds)"));
        return false;
    }
    out = *time;
    return true;
}

bool read_fio_triple(FioOptionCall& call, std::uint64_t low, std::uint64_t high, PerDirection<std::uint64_t>& out) {
    if (!need_value(call)) return false;
    const std::vector<std::string> parts = split_fio_list(*call.value, ',');
    if (parts.size() > kFioDirections) {
        call.problem("allowed: one to three values: read,write,trim");
        return false;
    }
    for (std::size_t d = 0; d < kFioDirections; ++d) {
        const std::string& part = d < parts.size() ? parts[d] : parts.back();
        if (part.empty()) continue;
        const auto value = plain(call, part);
        if (!value) return false;
        if (*value < low || *value > high) {
            call.problem(range_text(low, high));
            return false;
        }
        out[d] = *value;
    }
    return true;
}

bool read_fio_word(FioOptionCall& call, const std::vector<std::string>& words, std::size_t& out) {
    if (!need_value(call)) return false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (*call.value == words[i]) {
            out = i;
            return true;
        }
    }
    std::string all;
    for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
    const std::string near = nearest(*call.value, words);
    call.problem("allowed: " + all, near.empty() ? "" : "did you mean '" + near + "'?");
    return false;
}

bool read_fio_text(FioOptionCall& call, std::string& out) {
    if (!need_value(call)) return false;
    out = *call.value;
    return true;
}

bool read_fio_durations(FioOptionCall& call, PerDirection<Ps>& out) {
    if (!need_value(call)) return false;
    const std::vector<std::string> parts = three_parts(*call.value);
    if (parts.empty()) return call.problem("allowed: one to three times: read,write,trim"), false;
    for (std::size_t d = 0; d < kFioDirections; ++d) {
        if (parts[d].empty()) continue;
        FioOptionCall part{call.settings, call.where, call.name, parts[d], call.problems};
        if (!read_fio_duration(part, FioBareTime::microseconds, out[d])) return false;
    }
    return true;
}

bool read_fio_size_range(FioOptionCall& call, std::uint64_t& low, std::uint64_t& high) {
    if (!need_value(call)) return false;
    const std::string_view text = *call.value;
    const std::size_t dash = text.find_first_of("-:");
    const auto first = plain(call, text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : plain(call, text.substr(dash + 1));
    if (!first || !last) return false;
    if (*first == 0 || *last == 0) return call.problem("sizes must be positive"), false;
    low = std::min(*first, *last);
    high = std::max(*first, *last);
    return true;
}

/// criterion:limit or criterion:limit%.
bool read_fio_steadystate(FioOptionCall& call) {
    if (!need_value(call)) return false;
    const std::size_t colon = call.value->find(':');
    FioOptionCall word{call.settings, call.where, call.name, call.value->substr(0, colon), call.problems};
    std::size_t kind = 0;
    if (*word.value == "lat" || *word.value == "lat_slope")
        return call.problem("the latency criterion is newer than fio 3.33; allowed: iops, iops_slope, bw, bw_slope"),
               false;
    if (!read_fio_word(word, {"iops", "iops_slope", "bw", "bw_slope"}, kind)) return false;
    std::string limit = colon == std::string::npos ? "" : call.value->substr(colon + 1);
    FioSteadyCriterion& c = call.settings.job.steady;
    c.slope = kind % 2 == 1;
    c.bandwidth = kind >= 2;
    c.percent = !limit.empty() && limit.back() == '%';
    if (c.percent) limit.pop_back();
    std::string why;
    if (c.percent || !c.bandwidth) {
        const auto value = parse_fio_float(limit, why);
        if (!value || *value < 0) return call.problem("allowed: " + *word.value + ":limit, as in iops:10%"), false;
        c.limit = *value;
    } else {
        const auto value = plain(call, limit);
        if (!value) return false;
        c.limit = static_cast<double>(*value);
    }
    c.text = *word.value + ":" + std::to_string(c.limit) + (c.percent ? "%" : "");
    return true;
}

bool read_fio_bsrange(FioOptionCall& call) {
    if (!need_value(call)) return false;
    const std::vector<std::string> parts = three_parts(*call.value);
    if (parts.empty()) return call.problem("allowed: one to three ranges: read,write,trim"), false;
    for (std::size_t d = 0; d < kFioDirections; ++d) {
        if (parts[d].empty()) continue;
        const std::size_t dash = parts[d].find_first_of("-:");
        if (dash == std::string::npos) return call.problem("allowed: smallest-largest", "write bsrange=4k-64k"), false;
        const auto low = plain(call, std::string_view(parts[d]).substr(0, dash));
        if (!low) return false;
        const auto high = plain(call, std::string_view(parts[d]).substr(dash + 1));
        if (!high) return false;
        if (*low == 0 || *high == 0) return call.problem("block sizes must be positive"), false;
        call.settings.job.bs_min[d] = std::min(*low, *high);
        call.settings.job.bs_max[d] = std::max(*low, *high);
    }
    return true;
}

bool read_fio_bssplit(FioOptionCall& call) {
    if (!need_value(call)) return false;
    const std::vector<std::string> parts = three_parts(*call.value);
    if (parts.empty()) return call.problem("at most three lists: read,write,trim"), false;
    FioJob& job = call.settings.job;
    for (std::size_t d = 0; d < kFioDirections; ++d) {
        std::vector<Pair> pairs;
        if (!read_pairs(call, parts[d], false, kMaxSplits, pairs)) return false;
        if (pairs.empty()) continue;
        if (fill_remainders(pairs) > 100) return call.problem("the percentages add up to more than 100"), false;
        auto& split = job.bssplit[d];
        split.clear();
        job.bs_min[d] = std::numeric_limits<std::uint64_t>::max();
        job.bs_max[d] = 0;
        for (const Pair& p : pairs) {
            if (p.first == 0) return call.problem("block sizes must be positive"), false;
            split.push_back({p.first, static_cast<std::uint32_t>(p.second)});
            job.bs_min[d] = std::min(job.bs_min[d], p.first);
            job.bs_max[d] = std::max(job.bs_max[d], p.first);
        }
        std::stable_sort(split.begin(), split.end(),
                         [](const FioBlockShare& a, const FioBlockShare& b) { return a.percent < b.percent; });
    }
    return true;
}

bool read_fio_distribution(FioOptionCall& call) {
    if (!need_value(call)) return false;
    const std::string text = *call.value;
    const std::size_t colon = text.find(':');
    FioOptionCall word{call.settings, call.where, call.name, text.substr(0, colon), call.problems};
    std::size_t kind = 0;
    if (!read_fio_word(word, {"random", "zipf", "pareto", "normal", "zoned", "zoned_abs"}, kind)) return false;
    FioJob& job = call.settings.job;
    job.distribution = static_cast<FioDistribution>(kind);
    job.distribution_center.reset();
    if (job.distribution == FioDistribution::random) return true;
    if (job.distribution == FioDistribution::zoned || job.distribution == FioDistribution::zoned_abs) {
        const bool absolute = job.distribution == FioDistribution::zoned_abs;
        if (colon == std::string::npos)
            return call.problem("the list of zones is missing", "write zoned:60/10:40/90"), false;
        return read_zones(call, std::string_view(text).substr(colon + 1), absolute);
    }
    // fio's defaults: theta 1.1, h 0.2, deviation 0.
    job.distribution_value = job.distribution == FioDistribution::zipf     ? 1.1
                             : job.distribution == FioDistribution::pareto ? 0.2
                                                                           : 0;
    if (colon != std::string::npos) {
        const std::vector<std::string> numbers = split_fio_list(std::string_view(text).substr(colon + 1), ':');
        std::string why;
        const auto value = parse_fio_float(numbers[0], why);
        const auto center = numbers.size() > 1 ? parse_fio_float(numbers[1], why) : std::optional<double>(0);
        if (!value || !center || numbers.size() > 2)
            return call.problem("allowed: " + word.value.value() + ":number[:center]"), false;
        if (numbers.size() > 1) {
            if (*center < 0 || *center > 1) return call.problem("allowed: a center from 0 to 1"), false;
            job.distribution_center = *center;
        }
        job.distribution_value = *value;
    }
    const double v = job.distribution_value;
    if (job.distribution == FioDistribution::zipf && (v <= 0 || v == 1.0))
        return call.problem("allowed: a positive theta other than 1"), false;
    if (job.distribution == FioDistribution::pareto && (v <= 0 || v >= 1))
        return call.problem("allowed: h between 0 and 1, both excluded"), false;
    if (job.distribution == FioDistribution::normal && (v < 0 || v >= 100))
        return call.problem("allowed: a deviation from 0 to below 100"), false;
    return true;
}

}  // namespace ssdtlm
