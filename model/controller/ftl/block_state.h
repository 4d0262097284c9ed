// SPDX-License-Identifier: Apache-2.0
// The states of a superblock's life (block_manager.h), what the pages written into one have in common: its stream; and
// its record.
#pragma once

#include <cstdint>

#include "controller/ftl/superblock.h"

namespace ssdtlm {

enum class BlockState : std::uint8_t {
    free,
    open_host,   ///< takes host pages
    open_gc,     ///< takes pages moved by GC
    open_cold,   ///< takes moved data that hardly change: they stay apart from others
    open_map,    ///< takes translation pages
    full,        ///< all pages handed out, some still being programmed
    sealed,      ///< all pages programmed: a GC candidate
    victim,      ///< being emptied, or waiting for its erase
    failed,      ///< a program in it has failed: takes no more pages, waits to be emptied
    retired,     ///< never used again
    spare,       ///< takes the place of one that fails
    set_apart,   ///< for checkpoints of the map
    own_free,    ///< of a feature's partition (allocation/host_partition.h), erased
    own_open,    ///< of a partition, takes host pages
    own_sealed,  ///< of a partition, all its pages programmed: its feature knows when it is emptied
    placed  ///< of a mapping by blocks (mapping/block_placement.h): a data block, or a log block that takes no more
            ///< pages
};
const char* name_of(BlockState state);

inline constexpr std::uint8_t kHostStream = 0, kGcStream = 1, kColdStream = 2, kMapStream = 3, kSetApartStream = 4;
/// Streams of features with superblocks of their own (FeatureShare::stream).
inline constexpr std::uint8_t kFirstOwnStream = 5, kLastOwnStream = 15;
/// Streams from here on are the host's write streams that have superblocks of their own, and what GC moves of them. All
/// others share kHostStream and kGcStream.
inline constexpr std::uint8_t kNamedHostStreams = 16, kNamedGcStreams = 128, kMostNamedStreams = 64;
constexpr std::uint32_t host_stream_of(std::uint8_t of_block) {
    return of_block < kNamedHostStreams ? 0
           : of_block < kNamedGcStreams ? of_block - kNamedHostStreams + 1u
                                        : of_block - kNamedGcStreams + 1u;
}

/// State of a superblock of this stream when all its programs have ended.
constexpr BlockState sealed_state_of(std::uint8_t stream) {
    return stream >= kFirstOwnStream && stream <= kLastOwnStream ? BlockState::own_sealed : BlockState::sealed;
}

struct BlockRecord {
    std::uint32_t valid = 0;          ///< units in use
    std::uint32_t write_pointer = 0;  ///< pages handed out
    std::uint32_t programs = 0;       ///< of those, still being programmed
    std::uint32_t superseded = 0;     ///< units in it whose newer copy is being programmed: they are needed until then
    SuperblockId next_free = kNoSuperblock;
    BlockState state = BlockState::free;
    bool bad = false;  ///< a program or erase in it has failed, or the factory has marked a block of it
    std::uint8_t stream = kHostStream;  ///< of what was written into it
    bool cut = false;  ///< sealed before all of its pages were programmed: the power was lost, or as close_gc() says
};
static_assert(sizeof(BlockRecord) == 24);

}  // namespace ssdtlm
