// SPDX-License-Identifier: Apache-2.0
// All observers of a device. It is connected to the taps and probes of the netlist, and feeds the waveform. It exists
// only in runs that record something.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/wave/vcd_writer.h"
#include "host_pcie/ports/completion_observer.h"
#include "sim/ssd_system.h"
#include "sim/taps.h"
#include "sim/wave/device_timeline.h"
#include "sim/wave/device_wave.h"
#include "sim/wave/flash_observer.h"
#include "sim/wave/pin_checks.h"
#include "sim/wave/sata_timeline.h"
#include "sim/wave/socket_tap.h"
#include "sim/wave/wave_options.h"

namespace ssdtlm {

class Instruments final : public SsdTaps,
                          public CompletionObserver,
                          private PowerWatcher,
                          private SocketWatcher,
                          private FlashPort,
                          private CoreProbe,
                          private CommandSink,
                          private CompletionSink {
public:
    /// Throws UserError for scopes that the device does not have, a file that cannot be written, or a missing vcd2fst.
    Instruments(const SsdConfig& config, const WaveOptions& wave, const TimelineOptions& timeline,
                const std::filesystem::path& directory, bool check_pins = false);
    /// Call it after the system to which it was attached is destroyed.
    ~Instruments() override;

    /// Call it when the device is built, before the simulation starts.
    void attach(SsdSystem& system);
    /// Ends the recordings at the end of the run and closes the files. `failed`: the run has failed. `ended`: see
    /// Simulation::ended(). Returns sentences for the user. Throws OutputError for files that cannot be written, after
    /// it has closed the others.
    std::vector<std::string> finish(bool failed, SimTime ended);
    /// Removes recordings that are not complete. On a full disk the results get their room. Call it after finish().
    void drop_incomplete();
    /// Call it once, when the run has ended in order. Throws CheckFailed if pins have broken a rule.
    void finish_checks();
    /// A sentence for each requested part that was not recorded. Call it after finish().
    const std::vector<std::string>& missed() const { return missed_; }
    /// Sentences about recordings that are there, and may surprise. Call it after finish().
    const std::vector<std::string>& notes() const { return notes_; }

    FlashPort& flash(FlashPort& backend) override;
    void join_mmio(tlm::tlm_initiator_socket<>& driver, tlm::tlm_target_socket<>& link) override;
    void join_dma(tlm::tlm_initiator_socket<>& engine, tlm::tlm_target_socket<>& link) override;
    void join_onfi(std::uint32_t channel, OnfiInitiatorSocket& controller, OnfiTargetSocket& bus) override;
    void on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                     const Timeline& timeline, bool measured) override;

private:
    static constexpr std::uint32_t kMmioTap = ~std::uint32_t{0};
    static constexpr std::uint32_t kDmaTap = kMmioTap - 1;
    struct Side final : LinkProbe {
        Side(Instruments& o, bool u) : owner(o), up(u) {}
        void on_wire(const WireBurst& burst) override { owner.on_wire(up, burst); }
        Instruments& owner;
        const bool up;
    };

    void forward(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                 const sc_core::sc_time& delay) override;
    void forwarded(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) override;
    void backward(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) override;
    void submit(FlashTransaction& txn) override;
    void on_step(std::uint32_t core, CoreStep step, std::uint64_t command, SimTime start, SimTime end) override;
    void on_wire(bool up, const WireBurst& burst);
    void submit(Command& command) override;
    void abort_waits(bool aborts) override { system_->device.controller.firmware->abort_waits(aborts); }
    void complete(Command& command) override;
    void let_go(Command& command) override { system_->device.controller.front_end->completions().let_go(command); }
    void supply_fails() override;
    void power_lost() override;
    void built_again() override;
    void power_back() override;
    void stand_in_firmware();
    template <class Types>
    void join(const char* name, std::uint32_t tap, tlm::tlm_initiator_socket<32, Types>& from,
              tlm::tlm_target_socket<32, Types>& to);
    std::vector<std::string> finish_wave(bool failed, SimTime ended);
    void check_trigger() const;
    void find_rtl();
    void open_rtl();

    const SsdConfig& config_;
    const WaveOptions wave_options_;
    const std::filesystem::path directory_;
    WaveScopes scopes_;
    FlashObserver flash_;
    std::unique_ptr<VcdWriter> vcd_;
    std::unique_ptr<DeviceWave> wave_;
    std::unique_ptr<TraceWriter> trace_;
    std::unique_ptr<DeviceTimeline> timeline_;
    std::optional<SataTimeline> sata_;  // none: there is no such link, or it is not recorded
    std::unique_ptr<PinChecks> pin_checks_;
    std::vector<std::string> checked_;  // sentences
    SsdSystem* system_ = nullptr;
    FlashPort* backend_ = nullptr;
    Side up_{*this, true};
    Side down_{*this, false};
    std::vector<std::unique_ptr<sc_core::sc_module>> taps_;
    bool reaches_memory_ = false;  // commands of the front end have the addresses of the host's data
    bool rtl_open_ = false;
    std::vector<std::filesystem::path> rtl_files_;
    std::uint32_t power_cycles_ = 0;
    bool finished_ = false;
    std::vector<std::string> missed_;
    std::vector<std::string> notes_;
};

}  // namespace ssdtlm
