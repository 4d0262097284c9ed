// SPDX-License-Identifier: Apache-2.0
// The life cycle of the controller: CC and CSTS through enable, reset and shutdown (NVMe 1.4 §7.6). This class decides
// when each step is due. ControllerWork carries out what a step does to queues and commands.
#pragma once

#include <cstdint>
#include <functional>

#include "common/tlm/agenda.h"
#include "controller/nvme/counters.h"
#include "controller/nvme/registers.h"

namespace ssdtlm {

/// What the life cycle asks of the rest of the controller.
class ControllerWork {
public:
    /// Creates the admin queues that the registers describe.
    virtual void create_admin_queues(const NvmeRegisters& registers) = 0;
    /// True when no fetch, list, admin data transfer or command in the firmware is under way.
    virtual bool idle() const = 0;
    /// While `aborts` is true, commands in the firmware that wait for room are aborted, so that idle() soon becomes
    /// true.
    virtual void abort_waits(bool aborts) = 0;
    /// Drops all queues with the commands that wait in them, and restores the default features. Called while idle().
    virtual void drop_queues() = 0;
    /// Gives the firmware a flush of everything, for a shutdown. flushed() reports its end. Called while idle().
    virtual void flush() = 0;
    /// Fetching may be allowed again.
    virtual void resume() = 0;

protected:
    ~ControllerWork() = default;
};

class ControllerState {
public:
    /// `scan_time`: see NvmeRegisters.
    ControllerState(Agenda& agenda, const NvmeConfig& config, NvmeCounters& counters, ControllerWork& work,
                    Ps scan_time = {})
        : agenda_(agenda),
          ready_time_(config.ready_time),
          counters_(counters),
          work_(work),
          registers_(config, scan_time) {}

    const NvmeRegisters& registers() const { return registers_; }
    /// Carries out a register write below the doorbells.
    void write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
        act(registers_.write(offset, bytes, value));
    }
    /// Carries out a function-level reset: the registers at once. `stopped` is called when the work of before has ended
    /// and its queues are gone, which may be within the call. Until then CSTS.RDY stays 0, also if CC.EN is set.
    void reset_function(std::function<void()> stopped);
    /// True while fetched commands are carried out and completed.
    bool serving() const { return registers_.is_serving(); }
    /// True while commands may be fetched.
    bool running() const { return registers_.is_running(); }

    /// Call it after any work has ended: a reset or a shutdown may have waited for that.
    void settle() {
        if (__builtin_expect(settling_, 0)) settle_slow();
    }
    /// The flush of a shutdown has ended. Call settle() afterwards.
    void flushed();
    /// The drive behind the controller cannot serve commands yet. CSTS.RDY stays 0 until drive_is_up().
    void drive_is_starting() { drive_is_up_ = false; }
    void drive_is_up();
    /// Sets CSTS.CFS: nothing can be reported to the host any more.
    void fatal() { registers_.fatal(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    void act(NvmeRegisters::Action action);
    void stop();
    void become_ready();
    void settle_slow();

    Agenda& agenda_;
    const Ps ready_time_;
    NvmeCounters& counters_;
    ControllerWork& work_;
    NvmeRegisters registers_;
    bool settling_ = false;  // a reset or a shutdown waits for work to end
    bool flush_wanted_ = false;
    bool flush_running_ = false;
    Agenda::Entry becomes_ready_;
    std::function<void()> stopped_;  // of a function-level reset
    bool drive_is_up_ = true;
    bool waits_for_drive_ = false;  // the controller is enabled, and ready_time_ is over
};

}  // namespace ssdtlm
