// SPDX-License-Identifier: Apache-2.0
// The drive's end towards its host: takes the requests of a protocol, makes commands of them, and tells the host how
// they ended. Firmware, FTL and flash know nothing of the protocol. What stands between front end and host (sockets,
// registers) is the front end's own: whoever joins it to a host asks for it by its type (SsdController::front_end_as).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "controller/ports/command.h"
#include "controller/ports/drive_facts.h"
#include "controller/ports/host_port.h"

namespace ssdtlm {

/// Since the start of the simulation, losses of power included.
struct FrontEndCounts {
    std::uint64_t ended = 0;            ///< commands carried out whose end has reached the host
    std::uint64_t unheard_at_most = 0;  ///< of ended: the host may have reset the drive before it heard of their end
    std::uint64_t bytes_written = 0;    ///< by write commands that have ended well
    std::uint64_t media_errors = 0;     ///< commands that ended so because of the flash
    std::uint64_t resets = 0;
    std::uint64_t unsafe_shutdowns = 0;  ///< losses of power without a finished shutdown
};

/// The contract:
/// - A command lives in a pool of the front end until complete() is called for it; its `index` is dense, its timeline
/// begins when the host's
///   request has reached the drive, and its blocks lie inside the drive.
/// - Between host_is_gone() or lose_power() and drive_is_up() no command is submitted. lose_power() forgets all
/// commands: none of them is
///   completed, the host is told of none. Only then bind() comes again, with a new firmware.
/// - A front end that lets the host reset it stops what waits by CommandSink::abort_waits(), see there.
/// - It posts to the agenda only objects that it owns().
class FrontEnd {
public:
    virtual ~FrontEnd() = default;

    /// Who carries out commands. At the start, and again after each loss of power.
    virtual void bind(CommandSink& firmware) = 0;
    /// Where that one completes them.
    virtual CompletionSink& completions() = 0;
    /// How it reaches their data.
    virtual HostPort& data() = 0;

    /// The host's power went, and this side's has not yet: what the host has sent is gone, and nothing reaches it any
    /// more. Precondition, here and for lose_power(): the agenda holds no entry of the front end.
    virtual void host_is_gone() = 0;
    /// The power went. `host_commands`: commands whose completion has reached the host.
    virtual void lose_power(std::uint64_t host_commands) = 0;
    /// The drive has power again and looks for its map; then it has found it, and serves the host.
    virtual void drive_is_starting() = 0;
    virtual void drive_is_up() = 0;
    /// The host has said that it stops, and the drive has done what that asks for.
    virtual bool is_shut_down() const = 0;
    /// That address is one of its objects, which may have entries in the agenda.
    virtual bool owns(const void* object) const = 0;

    virtual FrontEndCounts counts() const = 0;
    /// Every request was answered or dropped. Throws CheckFailed. At the end.
    virtual void check_books() const = 0;
    /// State for the watchdog, one fact per line.
    virtual std::string dump() const = 0;

    // --- What has an answer for a front end that has nothing of the kind ---

    /// What the drive says of its health, if the host may ask; and that it says something else now.
    virtual void bind_health(std::function<DeviceHealth()>) {}
    virtual void health_changed() {}
    /// Of its own traffic, for the counters of a result.
    virtual std::vector<std::pair<const char*, std::uint64_t>> figures() const { return {}; }
    /// The same of the drive's health, as it tells the host.
    virtual std::vector<std::pair<const char*, std::uint64_t>> health_figures() const { return {}; }
    /// Commands of the host's queue number `queue` (from 1 on) wait there, because the drive has as many of it as it
    /// takes.
    virtual bool holds_back(std::uint16_t) const { return false; }
    /// The part of that number which it has, 0 to 1.
    virtual double window_filled(std::uint16_t) const { return 0.0; }
    /// It knows of commands in host memory, and has as many reads for them under way as it makes at once.
    virtual bool fetches_wait() const { return false; }
    /// Data wait for a read of host memory that may not begin yet.
    virtual bool transfers_wait() const { return false; }
    /// Commands and data between drive and host, now.
    virtual std::uint32_t transfers() const { return 0; }
    /// Between two entries of the agenda: nobody waits whom nobody will wake. Throws CheckFailed.
    virtual void check_waiters() const {}
};

}  // namespace ssdtlm
