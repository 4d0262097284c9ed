// SPDX-License-Identifier: Apache-2.0
// The way of one command in the order in which it happened: steps that follow each other without a gap, where each step
// was, and for each wait what held the resource. It is put together from the command's timeline and the device's logs
// soon after the command's end. Kernel-free.
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

/// Work that held what a command waited for.
struct Holder {
    PathResource resource;
    Occupation operation;
    SimTime from{},
        to{};  ///< the part of it that the command waited for; of one wait disjoint, but for the write buffer
};

struct PathStep {
    SimTime from{}, to{};
    std::vector<std::pair<Stage, Ps>> stages;  ///< several for a wait for a die and its bus; together to - from
    PathResource resource;
    std::uint64_t operation = 0;  ///< flash transaction that it belongs to; 0: none
    bool known = true;            ///< false: too many steps to keep their order; `stages` says what is in it
    std::vector<Holder> holders;  ///< by time; the longest kMostHolders
    std::uint64_t more = 0;       ///< holders left out
    Ps more_time{};               ///< of them
    Ps forgotten{};               ///< the beginning of the wait, of which the log no longer knows the holders
};

inline constexpr std::size_t kMostHolders = 64;

std::vector<PathStep> critical_path(const Timeline& timeline, const Occupancy& occupancy);

}  // namespace ssdtlm
