// SPDX-License-Identifier: Apache-2.0
// The organs that every command handler works with.
#pragma once

#include <cstdint>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"
#include "common/tlm/agenda.h"
#include "controller/data/signed_blocks.h"
#include "controller/data/unit_data.h"
#include "controller/journal/journal_writer.h"
#include "controller/ports/command.h"
#include "controller/ports/command_ends.h"
#include "controller/ports/core_port.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/flash_job.h"
#include "controller/ports/host_port.h"
#include "controller/ports/map_port.h"
#include "controller/ports/media_health.h"
#include "controller/ports/slc_region.h"
#include "controller/ports/stream_choice.h"
#include "controller/read_cache/read_cache.h"
#include "controller/wait_queues/wait_queues.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

/// Sizes that turn bytes and logical blocks into mapping units.
struct Extents {
    Extents(const NandGeometry& geometry, std::uint32_t block_bytes)
        : unit_bytes(geometry.unit_bytes),
          lba_bytes(block_bytes),
          blocks_per_unit(geometry.unit_bytes / block_bytes),
          unit_of(geometry.unit_bytes),
          block_of(block_bytes) {}
    std::uint64_t first_byte(const Command& c) const { return c.slba * lba_bytes; }
    /// Number of mapping units that `bytes` (more than 0) from `begin` touch.
    std::uint32_t units(std::uint64_t begin, std::uint64_t bytes) const {
        return static_cast<std::uint32_t>(unit_of(begin + bytes - 1) - unit_of(begin)) + 1;
    }

    std::uint32_t unit_bytes;
    std::uint32_t lba_bytes;
    std::uint32_t blocks_per_unit;
    LongDivide unit_of;   ///< mapping unit of a byte
    LongDivide block_of;  ///< logical block of a byte
};

/// All that is referred to must outlive the handlers.
struct CommandServices {
    Agenda& agenda;
    CorePort& cores;
    MapPort& map;
    WriteBuffer& buffer;
    DramPort& dram;
    FlashPort& flash;
    HostPort& host;
    FlashJobs& jobs;
    WaitQueues& wait_queues;
    JournalWriter& journal;
    CommandEnds& ends;
    const FirmwareConfig& costs;
    const MediaHealth& media;
    NandGeometry geometry;
    Extents extents;
    SignedBlocks signatures;
    SlcRegion slc;
    UnitData* bytes;        ///< null: signatures stand for the data
    ReadCache* cache;       ///< null: none
    StreamChoice* streams;  ///< null: the host says which
    bool buffer_first;      ///< the map may have to be read from flash: it is not asked for what the write buffer has

    /// The bytes of user data that have to be moved.
    ByteEnables moved() const { return __builtin_expect(bytes != nullptr, 0) ? ByteEnables{} : signatures.moved(); }
};

}  // namespace ssdtlm
