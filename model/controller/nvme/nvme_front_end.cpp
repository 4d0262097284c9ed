// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/nvme_front_end.h"

#include <cstring>

namespace ssdtlm {

NvmeFrontEnd::NvmeFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, DmaPort& dma, CommandTracker& tracker,
                           const NvmeConfig& config, const DriveFacts& device, bool signed_data)
    : sc_core::sc_module(name),
      mmio_target("mmio_target"),
      agenda_(agenda),
      door_(agenda, *this),
      dma_(dma),
      tracker_(tracker),
      config_(config),
      device_(device),
      signed_data_(signed_data),
      controller_(std::in_place, agenda, dma, tracker, config, device, signed_data) {
    mmio_target.bind(door_);
}

void NvmeFrontEnd::restart(std::uint64_t host_commands) {
    NvmeController::Before before{counters(), controller_->memory()};
    NvmeCounters& c = before.counters;
    ++c.power_cycles;
    if (!registers().is_shut_down()) ++c.unsafe_shutdowns;
    c.dropped = c.sqes - c.cqes;  // fetched commands without a CQE
    const std::uint64_t completed = c.ended();
    SSDTLM_CHECK(host_commands <= completed - c.dropped_completions,
                 "the host has more completions than the controller gave");
    c.dropped_completions = completed - host_commands;  // including those on their way
    door_.restart();
    controller_.emplace(agenda_, dma_, tracker_, config_, device_, signed_data_, before);
}

tlm::tlm_sync_enum NvmeFrontEnd::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    const std::uint64_t offset = payload.get_address();
    if (__builtin_expect(payload.is_write() && payload.get_data_length() == 4 && offset <= nvme::kBar0Bytes - 4, 1)) {
        std::uint32_t value = 0;
        std::memcpy(&value, payload.get_data_ptr(), sizeof value);
        controller_->mmio_write(static_cast<std::uint32_t>(offset), sizeof value, value);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    } else {
        access(payload);
    }
    return tlm::TLM_COMPLETED;
}

void NvmeFrontEnd::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    access(payload);
}

void NvmeFrontEnd::access(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address();
    const std::uint32_t bytes = payload.get_data_length();
    if (offset >= nvme::kBar0Bytes || bytes == 0 || bytes > nvme::kBar0Bytes - offset) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    const auto at = static_cast<std::uint32_t>(offset);
    std::uint64_t value = 0;
    if (payload.is_read()) {
        value = controller_->mmio_read(at, bytes);
        std::memset(payload.get_data_ptr(), 0, bytes);
        std::memcpy(payload.get_data_ptr(), &value, bytes < sizeof value ? bytes : sizeof value);
    } else if (bytes == 4 || bytes == 8) {
        std::memcpy(&value, payload.get_data_ptr(), bytes);
        controller_->mmio_write(at, bytes, value);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace ssdtlm
