// SPDX-License-Identifier: Apache-2.0
#include "sim/config/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/config/quantity.h"
#include "common/units/units.h"
#include "sim/config/effect_notes.h"
#include "sim/config/over_provisioning.h"

namespace ssdtlm {
namespace {

struct Range {
    Ps low, high;
    const char* source;
};
/// The ranges for cells of a number of bits. The ends come from the parts that are named, with an assumed margin of
/// about a quarter.
struct Cells {
    const char* name;
    Range read, program, one_shot, erase;  ///< `program` of one page, `one_shot` of all pages of a word line
};

// Some devices use one bit per cell if one latency stands for all pages. So these ranges extend to those of TLC pages.
constexpr std::array<Cells, 4> kCells = {{
    {"SLC, or one latency for all pages",
     {2us, 100us, "3 us of Z-NAND (AnandTech 13951), 25 us of SLC, 60 us of 64-layer TLC (AnandTech 13951)"},
     {50us, 900us, "75 us of XL-FLASH, 200 to 230 us of SLC, 700 us of 64-layer TLC (AnandTech 13951)"},
     {50us, 900us, ""},
     {500us, 10ms, "0.7 to 1.5 ms of SLC, 3 to 10 ms of later parts"}},
    {"MLC",
     {20us, 150us, "36 us (nvmevirt's 970 PRO) to 115 us (Micron MT29F128G08CBECB)"},
     {150us, 2600us, "185 us (nvmevirt's 970 PRO) to 1600 us (Micron MT29F128G08CBECB), 2550 us of an upper page"},
     {2600us, 5200us, "twice that"},
     {1500us, 10ms, "3 to 3.8 ms (Micron L74A)"}},
    {"TLC",
     {25us, 120us,
      "40 us (Samsung 176 layers, ISSCC 2021) to 60 us (64 layers, AnandTech 13951), pages apart by 38 to 83"},
     {150us, 900us,
      "a third of 1.07 to 1.72 ms for three pages (ISSCC 2018 to 2021), 500 to 700 us as Samsung says it"},
     {900us, 3500us, "1.07 to 1.72 ms for three pages (ISSCC 2018 to 2021)"},
     {2ms, 15ms, "3.5 to 10 ms of 3D TLC"}},
    {"QLC",
     {60us, 250us, "85 us (Intel 144 layers, ISSCC 2021) to 170 us (SK hynix 96 layers, ISSCC 2020)"},
     {1000us, 4500us, "1630 us (Intel 144 layers, ISSCC 2021) to 3380 us (Toshiba 96 layers, ISSCC 2019)"},
     {4500us, 18000us, "four times that"},
     {2ms, 20ms, "3.5 to 10 ms of 3D TLC, and longer"}},
}};

std::string duration_text(Ps time) {
    return format_quantity(time.count(), Dimension::time);
}

class Plausibility {
public:
    explicit Plausibility(const ResolvedConfig& resolved) : resolved_(resolved), c_(resolved.config) {}

    std::vector<std::string> notes() {
        cells();
        if (c_.ftl.slc.any()) slc();
        link();
        rates();
        steps();
        sizes();
        return std::move(out_);
    }

private:
    void add(const std::string& key, const std::string& why) {
        out_.push_back(said_text(resolved_, key) + " is implausible: " + why);
    }
    void time(const std::string& key, Ps value, const char* what, const std::string& of, const Range& range) {
        if (value >= range.low && value <= range.high) return;
        add(key, std::string(what) + " of " + of + " is " + duration_text(range.low) + " to " +
                     duration_text(range.high) + " (" + range.source + ")");
    }

    void cells() {
        const NandConfig& n = c_.nand;
        if (n.geometry.bits_per_cell < 1 || n.geometry.bits_per_cell > kCells.size()) return;
        const Cells& cells = kCells[n.geometry.bits_per_cell - 1];
        const std::string name = cells.name;
        for (const Ps end : ends(n.t_read)) time("nand.t_read", end, "tR", name, cells.read);
        for (const Ps end : ends(n.t_program)) {
            if (end > cells.program.high && end <= cells.one_shot.high)
                add("nand.t_program", "it is tPROG of one page, and looks like that of a one-shot program of all " +
                                          std::to_string(n.geometry.bits_per_cell) + " pages of a word line (" +
                                          cells.one_shot.source + "); a page of " + name + " takes " +
                                          duration_text(cells.program.low) + " to " +
                                          duration_text(cells.program.high) + " of it (" + cells.program.source + ")");
            else
                time("nand.t_program", end, "tPROG of one page (not of a one-shot program)", name, cells.program);
        }
        time("nand.t_erase", n.t_erase, "tBERS", name, cells.erase);
    }
    /// The shortest and the longest of the times; one value if they are equal.
    static std::vector<Ps> ends(const std::vector<Ps>& times) {
        const auto [low, high] = std::minmax_element(times.begin(), times.end());
        return *low == *high ? std::vector<Ps>{*low} : std::vector<Ps>{*low, *high};
    }
    void slc() {
        const std::string of = "cells in SLC mode";
        const char* const kSource = "pSLC of TLC dies: tR 25 to 30 us, tPROG 120 to 220 us, tBERS 2 to 4 ms";
        time("nand.slc.t_read", c_.nand.slc.t_read, "tR", of, {2us, 60us, kSource});
        time("nand.slc.t_program", c_.nand.slc.t_program, "tPROG of one page", of, {50us, 400us, kSource});
        time("nand.slc.t_erase", c_.nand.slc.t_erase, "tBERS", of, {500us, 10ms, kSource});
    }

    void link() {
        const double efficiency = c_.link.data_link_efficiency;
        if (efficiency > 0.995 || efficiency < 0.85)
            add("link.data_link_efficiency",
                efficiency > 0.995
                    ? "it is more than the lanes carry; acknowledgements and flow control take 2 to 5 % of "
                      "them (PCI Express Base Specification: DLLPs of 8 B)"
                    : "acknowledgements and flow control take 2 to 5 % of the lanes, not more than 15 %");
    }

    void rates() {
        if (c_.firmware.clock_hz < 50'000'000 || c_.firmware.clock_hz > 3'000'000'000)
            add("firmware.clock",
                "embedded cores have 50MHz to 3GHz (SimpleSSD's sample drives 400 to 800 MHz, current controllers 1 "
                "GHz "
                "and more)");
        // Devices whose DRAM takes no time have the largest value of the range.
        constexpr std::uint64_t kNoTime = 1'000'000'000'000;
        const std::uint64_t rate = c_.dram.bytes_per_second;
        if (rate < 200'000'000 || (rate > 100'000'000'000 && rate != kNoTime))
            add("dram.bandwidth",
                "the DRAM of drives has 200MB/s to 100GB/s (16 bits of DDR-400 to 64 bits of DDR5-6400 twice); 1TB/s "
                "stands for one that takes no time");
    }

    /// Checks the steps of a command, and the decoder.
    void steps() {
        const FirmwareConfig& f = c_.firmware;
        const std::pair<const char*, std::uint64_t> of_commands[] = {
            {"firmware.read_command", f.read_command},  {"firmware.write_command", f.write_command},
            {"firmware.map_lookup", f.map_lookup},      {"firmware.map_update", f.map_update},
            {"firmware.flash_issue", f.flash_issue},    {"firmware.flash_complete", f.flash_complete},
            {"firmware.buffer_insert", f.buffer_insert}};
        for (const auto& [key, cycles] : of_commands)
            if (static_cast<double>(cycles) > 50e-6 * static_cast<double>(f.clock_hz))
                add(key,
                    fmt::format("the step takes {:.4g} us of a core; the longest of a drive is some 14 us (the 970 "
                                "PRO at depth 1: 72 kIOPS), and up to 50 us are plausible (assumed)",
                                1e6 * static_cast<double>(cycles) / static_cast<double>(f.clock_hz)));
        if (c_.ecc.decode_time > 100us)
            add("ecc.decode_time",
                "hard decisions of LDPC take 1 to 10 us a page, soft ones some tens of us (assumed: up to 100us)");
        if (c_.nand.onfi.interface == OnfiInterface::sdr && c_.nand.onfi.megatransfers < 10)
            add("nand.onfi.rate", "the slowest timing mode of SDR has 10 MT/s (ONFI: tRC 100 ns)");
    }

    void sizes() {
        const std::uint64_t user = c_.ftl.user_capacity_bytes;
        if (c_.ftl.buffer_bytes > user)
            add("buffer.size", "the write buffer is larger than the drive, ftl.user_capacity = " +
                                   format_quantity(static_cast<std::int64_t>(user), Dimension::bytes));
        const double spare = over_provisioning_of(c_);
        if (spare < 0.02 || spare > 3)
            add(c_.over_provisioning == 0 ? "ftl.user_capacity" : "ftl.over_provisioning",
                fmt::format("the over-provisioning is {:.{}f}", 100 * spare, spare < 0.1 ? 2 : 1) +
                    " % of it; drives have 7 % (client) to 28 % (datacentre), and at least 2 % and at most 300 % is "
                    "plausible");
    }

    const ResolvedConfig& resolved_;
    const SsdConfig& c_;
    std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> notes_on_plausibility(const ResolvedConfig& resolved) {
    return Plausibility(resolved).notes();
}

}  // namespace ssdtlm
