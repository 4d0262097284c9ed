// SPDX-License-Identifier: Apache-2.0
// The state of the drive when a run begins: what preconditioning was asked for, and what it reached.
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
    std::string workload;  ///< workload of preconditioning; empty: none
    FtlConfig asked;
    OverwriteRounds overwrites;  ///< none for a saved drive
    WorkloadBooks played;        ///< none for a saved drive
    DriveState reached;
    std::uint32_t units_per_page = 1;
    std::uint32_t page_bytes = 0;
};

nlohmann::ordered_json drive_start_json(const DriveStart& start);
/// A sentence if overwrites should have become steady, but have not; else empty.
std::string not_steady(const DriveStart& start);

}  // namespace ssdtlm
