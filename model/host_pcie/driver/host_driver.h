// SPDX-License-Identifier: Apache-2.0
// The host's side of a drive, independent of the protocol. It starts the drive, submits the requests of the workload
// (IoPath), resets the drive and cuts its power at the configured times, and shuts it down. A driver derives from it,
// and also is its DriveControl and CommandQueues. Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/tlm/agenda.h"
#include "host_block/block_layer.h"
#include "host_pcie/driver/io_path.h"
#include "host_pcie/driver/queue_plan.h"
#include "host_pcie/ports/command_queues.h"

namespace ssdtlm {

class HostDriver {
public:
    HostDriver(const HostDriver&) = delete;
    HostDriver& operator=(const HostDriver&) = delete;

    /// Begins bring-up at the agenda's present time. I/O begins when bring-up has ended. Call it once, when sockets are
    /// bound.
    void start();
    /// Submits no more commands (Ctrl-C). on_finished follows when the device has answered all commands.
    void stop_submitting();
    /// Shuts the drive down. Precondition: finished().
    void shutdown();

    /// `f` is called when bring-up has ended, before I/O begins. epoch() is then valid.
    void set_on_ready(std::function<void()> f) { on_ready_ = std::move(f); }
    /// `f` is called when the workload is done (or stopped) and all commands have completed. Its time counts from
    /// epoch(). If the run is stopped during bring-up, it follows right after on_ready.
    void set_on_finished(std::function<void(SimTime)> f) { io_.set_on_finished(std::move(f)); }
    /// Steps of a reset for an observer: it is about to begin, the drive has stopped, the drive has started again.
    enum class ResetStep { begins, stopped, started };
    /// Sets the switch of the drive's power. It is called with false to switch the power off, and with true to switch
    /// it on. In between the driver does not access the drive, and nothing that it sent before may arrive. If
    /// capacitors still supply the drive when the power should be switched on, the switch returns false, and
    /// drive_is_off() must follow.
    void set_power_switch(std::function<bool(bool on)> f) { power_switch_ = std::move(f); }
    void drive_is_off() {
        if (std::exchange(power_waits_, false)) power_returns();
    }
    /// Cuts the power now, as host.power_cut_at does. Commands in the device are cancelled, and submitted again when
    /// the drive has started again. Call it between two entries of the agenda.
    void cut_power();
    bool powered() const { return powered_; }
    /// Number of losses of power so far.
    std::uint64_t power_cuts() const { return power_cuts_; }
    void set_on_reset(std::function<void(ResetStep)> f) { on_reset_ = std::move(f); }
    void set_on_shutdown(std::function<void()> f) { on_shutdown_ = std::move(f); }

    /// The absolute time at which bring-up ended, which is time zero of the workload.
    SimTime epoch() const { return io_.epoch(); }
    bool ready() const { return io_.started(); }
    bool finished() const { return io_.finished(); }
    /// The facts that the drive has reported about itself.
    const DriveInfo& drive() const { return control_.info(); }
    /// Number of resets that have ended.
    std::uint64_t resets() const { return resets_; }
    const DriverCounters& counters() const { return io_.counters(); }
    std::uint64_t outstanding() const { return io_.outstanding(); }
    std::uint64_t backlog() const { return io_.backlog(); }
    /// See IoPath::oldest() and IoPath::times_of().
    std::optional<PendingCommand> oldest() const { return io_.oldest(); }
    std::optional<IoPath::Times> times_of(std::uint16_t queue, std::uint16_t tag) const {
        return io_.times_of(queue, tag);
    }
    bool waits_for_nothing() const { return io_.waits_for_nothing(); }
    /// The text of the first error status; empty if there was none. counters().errors counts error statuses.
    const std::string& first_error() const { return io_.first_error(); }
    const IoPath& io() const { return io_; }
    /// The block layer; null: there is none.
    const BlockLayer* block() const { return block_.get(); }
    /// Use of the contexts of the block layer so far. Empty without a block layer.
    std::vector<ContextUse> block_uses() const;
    /// Returns true if the workload has more requests: it is neither done nor stopped.
    bool taking() const { return block_ ? block_->taking() : io_.taking(); }
    /// See IoPath. A request in the block layer does not wait for a time of the workload.
    bool waits_for_time() const { return io_.waits_for_time() && (!block_ || block_->is_empty()); }
    /// The state as text for the watchdog.
    std::string state() const;
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const {
        control_.check_accesses();
        io_.check_waiters();
        // If a handler is running, the block layer is checked after it has ended.
        if (block_ && io_.started() && !io_.paused() && !io_.handles()) block_->check_waiters();
    }

protected:
    /// `control` and `commands` may be made later. `device`, `oracle` and `observer` may be null, see IoPath. All
    /// arguments must outlive the driver.
    HostDriver(Agenda& agenda, const HostConfig& config, Workload& workload, DriveControl& control,
               CommandQueues& commands, CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer);
    ~HostDriver() = default;
    QueuePlan& plan() { return plan_; }
    IoPath& io_path() { return io_; }
    /// The drive's message about a queue has arrived.
    void interrupted(std::uint16_t queue) { io_.interrupt(queue); }

private:
    void bring_up();
    void started();
    void prepare_block_layer(std::uint32_t jobs);
    void schedule_reset();
    void schedule_power_cut();
    void power_goes();
    void power_goes_now() { cut_power(); }
    void serves();
    void power_returns();
    void begin_reset();
    void report_reset(ResetStep step) {
        if (on_reset_) on_reset_(step);
    }

    Agenda& agenda_;
    const HostConfig& config_;
    IntegrityOracle* const oracle_;
    QueuePlan plan_;
    DriveControl& control_;
    const std::unique_ptr<BlockLayer> block_;  // between the workload and the I/O path; null: off
    IoPath io_;
    std::function<void()> on_ready_;
    std::function<void()> on_shutdown_;
    std::function<void(ResetStep)> on_reset_;
    std::vector<Ps> reset_at_;  // in order
    std::size_t resets_ = 0;
    Agenda::Entry next_reset_;
    bool resetting_ = false;
    std::function<bool(bool)> power_switch_;
    std::vector<Ps> power_cut_at_;  // in order
    std::size_t scheduled_cuts_ = 0;
    std::uint64_t power_cuts_ = 0;
    bool powered_ = true;
    bool power_waits_ = false;    // it should be switched on, but capacitors still supply the drive
    bool shutting_down_ = false;  // or was shut down
    bool serving_ = false;        // the drive takes commands, and is not being stopped
    bool cut_waits_ = false;      // a loss of power waits until the drive can be shut down before it
    Agenda::Entry next_cut_;
    Agenda::Entry start_;
};

}  // namespace ssdtlm
