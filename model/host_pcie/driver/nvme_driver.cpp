// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/nvme_driver.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

NvmeDriver::NvmeDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& config,
                       Workload& workload, CommandTracker* device, IntegrityOracle* oracle, CompletionObserver* observer)
    : sc_module(name),
      mmio_initiator("mmio_initiator"),
      agenda_(agenda),
      door_(agenda, *this),
      config_(config),
      oracle_(oracle),
      plan_(config, workload),
      bring_up_(agenda, memory, config, plan_, *this),
      io_(agenda, memory, config, plan_, *this, workload, device, oracle, observer),
      reset_at_(config.reset_at),
      power_cut_at_(config.power_cut_at) {
    std::sort(reset_at_.begin(), reset_at_.end());
    std::sort(power_cut_at_.begin(), power_cut_at_.end());
    mmio_initiator.bind(door_);
}

void NvmeDriver::start() {
    agenda_.in_step();
    start_ = agenda_.post_cancellable<&NvmeDriver::bring_up>(agenda_.now(), this);
}

void NvmeDriver::stop_submitting() {
    agenda_.in_step();
    io_.stop_submitting();
}

void NvmeDriver::bring_up(std::uint64_t) {
    bring_up_.start([this] { started(); });
}

/// The controller, for the first time or after the power was off.
void NvmeDriver::started() {
    const bool first = !io_.started();
    if (first) {
        io_.prepare(bring_up_.info(), bring_up_.take_queues());
        if (on_ready_) on_ready_();
        schedule_power_cut();
    } else if (resetting_) {  // the loss of power was more than the reset that it came into
        resetting_ = false;
        ++resets_;
        report_reset(ResetStep::started);
    }
    if (shutting_down_) return shutdown();  // the power went in the middle of it
    schedule_reset();
    serves();
    if (first)
        io_.start();
    else
        io_.resume();  // last: where the workload has ended, this shuts the controller down
}

// ---------------------------------------------------------------------------------------------------------------
// Power.

void NvmeDriver::schedule_power_cut() {
    if (scheduled_cuts_ < power_cut_at_.size())
        next_cut_ = agenda_.post_cancellable<&NvmeDriver::power_goes>(std::max(agenda_.now(), epoch() + power_cut_at_[scheduled_cuts_++]), this);
}

/// The controller takes commands. A loss of power that waited to be announced comes now.
void NvmeDriver::serves() {
    serving_ = true;
    if (std::exchange(cut_waits_, false)) next_cut_ = agenda_.post_cancellable<&NvmeDriver::power_goes>(agenda_.now(), this);
}

void NvmeDriver::power_goes(std::uint64_t) {
    if (!config_.power_cut_shutdown) return cut_power();
    if (!std::exchange(serving_, false)) {
        cut_waits_ = true;
        return;
    }
    agenda_.cancel(next_reset_);
    io_.pause();
    const IntegrityOracle::Operation flush = oracle_ == nullptr ? 0 : oracle_->begin_flush();
    bring_up_.stop([this, flush] {
        if (oracle_ != nullptr) oracle_->end_flush(flush, true);
        // In an event of its own: the register access that has told this is not over.
        next_cut_ = agenda_.post_cancellable<&NvmeDriver::power_goes_now>(agenda_.now(), this);
    });
}

void NvmeDriver::cut_power() {
    if (!powered_) return;
    agenda_.in_step();
    powered_ = false;
    serving_ = false;
    ++power_cuts_;
    agenda_.cancel(start_);
    agenda_.cancel(next_reset_);
    if (agenda_.cancel(next_cut_) || std::exchange(cut_waits_, false)) --scheduled_cuts_;  // it is due when the power is back
    if (io_.started()) {
        io_.pause();
        io_.controller_stopped();
    }
    bring_up_.power_lost();
    door_.restart();
    stores_.take_all_back();
    loads_.take_all_back();
    if (power_switch_) power_switch_(false);
    if (oracle_ != nullptr) oracle_->power_lost();
    agenda_.post<&NvmeDriver::power_returns>(agenda_.now() + config_.power_off_time, this);
}

void NvmeDriver::power_returns(std::uint64_t) {
    power_waits_ = power_switch_ && !power_switch_(true);
    if (power_waits_) return;
    powered_ = true;
    schedule_power_cut();
    bring_up(0);
}

// ---------------------------------------------------------------------------------------------------------------
// Controller reset and shutdown.

// One that is due while another is under way begins when that one has ended.
void NvmeDriver::schedule_reset() {
    if (resets_ < reset_at_.size())
        next_reset_ = agenda_.post_cancellable<&NvmeDriver::begin_reset>(
            std::max(agenda_.now(), epoch() + reset_at_[resets_]), this);
}

void NvmeDriver::begin_reset(std::uint64_t) {
    report_reset(ResetStep::begins);
    resetting_ = true;
    serving_ = false;
    io_.pause();
    bring_up_.reset(
        config_.reset_shutdown,
        [this] {
            report_reset(ResetStep::stopped);
            io_.controller_stopped();
        },
        [this] {
            ++resets_;
            resetting_ = false;
            report_reset(ResetStep::started);
            schedule_reset();
            serves();
            io_.resume();  // last: where the workload has ended, this shuts the controller down
        });
}

void NvmeDriver::shutdown() {
    agenda_.in_step();
    SSDTLM_CHECK(io_.finished(), "shutdown with commands outstanding");
    shutting_down_ = true;
    serving_ = cut_waits_ = false;
    agenda_.cancel(next_reset_);
    agenda_.cancel(next_cut_);
    bring_up_.shutdown([this] {
        if (on_shutdown_) on_shutdown_();
    });
}

void NvmeDriver::interrupt(std::uint64_t address, std::uint32_t data) {
    const auto vector = static_cast<std::uint16_t>(data);
    SSDTLM_CHECK(data <= 0xFFFF && address == msi_address(vector), "MSI-X message that the driver never programmed");
    if (vector != 0) return io_.interrupt(vector);
    agenda_.post<&NvmeDriver::admin_handler>(agenda_.now() + config_.interrupt_latency, this);
}

// ---------------------------------------------------------------------------------------------------------------
// Register accesses.

inline void NvmeDriver::store_done(Store& store) {
    SSDTLM_CHECK(store.is_response_ok(), "register access failed");
    stores_.release(store);
}

void NvmeDriver::load_done(Load& load) {
    SSDTLM_CHECK(load.is_response_ok(), "register access failed");
    // Released last: the next access, begun by the client, must not reuse a payload that the target still names.
    load.client->mmio_read_done(load.value);
    loads_.release(load);
}

/// Whether the target has answered at once.
inline bool NvmeDriver::send(tlm::tlm_generic_payload& access) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    return registers_->nb_transport_fw(access, phase, delay) == tlm::TLM_COMPLETED;
}

void NvmeDriver::write32(std::uint32_t offset, std::uint32_t value) {
    Store& store = stores_.acquire();
    store.value = value;
    store.aim(offset);
    if (send(store)) store_done(store);
}

void NvmeDriver::read32(std::uint32_t offset, MmioClient& client) {
    Load& load = loads_.acquire();
    load.value = 0;
    load.client = &client;
    load.aim(offset);
    // A target that answers at once still gives a read's value in an event of its own.
    if (send(load))
        agenda_.post<&NvmeDriver::load_done_at_once>(agenda_.now(), this, loads_.handle_of(load).number());
}

tlm::tlm_sync_enum NvmeDriver::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, "phase outside the base protocol");
    if (payload.is_write())
        store_done(static_cast<Store&>(payload));
    else
        load_done(static_cast<Load&>(payload));
    return tlm::TLM_COMPLETED;
}

void NvmeDriver::load_done_at_once(std::uint64_t number) {
    if (Load* const load = loads_.find(number)) load_done(*load);  // else the power has gone meanwhile
}

std::string NvmeDriver::dump() const {
    if (!io_.started()) return std::string("host: bring-up, ") + bring_up_.doing() + "\n";
    return (std::string(bring_up_.doing()) == "running" ? "" : std::string("host: controller ") + bring_up_.doing() + "\n") + io_.dump();
}

}  // namespace ssdtlm
