// SPDX-License-Identifier: Apache-2.0
// The interface of a driver below the host's I/O path. A driver turns commands of the I/O path into those of the
// drive's protocol, and returns their ends. The layers above (splitting, back-pressure, the CPU's time, checks of data)
// are independent of the protocol.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

/// The facts that the drive has reported about itself when it has started.
struct DriveInfo {
    std::uint32_t queue_pairs = 0;         ///< at most as many as HostConfig asks for
    std::uint32_t queue_entries = 0;       ///< entries of each queue; its depth is one less
    std::uint32_t max_transfer_bytes = 0;  ///< most bytes of a command that both drive and driver support
    std::uint32_t lba_bytes = 0;
    std::uint64_t blocks = 0;
    bool volatile_write_cache = true;
    std::vector<std::uint64_t> borders;  ///< in bytes, ascending; no command crosses one of them
};

/// The bytes of the command that begins `done` bytes into the request: as many as a command there may carry.
inline std::uint32_t command_bytes(const DriveInfo& info, const HostRequest& request, std::uint32_t done) {
    const bool data = request.op == HostOp::read || request.op == HostOp::write;
    const std::uint64_t begin = request.offset + done;
    std::uint64_t bytes = request.bytes - done;
    if (data) bytes = std::min<std::uint64_t>(bytes, info.max_transfer_bytes);
    const auto border = std::upper_bound(info.borders.begin(), info.borders.end(), begin);
    if (border != info.borders.end()) bytes = std::min(bytes, *border - begin);
    return static_cast<std::uint32_t>(bytes);
}

/// The ends of commands that the host distinguishes.
enum class DriveStatus : std::uint8_t { ok, unrecovered_read, write_fault, read_only, other };

/// Queues of commands, numbered from 1 on. Each has tags of its own that name the commands outstanding in it.
class CommandQueues {
public:
    struct Submitted {
        std::uint16_t tag = 0;
        std::uint8_t* data = nullptr;  ///< where the host reads and writes the data; new memory has zeros
    };
    struct Ended {
        std::uint16_t tag = 0;
        DriveStatus status = DriveStatus::ok;
        std::uint32_t code = 0;  ///< for status_text()
    };
    virtual ~CommandQueues() = default;

    /// Number of queues; 0 until the drive has started for the first time.
    virtual std::uint32_t count() const = 0;
    virtual bool has_room(std::uint16_t queue) const = 0;
    /// Writes a command of at most max_transfer_bytes. A trim may use the memory of data for its own purpose.
    /// Precondition: has_room().
    virtual Submitted submit(std::uint16_t queue, const HostRequest& request) = 0;
    /// Tells the drive about all commands that were submitted to this queue.
    virtual void announce(std::uint16_t queue) = 0;
    virtual bool has_ended(std::uint16_t queue) const = 0;
    /// The tag of the next command that has ended. Precondition: has_ended().
    virtual std::uint16_t next_ended(std::uint16_t queue) const = 0;
    /// Takes the next command that has ended, and frees its tag. Precondition: has_ended().
    virtual Ended take_ended(std::uint16_t queue) = 0;
    /// Tells the drive that all ended commands of this queue were taken.
    virtual void acknowledge(std::uint16_t queue) = 0;

    virtual std::uint32_t outstanding(std::uint16_t queue) const = 0;
    /// The host's tag of the command that has `tag` in the drive. Empty: it is no command of the host's requests.
    virtual std::optional<std::uint16_t> tag_in_host(std::uint16_t /*queue*/, std::uint16_t tag) const { return tag; }
    virtual bool is_outstanding(std::uint16_t queue, std::uint16_t tag) const = 0;
    /// Frees all tags of the queue, because the drive has forgotten its commands.
    virtual void forget(std::uint16_t queue) = 0;
    virtual std::string status_text(std::uint32_t code) const = 0;
    /// Text about the state of the queue for the watchdog, which follows the text about its commands. It may be empty.
    virtual std::string dump(std::uint16_t queue) const = 0;
};

/// The life cycle of the drive. All calls return at once, and `done` is called in an event of its own. A drive that
/// misbehaves ends the run with CheckFailed.
class DriveControl {
public:
    virtual ~DriveControl() = default;
    /// Starts the drive after every power-on. `done` is called when commands may be submitted.
    virtual void start(std::function<void()> done) = 0;
    /// Shuts the drive down for good. Precondition: started, and nothing is outstanding.
    virtual void shutdown(std::function<void()> done) = 0;
    /// Shuts the drive down before a loss of power; start() may follow. Precondition: started.
    virtual void stop(std::function<void()> done) = 0;
    /// Resets the drive in any state. `stopped` is called when it has forgotten all commands and no longer accesses the
    /// host's memory. `done` is called as for start(). `shutdown_first`: a shutdown comes first.
    virtual void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) = 0;
    /// The drive has lost its power. Operations under way are given up without a call of their callbacks.
    virtual void power_lost() = 0;
    virtual const DriveInfo& info() const = 0;
    /// Returns the present step for the watchdog. It is "running" when commands may be submitted.
    virtual const char* doing() const = 0;
    /// Throws CheckFailed if a register access waits for an answer that will never come. Call it between two entries of
    /// the agenda.
    virtual void check_accesses() const {}
};

}  // namespace ssdtlm
