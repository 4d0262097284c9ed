// SPDX-License-Identifier: Apache-2.0
// The choices of write streams by name. A new choice is one file like multi_hash.cpp and its line in the build list.
#pragma once

#include <memory>

#include "common/config/policy_registry.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ports/stream_choice.h"

namespace ssdtlm {

struct StreamChoiceSetup {
    std::uint64_t logical_units = 0;
    std::uint32_t streams = 0;  ///< beside 0; more than 0
};
/// All choices that are linked into the program. ftl.streams_by names one, and [ftl.<name>] has its parameters.
using StreamChoices = PolicyRegistry<StreamChoice, StreamChoiceSetup>;

/// Makes the choice that config.streams_by names; null for "host". Throws UserError with the nearest name when there is
/// none.
inline std::unique_ptr<StreamChoice> make_stream_choice(const FtlConfig& config, std::uint64_t logical_units) {
    return StreamChoices::instance().make("ftl.streams_by", config.streams_by, {logical_units, config.stream_frontiers},
                                          config.stream_policies);
}

}  // namespace ssdtlm
