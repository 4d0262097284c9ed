// SPDX-License-Identifier: Apache-2.0
#include "common/units/units.h"
#include "controller/dram/dram_models.h"
#include "sim/derive/demand.h"
#include "sim/derive/words.h"

namespace ssdtlm {

namespace {

void firmware(const SsdConfig& c, const Work& w, Demands& all) {
    const FirmwareConfig& f = c.firmware;
    if (f.table_cache_bytes != 0) {
        all.left_out.push_back(
            "firmware core: with firmware.table_cache a core waits for lines of the map's table, which depend on the "
            "addresses.");
        return;
    }
    const NandGeometry& g = c.nand.geometry;
    const auto units = static_cast<double>(units_of_command(c, w));
    const double pages = units * g.unit_bytes / g.page_bytes;
    double least = 0, most = 0;
    std::string formula;
    if (w.reads()) {
        const auto parts = static_cast<double>(div_ceil(w.bytes, g.page_bytes));
        least = f.read_command + f.map_lookup * units + f.flash_issue * parts;
        most = least + f.flash_issue * (w.random ? units - parts : 1);
        formula = fmt::format("read_command {} + map_lookup {} x {:.0f} + flash_issue {} x {:.0f}", f.read_command,
                              f.map_lookup, units, f.flash_issue, parts);
        if (c.ftl.read_cache.bytes != 0 || c.ftl.read_ahead.bytes != 0) {  // a hit needs no flash
            least -= f.flash_issue * parts;
            most = 0;
            formula = fmt::format("read_command {} + map_lookup {} x {:.0f}, all of it in the read cache",
                                  f.read_command, f.map_lookup, units);
        }
    } else {
        const std::uint32_t insert = f.buffer_insert + (c.ftl.streams_by != "host" ? f.stream_choice : 0);
        const double programmed = 1 - most_coalesced(c, w), with_parity = pages * pages_with_parity(c);
        const double behind = f.map_update * units + (f.flash_issue + f.flash_complete) * with_parity;
        least = f.write_command + insert * units + behind * programmed;
        most = f.write_command + insert * units + behind;
        formula = fmt::format(
            "write_command {} + buffer_insert {} x {:.0f} + (map_update {} x {:.0f} + (flash_issue {} + flash_complete "
            "{}) x {:.4g} pages) x {:.4g} programmed",
            f.write_command, insert, units, f.map_update, units, f.flash_issue, f.flash_complete, with_parity,
            programmed);
        if (c.ftl.buffer_order == BufferOrder::by_translation_page) most = 0;  // keeping it in order
    }
    if (least <= 0) return;
    const double clock = static_cast<double>(f.clock_hz);
    Demand d;
    d.resource = "firmware core";
    d.members = f.cores;
    d.least = least / clock;
    d.most = most / clock;
    d.formula = fmt::format("{} cores x {:.4g} MHz / {:.1f} cycles: {}", f.cores, clock * 1e-6, least, formula);
    all.of.push_back(d);
}

/// The share of the time in which dram.model = "banks" is refreshed, so that no bank moves data.
double share_of_refresh(const SsdConfig& c) {
    static const PolicyValues kDefaults;
    const auto values = c.dram.policies.find(c.dram.model);
    const PolicySettings chips(DramModels::instance().policies().at(c.dram.model).parameters,
                               values == c.dram.policies.end() ? kDefaults : values->second);
    const auto every = static_cast<double>(chips.number("t_refi"));
    return every == 0 ? 0 : static_cast<double>(chips.number("t_rfc")) / every;
}

void dram(const SsdConfig& c, const Work& w, Demands& all) {
    const bool banks = c.dram.model == "banks";
    if (!banks && c.dram.model != "rate") {
        all.left_out.push_back("DRAM port: no formula is here for dram.model = \"" + c.dram.model + "\".");
        return;
    }
    if (w.reads() && (c.ftl.read_cache.bytes != 0 || c.ftl.read_ahead.bytes != 0)) {
        all.left_out.push_back("DRAM port: how often data pass it depends on hits of the read cache.");
        return;
    }
    const std::uint64_t programmed_bytes = units_of_command(c, w) * c.nand.geometry.unit_bytes;
    const double out = w.reads() ? w.bytes : static_cast<double>(programmed_bytes);
    const double least = w.bytes + out * (1 - most_coalesced(c, w));
    const double refreshed = banks ? share_of_refresh(c) : 0;
    const double rate = static_cast<double>(c.dram.bytes_per_second) * (1 - refreshed);
    Demand d;
    d.resource = "DRAM port";
    d.least = least / rate;
    d.most = banks ? 0 : (w.bytes + out) / rate;
    d.formula =
        fmt::format("{:.1f} MB/s{} / {:.0f} B: {} B in and {:.0f} B out", rate * 1e-6,
                    banks ? fmt::format(" ({:.2f} % of the time is refresh; rows are open)", 100 * refreshed) : "",
                    least, w.bytes, least - w.bytes);
    all.of.push_back(d);
}

}  // namespace

void add_controller_demands(const SsdConfig& c, const Work& w, Demands& all) {
    firmware(c, w, all);
    dram(c, w, all);
}

}  // namespace ssdtlm
