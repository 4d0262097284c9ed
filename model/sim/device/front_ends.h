// SPDX-License-Identifier: Apache-2.0
// The front ends by name. A new front end is a class that fulfils controller/ports/front_end.h. A file like
// nvme_kind.cpp registers it, in any program that links the model.
#pragma once

#include "common/config/policy_registry.h"
#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "controller/ports/front_end.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Arguments for making a front end. Agenda and stages outlive it; the others are copied.
struct FrontEndSetup {
    Agenda& agenda;
    CommandTracker& stages;  ///< timelines of the commands, for observers
    const DeviceConfig& config;
    const DriveFacts& drive;
    DataMode data;
};
/// All front ends that are linked into the program. frontend.kind names one, and [frontend.<name>] has its parameters.
using FrontEnds = PolicyRegistry<FrontEnd, FrontEndSetup>;

}  // namespace ssdtlm
