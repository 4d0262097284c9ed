// SPDX-License-Identifier: Apache-2.0
#include "adapter/scheduler_registers.h"

#include <string>

#include "common/report/error.h"
#include "controller/ports/scheduler_port.h"

namespace ssdtlm::rtl {

std::uint32_t priority_register(const std::string& policy) {
    // Four bits per class, host_read lowest; see read_first.cpp.
    if (policy == "read_first") return 0x2221100;
    if (policy == "fifo") return 0;
    throw UserError(Problem{"scheduler.policy", "the RTL scheduler has no policy '" + policy + "'",
                            "read_first or fifo", "set scheduler.implementation to \"tlm\" or \"tlm_clocked\""});
}

std::string debug_line(std::uint32_t die, std::uint32_t status) {
    const std::uint32_t waiting = status & 0x7Fu, starved = status >> 8 & 0x7Fu, next = status >> 16 & 7u;
    if (waiting == 0) return {};
    return "  die " + std::to_string(die) + ": waiting " + class_names(waiting) + "; starved " + class_names(starved) +
           "; next " + class_names(1u << next) + "\n";
}

}  // namespace ssdtlm::rtl
