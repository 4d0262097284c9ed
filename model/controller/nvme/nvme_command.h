// SPDX-License-Identifier: Apache-2.0
// An I/O command as this front end keeps it, and the table from the firmware's words to NVMe's status codes.
#pragma once

#include <cstdint>

#include "controller/dma/dma_transfers.h"
#include "protocol/nvme.h"

namespace ssdtlm {

struct NvmeCommand : AddressedCommand {
    std::uint32_t nsid = 1;         ///< as the host said; 0: the controller's own
    std::uint64_t first_block = 0;  ///< of its namespace; `slba` and `ranges` count from the drive's first
    std::uint16_t code =
        nvme::kStSuccess;  ///< SCT << 8 | SC: why it was refused, or what the firmware's status is called
};

/// Source: NVMe 1.4 §4.6.1.2, figures 126 to 128.
constexpr std::uint16_t nvme_status(CommandStatus status) {
    switch (status) {
        case CommandStatus::success:
            return nvme::kStSuccess;
        case CommandStatus::not_possible:
            return nvme::kStInvalidField;
        case CommandStatus::read_only:
            return nvme::kStReadOnlyRange;
        case CommandStatus::write_fault:
            return nvme::kStWriteFault;
        case CommandStatus::unrecovered_read:
            return nvme::kStUnrecoveredRead;
        case CommandStatus::transfer_error:
            return nvme::kStDataTransferError;
        case CommandStatus::aborted:
            return nvme::kStAbortRequested;
    }
    return nvme::kStInternalError;
}

}  // namespace ssdtlm
