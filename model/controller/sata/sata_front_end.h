// SPDX-License-Identifier: Apache-2.0
// The front end "sata": a drive at one end of a Serial ATA link. protocol/sata_payload.h describes the frames;
// SataDevice does everything else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "common/tlm/payload_pool.h"
#include "common/tlm/tlm_guard.h"
#include "controller/sata/device.h"
#include "protocol/sata_payload.h"

namespace ssdtlm {

class SataFrontEnd final : public sc_core::sc_module,
                           public FrontEnd,
                           private SataFramePort,
                           private tlm::tlm_fw_transport_if<SataProtocol>,
                           private tlm::tlm_bw_transport_if<SataProtocol> {
public:
    SataTargetSocket link_target;        ///< frames and signals for the drive
    SataInitiatorSocket link_initiator;  ///< frames and signals from the drive

    SataFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, CommandTracker& tracker, const SataConfig& config,
                 const DriveFacts& drive);

    /// The link needs it: its generation is that of the drive.
    const SataConfig& config() const { return config_; }
    const SataDevice& device() const { return device_; }

    void bind(CommandSink& firmware) override { device_.bind(firmware); }
    CompletionSink& completions() override { return device_; }
    HostPort& data() override { return device_; }
    void host_is_gone() override;
    void lose_power(std::uint64_t host_commands) override;
    void drive_is_starting() override { device_.drive_is_starting(); }
    void drive_is_up() override;
    bool is_shut_down() const override { return device_.is_shut_down(); }
    bool owns(const void* object) const override;
    FrontEndCounts counts() const override;
    void check_books() const override { device_.check_books(); }
    std::string dump() const override { return device_.dump(); }
    void dump(std::ostream& out) const override { out << dump(); }
    void bind_health(std::function<DeviceHealth()> health) override { device_.bind_health(std::move(health)); }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override;
    std::uint32_t transfers() const override { return static_cast<std::uint32_t>(device_.transport().phases()); }
    void check_waiters() const override;

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override;
    void send(const std::uint8_t* fis, std::uint32_t bytes) override;
    void answered(tlm::tlm_generic_payload& payload);

    TargetGuard<SataProtocol> in_;
    InitiatorGuard<SataProtocol> out_;
    tlm::tlm_fw_transport_if<SataProtocol>* link_ = nullptr;
    PayloadPool<SataExtension> payloads_;
    tlm::tlm_generic_payload* sent_ = nullptr;  // at the link
    const SataConfig config_;
    SataDevice device_;
    bool without_power_ = false;
};

}  // namespace ssdtlm
