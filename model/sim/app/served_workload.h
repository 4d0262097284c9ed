// SPDX-License-Identifier: Apache-2.0
// `serve`: the commands of a guest in place of a workload, and the configuration of a drive whose host is a guest.
#pragma once

#include <string>

#include "host_vfio/guest_service.h"
#include "sim/app/workload_source.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Adds defaults before all other sources: data are bytes, and integrity is not checked, because only the guest knows
/// the data.
void add_service_defaults(ConfigLoader& loader);
/// Throws UserError with all settings that are impossible with a guest.
void check_service(const ResolvedConfig& resolved);
/// Returns the configuration without the settings that the guest makes itself.
SsdConfig served_config(SsdConfig config);
/// Returns a workload with one job for each queue pair that the guest may have. `commands`: set to the part that takes
/// the guest's commands.
WorkloadSource guest_source(const SsdConfig& config, GuestCommands*& commands);
/// Notes for the results and the terminal: how far the model was behind the wall clock, and what the client did.
std::vector<std::string> service_notes(const GuestService& service);

}  // namespace ssdtlm
