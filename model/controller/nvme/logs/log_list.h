// SPDX-License-Identifier: Apache-2.0
// The list of the log pages of this controller. To add one, write a function that fills the page and add a row in
// log_list.cpp.
#pragma once

#include <vector>

#include "controller/nvme/admin/admin_kind.h"

namespace ssdtlm {

struct LogKind {
    std::uint8_t lid;
    const char* name;
    /// Returns the status, and writes the whole page.
    std::uint16_t (*write)(AdminContext&, const nvme::Sqe&, std::vector<std::uint8_t>& page);
    void (*was_read)(AdminContext&) = nullptr;  ///< called after a read with RAE = 0; null: the read changes nothing
};

const std::vector<LogKind>& log_kinds();
/// Returns null if there is no such page.
const LogKind* find_log(std::uint8_t lid);

}  // namespace ssdtlm
