// SPDX-License-Identifier: Apache-2.0
// The I/O commands of this controller: the one list that names them. A new one is a file with an IoKind, and its name
// in io_list.cpp.
#pragma once

#include <array>
#include <vector>

#include "controller/nvme/io/io_kind.h"

namespace ssdtlm {

const std::vector<const IoKind*>& io_kinds();
/// Null: no such command.
const IoKind* find_io(std::uint8_t opcode);
/// Identify ONCS, as far as it is about I/O commands.
std::uint16_t io_oncs();

}  // namespace ssdtlm
