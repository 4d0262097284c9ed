// SPDX-License-Identifier: Apache-2.0
// The program of a page, as PageWriter (../page_writer) brings it to the flash.
#pragma once

#include <cstdint>

#include "common/units/units.h"
#include "controller/ports/core_port.h"
#include "controller/ports/flash_job.h"

namespace ssdtlm {

struct ProgramJob;

/// Who has pages programmed.
class ProgramOwner {
public:
    virtual ~ProgramOwner() = default;
    /// Somebody waits for this program of a lower page. It is held until the upper page of its word line is programmed
    /// (../word_lines), and with it so many programs of this owner, itself among them.
    virtual bool is_awaited(const ProgramJob&, std::uint32_t /*held*/) const { return false; }
};

struct ProgramJob : FlashJob {
    const ProgramOwner* by = nullptr;  ///< null: nobody waits for it
    CoreStep end{};                    ///< as which the step of the core is counted that hears of the program's end
    Then then;                         ///< and what comes behind it
    // For those who wait for the data: when it was formed, and when a core worked on it.
    SimTime formed{};
    SimTime core_start{};
    SimTime core_end{};
    SimTime map_at{};      ///< when the map had the entries of its units at hand
    SimTime done_start{};  ///< step of the core that hears of the end
};

}  // namespace ssdtlm
