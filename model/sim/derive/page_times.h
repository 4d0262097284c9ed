// SPDX-License-Identifier: Apache-2.0
// Times of the flash array, as means over the pages of a block.
#pragma once

#include <vector>

#include "sim/sim_config.h"

namespace ssdtlm {

/// The mean time in seconds. `by_type`: one time for each type of page, or one for all types.
double mean_of_pages(const NandGeometry& g, const std::vector<Ps>& by_type);
/// The mean tR and the least tPROG in seconds. With an SLC cache they are those of its cells, if they are shorter.
double mean_read(const SsdConfig& c);
double least_program(const SsdConfig& c);

}  // namespace ssdtlm
