// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/device_wave.h"

#include <algorithm>

#include "sim/host/sata_host.h"
#include "sim/wave/wave_enums.h"

namespace ssdtlm {

namespace {

// Probes begin this time before the window, so that work on wires and cores at its start is known. Assumed: no such
// work is longer.
constexpr Ps kWarmUp = 200us;

}  // namespace

DeviceWave::DeviceWave(WaveSink& sink, const WaveOptions& options, const WaveScopes& scopes, const SsdConfig& config,
                       FlashObserver& observer)
    : options_(options),
      scopes_(scopes),
      config_(config),
      recorder_(sink, options.window()),
      flash_(recorder_, scopes, config.nand) {
    if (scopes.any_flash() || scopes.gc || options.trigger == WaveOptions::Trigger::overtake) observer.add(flash_);
}

WaveId DeviceWave::declare(const std::string& scope, const std::string& name, WaveKind kind, std::uint32_t width) {
    return recorder_.add({scope, name, kind, width, 0, nullptr});
}

template <class T>
void DeviceWave::watch(const std::string& scope, const std::string& name, const T& variable, WaveKind kind) {
    static_assert(sizeof variable == 4 || sizeof variable == 8);
    watched_.push_back({&variable, sizeof variable == 8,
                        declare(scope, name, kind,
                                sizeof(T) > 4               ? 64
                                : kind == WaveKind::integer ? 32
                                                            : 16),
                        0});
}

/// The number of queue pairs, including the admin queues.
std::uint32_t DeviceWave::queue_pairs() const {
    return std::min(config_.host.queue_pairs, config_.nvme.max_queue_pairs) + 1;
}

/// Calls visit(name, variable, kind), always in one order.
template <class Visit>
void DeviceWave::each_queue_variable(Visit visit) const {
    const QueueSet& all = system_->device.nvme().controller.queues();
    for (std::uint32_t q = 0; q < queue_pairs(); ++q) {
        const SubmissionQueue& sq = all.sq(static_cast<std::uint16_t>(q));
        const CompletionQueue& cq = all.cq(static_cast<std::uint16_t>(q));
        const std::string n = std::to_string(q);
        visit("sq" + n + "_tail", sq.tail, WaveKind::vector);
        visit("sq" + n + "_fetch", sq.fetch, WaveKind::vector);
        visit("sq" + n + "_head", sq.head, WaveKind::vector);
        visit("sq" + n + "_in_flight", sq.in_flight, WaveKind::integer);
        visit("cq" + n + "_tail", cq.tail, WaveKind::vector);
        visit("cq" + n + "_head", cq.head, WaveKind::vector);
    }
}

void DeviceWave::attach(SsdSystem& system) {
    system_ = &system;
    const bool speaks_nvme = config_.front_end.kind == "nvme";
    const auto integer = [this](const std::string& scope, const char* name) {
        return declare(scope, name, WaveKind::integer, 32);
    };
    const auto enumeration = [this](const std::string& scope, const std::string& name, const WaveEnum& e) {
        return recorder_.add({scope, name, WaveKind::enumeration, e.width(), 0, &e});
    };
    if (scopes_.host) {
        const std::string scope = "ssd.host";
        phase_ = enumeration(scope, "phase", run_phase_names());
        if (!config_.host.power_cut_at.empty())
            powered_ = recorder_.add({scope, "powered", WaveKind::bit, 1, 1, nullptr});
        outstanding_ = integer(scope, "outstanding");
        backlog_ = integer(scope, "backlog");
        watch(scope, "completed", system.host.driver.counters().commands_completed);
        watch(scope, "interrupts", system.host.driver.counters().interrupts);
        for (std::uint32_t q = 0; speaks_nvme && q < queue_pairs(); ++q) {
            sq_doorbell_.push_back(declare(scope, "sq" + std::to_string(q) + "_doorbell", WaveKind::vector, 16));
            cq_doorbell_.push_back(declare(scope, "cq" + std::to_string(q) + "_doorbell", WaveKind::vector, 16));
        }
    }
    if (scopes_.link) {
        const auto direction = [&](const std::string& scope, Direction& d) {
            d.tlp = enumeration(scope, "tlp", tlp_names());
            d.waiting = integer(scope, "bursts_waiting");
            d.posted_headers = integer(scope, "posted_header_credits_out");
            d.posted_data = integer(scope, "posted_data_credits_out");
            d.nonposted_headers = integer(scope, "nonposted_header_credits_out");
            on_link_.insert(on_link_.end(), {d.tlp, d.posted_headers, d.posted_data, d.nonposted_headers});
        };
        direction("ssd.link.to_device", down_);
        direction("ssd.link.to_host", up_);
    }
    if (scopes_.sata_link) {
        sata_link_ = &system.host.module_as<SataHost>().sata_link;
        sata_.emplace(recorder_, "ssd.sata_link");
    }
    if (scopes_.nvme) {
        const std::string scope = "ssd.nvme";
        ready_ = declare(scope, "ready", WaveKind::bit, 1);
        in_firmware_ = integer(scope, "commands_in_firmware");
        first_queue_ = watched_.size();
        each_queue_variable(
            [&](const std::string& name, const auto& variable, WaveKind kind) { watch(scope, name, variable, kind); });
    }
    if (scopes_.firmware) {
        const std::string scope = "ssd.firmware";
        for (std::uint32_t i = 0; i < config_.firmware.cores; ++i)
            cores_.push_back(enumeration(scope, "core" + std::to_string(i), core_step_names()));
        on_board_ = cores_;
        buffer_used_ = integer(scope, "buffer_used");
        buffer_dirty_ = integer(scope, "buffer_dirty");
        buffer_queued_ = integer(scope, "buffer_programmable");
    }
    if (scopes_.gc) {
        const std::string scope = "ssd.gc";
        gc_active_ = integer(scope, "active_planes");
        gc_victims_ = integer(scope, "victims");
        gc_victim_ = integer(scope, "victim_block");
        gc_moved_ = integer(scope, "moved_pages");
    }
    declare_pins();
    play_pins();
    system.survives(this, sizeof *this);
    const SimTime warm = options_.from > SimTime{kWarmUp} ? options_.from - kWarmUp : SimTime{};
    system.agenda.post(std::max(warm, system.agenda.now()), Then::to<&DeviceWave::start>(this));
}

void DeviceWave::start() {
    probing_ = true;
    probing_since_ = system_->agenda.now();
    if (sata_link_ != nullptr) {
        sata_link_->add_probe(*sata_);
        sata_->phy(system_->agenda.now(), sata_link_->is_up());
    }
    system_->process.add_after_each([](void* self) { static_cast<DeviceWave*>(self)->sample(); }, this);
    sample();
}

void DeviceWave::stop() {
    probing_ = false;
    if (sata_link_ != nullptr) sata_link_->remove_probe(*sata_);
    system_->process.remove_after_each(this);
}

void DeviceWave::sample() {
    if (recorder_.closed()) return stop();
    const SimTime now = system_->agenda.now();
    for (Watched& w : watched_) look(w);
    sample_counts();
    check_trigger();
    recorder_.settle(now);  // the link has reported all that has begun by now
}

void DeviceWave::sample_counts() {
    const SsdSystem& s = *system_;
    const SsdController& c = s.device.controller;
    if (phase_ != kNone) {
        const RunPhase phase = !s.host.driver.ready()     ? RunPhase::bring_up
                               : s.host.driver.finished() ? RunPhase::shutdown
                                                          : RunPhase::workload;
        look(phase_, last_.phase, static_cast<std::uint64_t>(phase));
        look(outstanding_, last_.outstanding, s.host.driver.outstanding());
        look(backlog_, last_.backlog, s.host.driver.backlog());
    }
    if (up_.tlp != kNone) {
        look(up_.waiting, up_.last_waiting, s.link.upstream().waiting());
        look(down_.waiting, down_.last_waiting, s.link.downstream().waiting());
    }
    if (ready_ != kNone) {
        look(ready_, last_.ready, system_->device.nvme().controller.registers().is_ready() ? 1 : 0);
        look(in_firmware_, last_.in_firmware, system_->device.nvme().controller.in_firmware());
    }
    if (buffer_used_ != kNone) {
        look(buffer_used_, last_.buffer_used, c.firmware->buffer().used());
        look(buffer_dirty_, last_.buffer_dirty, c.firmware->buffer().dirty());
        look(buffer_queued_, last_.buffer_queued, c.firmware->buffer().queued());
    }
    if (gc_active_ != kNone) {
        look(gc_active_, last_.gc_active, c.firmware->gc().active());
        look(gc_victims_, last_.gc_victims, c.firmware->gc().victims());
        if (c.firmware->gc().last_victim() != kNoBlock)
            look(gc_victim_, last_.gc_victim, idx(c.firmware->gc().last_victim()));
        look(gc_moved_, last_.gc_moved, flash_.moved_pages());
    }
}

void DeviceWave::check_trigger() {
    if (triggered_) return;
    const SsdSystem& s = *system_;
    bool now = false;
    switch (options_.trigger) {
        case WaveOptions::Trigger::none:
        case WaveOptions::Trigger::power:
        case WaveOptions::Trigger::latency:
            break;
        case WaveOptions::Trigger::error:
            now = s.host.driver.counters().errors != 0;
            break;
        case WaveOptions::Trigger::command:
            now = s.host.driver.counters().commands_submitted >= options_.count;
            break;
        case WaveOptions::Trigger::gc:
            now = s.device.controller.firmware->gc().victims() != 0;
            break;
        case WaveOptions::Trigger::overtake:
            now = flash_.take_overtaken() >= options_.count;
            break;
    }
    if (!now) return;
    triggered_ = recorder_.trigger(s.agenda.now());
    if (!triggered_ || options_.trigger != WaveOptions::Trigger::overtake) return;
    open_channel_ = flash_.overtaken_channel();
    marks_ = {{flash_.overtaker_submitted(), "read queued"}, {s.agenda.now(), "read granted"}};
}

void DeviceWave::completed(Ps latency) {
    if (!probing_ || triggered_ || options_.trigger != WaveOptions::Trigger::latency || latency <= options_.latency)
        return;
    if (up_.tlp != kNone) (void)system_->link.upstream();  // makes the link report all that has begun by now
    triggered_ = recorder_.trigger(system_->agenda.now());
    if (!triggered_) return;
    marks_ = {{system_->agenda.now() - latency, "issued"}, {system_->agenda.now(), "completed"}};
}

void DeviceWave::doorbell(std::uint32_t offset, std::uint32_t value) {
    if (recorder_.closed() || offset < nvme::kRegDoorbells) return;
    const std::uint32_t index = (offset - nvme::kRegDoorbells) / 4;
    if (index / 2 >= sq_doorbell_.size()) return;
    recorder_.change(((index & 1) != 0 ? cq_doorbell_ : sq_doorbell_)[index / 2], system_->agenda.now(), value);
}

void DeviceWave::on_step(std::uint32_t core, CoreStep step, SimTime start, SimTime end) {
    if (core >= cores_.size()) return;
    recorder_.change(cores_[core], start, 1 + static_cast<std::uint64_t>(step));
    recorder_.change(cores_[core], end, 0);
}

void DeviceWave::on_wire(bool up, const WireBurst& b) {
    const Direction& d = up ? up_ : down_;
    if (d.tlp == kNone) return;
    recorder_.change(d.tlp, b.start, 1 + static_cast<std::uint64_t>(b.kind));
    recorder_.change(d.tlp, b.end, 0);
    if (b.kind == TlpKind::mem_write) {
        recorder_.step(d.posted_headers, b.start, b.tlps);
        recorder_.step(d.posted_headers, b.credits_back, -std::int64_t{b.tlps});
        recorder_.step(d.posted_data, b.start, b.data_credits);
        recorder_.step(d.posted_data, b.credits_back, -std::int64_t{b.data_credits});
    } else if (b.kind == TlpKind::mem_read) {
        recorder_.step(d.nonposted_headers, b.start, b.tlps);
        recorder_.step(d.nonposted_headers, b.credits_back, -std::int64_t{b.tlps});
    }
}

void DeviceWave::declare_pins() {
    const NandGeometry& g = config_.nand.geometry;
    pins_.resize(g.channels);
    for (std::uint32_t ch = 0; ch < g.channels; ++ch) {
        if (!scopes_.pins[ch]) continue;
        Pins& p = pins_[ch];
        const std::string scope = "ssd.channel_" + std::to_string(ch) + ".pins";
        const auto declare_pin = [&](Pin pin, const std::string& name) {
            const PinValue idle = idle_value(pin);
            const bool bus = pin == Pin::dq || pin == Pin::dqs;
            on_board_.push_back(
                recorder_.add({scope, name, bus ? WaveKind::shared : WaveKind::bit, pin == Pin::dq ? 8u : 1u,
                               idle == kReleased ? kWaveReleased : idle, nullptr}));
            return on_board_.back();
        };
        for (std::uint32_t w = 0; w < g.ways; ++w) p.ce_n.push_back(declare_pin(ce_n(w), "ce_n_" + std::to_string(w)));
        p.cle = declare_pin(Pin::cle, "cle");
        p.ale = declare_pin(Pin::ale, "ale");
        p.we_n = declare_pin(Pin::we_n, "we_n");
        p.re_n = declare_pin(Pin::re_n, "re_n");
        p.dqs = declare_pin(Pin::dqs, "dqs");
        p.dq = declare_pin(Pin::dq, "dq");
        for (std::uint32_t d = 0; d < g.dies_per_channel(); ++d)
            p.rb_n.push_back(declare_pin(rb_n(d), "rb_n_" + std::to_string(d)));
    }
}

void DeviceWave::play_pins() {
    for (std::uint32_t ch = 0; ch < pins_.size(); ++ch)
        if (scopes_.pins[ch]) system_->device.controller.backend.channel(ch).play_pins(config_.nand, *this);
}

void DeviceWave::look_at_queues() {
    if (ready_ == kNone) return;
    std::size_t i = first_queue_;
    each_queue_variable(
        [&](const std::string&, const auto& variable, WaveKind) { watched_[i++].variable = &variable; });
}

void DeviceWave::supply_fails() {
    if (!recorder_.closed()) recorder_.reset(on_link_, system_->agenda.now());
}

void DeviceWave::power_lost() {
    if (recorder_.closed()) return;
    recorder_.reset(on_board_, system_->agenda.now());
    if (powered_ != kNone) recorder_.change(powered_, system_->agenda.now(), 0);
    if (!triggered_ && options_.trigger == WaveOptions::Trigger::power)
        triggered_ = recorder_.trigger(system_->agenda.now());
}

void DeviceWave::built_again() {
    look_at_queues();
    play_pins();
}

void DeviceWave::power_back() {
    if (powered_ != kNone && !recorder_.closed()) recorder_.change(powered_, system_->agenda.now(), 1);
}

void DeviceWave::pins(std::uint16_t channel, const PinSequence& sequence) {
    if (recorder_.closed()) return;
    const Pins& p = pins_[channel];
    for (const PinEdge& e : sequence.edges) {
        const WaveId id = is_ce_n(e.pin)       ? p.ce_n[way_of(e.pin)]
                          : is_rb_n(e.pin)     ? p.rb_n[die_of(e.pin)]
                          : e.pin == Pin::cle  ? p.cle
                          : e.pin == Pin::ale  ? p.ale
                          : e.pin == Pin::we_n ? p.we_n
                          : e.pin == Pin::re_n ? p.re_n
                          : e.pin == Pin::dqs  ? p.dqs
                                               : p.dq;
        recorder_.change(id, e.time, e.value == kReleased ? kWaveReleased : e.value);
    }
}

std::uint32_t DeviceWave::open_channel() const {
    const NandGeometry& g = config_.nand.geometry;
    const auto recorded = [&](std::uint32_t ch) {
        bool dies = false;
        for (std::uint32_t d = 0; d < g.dies_per_channel(); ++d)
            dies = dies || scopes_.dies[ch * g.dies_per_channel() + d];
        return scopes_.channels[ch] || scopes_.scheduler[ch] || scopes_.pins[ch] || dies;
    };
    if (recorded(open_channel_)) return open_channel_;
    for (std::uint32_t ch = 0; ch < g.channels; ++ch)
        if (recorded(ch)) return ch;
    return 0;
}

void DeviceWave::finish(bool failed, SimTime ended) {
    if (probing_) {
        sample();
        if (probing_) stop();
    }
    if (failed && !triggered_ && options_.trigger == WaveOptions::Trigger::error)
        triggered_ = recorder_.trigger_at_last_change(system_->agenda.now());
    // The drive may have worked on behind its shutdown. Values that are seen for the first time are no sign of that.
    const SimTime now = system_->agenda.now();
    const SimTime changed = recorder_.last_change(now);
    recorder_.finish(now, probing_since_ <= ended ? std::max(ended, changed) : ended);
}

}  // namespace ssdtlm
