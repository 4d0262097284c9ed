// SPDX-License-Identifier: Apache-2.0
// One queue pair as the I/O path sees it: what is in the device, by CID, and what waits for room. Kernel-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/containers/pool.h"
#include "common/latency/command_tracker.h"
#include "host_pcie/driver/fifo.h"
#include "host_pcie/driver/prp_builder.h"
#include "host_pcie/driver/queue_pair.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// A request of several commands.
struct SplitRequest {
    HostRequest request;
    std::uint32_t remaining = 0;
    bool ok = true;
    bool dropped = false;
};
/// The request that a command is part of; by default the command is a whole request.
using SplitHandle = Handle<SplitRequest>;

/// One command to be: a request or a part of one.
struct WaitingCommand {
    HostRequest request;
    SimTime issued{};
    SplitHandle split;
};

/// A command in the device. Two cache lines, but for the memory of PRP lists.
struct alignas(64) IoSlot {
    HostRequest request;
    SimTime issued{};
    SimTime submitted{};
    Timeline* timeline = nullptr;
    std::uint64_t token = 0;      ///< the oracle's

    SplitHandle split;
    std::uint32_t spoiled = 0;    ///< blocks at the start of the buffer that the oracle has left spoiled
    PrpPair prp;                  ///< of the buffer's first prp_bytes bytes
    std::uint32_t prp_bytes = 0;
    SlotBuffer buffer;

    /// Buffer and PRP for so many bytes.
    void make_prp(HostMemory& memory, std::uint32_t bytes, std::uint32_t page_bytes, std::uint32_t offset);
};
static_assert(offsetof(IoSlot, split) == 64 && offsetof(IoSlot, buffer.lists) <= 128);

struct IoQueue {
    explicit IoQueue(QueuePair&& p) : pair(std::move(p)) {}

    /// Grows the slots up to that of `cid`; their timelines are the tracker's.
    IoSlot& add_slot(std::uint16_t cid, CommandTracker& timelines);
    /// The commands in the device, in the order in which they were submitted.
    std::vector<std::uint16_t> in_device() const;
    /// The one that has been there for longest.
    std::optional<std::uint16_t> oldest() const;
    /// Its backlog waits for room that it has, or that nothing will make. Empty: it does not.
    std::string stuck() const;
    std::string dump() const;

    QueuePair pair;
    std::vector<IoSlot> slots;  ///< by CID, grown to the highest used
    std::uint32_t slot_count = 0;
    Fifo<WaitingCommand> backlog;  ///< empty while the queue has room, unless submission takes CPU time
    SimTime cpu_free{};
    Ps cpu_busy{};            ///< of it, up to cpu_free
    bool submitting = false;  ///< CPU is on the front of the backlog
    bool reaping = false;     ///< handler is running
    bool dirty = false;       ///< SQEs written, doorbell not
};

}  // namespace ssdtlm
