// SPDX-License-Identifier: Apache-2.0
// A handler's commands as text, for the watchdog and for panics.
#pragma once

#include <string>

#include "controller/ports/command.h"

namespace ssdtlm {

/// Describes the first few commands under way. A state has `command` (null: none) and `remaining`, the parts or units
/// to go.
template <class States>
std::string dump_commands(const States& states) {
    static constexpr const char* kOps[] = {"read", "write", "flush", "deallocate", "write zeroes"};
    constexpr std::uint32_t kShown = 8;
    std::string text;
    std::uint32_t under_way = 0;
    for (const auto& s : states) {
        if (s.command == nullptr || ++under_way > kShown) continue;
        const Command& c = *s.command;
        text += std::string("  ") + kOps[static_cast<std::size_t>(c.op)] + (c.fua ? " forced" : "") + " of " +
                std::to_string(c.blocks) + " blocks at LBA " + std::to_string(c.slba) + ": " +
                std::to_string(s.remaining) + " parts or units to go\n";
    }
    if (under_way > kShown) text += "  and " + std::to_string(under_way - kShown) + " more\n";
    return text;
}

}  // namespace ssdtlm
