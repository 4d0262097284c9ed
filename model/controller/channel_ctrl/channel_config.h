// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace ssdtlm {

struct ChannelConfig {
    std::vector<std::uint32_t> rtl_sequencer;     ///< channels whose sequences the block in RTL plays
    std::uint64_t sequencer_hertz = 400'000'000;  ///< its clock
};

}  // namespace ssdtlm
