// SPDX-License-Identifier: Apache-2.0
// Host end of the link: device reads and writes reach host memory, writes to the MSI window become interrupts.
// Takes no time itself (LinkConfig::root_complex_latency is spent in the link). Models no IOMMU, cache or MSI-X
// remapping.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

#include "host_pcie/driver/host_memory.h"
#include "host_pcie/protocol/interrupt_sink.h"

namespace ssdtlm {

class RootComplex : public sc_core::sc_module {
public:
    /// x86 local APIC message address range (Intel SDM vol. 3 §11.11.1).
    static constexpr std::uint64_t kMsiBase = 0xFEE00000;
    static constexpr std::uint64_t kMsiEnd = 0xFEF00000;

    /// Answers every request with TLM_COMPLETED at once; TLM_ADDRESS_ERROR_RESPONSE (an unsupported request) outside
    /// memory and MSI window. An interrupt is a 4-byte write; reading the window is an unsupported request.
    tlm_utils::simple_target_socket<RootComplex> link_target;

    /// `interrupts` may be null: MSI writes are then dropped, and counted.
    RootComplex(sc_core::sc_module_name name, HostMemory& memory, InterruptSink* interrupts);

    std::uint64_t interrupts() const { return interrupts_; }
    std::uint64_t unsupported_requests() const { return unsupported_; }

private:
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    unsigned debug(tlm::tlm_generic_payload& p);
    bool access(tlm::tlm_generic_payload& p);

    HostMemory& memory_;
    InterruptSink* sink_;
    std::uint64_t interrupts_ = 0;
    std::uint64_t unsupported_ = 0;
};

}  // namespace ssdtlm
