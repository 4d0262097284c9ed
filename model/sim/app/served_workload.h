// SPDX-License-Identifier: Apache-2.0
// `serve`: a guest's commands in the place of a run's workload, and what a configuration means for a drive whose host
// is not the model's.
#pragma once

#include <string>

#include "host_vfio/guest_service.h"
#include "sim/app/workload_source.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// Before all other sources: data are bytes, which nobody here can check.
void add_service_defaults(ConfigLoader& loader);
/// Throws UserError with all that a guest cannot have.
void check_service(const ResolvedConfig& resolved);
/// What of it is the guest's own to decide is taken out.
SsdConfig served_config(SsdConfig config);
/// One job for each queue pair that the guest may have. `commands`: those in it.
WorkloadSource guest_source(const SsdConfig& config, GuestCommands*& commands);
/// How far behind the wall the model was, and what the client did; for the results and the terminal.
std::vector<std::string> service_notes(const GuestService& service);

}  // namespace ssdtlm
