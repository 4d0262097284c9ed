// SPDX-License-Identifier: Apache-2.0
// Deallocate (Dataset Management) and Write Zeroes: mapping units that are covered as a whole are unmapped, range by
// range. Deallocation is advisory: a unit that is only partly covered keeps its data. Zeroing part of a unit is
// refused. Write Zeroes that is forced (FUA, or a drive without a volatile write cache) ends when the journal that says
// so is in flash; a deallocation promises nothing before a flush.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/commands/command_services.h"

namespace ssdtlm {

class DeallocateCommand {
public:
    struct Options {
        bool write_through = false;    ///< zeros end in flash, as all that is written does
        bool power_protected = false;  ///< the journal in memory is as safe as there
    };
    DeallocateCommand(const CommandServices& services, const Options& options)
        : services_(services), options_(options) {}

    void start(Command& c);
    /// See CommandSink.
    void abort_waits(bool aborts) { aborts_ = aborts; }
    void let_go();
    std::string dump() const;

private:
    struct State {
        Command* command = nullptr;
        std::uint32_t remaining = 0;  ///< ranges
        MapExtent extent;             ///< that the map was asked about
        std::uint64_t journal = 0;    ///< forced zeros: what they demanded of it
        bool waits_for_page = false;  ///< of the journal, with ranges to go
        bool is_done = false;         ///< and waits until the journal is in flash
    };
    void begin(std::uint64_t command);
    void go_on(State& s);
    static void give_up(State& s);
    bool try_again(std::uint64_t command);
    void answered(std::uint32_t command, const Ppa* places);
    bool try_end(State& s);
    bool try_end_later(std::uint64_t command);
    void end(State& s);
    void remove(const MapExtent& extent);
    MapExtent whole_units(const LbaRange& range) const;

    const CommandServices services_;
    const Options options_;
    bool aborts_ = false;
    std::vector<State> states_;           // by command
    std::vector<std::uint32_t> dropped_;  // by remove(), kept for its memory
};

}  // namespace ssdtlm
