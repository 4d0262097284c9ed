// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/root_complex.h"

#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

RootComplex::RootComplex(sc_core::sc_module_name name, HostMemory& memory, InterruptSink* interrupts)
    : sc_module(name), link_target("link_target"), memory_(memory), sink_(interrupts) {
    link_target.register_nb_transport_fw(this, &RootComplex::forward);
    link_target.register_transport_dbg(this, &RootComplex::debug);
}

tlm::tlm_sync_enum RootComplex::forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    const std::uint64_t address = p.get_address();
    if (p.get_byte_enable_ptr() != nullptr) {
        p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    } else if (access(p)) {
        p.set_response_status(tlm::TLM_OK_RESPONSE);
    } else if (p.is_write() && address >= kMsiBase && address < kMsiEnd && p.get_data_length() == 4) {
        std::uint32_t data = 0;
        std::memcpy(&data, p.get_data_ptr(), sizeof data);
        ++interrupts_;
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (sink_ != nullptr) sink_->interrupt(address, data);
    } else {
        ++unsupported_;
        p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    return tlm::TLM_COMPLETED;
}

unsigned RootComplex::debug(tlm::tlm_generic_payload& p) {
    return access(p) ? p.get_data_length() : 0;
}

bool RootComplex::access(tlm::tlm_generic_payload& p) {
    const std::uint64_t address = p.get_address();
    const std::uint32_t bytes = p.get_data_length();
    if (!memory_.contains(address, bytes)) return false;
    if (p.is_write())
        memory_.write(address, p.get_data_ptr(), bytes);
    else if (p.is_read())
        memory_.read(address, p.get_data_ptr(), bytes);
    return true;
}

}  // namespace ssdtlm
