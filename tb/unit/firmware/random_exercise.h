// SPDX-License-Identifier: Apache-2.0
// Random commands on a device whose contents, timelines and books are checked: with superblocks of each kind, with
// signatures and with bytes. SSDTLM_TEST_SEED in the environment moves all seeds, for long searches.
#pragma once

#include "random_host.h"

namespace ssdtlm {

void exercise(DeviceShape shape, Mix mix, std::uint64_t seed);

}  // namespace ssdtlm
