// SPDX-License-Identifier: Apache-2.0
// Translates a status of NVMe for code that is independent of the protocol.
#pragma once

#include <cstdint>

#include "host_pcie/ports/command_queues.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// `code`: SCT << 8 | SC.
constexpr DriveStatus drive_status_of(std::uint16_t code) {
    switch (code) {
        case nvme::kStSuccess:
            return DriveStatus::ok;
        case nvme::kStUnrecoveredRead:
            return DriveStatus::unrecovered_read;
        case nvme::kStWriteFault:
            return DriveStatus::write_fault;
        case nvme::kStReadOnlyRange:
            return DriveStatus::read_only;
        default:
            return DriveStatus::other;
    }
}

}  // namespace ssdtlm
