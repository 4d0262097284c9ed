// SPDX-License-Identifier: Apache-2.0
// The models of the DRAM by name. A new model is one file like serial_dram.cpp and its line in the build list.
#pragma once

#include <memory>

#include "common/config/policy_registry.h"
#include "common/tlm/agenda.h"
#include "controller/dram/dram_config.h"
#include "controller/ports/dram_port.h"

namespace ssdtlm {

struct DramSetup {
    Agenda& agenda;
    const DramConfig& config;
};
/// All models that are linked into the program. dram.model names one, and [dram.<name>] has its parameters.
using DramModels = PolicyRegistry<DramPort, DramSetup>;

/// Makes the model that config.model names. Throws UserError with the nearest name when there is none. `agenda` must
/// outlive it.
std::unique_ptr<DramPort> make_dram(const DramConfig& config, Agenda& agenda);

}  // namespace ssdtlm
