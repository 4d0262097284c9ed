// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controller/nvme/io_decode.h"

namespace ssdtlm {

inline constexpr std::uint32_t kCopyRangeDescriptorBytes = 32;

/// Call it after IoDecoder::Next::ranges of a Copy. It fills the command's source ranges and its target, in blocks of
/// the drive. Returns submit or refused.
IoDecoder::Next parse_copy(const IoDecoder& decoder, const std::uint8_t* list, NvmeCommand& command);

}  // namespace ssdtlm
