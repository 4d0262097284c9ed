// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ssdtlm {

/// When the missing rest of a partly written unit is read from the flash.
enum class RestReads : std::uint8_t {
    at_write,       ///< at once
    at_write_back,  ///< when it has to go to the flash, unless writes have brought the rest
    never           ///< as if the host had written all of it
};

}  // namespace ssdtlm
