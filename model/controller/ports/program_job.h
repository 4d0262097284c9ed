// SPDX-License-Identifier: Apache-2.0
// The program of a page, as PageWriter (../page_writer) brings it to the flash.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "controller/ports/core_port.h"
#include "controller/ports/flash_job.h"

namespace ssdtlm {

struct ProgramJob;

/// A part of the firmware that has pages programmed.
class ProgramOwner {
public:
    virtual ~ProgramOwner() = default;
    /// True: somebody waits for this program of a lower page. The program is held until the upper page of its word line
    /// is programmed (../word_lines). `held`: programs of this owner that are held, this one included.
    virtual bool is_awaited(const ProgramJob&, std::uint32_t /*held*/) const { return false; }
};

struct ProgramJob : FlashJob {
    const ProgramOwner* by = nullptr;  ///< null: nobody waits for it
    CoreStep end{};                    ///< what the step of the core counts as that handles the end of the program
    Then then;                         ///< called after that step
    // Commands that wait for the data are charged by these times: when the program was formed, and when a core worked
    // on it.
    SimTime formed{};
    SimTime core_start{};
    SimTime core_end{};
    SimTime map_at{};      ///< when the map had the entries of its units at hand
    SimTime done_start{};  ///< begin of the step that handles the end of the program
};

}  // namespace ssdtlm
