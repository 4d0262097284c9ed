// SPDX-License-Identifier: Apache-2.0
// The list of the I/O commands of this controller. To add one, write a file with an IoKind and add its name in
// io_list.cpp.
#pragma once

#include <array>
#include <vector>

#include "controller/nvme/io/io_kind.h"

namespace ssdtlm {

const std::vector<const IoKind*>& io_kinds();
/// Returns null if there is no such command.
const IoKind* find_io(std::uint8_t opcode);
/// Returns the bits of Identify ONCS that concern I/O commands.
std::uint16_t io_oncs();

}  // namespace ssdtlm
