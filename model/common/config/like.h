// SPDX-License-Identifier: Apache-2.0
// Quantities for messages, in the unit of another quantity: a reader who wrote GB does not have to convert from GiB.
#pragma once

#include <cstdint>
#include <string>

#include "common/config/quantity.h"

namespace ssdtlm {

/// Formats a value in the unit of `like` ("480GB"), or one of its family (GB, MB; GiB, MiB), if three decimals are
/// exact; else as format_quantity().
std::string format_like(std::int64_t value, Dimension dimension, const std::string& like);

/// Rounds a size down to whole MB, or to MiB where `like` is of that family.
std::string round_size_like(std::uint64_t bytes, const std::string& like);

/// As round_size_like(), as a value to copy into a file: whole blocks of 4 KiB, which an MB is not. A size below one
/// block is in bytes.
std::string block_size_like(std::uint64_t bytes, const std::string& like);

}  // namespace ssdtlm
