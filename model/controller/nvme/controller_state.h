// SPDX-License-Identifier: Apache-2.0
// The controller's life: CC and CSTS through enable, reset and shutdown (NVMe 1.4 §7.6). Knows when each step is due;
// what a step does to queues and commands is done by others, behind ControllerWork.
#pragma once

#include <cstdint>

#include "common/tlm/agenda.h"
#include "controller/nvme/counters.h"
#include "controller/nvme/registers.h"

namespace ssdtlm {

/// What the life cycle asks of the rest of the controller.
class ControllerWork {
public:
    /// Create the admin queues that the registers describe.
    virtual void create_admin_queues(const NvmeRegisters& registers) = 0;
    /// Nothing is under way: no fetch, no list, no admin data, no command in the firmware.
    virtual bool idle() const = 0;
    /// From now on (false: no more) commands in the firmware that wait for room are aborted, so that idle() comes soon.
    virtual void abort_waits(bool aborts) = 0;
    /// Forget all queues and whatever waits in them; features take their defaults. Called while idle().
    virtual void drop_queues() = 0;
    /// Hand the firmware a flush of everything, for a shutdown; flushed() reports its end. Called while idle().
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
    /// A write below the doorbells.
    void write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
        act(registers_.write(offset, bytes, value));
    }
    /// Commands that were fetched are carried out and completed.
    bool serving() const { return registers_.is_serving(); }
    /// Commands may be fetched.
    bool running() const { return registers_.is_running(); }

    /// Call after any work has ended: a reset or a shutdown may have waited for it.
    void settle() {
        if (__builtin_expect(settling_, 0)) settle_slow();
    }
    /// The flush of a shutdown has ended. settle() must follow.
    void flushed();
    /// The drive behind the controller cannot serve commands yet: until drive_is_up(), CSTS.RDY stays 0.
    void drive_is_starting() { drive_is_up_ = false; }
    void drive_is_up();
    /// Nothing can be reported to the host any more: CSTS.CFS.
    void fatal() { registers_.fatal(); }
    /// Between two entries of the agenda. Throws CheckFailed.
    void check_waiters() const;

private:
    void act(NvmeRegisters::Action action);
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
    bool drive_is_up_ = true;
    bool waits_for_drive_ = false;  // enabled, and ready_time_ is over
};

}  // namespace ssdtlm
