// SPDX-License-Identifier: Apache-2.0
// The program of a page with units that the host has written.
#pragma once

#include <array>
#include <cstdint>

#include "controller/ports/program_job.h"

namespace ssdtlm {

struct HostProgram : ProgramJob {
    std::uint8_t copies = 0;  ///< units behind those of the host, which were read from the flash (block mapping)
    bool again = false;       ///< an earlier program of these units has failed
    std::array<std::uint32_t, kMaxUnitsPerPage> entry{};  ///< of the write buffer, of the host's units
    std::array<Ppa, kMaxUnitsPerPage> old{};          ///< the same: copies that must stay until the program has ended
    std::array<Ppa, kMaxUnitsPerPage> copied_from{};  ///< of the copies, in the place of unit i
};

}  // namespace ssdtlm
