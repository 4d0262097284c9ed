// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ports/command.h"
#include "controller/ports/dma_port.h"
#include "protocol/ata.h"
#include "protocol/sata.h"

namespace ssdtlm {

/// Parameters of a drive with a Serial ATA port.
struct SataConfig {
    std::uint32_t lba_bytes = 512;  ///< logical sector: 512 or 4096
    std::uint8_t generation = 3;    ///< highest of its phy: 1, 2 or 3 for 1.5, 3 or 6 Gb/s
    std::uint32_t queue_depth = 32;
    Ps decode_time{1'000'000};   ///< from a command's frame to the firmware
    bool auto_activate = false;  ///< of queued writes
};

/// How a command moves its data (ACS-3, 4.5; Serial ATA 3.0, 11).
enum class SataProtocolKind : std::uint8_t { no_data, pio_in, dma_in, dma_out, queued_in, queued_out };

struct SataCommand : Command {
    /// Data that the firmware waits for.
    struct Piece {
        std::uint64_t offset = 0;
        std::uint32_t bytes = 0;
        std::uint8_t* data = nullptr;
        DmaThen then;
        ByteEnables content;
    };
    sata::RegisterH2d registers;
    SataProtocolKind protocol = SataProtocolKind::no_data;
    bool in_firmware = false;
    bool gone = false;    ///< the host will not be told of its end
    bool let_go = false;  ///< and the firmware ends it at a time of its own choice
    bool failed = false;  ///< its data did not get across the link
    bool has_phase = false;
    std::uint64_t wanted = 0;    ///< bytes of its data phase
    std::uint64_t received = 0;  ///< bytes that the host has sent
    std::vector<std::uint8_t> buffer;
    std::vector<Piece> pieces;
    Timeline own;  ///< used after `gone`: the host's timeline may belong to another command by then

    bool is_queued() const {
        return protocol == SataProtocolKind::queued_in || protocol == SataProtocolKind::queued_out;
    }
    bool writes() const { return protocol == SataProtocolKind::queued_out || protocol == SataProtocolKind::dma_out; }
};

}  // namespace ssdtlm
