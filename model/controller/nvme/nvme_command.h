// SPDX-License-Identifier: Apache-2.0
// An I/O command as this front end keeps it, and the translation of the firmware's statuses to those of NVMe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/dma/dma_transfers.h"
#include "controller/nvme/protection/command_metadata.h"
#include "protocol/nvme.h"

namespace ssdtlm {

struct IoKind;
struct NvmeCommand;

/// Owner of a command that is not the host's, or that differs from the one that the host gave.
class OwnClient {
public:
    /// The firmware has carried out the command. It is released after the call.
    virtual void own_ended(NvmeCommand& command) = 0;

protected:
    ~OwnClient() = default;
};

/// Fields that only some commands need.
struct SpecialCommand {
    /// Destination of the data that the flash gives, or source of those that it takes.
    enum class Data : std::uint8_t {
        host,     ///< the host's memory
        nowhere,  ///< the data are read and discarded
        compare,  ///< the host's data are read too, and both are compared
        kept      ///< the vector `kept`
    };
    Data data = Data::host;
    bool differs = false;            ///< compare: the data differ
    std::vector<std::uint8_t> kept;  ///< data in the controller's memory, from the command's first byte on
    OwnClient* own = nullptr;        ///< null: the host's command
    std::uint64_t token = 0;         ///< token of that client
    std::uint32_t fuse = 0;          ///< 1 first, 2 second of a fused pair
    NvmeCommand* partner = nullptr;  ///< the other command of the pair
    std::uint32_t at = 0;            ///< copy: the source range that is being copied
    std::uint64_t target = 0;        ///< copy: next block to be written, in blocks of the drive
    std::uint32_t before = 0;        ///< verify: blocks of the drive before the part at hand,
    std::uint32_t behind = 0;        ///< and behind it
    std::vector<LbaRange> marked;    ///< write uncorrectable: blocks that were not marked before
    /// Read: its first block that was marked as uncorrectable when it began.
    static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
    std::uint64_t marked_block = kNoBlock;
    std::unique_ptr<CommandMetadata> metadata;  ///< null: the blocks have none
};

struct NvmeCommand : AddressedCommand {
    std::uint32_t nsid = 1;         ///< as the host gave it; 0: a command of the controller's own
    std::uint64_t first_block = 0;  ///< first block of its namespace; `slba` and `ranges` count from the drive's first
    std::uint64_t number = 0;       ///< in order of arrival, from 1 on
    std::uint16_t code =
        nvme::kStSuccess;          ///< SCT << 8 | SC: why it was refused, or what the firmware's status is called
    std::uint8_t shift = 0;        ///< one block of its namespace is 2^shift blocks of the drive
    bool is_special = false;       ///< `special` is in use
    bool reads_list = false;       ///< its PRP list, or its ranges, are being read
    const IoKind* kind = nullptr;  ///< row of the table; null: Read or Write, or not the host's
    SpecialCommand special;
};

/// Translates a status of the firmware. Source: NVMe 1.4 §4.6.1.2, figures 126 to 128.
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
