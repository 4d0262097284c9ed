// SPDX-License-Identifier: Apache-2.0
// The log pages of this controller: the one list that names them. A new one is a function that writes the page, and a
// row in log_list.cpp.
#pragma once

#include <vector>

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

struct LogKind {
    std::uint8_t lid;
    const char* name;
    /// Status; the whole page.
    std::uint16_t (*write)(AdminContext&, const nvme::Sqe&, std::vector<std::uint8_t>& page);
    void (*was_read)(AdminContext&) = nullptr;  ///< with RAE = 0; null: nothing changes by that
};

const std::vector<LogKind>& log_kinds();
/// Null: there is no such page.
const LogKind* find_log(std::uint8_t lid);

}  // namespace ssdtlm
