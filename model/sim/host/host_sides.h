// SPDX-License-Identifier: Apache-2.0
// The registry of hosts by name. The configuration takes their parameters from it, and the netlist their makers.
// Kernel-free.
#pragma once

#include "common/config/policy_registry.h"

namespace ssdtlm {

class HostSide;
struct HostSetup;

/// All hosts that are linked into the program, by the name of their front end (frontend.kind). [host.<name>] has the
/// parameters of one.
using HostSides = PolicyRegistry<HostSide, HostSetup>;

}  // namespace ssdtlm
