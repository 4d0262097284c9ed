// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/report/all_problems.h"
#include "common/report/part_file.h"
#include "common/tlm/sc_time_bridge.h"
#include "protocol/link_extension.h"
#include "protocol/nvme.h"
#include "sim/host/sata_host.h"
#include "sim/wave/fst.h"
#include "sim/wave/gtkw_writer.h"

namespace ssdtlm {

Instruments::Instruments(const SsdConfig& config, const WaveOptions& wave, const TimelineOptions& timeline,
                         const std::filesystem::path& directory, bool check_pins)
    : config_(config), wave_options_(wave), directory_(directory), flash_(config.nand, config.ecc) {
    if (timeline.on) {
        trace_ = std::make_unique<TraceWriter>(directory / "trace.json");
        timeline_ =
            std::make_unique<DeviceTimeline>(*trace_, config.nand, config.firmware.cores, timeline.from, timeline.to);
        flash_.add(*timeline_);
    }
    if (check_pins) pin_checks_ = std::make_unique<PinChecks>(config_.nand);
    if (!wave.on) return;
    scopes_ = parse_wave_scopes(wave.scopes, {config.nand.geometry, config.front_end.kind});
    check_trigger();
    find_rtl();
    if (wave.fst) require_vcd2fst();
    vcd_ = std::make_unique<VcdWriter>(directory / "wave.vcd");
    wave_ = std::make_unique<DeviceWave>(*vcd_, wave, scopes_, config, flash_);
}

Instruments::~Instruments() {
    // The RTL blocks are destroyed by now, so their files are closed.
    std::error_code ignored;
    for (const std::filesystem::path& f : rtl_files_) std::filesystem::rename(part_of(f), f, ignored);
}

FlashPort& Instruments::flash(FlashPort& backend) {
    backend_ = &backend;
    return *this;
}

template <class Types>
void Instruments::join(const char* name, std::uint32_t tap, tlm::tlm_initiator_socket<32, Types>& from,
                       tlm::tlm_target_socket<32, Types>& to) {
    auto between = std::make_unique<SocketTap<Types>>(name, static_cast<SocketWatcher&>(*this), tap);
    from.bind(between->target);
    between->initiator.bind(to);
    taps_.push_back(std::move(between));
}

void Instruments::join_mmio(tlm::tlm_initiator_socket<>& driver, tlm::tlm_target_socket<>& link) {
    join("mmio_tap", kMmioTap, driver, link);
}

void Instruments::join_dma(tlm::tlm_initiator_socket<>& engine, tlm::tlm_target_socket<>& link) {
    if (timeline_ != nullptr)
        join("dma_tap", kDmaTap, engine, link);
    else
        engine.bind(link);
}

void Instruments::join_onfi(std::uint32_t channel, OnfiInitiatorSocket& controller, OnfiTargetSocket& bus) {
    join(fmt::format("onfi_tap_{}", channel).c_str(), channel, controller, bus);
}

void Instruments::attach(SsdSystem& system) {
    system_ = &system;
    reaches_memory_ = dynamic_cast<const NvmeOnPcie*>(system.device.controller.front_end.get()) != nullptr;
    if (wave_ != nullptr) wave_->attach(system);
    if (pin_checks_ != nullptr) pin_checks_->attach(system);
    if (scopes_.any_rtl())
        system.agenda.post(std::max(wave_options_.from, system.agenda.now()), Then::to<&Instruments::open_rtl>(this));
    system.link.set_probes(&up_, &down_);
    if (timeline_ != nullptr && config_.front_end.kind == "sata") {
        sata_.emplace(*timeline_);
        system.host.module_as<SataHost>().sata_link.add_probe(*sata_);
    }
    system.watch_power(*this);
    system.survives(this, sizeof *this);
    stand_in_firmware();
}

void Instruments::stand_in_firmware() {
    SsdController& controller = system_->device.controller;
    controller.firmware->set_core_probe(this);
    if (timeline_ == nullptr) return;
    controller.front_end->bind(static_cast<CommandSink&>(*this));
    controller.firmware->bind(static_cast<CompletionSink&>(*this));
}

void Instruments::supply_fails() {
    (void)system_->link.upstream();  // makes the link report all that has begun by now
    if (wave_ != nullptr) wave_->supply_fails();
    if (timeline_ != nullptr) timeline_->supply_fails(system_->agenda.now());
}

void Instruments::power_lost() {
    flash_.power_lost(system_->agenda.now());
    if (wave_ != nullptr) wave_->power_lost();
    if (pin_checks_ != nullptr) pin_checks_->power_lost(system_->agenda.now());
}

void Instruments::built_again() {
    ++power_cycles_;
    stand_in_firmware();
    if (wave_ != nullptr) wave_->built_again();
    if (pin_checks_ != nullptr) pin_checks_->attach(*system_);
    if (rtl_open_) open_rtl();
}

void Instruments::power_back() {
    if (wave_ != nullptr) wave_->power_back();
    if (timeline_ != nullptr) timeline_->power_back(system_->agenda.now());
}

void Instruments::forward(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                          const sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return;
    if (tap == kMmioTap) {
        if (!reaches_memory_) return;  // the access goes to registers of a host adapter
        if (!payload.is_write() || payload.get_data_length() != sizeof(std::uint32_t)) return;
        std::uint32_t value = 0;
        std::memcpy(&value, payload.get_data_ptr(), sizeof value);
        if (wave_ != nullptr) wave_->doorbell(static_cast<std::uint32_t>(payload.get_address()), value);
        if (timeline_ != nullptr && payload.get_address() == nvme::kRegCc && (value & nvme::Cc::kEnable) == 0)
            timeline_->reset(system_->agenda.now());
        return;
    }
    if (tap == kDmaTap) {
        if (!reaches_memory_ || !payload.is_write()) return;
        const auto* const link = payload.get_extension<LinkExtension>();
        const SimTime at = system_->agenda.now() + to_sim_time(delay).time_since_epoch();
        timeline_->dma_write(payload.get_address(), payload.get_data_length(), payload.get_data_ptr(),
                             link != nullptr && link->bulk, at);
        return;
    }
    const auto& onfi = *payload.get_extension<OnfiExtension>();
    flash_.begin(tap, onfi.op, onfi.die, onfi.count, onfi.target.data(), onfi.bus_begin, onfi.bus_end);
}

void Instruments::forwarded(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
    if (!config_.nand.cache_program || tap == kMmioTap || tap == kDmaTap || phase != tlm::BEGIN_REQ) return;
    const auto& onfi = *payload.get_extension<OnfiExtension>();
    if (onfi.op == FlashOp::program)
        flash_.accepted(tap, onfi.die, {onfi.array_begins, onfi.array_ends, onfi.ready_at});
}

void Instruments::backward(std::uint32_t tap, const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
    if (tap == kMmioTap || tap == kDmaTap || phase != tlm::BEGIN_RESP) return;
    const auto& onfi = *payload.get_extension<OnfiExtension>();
    flash_.end(tap, onfi.op, onfi.die, onfi.count, onfi.target.data(), system_->agenda.now());
}

void Instruments::submit(FlashTransaction& txn) {
    flash_.submit(txn, system_->device.controller.backend.next_number(), system_->agenda.now());
    backend_->submit(txn);
}

void Instruments::submit(Command& command) {
    if (command.queue != 0) {                       // queue 0: the controller's own flush
        const SimTime now = system_->agenda.now();  // for a command that the driver sends itself
        const IoPath::Times times =
            system_->host.driver.times_of(command.queue, command.tag).value_or(IoPath::Times{now, now});
        timeline_->command_begins(command, times.issued, times.submitted,
                                  reaches_memory_ ? &static_cast<const AddressedCommand&>(command).data : nullptr);
    }
    system_->device.controller.firmware->submit(command);
}

void Instruments::complete(Command& command) {
    timeline_->command_ends(command, system_->agenda.now());
    system_->device.controller.front_end->completions().complete(command);
}

void Instruments::on_step(std::uint32_t core, CoreStep step, std::uint64_t command, SimTime start, SimTime end) {
    if (wave_ != nullptr && wave_->probing()) wave_->on_step(core, step, start, end);
    if (timeline_ != nullptr) timeline_->on_step(core, step, command, start, end);
}

void Instruments::on_wire(bool up, const WireBurst& burst) {
    if (wave_ != nullptr && wave_->probing()) wave_->on_wire(up, burst);
    if (timeline_ != nullptr) timeline_->on_wire(up, burst);
}

void Instruments::on_complete(const HostRequest& request, SimTime issued, SimTime, SimTime now,
                              const Timeline& timeline, bool) {
    if (wave_ != nullptr) wave_->completed(now - issued);
    if (timeline_ != nullptr) timeline_->request_ends(request, timeline, system_->agenda.now());
}

std::vector<std::string> Instruments::finish(bool failed, SimTime ended) {
    if (finished_ || system_ == nullptr) return {};
    finished_ = true;
    (void)system_->link.upstream();  // makes the link report all that has begun by now
    system_->link.set_probes(nullptr, nullptr);
    if (sata_) system_->host.module_as<SataHost>().sata_link.remove_probe(*sata_);
    system_->device.controller.firmware->set_core_probe(nullptr);
    std::vector<std::string> said = std::move(checked_);
    AllProblems problems;
    if (wave_ != nullptr)
        problems.of([&] {
            for (std::string& sentence : finish_wave(failed, ended)) said.push_back(std::move(sentence));
        });
    if (timeline_ != nullptr) {
        problems.of([&] { timeline_->finish(system_->agenda.now()); });
        if (trace_->slices() == 0)
            missed_.emplace_back(
                "nothing in the timeline: no part of the run lies between --timeline-from and --timeline-to");
        said.push_back(fmt::format("timeline: {} slices in {}; open it at ui.perfetto.dev", trace_->slices(),
                                   trace_->file().string()));
    }
    if (problems.any()) throw OutputError(problems.all());
    return said;
}

void Instruments::drop_incomplete() {
    vcd_.reset();
    trace_.reset();
}

void Instruments::finish_checks() {
    if (pin_checks_ != nullptr) checked_.push_back(pin_checks_->finish());
}

/// Throws UserError for a trigger that cannot happen on this device. A trigger that has not happened is reported at the
/// end.
void Instruments::check_trigger() const {
    if (wave_options_.trigger == WaveOptions::Trigger::power && config_.host.power_cut_at.empty())
        throw UserError(Problem{"command line", "--wave-trigger 'power': this run has no loss of power",
                                "command=N, gc, latency=TIME, overtake, overtake=N, error",
                                "add --set host.power_cut_at=TIME for a loss of power, or take another trigger"});
}

/// Throws UserError before the device is built, if a block that is not in RTL should be recorded.
void Instruments::find_rtl() {
    std::vector<Problem> problems;
    const auto any = [](const std::vector<bool>& v) { return std::find(v.begin(), v.end(), true) != v.end(); };
    const std::string& implementation = config_.scheduler.implementation;
    if (any(scopes_.scheduler_rtl) && (implementation == "tlm" || implementation == "tlm_clocked"))
        problems.push_back({"command line",
                            "--wave scope 'scheduler.rtl': the scheduler of this device is '" + implementation + "'",
                            "", "add --set scheduler.implementation=rtl, or record 'scheduler'"});
    const std::vector<std::uint32_t>& sequencers = config_.channel.rtl_sequencer;
    for (std::uint32_t ch = 0; ch < scopes_.channel_rtl.size(); ++ch)
        if (scopes_.channel_rtl[ch] && std::find(sequencers.begin(), sequencers.end(), ch) == sequencers.end())
            problems.push_back(
                {"command line", fmt::format("--wave scope 'channel[{}].rtl': that channel has no RTL sequencer", ch),
                 "", fmt::format("add the channel to channel.rtl_sequencer, or record 'channel[{}].pins'", ch)});
    if (!problems.empty()) throw UserError(problems);
}

/// Opens files for the RTL blocks. A block that is built again after a loss of power gets files of its own.
void Instruments::open_rtl() {
    rtl_open_ = true;
    const std::string which = power_cycles_ == 0 ? "" : fmt::format("_after_{}", power_cycles_);
    SchedulerPort& scheduler = system_->device.controller.backend.scheduler();
    const auto file = [&](const char* block, std::uint32_t ch) {
        rtl_files_.push_back(directory_ / fmt::format("rtl_{}_{}{}.fst", block, ch, which));
        return part_of(rtl_files_.back()).string();
    };
    for (std::uint32_t ch = 0; ch < scopes_.channel_rtl.size(); ++ch) {
        if (scopes_.scheduler_rtl[ch])
            SSDTLM_CHECK(scheduler.open_trace(static_cast<std::uint16_t>(ch), file("scheduler", ch)),
                         "the scheduler has no signals of its own");
        if (scopes_.channel_rtl[ch])
            system_->device.controller.backend.channel(ch).sequencer()->open_trace(file("channel", ch));
    }
}

std::vector<std::string> Instruments::finish_wave(bool failed, SimTime ended) {
    wave_->finish(failed, ended);
    const WaveRecorder& recorder = wave_->recorder();
    std::filesystem::path file = vcd_->file();
    const auto at = [](SimTime t) { return fmt::format("{:.6f} ms", to_microseconds(t.time_since_epoch()) * 1e-3); };
    std::vector<std::string> said;
    if (scopes_.any_rtl()) said.push_back("signals of RTL blocks: " + (file.parent_path() / "rtl_*.fst").string());
    if (!recorder.begun() || recorder.signals().empty()) {
        vcd_.reset();
        std::error_code never_there;
        std::filesystem::remove(file, never_there);
        if (recorder.signals().empty()) return said;
        if (wave_options_.trigger != WaveOptions::Trigger::none)
            missed_.push_back("no waveform: the trigger " + wave_options_.trigger_text + " never came");
        else
            missed_.push_back(
                fmt::format("no waveform: the run ended at {}, before --wave-from", at(recorder.run_end())));
        return said;
    }
    if (recorder.written() == 0)
        notes_.push_back(fmt::format("the waveform is empty: nothing of what it records changes between {} and {}",
                                     at(recorder.begin_time()), at(recorder.end_time())));
    GtkwView view;
    view.begin = recorder.begin_time();
    view.end = recorder.end_time();
    view.marker = recorder.trigger_time();
    view.marks = wave_->marks();
    const std::uint64_t bytes = vcd_->bytes();
    vcd_.reset();
    if (wave_options_.fst) file = convert_to_fst(file);
    view.dump = file;
    view.open_channel = wave_->open_channel();
    write_gtkw(view, recorder.signals(), recorder.changed());
    said.insert(said.begin(),
                fmt::format("waveform: {} signals, {} changes, {} to {}, {} bytes as VCD; open it with gtkwave {}",
                            recorder.signals().size(), recorder.written(), at(view.begin), at(view.end), bytes,
                            (file.parent_path() / "wave.gtkw").string()));
    return said;
}

}  // namespace ssdtlm
