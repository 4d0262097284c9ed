// SPDX-License-Identifier: Apache-2.0
// The least time that a command needs of each resource, by formula. The ceiling of a resource is its number of members
// divided by that time. The most time that a command may need shows how far below the ceiling a device may stay when
// only this resource limits it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host_pcie/ports/host_request.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Commands of one kind, at saturation.
struct Work {
    const char* name;
    HostOp op = HostOp::read;
    bool random = false;  ///< false: ascending addresses
    std::uint32_t bytes = 4096;
    bool reads() const { return op == HostOp::read; }
};

struct Demand {
    std::string resource;  ///< named as in verdicts (sim/limits)
    double members = 1;
    double least = 0;     ///< least seconds of one member
    double most = 0;      ///< most seconds of one member; 0: no formula
    std::string formula;  ///< of `least`, with its numbers
};

/// Demands in the order of verdicts. `left_out`: a sentence for each resource without a formula.
struct Demands {
    std::vector<Demand> of;
    std::vector<std::string> left_out;
};

void add_host_demands(const SsdConfig& c, const Work& w, Demands& all);        // host CPU, link
void add_controller_demands(const SsdConfig& c, const Work& w, Demands& all);  // firmware cores, DRAM
void add_flash_demands(const SsdConfig& c, const Work& w, Demands& all);       // channel buses, dies or planes

Demands demands_of(const SsdConfig& c, const Work& w);

/// The largest share of writes that replace an older write of the same unit in the write buffer.
double most_coalesced(const SsdConfig& c, const Work& w);
/// Number of mapping units that a command touches.
std::uint64_t units_of_command(const SsdConfig& c, const Work& w);
/// The number of pages of a flash row for each page of data; more than 1 with parity.
double pages_with_parity(const SsdConfig& c);

}  // namespace ssdtlm
