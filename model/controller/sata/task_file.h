// SPDX-License-Identifier: Apache-2.0
// Decodes what a Register FIS asks for, and encodes the end of a command in registers. It has no state.
#pragma once

#include <cstdint>

#include "controller/sata/sata_command.h"

namespace ssdtlm {

/// Values of the status and error registers at the end of a command.
struct AtaEnd {
    std::uint8_t status = ata::kStatusGood;
    std::uint8_t error = 0;
    bool is_error() const { return error != 0; }
};
inline constexpr AtaEnd kAtaAborted{ata::kStatusError, ata::kErrorAbrt};
inline constexpr AtaEnd kAtaNotFound{ata::kStatusError, ata::kErrorIdnf};
inline constexpr AtaEnd kAtaInterface{ata::kStatusError, ata::kErrorIcrc | ata::kErrorAbrt};

/// Translates the firmware's statuses to ATA's.
AtaEnd ata_end(CommandStatus status);

/// How a command is carried out.
enum class AtaAction : std::uint8_t {
    refuse,        ///< with DecodedCommand::end
    to_firmware,   ///< op, slba, blocks, bytes, fua, ends_work are set
    fetch_ranges,  ///< DATA SET MANAGEMENT: its ranges must be read first
    identify,      ///< a page for the host, as the next two actions are
    smart_data,
    read_log,
    smart_status,  ///< answers in registers, as the next one
    power_mode,
    set_features,
    smart_enable  ///< or disable
};
struct DecodedCommand {
    AtaAction action = AtaAction::refuse;
    AtaEnd end;
};

bool is_queued_command(std::uint8_t opcode);

class TaskFileDecoder {
public:
    TaskFileDecoder(const SataConfig& config, std::uint64_t drive_bytes)
        : lba_bytes_(config.lba_bytes), queue_depth_(config.queue_depth), sectors_(drive_bytes / config.lba_bytes) {}

    std::uint64_t sectors() const { return sectors_; }
    /// Fills in the fields that the registers of `c` give. All other fields must be as in a new command.
    DecodedCommand decode(SataCommand& c) const;
    /// Copies the entries of DATA SET MANAGEMENT from c.buffer to c.ranges.
    AtaEnd parse_ranges(SataCommand& c) const;

private:
    DecodedCommand access(SataCommand& c, IoOp op, SataProtocolKind protocol, std::uint64_t lba,
                          std::uint32_t sectors) const;
    DecodedCommand queued(SataCommand& c) const;
    DecodedCommand smart(SataCommand& c) const;

    std::uint32_t lba_bytes_;
    std::uint32_t queue_depth_;
    std::uint64_t sectors_;
};

}  // namespace ssdtlm
