// SPDX-License-Identifier: Apache-2.0
// The registers of the RTL scheduler (rtl/scheduler/scheduler_csr.sv) as the adapter uses them.
#pragma once

#include <cstdint>
#include <string>

namespace ssdtlm::rtl {

/// Byte addresses.
namespace csr {
inline constexpr std::uint16_t kId = 0x000, kControl = 0x010, kStarvationLimit = 0x014, kPriority = 0x018,
                               kPlanes = 0x01C, kDebugSelect = 0x020, kDebugStatus = 0x024, kLookAhead = 0x028,
                               kCounters = 0x100;
inline constexpr std::uint32_t kIdValue = 0x53434844;  // "SCHD"
}  // namespace csr

/// The PRIORITY register for a policy; UserError when the block cannot do it.
std::uint32_t priority_register(const std::string& policy);
/// A line of SchedulerCore::dump() from the DEBUG_STATUS register; empty when nothing waits.
std::string debug_line(std::uint32_t die, std::uint32_t status);

}  // namespace ssdtlm::rtl
