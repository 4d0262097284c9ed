// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controller/nvme/io_decode.h"

namespace ssdtlm {

inline constexpr std::uint32_t kCopyRangeDescriptorBytes = 32;

/// After IoDecoder::Next::ranges of a Copy: fills the command's source ranges, and its target, as the drive counts.
/// Returns submit or refused.
IoDecoder::Next parse_copy(const Namespaces& namespaces, const std::uint8_t* list, NvmeCommand& command);

}  // namespace ssdtlm
