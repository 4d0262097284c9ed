// SPDX-License-Identifier: Apache-2.0
// The table of all parameters of the device and the run: every field of SsdConfig that a user may set, once.
#pragma once

#include <string>
#include <vector>

#include "common/config/parameter.h"
#include "common/config/parameter_docs.h"
#include "sim/sim_config.h"

namespace ssdtlm {

using SsdParameter = Parameter<SsdConfig>;

/// In the order in which they are shown.
const std::vector<SsdParameter>& ssd_parameters();
/// Index of a key; -1 when there is none.
int parameter_index(const std::string& key);
/// The TOML tables in that order, each with a sentence.
const std::vector<TableSentence>& parameter_tables();

// The parts, one per organ.
void add_general_parameters(std::vector<SsdParameter>& table);
void add_host_parameters(std::vector<SsdParameter>& table);
void add_link_parameters(std::vector<SsdParameter>& table);
void add_nvme_parameters(std::vector<SsdParameter>& table);
void add_firmware_parameters(std::vector<SsdParameter>& table);
void add_ftl_parameters(std::vector<SsdParameter>& table);
void add_back_end_parameters(std::vector<SsdParameter>& table);
void add_nand_parameters(std::vector<SsdParameter>& table);
void add_run_parameters(std::vector<SsdParameter>& table);

}  // namespace ssdtlm
