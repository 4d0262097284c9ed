// SPDX-License-Identifier: Apache-2.0
// Decides whether a run stands still, by the age of the oldest command and by what that command waits for. Kernel-free:
// its caller shows it the device a few times per `patience` of simulated time, and gets an answer in words.
//
// A device that works is not stalled, however long a command takes. It works if an array, bus, link or core is in use,
// or if any work has ended since the last look. A run is given up if
// - nothing has happened for `patience`, and the oldest command is at least as old;
// - the flash has work, but has done none of it for `patience`, and the oldest command is at least as old;
// - the oldest command was left behind: the flash had no work for `patience`, and four times as many commands have
//   completed meanwhile as fit into all queues;
// - garbage collection makes no progress: while the oldest command waited, it has moved more pages than the device has,
//   and no page was programmed for the host;
// - the workload waits for a completion with nothing outstanding;
// - the workload has ended, nothing is under way, and the controller has not shut down.
// It does not see a command that is lost while the flash works for others. The end of the workload finds such a
// command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/units/units.h"
#include "host_pcie/driver/io_path.h"

namespace ssdtlm {

class Watchdog {
public:
    struct Limits {
        Ps patience{};                  ///< must be positive
        std::uint64_t queue_slots = 1;  ///< commands that fit into all queues
        std::uint64_t device_pages = 1;
    };
    /// The device at one moment. Counts never decrease.
    struct Sight {
        SimTime now{};
        std::optional<PendingCommand> oldest;
        std::uint64_t outstanding = 0;
        bool workload_waits_for_nothing = false;
        bool ends_in_nothing = false;  ///< the workload has ended, and this look is the only entry of the agenda
        std::uint64_t host_work = 0;   ///< requests taken, commands written and completed
        std::uint64_t completed = 0;   ///< commands
        Ps link_busy{};                ///< sum of both directions, up to now
        std::uint64_t flash_work = 0;  ///< number of sequences and pages
        std::uint64_t host_pages = 0;  ///< programmed for the host
        std::uint64_t gc_pages = 0;    ///< programmed by garbage collection
        bool flash_held = false;       ///< a die is in its array, or a bus in use
        bool others_held = false;      ///< a core or the DRAM port is in use
        bool flash_idle = true;        ///< no work waits or runs in the flash
    };

    explicit Watchdog(const Limits& limits) : limits_(limits) {}

    /// The time until the next look.
    Ps interval() const { return limits_.patience / 4; }
    /// Returns the reason why the run is given up; empty if it goes on. Times of looks must not decrease.
    std::string look(const Sight& sight);

private:
    /// A command that has been the oldest for some time, and the counts when it became so.
    struct Followed {
        PendingCommand command;
        std::uint64_t completed = 0;
        std::uint64_t host_pages = 0;
        std::uint64_t gc_pages = 0;
    };
    void follow(const Sight& s);
    std::string describe(const Sight& s) const;

    const Limits limits_;
    bool looked_ = false;
    Sight last_;
    SimTime active_{};             ///< time of the last look that saw work
    SimTime flash_active_{};       ///< time of the last look that saw work of the flash
    SimTime flash_waits_since_{};  ///< the last look at which it worked or had nothing to do
    SimTime waits_since_ = kNever;
    std::optional<Followed> followed_;
    std::uint64_t completed_when_flash_ended_ = 0;
};

}  // namespace ssdtlm
