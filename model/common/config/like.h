// SPDX-License-Identifier: Apache-2.0
// Formats quantities for messages in the unit of another quantity. So a reader who wrote GB does not have to convert
// from GiB.
#pragma once

#include <cstdint>
#include <string>

#include "common/config/quantity.h"

namespace ssdtlm {

/// Formats a value in the unit of `like` ("480GB"), or in a unit of the same family (GB, MB; GiB, MiB), if three
/// decimals are exact. Else the result is that of format_quantity().
std::string format_like(std::int64_t value, Dimension dimension, const std::string& like);

/// Rounds a size down to whole MB, or to whole MiB if `like` is of that family, and formats it.
std::string round_size_like(std::uint64_t bytes, const std::string& like);

/// Like round_size_like(), but the size is a value to copy into a file. It is rounded down to whole blocks of 4 KiB,
/// which an MB is not. A size below one block is not rounded.
std::string block_size_like(std::uint64_t bytes, const std::string& like);

}  // namespace ssdtlm
