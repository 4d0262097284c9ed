// SPDX-License-Identifier: Apache-2.0
// The admin commands of this controller: the one list that names them. A new one is a file with an AdminKind, and its
// name in admin_list.cpp.
#pragma once

#include <vector>

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

const std::vector<const AdminKind*>& admin_kinds();
/// Null: no such command, or not on this drive.
const AdminKind* find_admin(std::uint8_t opcode, const NvmeConfig& config, const DriveFacts& device);
/// Identify OACS of this drive.
std::uint16_t admin_oacs(const NvmeConfig& config, const DriveFacts& device);

}  // namespace ssdtlm
