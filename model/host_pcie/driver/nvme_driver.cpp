// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/nvme_driver.h"

#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

NvmeDriver::NvmeDriver(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, const HostConfig& config,
                       Workload& workload, CommandTracker* device, IntegrityOracle* oracle,
                       CompletionObserver* observer)
    : sc_module(name),
      HostDriver(agenda, config, workload, *this, queues_, device, oracle, observer),
      mmio_initiator("mmio_initiator"),
      agenda_(agenda),
      door_(agenda, *this),
      memory_(memory),
      config_(config),
      bring_up_(agenda, memory, config, plan(), *this),
      queues_(memory, config, *this) {
    mmio_initiator.bind(door_);
}

void NvmeDriver::start(std::function<void()> done) {
    bring_up_.start([this, done = std::move(done)] {
        if (queues_.count() == 0) {
            queues_.take(bring_up_.info(), bring_up_.take_queues());
            if (config_.completion == CompletionBy::poll)
                memory_.watch(queues_.completions_begin(), queues_.completions_end(), *this);
        }
        done();
    });
}

void NvmeDriver::power_lost() {
    bring_up_.power_lost();
    door_.restart();
    stores_.take_all_back();
    loads_.take_all_back();
}

void NvmeDriver::interrupt(std::uint64_t address, std::uint32_t data) {
    const auto vector = static_cast<std::uint16_t>(data);
    SSDTLM_CHECK(data <= 0xFFFF && address == msi_address(vector), "MSI-X message that the driver never programmed");
    if (vector != 0) return interrupted(vector);
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
    if (send(load)) agenda_.post<&NvmeDriver::load_done_at_once>(agenda_.now(), this, loads_.handle_of(load).number());
}

tlm::tlm_sync_enum NvmeDriver::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time&) {
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

}  // namespace ssdtlm
