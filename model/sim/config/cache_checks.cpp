// SPDX-License-Identifier: Apache-2.0
#include "sim/config/cache_checks.h"

#include <string>

#include "common/config/quantity.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ports/firmware_config.h"
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
            add("buffer.size",
                value("buffer.size") + " is less than one page for each of the " + std::to_string(g.planes()) +
                    " planes",
                "at least " + format_quantity(static_cast<std::int64_t>(stripe), Dimension::bytes), "raise it");
        if (c_.ftl.buffer_mode == BufferMode::write_through && c_.ftl.flush_start_percent != 0)
            add("buffer.flush_start",
                value("buffer.flush_start") +
                    " with buffer.mode = \"write_through\": writes would wait for programs that do not start",
                "0%", "set it to \"0%\", or use write_back");
        if (c_.ftl.rest_reads == RestReads::at_write_back && !c_.ftl.buffer_merges)
            add("buffer.rest_reads",
                value("buffer.rest_reads") + " with buffer.merge_writes = false: no write brings the rest of another's",
                "at_write or never", "set it to \"at_write\", or buffer.merge_writes to true");
        if (c_.ftl.rest_reads == RestReads::never && c_.run.data == DataMode::bytes)
            add("buffer.rest_reads", value("buffer.rest_reads") + " with run.data = \"bytes\": bytes would be lost",
                "at_write or at_write_back", "set it to \"at_write\", or run.data to \"signatures\"");
        if (c_.ftl.read_ahead.bytes != 0) read_ahead();
        for (const auto& [key, quotas] :
             {std::pair{"buffer.quotas", &c_.ftl.buffer_quotas},
              std::pair{"read_cache.quotas", &c_.ftl.read_cache.quotas}, std::pair{"map.quotas", &c_.ftl.map.quotas}})
            if (!quotas->empty() && c_.front_end.kind == "sata")
                add(key, value(key) + " with frontend.kind = \"sata\", where the drive cannot tell whose a command is",
                    "none", "leave it out");
            else if (!quotas->empty() && c_.host.tenants == Tenants::one)
                add(key, value(key) + " with host.tenants = \"one\", where commands belong to no tenant",
                    "tenants by job", "set host.tenants = \"by_job\"");
        if (c_.firmware.table_cache_bytes != 0) table_caches();
        return std::move(out_);
    }

private:
    void read_ahead() {
        const std::string key = "read_ahead.depth";
        const std::uint64_t unit = c_.nand.geometry.unit_bytes,
                            cache = c_.ftl.read_cache.shares_room() ? c_.ftl.buffer_bytes : c_.ftl.read_cache.bytes;
        const auto size = [](std::uint64_t bytes) {
            return format_quantity(static_cast<std::int64_t>(bytes), Dimension::bytes);
        };
        if (c_.ftl.read_ahead.bytes < unit)
            add(key, value(key) + " is less than a mapping unit", "at least " + size(unit) + ", or 0B", "raise it");
        if (2 * c_.ftl.read_ahead.bytes > cache)
            add(key, value(key) + " with a read cache of " + size(cache), "at most half of the read cache",
                "lower it, or set read_cache.size to at least " + size(2 * c_.ftl.read_ahead.bytes));
        if (mapping_of(c_.ftl, c_.nand.geometry)->is_on_flash())
            add(key, value(key) + " with ftl.mapping = \"" + c_.ftl.mapping + "\"",
                "a map that is in memory: entries are not brought in for what nobody has asked for",
                "set it to \"0B\"");
    }
    void table_caches() {
        const FirmwareConfig& f = c_.firmware;
        const std::string key = "firmware.table_cache", given = value(key);
        const auto size = [](std::uint64_t bytes) {
            return format_quantity(static_cast<std::int64_t>(bytes), Dimension::bytes);
        };
        const std::uint64_t set = std::uint64_t{f.table_line_bytes} * f.table_ways;
        if (table_cache_sets(f) == 0)
            add(key, given + " in sets of " + size(set) + " (firmware.table_line x firmware.table_ways)", "whole sets",
                "set it to a multiple of " + size(set));
        if (f.table_line_bytes % c_.ftl.map.entry_bytes != 0)
            add("firmware.table_line", value("firmware.table_line") + " with entries of " + value("map.entry_size"),
                "whole entries in a line", "change one of the two");
        const auto mapping = mapping_of(c_.ftl, c_.nand.geometry);
        const bool by_entry = mapping->is_on_flash() && c_.ftl.map.granularity == MapGranularity::entry;
        if (by_entry || mapping->places_by_blocks())
            add(key,
                given + " with ftl.mapping = \"" + c_.ftl.mapping +
                    (by_entry ? "\" and map.granularity = \"entry\"" : "\""),
                "a map whose neighbouring units have neighbouring entries: \"page\", or \"dftl\" by pages",
                "set it to 0");
        for (const auto& [cost, cycles] :
             {std::pair{"firmware.map_lookup", f.map_lookup}, std::pair{"firmware.map_update", f.map_update}})
            if (cycles == 0)
                add(key, given + " with " + cost + " = 0: hardware does the look-up, and has no core's cache",
                    "a core that does it", std::string("raise ") + cost + ", or set it to 0");
    }
};
}  // namespace

bool caches_start_filled(const SsdConfig& config) {
    if (config.run.fill_caches != FillCaches::automatic) return config.run.fill_caches == FillCaches::yes;
    const FtlConfig& f = config.ftl;
    const bool played = !f.precondition_workload.empty();
    const bool written = played || f.initial_state == InitialState::random || f.initial_state == InitialState::analytic;
    const bool divided = !f.buffer_quotas.empty() || !f.map.quotas.empty() || !f.read_cache.quotas.empty();
    return written && !divided && f.buffer_mode != BufferMode::write_through && !(played && f.read_cache.shares_room());
}

std::vector<Problem> check_caches(const ResolvedConfig& resolved) {
    return CacheChecker(resolved).run();
}

}  // namespace ssdtlm
