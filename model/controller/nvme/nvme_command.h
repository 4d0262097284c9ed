// SPDX-License-Identifier: Apache-2.0
// An I/O command as this front end keeps it, and the table from the firmware's words to NVMe's status codes.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/dma/dma_transfers.h"
#include "protocol/nvme.h"

namespace ssdtlm {

struct IoKind;
struct NvmeCommand;

/// Who has given the firmware a command that is not the host's, or not as the host gave it.
class OwnClient {
public:
    /// The firmware has carried it out. It is released after the call.
    virtual void own_ended(NvmeCommand& command) = 0;

protected:
    ~OwnClient() = default;
};

/// What only some commands have.
struct SpecialCommand {
    /// Where the data that the flash gives go, or where those that it takes come from.
    enum class Data : std::uint8_t {
        host,     ///< its memory
        nowhere,  ///< they are read, and that is all
        compare,  ///< the host's are read too, and the two are compared
        kept      ///< `kept`
    };
    Data data = Data::host;
    bool differs = false;            ///< compare: they do
    std::vector<std::uint8_t> kept;  ///< in the controller's memory, from the command's first byte on
    OwnClient* own = nullptr;        ///< null: the host's command
    std::uint64_t token = 0;         ///< of that client
    std::uint32_t fuse = 0;          ///< 1 first, 2 second of a fused pair
    NvmeCommand* partner = nullptr;  ///< the other one
    std::uint32_t at = 0;            ///< copy: the source range that is being copied
    std::uint64_t target = 0;        ///< copy: where the next block goes, as the drive counts
    std::vector<LbaRange> marked;    ///< write uncorrectable: what was not marked before
};

struct NvmeCommand : AddressedCommand {
    std::uint32_t nsid = 1;         ///< as the host said; 0: the controller's own
    std::uint64_t first_block = 0;  ///< of its namespace; `slba` and `ranges` count from the drive's first
    std::uint64_t number = 0;       ///< in the order of their arrival, from 1 on
    std::uint16_t code =
        nvme::kStSuccess;          ///< SCT << 8 | SC: why it was refused, or what the firmware's status is called
    std::uint8_t shift = 0;        ///< one block of its namespace is 2^shift of the drive's
    bool is_special = false;       ///< `special` has something to say
    bool reads_list = false;       ///< its PRP list, or its ranges, are on their way
    const IoKind* kind = nullptr;  ///< in the table; null: Read or Write, or not the host's
    SpecialCommand special;
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
