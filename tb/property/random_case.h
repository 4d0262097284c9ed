// SPDX-License-Identifier: Apache-2.0
// Cases drawn by RapidCheck, which makes a failing one smaller: fewer operations, smaller numbers, simpler drives.
#pragma once

#include <rapidcheck.h>

#include "property/drive_case.h"

namespace ssdtlm {

/// How often the power goes and the drive is erased: of 1,000 operations.
struct CaseMix {
    int cuts = 8;
    int most_ops = 800;
    bool serial_ata = false;
    int erasures = 1;  ///< NVMe only
};
rc::Gen<DriveCase> any_case(const CaseMix& mix);

struct Campaign {
    std::uint64_t seed = 1;
    std::uint64_t operations = 0;  ///< until so many were done,
    std::uint64_t cuts = 0;        ///< and the power went so often with commands under way
    CaseMix mix;
};
/// Cases until all that is done. Prints what was done, and the text of a case that is wrong, as small as it was made.
/// False: one was.
bool run_campaign(const Campaign& campaign);

}  // namespace ssdtlm
