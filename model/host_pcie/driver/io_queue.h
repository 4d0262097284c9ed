// SPDX-License-Identifier: Apache-2.0
// One queue of the I/O path: the commands in the device, by tag, and the requests that wait for room. Kernel-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/containers/pool.h"
#include "common/latency/command_tracker.h"
#include "host_pcie/driver/fifo.h"
#include "host_pcie/ports/command_queues.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// A request that became several commands.
struct SplitRequest {
    HostRequest request;
    std::uint32_t remaining = 0;
    bool ok = true;
    bool dropped = false;
};
/// The request that a command is part of. By default the command is a whole request.
using SplitHandle = Handle<SplitRequest>;

/// A command that waits to be written: a request, or a part of one.
struct WaitingCommand {
    HostRequest request;
    SimTime issued{};
    SplitHandle split;
};

/// A command in the device. It takes two cache lines.
struct alignas(64) IoSlot {
    HostRequest request;
    SimTime issued{};
    SimTime submitted{};
    Timeline* timeline = nullptr;
    std::uint64_t token = 0;  ///< for the integrity oracle

    SplitHandle split;
    std::uint8_t* data = nullptr;  ///< the driver's memory for the command's data
    std::uint32_t spoiled = 0;     ///< blocks at its start that the oracle has left spoiled
};
static_assert(offsetof(IoSlot, split) == 64 && sizeof(IoSlot) == 128);

struct IoQueue {
    IoQueue(CommandQueues& of, std::uint16_t n) : commands(&of), number(n) {}

    bool has_room() const { return commands->has_room(number); }
    std::uint32_t outstanding() const { return commands->outstanding(number); }
    /// Adds slots up to that of `tag`. Their timelines belong to the tracker.
    IoSlot& add_slot(std::uint16_t tag, CommandTracker& timelines);
    /// The commands in the device, in the order in which they were submitted.
    std::vector<std::uint16_t> in_device() const;
    /// The tag of the command that has been in the device for the longest time.
    std::optional<std::uint16_t> oldest() const;
    /// True: commands are outstanding, all of them flushes, and no request waits behind them. It looks at every slot.
    bool only_flushes() const;
    /// Says why the backlog waits although there is room, or although nothing will make room. Empty: it does not wait
    /// so.
    std::string stuck() const;
    std::string dump() const;

    CommandQueues* commands;
    std::uint16_t number;
    std::vector<IoSlot> slots;  ///< by tag, up to the highest used one
    std::uint32_t slot_count = 0;
    Fifo<WaitingCommand> backlog;  ///< empty while the queue has room, unless submission takes CPU time
    bool submitting = false;       ///< the CPU works on the front of the backlog
    bool reaping = false;          ///< the handler is running
    bool dirty = false;            ///< commands were written, but not announced
};

}  // namespace ssdtlm
