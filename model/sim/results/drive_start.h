// SPDX-License-Identifier: Apache-2.0
// The state of the drive when a run begins: what was asked of preconditioning, and what it reached.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/ftl/ftl_config.h"
#include "controller/functional/workload_play.h"
#include "controller/precondition/drive_state.h"
#include "controller/precondition/overwrite_rounds.h"

namespace ssdtlm {

struct DriveStart {
    std::string from;      ///< the file of a saved drive; empty: preconditioned as `asked`
    std::string workload;  ///< played behind the state at start; empty: none
    FtlConfig asked;
    OverwriteRounds overwrites;  ///< none of a saved drive
    WorkloadBooks played;        ///< the same
    DriveState reached;
    std::uint32_t units_per_page = 1;
    std::uint32_t page_bytes = 0;
};

nlohmann::ordered_json drive_start_json(const DriveStart& start);
/// A sentence if overwrites were to go on until they are steady and did not become so; else empty.
std::string not_steady(const DriveStart& start);

}  // namespace ssdtlm
