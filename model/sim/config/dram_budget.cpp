// SPDX-License-Identifier: Apache-2.0
#include "sim/config/dram_budget.h"

#include <array>
#include <string>

#include "common/config/quantity.h"
#include "controller/ftl/mapping/mapping.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

namespace {
struct Part {
    DramRest name;
    std::string key;
    std::uint64_t bytes;
    std::uint64_t* size;  ///< null: the size is fixed
    std::string why_not;  ///< the reason for a fixed size
};

std::string text_of(std::uint64_t bytes) {
    return format_quantity(static_cast<std::int64_t>(bytes), Dimension::bytes);
}

/// The source of an origin: a file or the command line.
std::string source_of(const std::string& origin) {
    return origin.substr(0, origin.find_first_of(": "));
}

std::array<Part, 3> parts_of(SsdConfig& c) {
    const auto mapping = mapping_of(c.ftl, c.nand.geometry);
    const bool cached = mapping->is_on_flash(), shares = c.ftl.read_cache.shares_room();
    return {{
        {DramRest::buffer, "buffer.size", c.ftl.buffer_bytes, &c.ftl.buffer_bytes, ""},
        {DramRest::read_cache, "read_cache.size", shares ? 0 : c.ftl.read_cache.bytes,
         shares ? nullptr : &c.ftl.read_cache.bytes, "read_cache.room = \"buffer\" takes that of buffer.size"},
        {DramRest::map, cached ? "map.cache" : "the map",
         mapping->memory_bytes() + (cached ? c.ftl.map.cache_bytes : 0), cached ? &c.ftl.map.cache_bytes : nullptr,
         "with ftl.mapping = \"" + c.ftl.mapping + "\" all of the map is in the DRAM"},
    }};
}
}  // namespace

std::uint64_t dram_used(SsdConfig config) {
    std::uint64_t bytes = 0;
    for (const Part& p : parts_of(config)) bytes += p.bytes;
    return bytes;
}

std::vector<Problem> divide_dram(ResolvedConfig& r) {
    SsdConfig& c = r.config;
    std::vector<Problem> out;
    const auto add = [&](const std::string& key, const std::string& what, std::string allowed, std::string repair) {
        out.push_back({r.where(key), key + ": " + what, std::move(allowed), std::move(repair)});
    };
    if (c.dram.bytes == 0) {
        if (c.dram.rest != DramRest::none)
            add("dram.rest", "without dram.size there is no rest", "\"none\", or a size", "set dram.size");
        return out;
    }
    const std::array<Part, 3> parts = parts_of(c);
    std::uint64_t others = 0;
    std::string said;
    const Part* rest = nullptr;
    for (const Part& p : parts) {
        if (p.name == c.dram.rest) {
            rest = &p;
            continue;
        }
        others += p.bytes;
        if (p.bytes != 0) said += (said.empty() ? "" : ", ") + p.key + " " + text_of(p.bytes);
    }
    if (rest != nullptr && rest->size == nullptr) {
        std::string possible;  // "none" is always possible
        for (const Part& p : parts)
            if (p.size != nullptr)
                possible += p.name == DramRest::buffer       ? ", buffer"
                            : p.name == DramRest::read_cache ? ", read_cache"
                                                             : ", map";
        add("dram.rest", "no part of the DRAM is its: " + rest->why_not, "none" + possible,
            "set dram.rest = \"none\", or another part");
        return out;
    }
    const std::uint64_t unit = c.nand.geometry.unit_bytes, least = others + (rest != nullptr ? unit : 0);
    if (c.dram.bytes < least) {
        add("dram.size",
            text_of(c.dram.bytes) + " is less than what is in it: " + said +
                (rest != nullptr ? ", and a unit at least for " + rest->key : ""),
            "at least " + text_of(least), "raise it, or make one of them smaller");
        return out;
    }
    if (rest == nullptr) return out;
    const std::uint64_t left = (c.dram.bytes - others) / unit * unit;
    std::string& origin = r.origin[static_cast<std::size_t>(parameter_index(rest->key))];
    if (rest->bytes != left &&
        source_of(origin) == source_of(r.origin[static_cast<std::size_t>(parameter_index("dram.rest"))]))
        add(rest->key, text_of(rest->bytes) + " with dram.rest, which leaves it " + text_of(left),
            "what is left of dram.size", "leave it out, or set dram.rest = \"none\"");
    *rest->size = left;
    origin = "rest of dram.size";
    return out;
}

}  // namespace ssdtlm
