// SPDX-License-Identifier: Apache-2.0
#include "sim/config/cache_checks.h"

#include <string>

#include "common/config/quantity.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

std::vector<Problem> check_caches(const ResolvedConfig& resolved) {
    const SsdConfig& c = resolved.config;
    const NandGeometry& g = c.nand.geometry;
    std::vector<Problem> out;
    const auto value = [&c](const char* key) {
        const auto& p = ssd_parameters()[static_cast<std::size_t>(parameter_index(key))];
        return to_text(p, p.get(c));
    };
    const auto add = [&](const std::string& key, const std::string& what, std::string allowed, std::string repair) {
        out.push_back({resolved.where(key), key + ": " + what, std::move(allowed), std::move(repair)});
    };
    const std::uint64_t stripe = std::uint64_t{g.planes()} * g.page_bytes;
    if (c.ftl.buffer_bytes < stripe)
        add("buffer.size", value("buffer.size") + " is less than one page for each of the " + std::to_string(g.planes()) + " planes",
            "at least " + format_quantity(static_cast<std::int64_t>(stripe), Dimension::bytes), "raise it");
    if (c.ftl.buffer_mode == BufferMode::write_through && c.ftl.flush_start_percent != 0)
        add("buffer.flush_start", value("buffer.flush_start") + " with buffer.mode = \"write_through\": writes would wait for programs that do not start", "0%",
            "set it to \"0%\", or use write_back");
    for (const auto& [key, quotas] : {std::pair{"buffer.quotas", &c.ftl.buffer_quotas}, std::pair{"read_cache.quotas", &c.ftl.read_cache.quotas}, std::pair{"map.quotas", &c.ftl.map.quotas}})
        if (!quotas->empty() && c.host.tenants == Tenants::one)
            add(key, value(key) + " with host.tenants = \"one\", who is nobody in particular", "tenants by job", "set host.tenants = \"by_job\"");
    return out;
}

}  // namespace ssdtlm
