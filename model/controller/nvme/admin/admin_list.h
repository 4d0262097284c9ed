// SPDX-License-Identifier: Apache-2.0
// The list of the admin commands of this controller. To add one, write a file with an AdminKind and add its name in
// admin_list.cpp.
#pragma once

#include <vector>

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

const std::vector<const AdminKind*>& admin_kinds();
/// Returns null if there is no such command on this drive.
const AdminKind* find_admin(std::uint8_t opcode, const NvmeConfig& config, const DriveFacts& device);
/// Identify OACS of this drive.
std::uint16_t admin_oacs(const NvmeConfig& config, const DriveFacts& device);

}  // namespace ssdtlm
