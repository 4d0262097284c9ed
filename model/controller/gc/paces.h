// SPDX-License-Identifier: Apache-2.0
// The paces of garbage collection by name. A new pace is one file like pace_tokens.cpp and its line in the build list.
#pragma once

#include <memory>

#include "common/config/policy_registry.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ftl/superblock.h"
#include "controller/ports/gc_pace.h"

namespace ssdtlm {

struct GcPaceSetup {
    const SuperblockShape& shape;
};
/// All paces that are linked into the program. gc.pace names one, and [gc.<name>] has its parameters.
using GcPaces = PolicyRegistry<GcPace, GcPaceSetup>;

/// Makes the pace that config.gc_pace names; null for "full". Throws UserError with the nearest name when there is
/// none.
inline std::unique_ptr<GcPace> make_gc_pace(const FtlConfig& config, const SuperblockShape& shape) {
    return GcPaces::instance().make("gc.pace", config.gc_pace, {shape}, config.gc_policies);
}

}  // namespace ssdtlm
