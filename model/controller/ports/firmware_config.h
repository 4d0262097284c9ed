// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ssdtlm {

/// Firmware cores and what each FTL step costs on them, in core cycles. 0: the step is done by hardware.
struct FirmwareConfig {
    std::uint32_t cores = 1;  ///< 1..16; a command's steps run on core (command number % cores)
    std::uint64_t clock_hz = 500'000'000;
    std::uint32_t read_command = 150;   ///< per read command
    std::uint32_t write_command = 150;  ///< per write command
    std::uint32_t other_command = 150;  ///< per flush, deallocate, write zeroes
    std::uint32_t map_lookup = 25;      ///< per mapping unit read
    std::uint32_t map_update = 25;      ///< per mapping unit written, moved or deallocated
    std::uint32_t buffer_insert = 25;   ///< per mapping unit put into the write buffer
    std::uint32_t stream_choice = 20;   ///< per mapping unit written whose stream the firmware chooses
    std::uint32_t reorder = 50;      ///< per unit programmed out of turn, times log2 of the units in the write buffer
    std::uint32_t flash_issue = 50;  ///< per flash transaction handed to the scheduler
    std::uint32_t flash_complete = 50;  ///< per program or erase completion handled
    std::uint32_t gc_victim = 500;      ///< per victim selection
    std::uint32_t refresh_look = 500;   ///< per look at the ages of superblocks
    std::uint32_t scan_page = 100;      ///< per page that is read when the map is searched for
    std::uint32_t scan_entry = 25;      ///< per mapping unit or entry of the journal found in them that is put in order
    std::uint64_t table_cache_bytes =
        0;  ///< a core's data cache for the map's table; 0: its accesses are in map_lookup and map_update
    std::uint32_t table_line_bytes = 64;
    std::uint32_t table_ways = 4;
};

/// Sets of a core's data cache for the map's table. 0: there is no cache, or its size is no whole number of sets.
constexpr std::uint64_t table_cache_sets(const FirmwareConfig& c) {
    const std::uint64_t set = std::uint64_t{c.table_line_bytes} * c.table_ways;
    return set == 0 || c.table_cache_bytes % set != 0 ? 0 : c.table_cache_bytes / set;
}

}  // namespace ssdtlm
