// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/units/units.h"

namespace ssdtlm {

struct EccConfig {
    Ps decode_time{0};  ///< pipelined latency added after the data left the bus; keeps up with the bus
};

}  // namespace ssdtlm
