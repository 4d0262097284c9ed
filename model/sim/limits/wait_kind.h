// SPDX-License-Identifier: Apache-2.0
// The waits that can limit a run, from the flash back to the host. A wait nearer to the host may be caused by one
// nearer to the flash. To add a wait, add a name here, a line in limit_sampler.cpp that detects it, and a row in
// limit_tables.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ssdtlm {

enum class WaitKind : std::uint8_t {
    look_ahead,   ///< work for an idle plane waits behind the requests that a grant looks at: share of the planes' time
    gc_pace,      ///< programs wait for a free block, and the pace of collection lets it read no more
    gc_depth,     ///< programs wait for a free block, and each victim has as many pages under way as allowed
    free_blocks,  ///< programs wait for a free block, for any reason
    map_dirty,    ///< rows wait until fewer translation pages are dirty
    flush_depth,  ///< units wait until fewer programs are under way
    read_credits,  ///< a read request of the device has its turn, and waits for a credit of the link
    read_tags,     ///< data from the host wait for a tag of the link
    buffer_room,   ///< writes wait for room in the write buffer
    fetch_window,  ///< commands wait behind the doorbell: the controller has as many of their queue as allowed
    fetch_depth,   ///< commands wait behind the doorbell: as many fetches are under way as allowed
    queue_slots,   ///< requests wait in the host: their queue is full
    block_depth,   ///< requests wait in the block layer: the drive has as many commands as it allows
    virtual_room,  ///< requests wait before the scheduler: their virtual machine has as many there as allowed
    io_scheduler,  ///< requests wait with room in the drive: the scheduler holds them back
    headers_up,    ///< the wire to the host is idle, and a write waits for a credit of a header,
    data_up,       ///< for credits of its data,
    writes_up,     ///< or for either
    headers_down,  ///< the same on the wire to the device
    data_down,
    writes_down,
    scheduler,      ///< a clocked scheduler decides
    own_time,       ///< the workload waits for a time of its own
    own_flush,      ///< queues have nothing but flushes under way: their jobs go on when these end
    slots_filled,   ///< no wait: share of the slots that are taken, of queues in use
    window_filled,  ///< no wait: the same of the fetch windows
    tags_idle,      ///< part of read_tags: nothing is on the wire to the device
    held_by_aggre,  ///< part of io_scheduler: limits of AggreBDL hold the requests back,
    held_by_seq,    ///< or limits of SeqBDL
    held_empty,     ///< part of io_scheduler: nothing is in the drive
    flash_work,     ///< no wait: share of the dies (or independent planes) that have work
    die_work,       ///< no wait: the same of the dies, whatever their planes do
    count
};
inline constexpr std::size_t kWaitKinds = static_cast<std::size_t>(WaitKind::count);
using WaitShares = std::array<double, kWaitKinds>;

}  // namespace ssdtlm
