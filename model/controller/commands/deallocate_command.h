// SPDX-License-Identifier: Apache-2.0
// Deallocate (Dataset Management) and Write Zeroes: mapping units that are covered as a whole are unmapped, range by range.
// Deallocation is advisory: a unit that is only partly covered keeps its data. Zeroing part of a unit is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/commands/command_services.h"

namespace ssdtlm {

class DeallocateCommand {
public:
    explicit DeallocateCommand(const CommandServices& services) : s_(services) {}

    void start(Command& c);
    std::string dump() const;

private:
    struct State {
        Command* command = nullptr;
        std::uint32_t remaining = 0;  ///< ranges
        MapExtent extent;             ///< that the map was asked about
    };
    void begin(std::uint64_t command);
    void go_on(State& s);
    bool try_again(std::uint64_t& command);
    void answered(std::uint32_t command, const Ppa* places);
    void remove(const MapExtent& extent);
    MapExtent whole_units(const Command& c, const LbaRange& range) const;

    const CommandServices s_;
    std::vector<State> states_;  // by command
    std::vector<std::uint32_t> dropped_;  // by remove(), kept for its memory
};

}  // namespace ssdtlm
