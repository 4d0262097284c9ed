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
    std::array<std::uint32_t, kMaxUnitsPerPage> entry{};  ///< write buffer's entry of unit i of the host
    std::array<Ppa, kMaxUnitsPerPage> old{};              ///< copy of unit i that must stay until the program has ended
    std::array<Ppa, kMaxUnitsPerPage> copied_from{};      ///< old place of unit i, which is one of the copies
};

}  // namespace ssdtlm
