// SPDX-License-Identifier: Apache-2.0
// Times of the array as means over the pages of a block.
#pragma once

#include <vector>

#include "sim/sim_config.h"

namespace ssdtlm {

/// Mean time in seconds. One value stands for all types of pages.
double mean_of_pages(const NandGeometry& g, const std::vector<Ps>& by_type);
/// tR and tPROG that a drive can have at best. With an SLC cache they are those of its cells, if they are shorter.
double mean_read(const SsdConfig& c);
double least_program(const SsdConfig& c);

}  // namespace ssdtlm
