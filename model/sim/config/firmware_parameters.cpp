// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_firmware_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::integer(
                        "firmware.cores", [](auto& c) -> auto& { return c.firmware.cores; })
                        .range("1", "16")
                        .says("Firmware cores; the steps of a command run on one core, chosen round robin by command")
                        .from("assumed"));
    table.push_back(P::quantity(
                        "firmware.clock", Dimension::frequency, [](auto& c) -> auto& { return c.firmware.clock_hz; })
                        .range("1MHz", "10GHz")
                        .says("Clock of the cores")
                        .from("assumed: embedded cores of 400..800 MHz (SimpleSSD sample configurations)"));
    const auto cycles = [&table](const char* key, auto field, const char* sentence) {
        table.push_back(P::integer(key, field)
                            .range("0", "1000000")
                            .says(sentence)
                            .from("assumed: lean hardware-assisted firmware, well below 1 us per command"));
    };
    cycles(
        "firmware.read_command", [](auto& c) -> auto& { return c.firmware.read_command; }, "Cycles per read command");
    cycles(
        "firmware.write_command", [](auto& c) -> auto& { return c.firmware.write_command; },
        "Cycles per write command");
    cycles(
        "firmware.other_command", [](auto& c) -> auto& { return c.firmware.other_command; },
        "Cycles per flush, deallocate or write zeroes command");
    cycles(
        "firmware.map_lookup", [](auto& c) -> auto& { return c.firmware.map_lookup; }, "Cycles per mapping unit read");
    cycles(
        "firmware.map_update", [](auto& c) -> auto& { return c.firmware.map_update; },
        "Cycles per mapping unit written, moved or deallocated");
    cycles(
        "firmware.buffer_insert", [](auto& c) -> auto& { return c.firmware.buffer_insert; },
        "Cycles per mapping unit put into the write buffer");
    cycles(
        "firmware.stream_choice", [](auto& c) -> auto& { return c.firmware.stream_choice; },
        "Cycles per mapping unit written to choose its stream");
    table.back().only_with("ftl.streams_by != host");
    cycles(
        "firmware.reorder", [](auto& c) -> auto& { return c.firmware.reorder; },
        "Cycles per programmed mapping unit for keeping the buffer in order, once for each doubling of the units in "
        "the buffer");
    table.back().only_with("buffer.order = by_translation_page");
    cycles(
        "firmware.flash_issue", [](auto& c) -> auto& { return c.firmware.flash_issue; },
        "Cycles per flash transaction handed to the scheduler");
    cycles(
        "firmware.flash_complete", [](auto& c) -> auto& { return c.firmware.flash_complete; },
        "Cycles per program or erase completion");
    cycles(
        "firmware.gc_victim", [](auto& c) -> auto& { return c.firmware.gc_victim; },
        "Cycles per choice of a victim block");
    cycles(
        "firmware.refresh_look", [](auto& c) -> auto& { return c.firmware.refresh_look; },
        "Cycles per look at the ages of all blocks");
    table.back().only_with("refresh.age != 0s");
    table.push_back(
        P::quantity(
            "firmware.table_cache", Dimension::bytes, [](auto& c) -> auto& { return c.firmware.table_cache_bytes; })
            .range("0B", "64MiB")
            .says("Size of each core's data cache for the map's table. Its lines come from the DRAM and go back there. "
                  "0: an access to "
                  "the table is part of map_lookup and map_update")
            .from("assumed: none; embedded cores have 16 to 64 KiB"));
    table.push_back(
        P::quantity(
            "firmware.table_line", Dimension::bytes, [](auto& c) -> auto& { return c.firmware.table_line_bytes; })
            .range("16B", "4KiB")
            .says("Bytes of a line of firmware.table_cache")
            .from("assumed")
            .only_with("firmware.table_cache != 0B"));
    table.push_back(P::integer(
                        "firmware.table_ways", [](auto& c) -> auto& { return c.firmware.table_ways; })
                        .range("1", "64")
                        .says("Ways of a set of firmware.table_cache")
                        .from("assumed")
                        .only_with("firmware.table_cache != 0B"));
    const auto scan = [&table](const char* key, auto field, const char* sentence) {
        table.push_back(P::integer(key, field)
                            .range("0", "1000000")
                            .says(sentence)
                            .from("assumed")
                            .only_with("host.power_cut_at != none"));
    };
    scan(
        "firmware.scan_page", [](auto& c) -> auto& { return c.firmware.scan_page; },
        "Cycles per page that is read in the search for the map after a loss of power. The core that serves the page's "
        "die spends them before the "
        "block's next page is read");
    scan(
        "firmware.scan_entry", [](auto& c) -> auto& { return c.firmware.scan_entry; },
        "Cycles per mapping unit and journal entry that the search has found, on one core, when all pages are read. "
        "With ftl.mapping = dftl also per "
        "entry of a translation page that is compared");
}

}  // namespace ssdtlm
