// SPDX-License-Identifier: Apache-2.0
#include "sim/results/counters.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ssdtlm {

namespace {
bool is_sum(std::string_view name) {
    constexpr std::array<std::string_view, 8> others{
        "map_most_entries",   "map_protected_pages",           "map_most_dirty_pages",   "flash_blocks_bad_at_factory",
        "smart_media_errors", "smart_available_spare_percent", "smart_critical_warning", "smart_percentage_used"};
    return std::find(others.begin(), others.end(), name) == others.end();
}
}  // namespace

Counters counted_between(const Counters& begin, const Counters& end) {
    Counters between;
    for (const auto& [name, value] : end) {
        if (!is_sum(name)) continue;
        const auto before =
            std::find_if(begin.begin(), begin.end(), [&n = name](const auto& c) { return c.first == n; });
        between.emplace_back(name, value - (before == begin.end() ? 0 : before->second));
    }
    return between;
}

}  // namespace ssdtlm
