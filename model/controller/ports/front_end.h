// SPDX-License-Identifier: Apache-2.0
// The drive's end towards its host: it takes the requests of a protocol, makes commands of them, and reports their ends
// to the host. Firmware, FTL and flash are independent of the protocol. The front end owns its sockets and registers.
// Code that connects it to a host asks for it by its type (SsdController::front_end_as).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ports/command.h"
#include "controller/ports/drive_facts.h"
#include "controller/ports/host_port.h"

namespace ssdtlm {

class Snapshot;

/// Counts since the start of the simulation. They go on across losses of power.
struct FrontEndCounts {
    std::uint64_t ended = 0;            ///< commands carried out whose end has reached the host
    std::uint64_t unheard_at_most = 0;  ///< of ended: the host may have reset the drive before it heard of their end
    std::uint64_t bytes_written = 0;    ///< by write commands that have ended well
    std::uint64_t media_errors = 0;     ///< commands that failed because of the flash
    std::uint64_t resets = 0;
    std::uint64_t unsafe_shutdowns = 0;  ///< losses of power without a finished shutdown
};

/// The contract:
/// - A command lives in a pool of the front end until complete() is called for it. Its `index` is dense. Its timeline
///   begins when the host's request has reached the drive. Its blocks lie inside the drive.
/// - No command is submitted from host_is_gone() or lose_power() until drive_is_up(). lose_power() forgets all
///   commands: none of them is completed, and the host hears of none. bind() is called again, with a new firmware, only
///   after lose_power().
/// - A front end whose host can reset it stops waiting commands by CommandSink::abort_waits().
/// - It posts to the agenda only objects that it owns().
class FrontEnd {
public:
    virtual ~FrontEnd() = default;

    /// Sets the firmware that carries out commands. Called at the start and again after each loss of power.
    virtual void bind(CommandSink& firmware) = 0;
    /// Where the firmware completes the commands.
    virtual CompletionSink& completions() = 0;
    /// How the firmware reaches the data of commands.
    virtual HostPort& data() = 0;

    /// The host has lost power, and the drive will lose it soon. Requests of the host are lost, and nothing reaches it
    /// any more. Precondition, here and for lose_power(): the agenda holds no entry of the front end.
    virtual void host_is_gone() = 0;
    /// The drive loses its power. `host_commands`: commands whose completion has reached the host.
    virtual void lose_power(std::uint64_t host_commands) = 0;
    /// drive_is_starting(): the drive has power again and looks for its map. drive_is_up(): it has found the map and
    /// serves the host.
    virtual void drive_is_starting() = 0;
    virtual void drive_is_up() = 0;
    /// True when the host has announced a shutdown and the drive has done what a shutdown asks for.
    virtual bool is_shut_down() const = 0;
    /// True when the address is that of one of its objects that may have entries in the agenda.
    virtual bool owns(const void* object) const = 0;

    virtual FrontEndCounts counts() const = 0;
    /// Called at the end of a run. Throws CheckFailed if a request was neither answered nor dropped.
    virtual void check_books() const = 0;
    /// State for the watchdog, one fact per line.
    virtual std::string dump() const = 0;

    // --- Functions with a default for a front end that has nothing of the kind ---

    /// Reads or writes what a saved drive has of the front end: what it keeps without power. Nothing is under way.
    virtual void state(Snapshot&) {}
    /// False: a saved drive has brought namespaces, or a state of them, that are not those of the configuration.
    virtual bool is_as_configured() const { return true; }
    /// bind_health() gives the function that tells the drive's health. health_changed() says that its result is
    /// different now.
    virtual void bind_health(std::function<DeviceHealth()>) {}
    virtual void health_changed() {}
    /// Counters of its own traffic for the results, by name.
    virtual std::vector<std::pair<const char*, std::uint64_t>> figures() const { return {}; }
    /// Counters of the drive's health as the host sees them, by name.
    virtual std::vector<std::pair<const char*, std::uint64_t>> health_figures() const { return {}; }
    /// True when commands of the host's queue `queue` (from 1 on) wait in the queue, because the drive already holds as
    /// many of that queue as it takes.
    virtual bool holds_back(std::uint16_t) const { return false; }
    /// How full the drive's window for that queue is, 0 to 1.
    virtual double window_filled(std::uint16_t) const { return 0.0; }
    /// True when it knows of commands in host memory, but already has its largest number of fetches under way.
    virtual bool fetches_wait() const { return false; }
    /// True when data wait for a read of host memory that may not begin yet.
    virtual bool transfers_wait() const { return false; }
    /// Commands and data that are now on their way between drive and host.
    virtual std::uint32_t transfers() const { return 0; }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    virtual void check_waiters() const {}
};

}  // namespace ssdtlm
