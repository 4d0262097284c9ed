// SPDX-License-Identifier: Apache-2.0
// The path of one command through the device: steps in order of time and without gaps, the place of each step, and for
// each wait what held the resource. It is made from the command's timeline and the device's logs soon after the command
// has ended. Kernel-free.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/latency/occupancy.h"
#include "common/latency/timeline.h"

namespace ssdtlm {

struct PathResource {
    enum class Kind : std::uint8_t { none, core, write_buffer, die, plane, bus };
    Kind kind = Kind::none;
    std::uint32_t index = 0;  ///< global
};

/// Work that held the resource for which a command waited.
struct Holder {
    PathResource resource;
    Occupation operation;
    SimTime from{}, to{};  ///< when the command waited for it; disjoint within a wait, except for the write buffer
};

struct PathStep {
    SimTime from{}, to{};
    std::vector<std::pair<Stage, Ps>> stages;  ///< a wait for a die and its bus has several; the sum is to - from
    PathResource resource;
    std::uint64_t operation = 0;  ///< number of its flash transaction; 0: none
    bool known = true;            ///< false: it sums up the steps behind the last that the timeline kept
    std::vector<Holder> holders;  ///< the kMostHolders longest ones, by time
    std::uint64_t more = 0;       ///< number of holders that are left out
    Ps more_time{};               ///< time of these holders
    Ps forgotten{};               ///< first part of the wait, whose holders the log has forgotten
};

inline constexpr std::size_t kMostHolders = 64;

std::vector<PathStep> critical_path(const Timeline& timeline, const Occupancy& occupancy);

}  // namespace ssdtlm
