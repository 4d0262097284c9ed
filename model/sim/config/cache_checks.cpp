// SPDX-License-Identifier: Apache-2.0
#include "sim/config/cache_checks.h"

#include <string>

#include "common/config/quantity.h"
#include "sim/config/config_checker.h"

namespace ssdtlm {

namespace {
class CacheChecker final : private ConfigChecker {
public:
    explicit CacheChecker(const ResolvedConfig& resolved) : ConfigChecker(resolved) {}

    std::vector<Problem> run() {
        const NandGeometry& g = c_.nand.geometry;
        const std::uint64_t stripe = std::uint64_t{g.planes()} * g.page_bytes;
        if (c_.ftl.buffer_bytes < stripe)
            add("buffer.size", value("buffer.size") + " is less than one page for each of the " + std::to_string(g.planes()) + " planes",
                "at least " + format_quantity(static_cast<std::int64_t>(stripe), Dimension::bytes), "raise it");
        if (c_.ftl.buffer_mode == BufferMode::write_through && c_.ftl.flush_start_percent != 0)
            add("buffer.flush_start", value("buffer.flush_start") + " with buffer.mode = \"write_through\": writes would wait for programs that do not start", "0%",
                "set it to \"0%\", or use write_back");
        for (const auto& [key, quotas] : {std::pair{"buffer.quotas", &c_.ftl.buffer_quotas}, std::pair{"read_cache.quotas", &c_.ftl.read_cache.quotas}, std::pair{"map.quotas", &c_.ftl.map.quotas}})
            if (!quotas->empty() && c_.host.tenants == Tenants::one)
                add(key, value(key) + " with host.tenants = \"one\", who is nobody in particular", "tenants by job", "set host.tenants = \"by_job\"");
        return std::move(out_);
    }
};
}  // namespace

std::vector<Problem> check_caches(const ResolvedConfig& resolved) { return CacheChecker(resolved).run(); }

}  // namespace ssdtlm
