// SPDX-License-Identifier: Apache-2.0
// Computes the figures of the capacity, the map and the write buffer.
#include <algorithm>

#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "sim/config/over_provisioning.h"
#include "sim/derive/derive.h"
#include "sim/derive/words.h"
#include "sim/device/capacitors.h"

namespace ssdtlm {

Figures capacity_figures(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    const auto raw = static_cast<double>(g.raw_bytes()), user = static_cast<double>(c.ftl.user_capacity_bytes);
    Figures all{"capacity", {}, {}};
    all.of.push_back({"raw_capacity", raw, "B",
                      fmt::format("{} channels x {} ways x {} dies x {} planes x {} blocks x {} pages x {}", g.channels,
                                  g.ways, g.dies_per_chip, g.planes_per_die, g.blocks_per_plane, g.pages_per_block,
                                  size_words(g.page_bytes))});
    all.of.push_back({"user_capacity", user, "B",
                      c.over_provisioning == 0
                          ? "ftl.user_capacity"
                          : fmt::format("raw / (1 + ftl.over_provisioning {:.6g} %), in whole mapping units",
                                        100 * c.over_provisioning)});
    all.of.push_back({"over_provisioning", 100 * over_provisioning_of(c), "%",
                      fmt::format("(raw {:.0f} - user {:.0f}) / user", raw, user)});
    const std::uint32_t kept = reserved_blocks(c.ftl, g);
    const double spare = raw * (1 - static_cast<double>(kept) / g.blocks_per_plane) / pages_with_parity(c);
    all.of.push_back({"over_provisioning_in_use", 100 * (spare - user) / user, "%",
                      fmt::format("the same without the {} of {} blocks of each plane that hold no data of the host{}",
                                  kept, g.blocks_per_plane, c.ftl.parity == Parity::none ? "" : ", nor parity")});
    return all;
}

Figures map_figures(const SsdConfig& c) {
    const NandGeometry& g = c.nand.geometry;
    Figures all{"map", {}, {}};
    const auto mapping = mapping_of(c.ftl, g);
    const std::uint64_t units = logical_units_of(c.ftl, g);
    if (!mapping->is_on_flash()) {
        all.of.push_back({"map_in_dram", static_cast<double>(mapping->memory_bytes()), "B",
                          fmt::format("what ftl.mapping = \"{}\" keeps in memory for {} units of {}", c.ftl.mapping,
                                      units, size_words(g.unit_bytes))});
        all.left_out.push_back("map_covered: all of the map is in the DRAM.");
        return all;
    }
    const std::uint64_t pages = translation_pages_of(c.ftl, g);
    const std::uint32_t entries = entries_per_translation_page(c.ftl, g);
    all.of.push_back(
        {"map_on_flash", static_cast<double>(pages * g.unit_bytes), "B",
         fmt::format("{} units / {} entries in a translation page of {}", units, entries, size_words(g.unit_bytes))});
    const std::uint64_t slots = cached_map_slots_of(c.ftl, g);
    const bool by_page = c.ftl.map.granularity == MapGranularity::page;
    const std::uint64_t held = slots * (by_page ? entries : 1);
    all.of.push_back(
        {"map_covered", 100 * std::min(1.0, static_cast<double>(held) / static_cast<double>(units)), "%",
         fmt::format("map.cache {} holds {} {}, {} of {} entries", size_words(c.ftl.map.cache_bytes), slots,
                     by_page ? "translation pages" : "entries with their numbers", std::min(held, units), units)});
    return all;
}

namespace {

/// Adds the time until the buffer is full when writes come as fast as the link takes them. It follows from the rates of
/// link and flash.
void add_time_to_fill(const SsdConfig& c, Figures& all) {
    const char* const kName = "buffer_fills_in";
    if (c.ftl.buffer_mode == BufferMode::write_through) {
        all.left_out.push_back(std::string(kName) +
                               ": with buffer.mode = \"write_through\" it has data in flight only.");
        return;
    }
    const Ceilings writes = ceilings_of(c, derived_works()[1]);
    double link = 0, flash = 0;
    for (const Ceiling& ceiling : writes.of) {
        if (ceiling.resource == "link to device" || ceiling.resource == "SATA link") link = ceiling.mb_per_s;
        if (ceiling.resource == "channel bus" || ceiling.resource == "die" || ceiling.resource == "plane")
            flash = flash == 0 ? ceiling.mb_per_s : std::min(flash, ceiling.mb_per_s);
    }
    if (link == 0 || flash == 0) {
        all.left_out.push_back(std::string(kName) + ": the rates of link and flash have no formula here.");
    } else if (link <= flash) {
        all.left_out.push_back(fmt::format(
            "{}: it does not, as the flash takes {:.1f} MB/s and the link brings {:.1f}.", kName, flash, link));
    } else {
        all.of.push_back({kName, static_cast<double>(c.ftl.buffer_bytes) / (link - flash) * 1e-6, "s",
                          fmt::format("buffer.size {} / (link {:.1f} MB/s - flash {:.1f} MB/s), sequential writes",
                                      size_words(c.ftl.buffer_bytes), link, flash)});
    }
}

}  // namespace

Figures buffer_figures(const SsdConfig& c) {
    Figures all{"write buffer", {}, {}};
    all.of.push_back({"buffer_size", static_cast<double>(c.ftl.buffer_bytes), "B", "buffer.size"});
    add_time_to_fill(c, all);
    const Capacitors capacitors = capacitors_of(c);
    if (!capacitors.any()) {
        all.left_out.push_back("capacitor_energy: no capacitors protect anything (buffer.mode, map.power_protected).");
        return all;
    }
    const std::string pages =
        fmt::format("{} pages of the buffer and {} of the map", capacitors.buffer_pages, capacitors.map_pages);
    all.of.push_back(
        {"capacitor_time", to_seconds(capacitors.time), "s",
         pages + ", a row of one page in each plane after the other: transfers of a channel, then programs"});
    all.of.push_back({"capacitor_energy", capacitors.joules, "J",
                      fmt::format("{} x {:.4g} W (power.controller) + the programs of {} x {:.4g} W a die (power.die)",
                                  time_words(capacitors.time), static_cast<double>(c.power.controller_uw) * 1e-6, pages,
                                  static_cast<double>(c.power.die_uw) * 1e-6)});
    return all;
}

}  // namespace ssdtlm
