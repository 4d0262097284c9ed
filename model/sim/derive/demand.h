// SPDX-License-Identifier: Apache-2.0
// The least time that one command needs of each resource, by formula. The ceiling of a resource is its number of
// members divided by that time. The largest time shows how far below the ceiling a device may stay although nothing
// else limits it.
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
    bool random = false;  ///< else ascending
    std::uint32_t bytes = 4096;
    bool reads() const { return op == HostOp::read; }
};

struct Demand {
    std::string resource;  ///< as verdicts name it (sim/limits)
    double members = 1;
    double least = 0;     ///< seconds of one member
    double most = 0;      ///< the same; 0: no formula says
    std::string formula;  ///< of `least`, with its numbers
};

/// Demands in the order of verdicts. `left_out`: a sentence for each resource that has no formula here.
struct Demands {
    std::vector<Demand> of;
    std::vector<std::string> left_out;
};

void add_host_demands(const SsdConfig& c, const Work& w, Demands& all);        // host CPU, link
void add_controller_demands(const SsdConfig& c, const Work& w, Demands& all);  // firmware cores, DRAM
void add_flash_demands(const SsdConfig& c, const Work& w, Demands& all);       // channel buses, dies or planes

Demands demands_of(const SsdConfig& c, const Work& w);

/// Most writes that take the place of an older one, as a share: their unit is in the write buffer.
double most_coalesced(const SsdConfig& c, const Work& w);
/// Number of mapping units that a command touches.
std::uint64_t units_of_command(const SsdConfig& c, const Work& w);
/// Pages that a row of the flash has for each page of data: more than 1 with parity.
double pages_with_parity(const SsdConfig& c);

}  // namespace ssdtlm
