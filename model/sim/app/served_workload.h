// SPDX-License-Identifier: Apache-2.0
// `serve`: a guest's commands in place of a run's workload, and what a configuration means for a drive whose host is
// not the model's.
#pragma once

#include <string>

#include "host_vfio/guest_service.h"
#include "sim/app/workload_source.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Adds defaults before all other sources: data are bytes, which nobody here can check.
void add_service_defaults(ConfigLoader& loader);
/// Throws UserError with all settings that a guest cannot have.
void check_service(const ResolvedConfig& resolved);
/// The configuration without what the guest decides itself.
SsdConfig served_config(SsdConfig config);
/// A workload with one job for each queue pair that the guest may have. `commands`: the guest's commands in it.
WorkloadSource guest_source(const SsdConfig& config, GuestCommands*& commands);
/// Notes for the results and the terminal: how far the model was behind the wall clock, and what the client did.
std::vector<std::string> service_notes(const GuestService& service);

}  // namespace ssdtlm
