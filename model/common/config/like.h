// SPDX-License-Identifier: Apache-2.0
// Quantities for messages, in the unit of another one: a reader who wrote GB does not have to reckon in GiB.
#pragma once

#include <cstdint>
#include <string>

#include "common/config/quantity.h"

namespace ssdtlm {

/// In the unit of `like` ("480GB"), or one of its family (GB, MB; GiB, MiB), where three decimals say it; else as
/// format_quantity().
std::string format_like(std::int64_t value, Dimension dimension, const std::string& like);

/// A size rounded down to whole MB, or MiB where `like` is of that family.
std::string round_size_like(std::uint64_t bytes, const std::string& like);

/// The same as a value to copy into a file: whole blocks of 4 KiB, which an MB is not. Less than one block is bytes.
std::string block_size_like(std::uint64_t bytes, const std::string& like);

}  // namespace ssdtlm
