// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/host_driver.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
std::unique_ptr<BlockLayer> block_layer(const HostConfig& config, Workload& workload, CompletionObserver* observer) {
    if (!config.block.on()) return nullptr;
    return std::make_unique<BlockLayer>(config.block, workload, observer, config.tenants != Tenants::one);
}
}  // namespace

HostDriver::HostDriver(Agenda& agenda, const HostConfig& config, Workload& workload, DriveControl& control,
                       CommandQueues& commands, CommandTracker* device, IntegrityOracle* oracle,
                       CompletionObserver* observer)
    : agenda_(agenda),
      config_(config),
      oracle_(oracle),
      plan_(config, workload),
      control_(control),
      block_(block_layer(config, workload, observer)),
      io_(agenda, config, plan_, commands, block_ ? *block_ : workload, device, oracle,
          block_ ? block_.get() : observer),
      reset_at_(config.reset_at),
      power_cut_at_(config.power_cut_at) {
    std::sort(reset_at_.begin(), reset_at_.end());
    std::sort(power_cut_at_.begin(), power_cut_at_.end());
    if (block_)
        io_.set_requeue([this](const HostRequest& r) { block_->cancelled(r, SimTime{agenda_.now() - epoch()}); });
}

void HostDriver::start() {
    agenda_.in_step();
    start_ = agenda_.post_cancellable(agenda_.now(), Then::to<&HostDriver::bring_up>(this));
}

void HostDriver::stop_submitting() {
    agenda_.in_step();
    if (block_) block_->stop();
    io_.stop_submitting();
}

std::vector<ContextUse> HostDriver::block_uses() const {
    if (!block_ || !io_.started()) return {};
    return block_->uses(SimTime{agenda_.now() - epoch()});
}

/// Tells the block layer the queue of each job, which is known only when the drive has granted queues.
void HostDriver::prepare_block_layer(std::uint32_t jobs) {
    std::vector<std::uint16_t> queue_of;
    for (std::uint32_t job = 0; job < jobs; ++job)
        queue_of.push_back(static_cast<std::uint16_t>(plan_.pair_of(job) + 1));
    block_->prepare(control_.info(), std::move(queue_of));
}

void HostDriver::bring_up() {
    control_.start([this] { started(); });
}

/// The drive has started, for the first time or after the power was off.
void HostDriver::started() {
    const bool first = !io_.started();
    if (first) {
        io_.prepare(control_.info());
        if (block_) prepare_block_layer(block_->jobs());
        if (on_ready_) on_ready_();
        schedule_power_cut();
    } else if (resetting_) {  // the loss of power came during a reset, and has replaced it
        resetting_ = false;
        ++resets_;
        report_reset(ResetStep::started);
    }
    if (shutting_down_) return shutdown();  // the power was lost during the shutdown
    schedule_reset();
    serves();
    if (first)
        io_.start();
    else
        io_.resume();  // this comes last, as it shuts the drive down if the workload has ended
}

// ---------------------------------------------------------------------------------------------------------------
// Power.

void HostDriver::schedule_power_cut() {
    if (scheduled_cuts_ < power_cut_at_.size())
        next_cut_ = agenda_.post_cancellable(std::max(agenda_.now(), epoch() + power_cut_at_[scheduled_cuts_++]),
                                             Then::to<&HostDriver::power_goes>(this));
}

/// The drive takes commands now. A loss of power that has waited for this comes now.
void HostDriver::serves() {
    serving_ = true;
    if (std::exchange(cut_waits_, false))
        next_cut_ = agenda_.post_cancellable(agenda_.now(), Then::to<&HostDriver::power_goes>(this));
}

void HostDriver::power_goes() {
    if (!config_.power_cut_shutdown) return cut_power();
    if (!std::exchange(serving_, false)) {
        cut_waits_ = true;
        return;
    }
    agenda_.cancel(next_reset_);
    io_.pause();
    const IntegrityOracle::Operation flush = oracle_ == nullptr ? 0 : oracle_->begin_flush();
    control_.stop([this, flush] {
        if (oracle_ != nullptr) oracle_->end_flush(flush, true);
        // The loss comes in an event of its own, because the register access that led here has not ended.
        next_cut_ = agenda_.post_cancellable(agenda_.now(), Then::to<&HostDriver::power_goes_now>(this));
    });
}

void HostDriver::cut_power() {
    if (!powered_) return;
    agenda_.in_step();
    powered_ = false;
    serving_ = false;
    ++power_cuts_;
    agenda_.cancel(start_);
    agenda_.cancel(next_reset_);
    if (agenda_.cancel(next_cut_) || std::exchange(cut_waits_, false))
        --scheduled_cuts_;  // the scheduled loss comes when the power is back
    if (io_.started()) {
        io_.pause();
        io_.drive_stopped();
    }
    control_.power_lost();
    if (power_switch_) power_switch_(false);
    if (oracle_ != nullptr) oracle_->power_lost();
    agenda_.post(agenda_.now() + config_.power_off_time, Then::to<&HostDriver::power_returns>(this));
}

void HostDriver::power_returns() {
    power_waits_ = power_switch_ && !power_switch_(true);
    if (power_waits_) return;
    powered_ = true;
    schedule_power_cut();
    bring_up();
}

// ---------------------------------------------------------------------------------------------------------------
// Reset and shutdown.

// If a reset is due while another is under way, it begins when the other has ended.
void HostDriver::schedule_reset() {
    if (resets_ < reset_at_.size())
        next_reset_ = agenda_.post_cancellable(std::max(agenda_.now(), epoch() + reset_at_[resets_]),
                                               Then::to<&HostDriver::begin_reset>(this));
}

void HostDriver::begin_reset() {
    report_reset(ResetStep::begins);
    resetting_ = true;
    serving_ = false;
    io_.pause();
    control_.reset(
        config_.reset_shutdown,
        [this] {
            report_reset(ResetStep::stopped);
            io_.drive_stopped();
        },
        [this] {
            ++resets_;
            resetting_ = false;
            report_reset(ResetStep::started);
            schedule_reset();
            serves();
            io_.resume();  // this comes last, as it shuts the drive down if the workload has ended
        });
}

void HostDriver::shutdown() {
    agenda_.in_step();
    SSDTLM_CHECK(io_.finished(), "shutdown with commands outstanding");
    shutting_down_ = true;
    serving_ = cut_waits_ = false;
    agenda_.cancel(next_reset_);
    agenda_.cancel(next_cut_);
    control_.shutdown([this] {
        if (on_shutdown_) on_shutdown_();
    });
}

std::string HostDriver::state() const {
    if (!io_.started()) return std::string("host: bring-up, ") + control_.doing() + "\n";
    return (std::string(control_.doing()) == "running" ? ""
                                                       : std::string("host: controller ") + control_.doing() + "\n") +
           (block_ ? block_->dump() : "") + io_.dump();
}

}  // namespace ssdtlm
