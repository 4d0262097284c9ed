// SPDX-License-Identifier: Apache-2.0
// All I/O schedulers that are linked into the program. block.scheduler names one, and [block.<name>] has its
// parameters.
#pragma once

#include <memory>
#include <string>

#include "common/config/policy_registry.h"
#include "host_block/ports/io_scheduler.h"

namespace ssdtlm {

using IoSchedulers = PolicyRegistry<IoScheduler, IoSchedulerSetup>;

/// Makes the scheduler of this name. Throws UserError about block.scheduler when no scheduler has it.
std::unique_ptr<IoScheduler> make_io_scheduler(const std::string& name, const IoSchedulerSetup& setup,
                                               const PolicyTable& table = {});

}  // namespace ssdtlm
