// SPDX-License-Identifier: Apache-2.0
// The host's end of the link. Reads and writes of the device access host memory, and writes to the MSI window become
// interrupts. It takes no time itself, because LinkConfig::root_complex_latency is spent in the link. It models no
// IOMMU, cache or MSI-X remapping.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "common/tlm/tlm_guard.h"
#include "host_pcie/driver/host_memory.h"
#include "host_pcie/ports/interrupt_sink.h"
#include "protocol/signature_memory.h"

namespace ssdtlm {

class RootComplex : public sc_core::sc_module, private SignatureMemory {
public:
    /// x86 local APIC message address range (Intel SDM vol. 3 §11.11.1).
    static constexpr std::uint64_t kMsiBase = 0xFEE00000;
    static constexpr std::uint64_t kMsiEnd = 0xFEF00000;

    /// Answers every request with TLM_COMPLETED at once. A request with an annotated delay is answered at its time by
    /// BEGIN_RESP. A request outside memory and MSI window is unsupported (TLM_ADDRESS_ERROR_RESPONSE). Byte enables
    /// are obeyed. An interrupt is a write of 4 bytes to the window; a read of the window is unsupported.
    tlm::tlm_target_socket<> link_target;

    /// `interrupts` may be null: MSI writes are then dropped, and counted.
    RootComplex(sc_core::sc_module_name name, Agenda& agenda, HostMemory& memory, InterruptSink* interrupts);

    /// Number of requests of any kind that have arrived.
    std::uint64_t requests() const { return requests_; }
    std::uint64_t interrupts() const { return interrupts_; }
    std::uint64_t unsupported_requests() const { return unsupported_; }
    /// Throws CheckFailed if responses wait although no other is open. Call it between two entries of the agenda.
    void check_waiters() const { door_.check_waiters(name()); }

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& p) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void end_of_elaboration() override { door_.towards(link_target.operator->()); }
    static bool is_message(const tlm::tlm_generic_payload& p);
    void interrupt(tlm::tlm_generic_payload& p);
    static void copy_signatures(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes,
                                std::uint32_t block_bytes);
    void serve_other(tlm::tlm_generic_payload& p);
    bool access(tlm::tlm_generic_payload& p);

    TargetGuard<> door_;
    HostMemory& memory_;
    InterruptSink* sink_;
    std::uint64_t requests_ = 0;
    std::uint64_t interrupts_ = 0;
    std::uint64_t unsupported_ = 0;
};

}  // namespace ssdtlm
