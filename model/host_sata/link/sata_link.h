// SPDX-License-Identifier: Apache-2.0
// A Serial ATA link between one host port and one drive. It carries frames of either direction over one half-duplex
// wire, answers them with R_OK or R_ERR, and knows whether the phy is up. protocol/sata_payload.h describes the
// payloads of the sockets. A checker of the protocol sees each frame that has arrived. The link models no power states,
// port multipliers, disparity or scrambling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"
#include "common/tlm/tlm_guard.h"
#include "host_sata/link/sata_checker.h"
#include "host_sata/link/sata_probe.h"
#include "host_sata/link/sata_wire.h"
#include "protocol/sata_payload.h"

namespace ssdtlm {

class SataLink : public sc_core::sc_module {
public:
    SataTargetSocket host_target;          ///< frames and signals of the host
    SataInitiatorSocket host_initiator;    ///< frames and signals for the host
    SataTargetSocket device_target;        ///< frames and signals of the drive
    SataInitiatorSocket device_initiator;  ///< frames and signals for the drive

    SataLink(const sc_core::sc_module_name& name, Agenda& agenda, const SataLinkConfig& config);

    /// The phy is down when the simulation starts, and up after config.reset_time.
    bool is_up() const { return up_; }
    const SataLinkConfig& config() const { return config_; }
    const SataWireCounts& counts() const { return wire_.counts(); }
    Ps busy() const { return wire_.busy(agenda_.now()); }
    const SataChecker& checker() const { return checker_; }
    /// With `on` = false, frames out of order are carried without an error. Tests need it that send such frames.
    void check_order(bool on) { checks_ = on; }
    /// The probe must outlive the link, or be removed before.
    void add_probe(SataProbe& probe) { probes_.push_back(&probe); }
    void remove_probe(const SataProbe& probe) {
        probes_.erase(std::remove(probes_.begin(), probes_.end(), &probe), probes_.end());
    }
    /// The n-th frame that arrives from now on, at either end, has a CRC error (1: the next one).
    void inject_crc_error(std::uint64_t n) { broken_.insert(arrived_ + n); }

    /// Carries out a loss of the drive's power. All frames are lost without an answer, and the host is told that the
    /// phy is down. The phy comes up after the drive's COMINIT. Counters continue. Precondition: the agenda holds no
    /// entry of the link (see owns()).
    void restart();
    /// True if `object` is one of its objects, which may have entries in the agenda.
    bool owns(const void* object) const;
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    /// The sockets of one end.
    struct Port final : tlm::tlm_fw_transport_if<SataProtocol>, tlm::tlm_bw_transport_if<SataProtocol> {
        Port(SataLink& l, SataEnd e) : link(l), end(e), in(l.agenda_, *this), out(l.agenda_, *this) {}
        tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                           sc_core::sc_time&) override {
            return link.from_end(end, p, phase);
        }
        tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                           sc_core::sc_time&) override {
            return link.answer_from(end, p, phase);
        }
        void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override;
        bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
        unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
        void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

        SataLink& link;
        const SataEnd end;
        TargetGuard<SataProtocol> in;
        InitiatorGuard<SataProtocol> out;
        tlm::tlm_bw_transport_if<SataProtocol>* sender = nullptr;
        tlm::tlm_fw_transport_if<SataProtocol>* receiver = nullptr;
    };
    struct Sent {
        tlm::tlm_generic_payload* payload = nullptr;
    };

    Port& port(SataEnd end) { return end == SataEnd::host ? host_ : device_; }
    tlm::tlm_sync_enum from_end(SataEnd from, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase);
    tlm::tlm_sync_enum answer_from(SataEnd end, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase);
    void signal_from(SataEnd from, SataExtension::Kind kind);
    void signal(SataEnd to, SataExtension::Kind kind);
    void next_frame();
    void arrive(std::uint64_t number);
    void answered(bool ok);
    void end(std::uint64_t number);
    void go_down();
    void negotiate();
    void come_up(std::uint64_t attempt);
    void answer(tlm::tlm_generic_payload& payload, SataEnd sender, tlm::tlm_response_status status);
    void forget_delivery();
    void end_of_elaboration() override;
    void start_of_simulation() override;

    Agenda& agenda_;
    const SataLinkConfig config_;
    SataWire wire_;
    SataChecker checker_;
    Port host_;
    Port device_;
    Pool<Sent> sent_;
    PayloadPool<SataExtension> payloads_;            // for the far ends
    tlm::tlm_generic_payload* delivered_ = nullptr;  // a far end has it and has not answered yet
    bool arrived_ok_ = false;                        // answer of the far end to the frame on the wire
    std::set<std::uint64_t> broken_;
    std::uint64_t arrived_ = 0;
    std::uint64_t attempt_ = 0;  // number of the negotiation
    bool powered_ = true;        // the drive has power
    bool up_ = false;
    bool checks_ = true;
    std::vector<SataProbe*> probes_;
};

}  // namespace ssdtlm
