// SPDX-License-Identifier: Apache-2.0
// Figures that follow from a configuration before anything runs, by formula. Each is a plain function of the
// configuration. If a formula does not hold, a sentence says so instead.
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
    std::string formula;  ///< in words, with the numbers put in
};

/// A group of figures, and what was left out of it.
struct Figures {
    std::string name;
    std::vector<Figure> of;
    std::vector<std::string> left_out;
};

struct Ceiling {
    std::string resource;
    double iops = 0;      ///< no more
    double reached = 0;   ///< no less where this resource is busy all the time; 0: no formula says
    double mb_per_s = 0;  ///< of `iops`
    std::string formula;
    bool least = false;  ///< of its set
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
