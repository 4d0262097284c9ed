// SPDX-License-Identifier: Apache-2.0
// Figures that follow from a configuration by formula, before a run. Each is a plain function of the configuration. If
// a formula does not hold, there is a sentence about it instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/derive/demand.h"
#include "sim/sim_config.h"

namespace ssdtlm {

struct Figure {
    std::string name;  ///< user_capacity
    double value = 0;
    std::string unit;
    std::string formula;  ///< in words, with the numbers
};

/// A group of figures, and a sentence for each figure that is left out.
struct Figures {
    std::string name;
    std::vector<Figure> of;
    std::vector<std::string> left_out;
};

struct Ceiling {
    std::string resource;
    double iops = 0;      ///< the ceiling
    double reached = 0;   ///< least rate at which this resource limits; 0: no formula
    double mb_per_s = 0;  ///< of `iops`
    std::string formula;
    bool least = false;  ///< it is the lowest ceiling of its set
};
struct Ceilings {
    Work work;
    std::vector<Ceiling> of;
    std::vector<std::string> left_out;
};

struct Derived {
    std::vector<Figures> groups;
    std::vector<Ceilings> ceilings;
};

Ceilings ceilings_of(const SsdConfig& c, const Work& w);
/// The kinds of work: sequential and random, reads and writes.
const std::vector<Work>& derived_works();

Figures capacity_figures(const SsdConfig& c);
Figures map_figures(const SsdConfig& c);
Figures buffer_figures(const SsdConfig& c);
Figures latency_figures(const SsdConfig& c);
Figures steady_state_figures(const SsdConfig& c);

/// Derives all figures. Precondition: the configuration has been checked.
Derived derive(const SsdConfig& c);

std::string derived_text(const SsdConfig& c, const Derived& d);
std::string derived_json(const SsdConfig& c, const Derived& d);

}  // namespace ssdtlm
