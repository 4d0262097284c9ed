// SPDX-License-Identifier: Apache-2.0
// The host bus adapter as a SystemC module: AhciAdapter behind its sockets.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <systemc>
#include <tlm>

#include "common/tlm/at_interfaces.h"
#include "common/tlm/pooled_payload.h"
#include "common/tlm/tlm_guard.h"
#include "host_sata/ahci/ahci_adapter.h"
#include "protocol/sata_payload.h"

namespace ssdtlm {

class AhciHba : public sc_core::sc_module,
                private AdapterMemory,
                private AdapterSerial,
                private tlm::tlm_fw_transport_if<>,
                private tlm::tlm_bw_transport_if<> {
public:
    /// Registers, base protocol; address = offset in ABAR. An access has 4 bytes at a multiple of 4 (else
    /// TLM_BURST_ERROR_RESPONSE, byte enables TLM_BYTE_ENABLE_ERROR_RESPONSE). Each takes effect access_time after it
    /// has come. A write is answered before that, and a read at that time.
    tlm::tlm_target_socket<> mmio_target;
    /// Host memory and messages, base protocol; address = host physical address.
    tlm::tlm_initiator_socket<> dma_initiator;
    /// Frames and COMRESET go to the link; frames and signals of the phy come from it. See protocol/sata_payload.h.
    SataInitiatorSocket sata_initiator;
    SataTargetSocket sata_target;

    AhciHba(sc_core::sc_module_name name, Agenda& agenda, const AhciConfig& config);

    /// See AhciAdapter.
    void set_message(std::uint64_t address, std::uint32_t data) { adapter_.set_message(address, data); }
    const AhciAdapter& adapter() const { return adapter_; }
    const AhciPort::Counters& counters() const { return adapter_.port().counters(); }
    void dump(std::ostream& out) const override { out << adapter_.dump(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    /// A read or write of host memory.
    struct Transaction : tlm::tlm_generic_payload {
        MemoryClient* client = nullptr;  // null: nobody is told of its end
        std::uint32_t cookie = 0;
        std::uint8_t copied[kMostPosted];
    };
    struct Frame : tlm::tlm_generic_payload {
        Frame() { set_extension(new SataExtension); }
    };
    struct Access {
        std::uint32_t offset = 0;
        std::uint32_t value = 0;
        tlm::tlm_generic_payload* read = nullptr;  // null: a write
    };

    // Registers.
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void access(std::uint64_t number);

    // Host memory.
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // neither initiator has any
    void read(std::uint64_t address, std::uint8_t* to, std::uint32_t bytes, MemoryClient& client,
              std::uint32_t cookie) override;
    void write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, MemoryClient& client,
               std::uint32_t cookie) override;
    void post(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes) override;
    void begin(Transaction& t);
    void end(Transaction& t);
    void end_at_once(std::uint64_t number) { end(transactions_.at(number)); }

    // The link.
    tlm::tlm_sync_enum frame_comes(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase);
    tlm::tlm_sync_enum frame_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase);
    void send(const std::uint8_t* fis, std::uint32_t bytes) override;
    void answer(bool ok) override;
    void comreset() override;
    void end_of_frame(Frame& frame);
    void end_of_frame_at_once(std::uint64_t number) { end_of_frame(frames_.at(number)); }
    void end_of_elaboration() override;

    /// The interfaces of both protocols have functions with the same signature, so the Serial ATA sockets have objects
    /// of their own.
    struct SerialEnd final : AtTarget<SataProtocol>, AtInitiator<SataProtocol> {
        explicit SerialEnd(AhciHba& of) : hba(of) {}
        tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time&) override {
            return hba.frame_comes(payload, phase);
        }
        tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time&) override {
            return hba.frame_answered(payload, phase);
        }
        AhciHba& hba;
    };

    Agenda& agenda_;
    const AhciConfig config_;
    TargetGuard<> registers_door_;
    InitiatorGuard<> memory_door_;
    SerialEnd serial_;
    InitiatorGuard<SataProtocol> out_door_;
    TargetGuard<SataProtocol> in_door_;
    // The far ends of the sockets.
    tlm::tlm_bw_transport_if<>* software_ = nullptr;
    tlm::tlm_fw_transport_if<>* memory_ = nullptr;
    tlm::tlm_fw_transport_if<SataProtocol>* link_ = nullptr;
    tlm::tlm_bw_transport_if<SataProtocol>* device_ = nullptr;

    Pool<Access> accesses_;
    PooledPayloads<Transaction> transactions_;
    PooledPayloads<Frame> frames_;
    Frame signal_;
    Frame* sent_ = nullptr;                     // waiting for the wire, or on it
    tlm::tlm_generic_payload* held_ = nullptr;  // a frame that came and is not answered yet
    AhciAdapter adapter_;
};

}  // namespace ssdtlm
