// SPDX-License-Identifier: Apache-2.0
// The waveform of a device: its signals, the sources of their values, and the trigger. Probes report work on a serial
// resource (wires, cores, buses, dies) when it begins. Counts and pointers are read after every entry of the agenda.
// Both are off while nothing is recorded (before --wave-from, and after the window).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/wave/wave_recorder.h"
#include "controller/cpu/core_probe.h"
#include "host_pcie/link/link_probe.h"
#include "nand/pins/pin_sequence.h"
#include "sim/ssd_system.h"
#include "sim/wave/flash_signals.h"
#include "sim/wave/gtkw_writer.h"
#include "sim/wave/sata_wave.h"
#include "sim/wave/wave_options.h"

namespace ssdtlm {

class SataLink;

class DeviceWave final : private PinListener {
public:
    /// Declares the flash signals; `observer` feeds them.
    DeviceWave(WaveSink& sink, const WaveOptions& options, const WaveScopes& scopes, const SsdConfig& config,
               FlashObserver& observer);

    /// Declares the other signals and starts to record. Call it once, before the simulation starts.
    void attach(SsdSystem& system);
    /// The host has stored to a doorbell.
    void doorbell(std::uint32_t offset, std::uint32_t value);
    /// A command has completed, which may be the trigger.
    void completed(Ps latency);
    void on_step(std::uint32_t core, CoreStep step, SimTime start, SimTime end);
    void on_wire(bool up, const WireBurst& burst);
    /// See PowerWatcher.
    void supply_fails();
    void power_lost();
    void built_again();
    void power_back();
    /// True: it wants reports of core steps and of bursts on the link now.
    bool probing() const { return probing_; }
    /// Ends the recording. `failed`: the run has failed, which may be the trigger.
    void finish(bool failed, SimTime ended);

    const WaveRecorder& recorder() const { return recorder_; }
    /// The channel that a viewer should show: that of the trigger, else the first that is recorded.
    std::uint32_t open_channel() const;
    const std::vector<GtkwMark>& marks() const { return marks_; }

private:
    static constexpr WaveId kNone = ~WaveId{0};
    /// A variable of the model whose value is a signal.
    struct Watched {
        const void* variable;
        bool wide;  ///< it has 8 bytes, else 4
        WaveId id;
        std::uint64_t last;
    };
    struct Direction {
        WaveId tlp = kNone, posted_headers = kNone, posted_data = kNone, nonposted_headers = kNone, waiting = kNone;
        std::uint64_t last_waiting = 0;
    };
    struct Pins {
        WaveId cle = kNone, ale = kNone, we_n = kNone, re_n = kNone, dqs = kNone, dq = kNone;
        std::vector<WaveId> ce_n, rb_n;
    };

    void pins(std::uint16_t channel, const PinSequence& sequence) override;
    void declare_pins();
    void play_pins();
    void look_at_queues();
    std::uint32_t queue_pairs() const;
    template <class Visit>
    void each_queue_variable(Visit visit) const;
    void start();
    void sample();
    void sample_counts();
    void look(Watched& w) {
        std::uint64_t value = 0;
        std::uint32_t narrow = 0;
        if (w.wide) {
            std::memcpy(&value, w.variable, sizeof value);
        } else {
            std::memcpy(&narrow, w.variable, sizeof narrow);
            value = narrow;
        }
        look(w.id, w.last, value);
    }
    void check_trigger();
    void stop();
    template <class T>
    void watch(const std::string& scope, const std::string& name, const T& variable, WaveKind kind = WaveKind::integer);
    WaveId declare(const std::string& scope, const std::string& name, WaveKind kind, std::uint32_t width);
    /// Records `value` if it differs from `last`.
    void look(WaveId id, std::uint64_t& last, std::uint64_t value) {
        if (value == last) return;
        last = value;
        recorder_.change(id, system_->agenda.now(), value);
    }

    const WaveOptions options_;
    WaveScopes scopes_;
    const SsdConfig& config_;
    WaveRecorder recorder_;
    FlashSignals flash_;
    SsdSystem* system_ = nullptr;
    bool probing_ = false;
    SimTime probing_since_ = kNever;
    bool triggered_ = false;
    std::uint32_t open_channel_ = 0;
    std::vector<GtkwMark> marks_;

    std::vector<Watched> watched_;
    std::size_t first_queue_ = 0;             // index in watched_ of the first variable of each_queue_variable()
    std::vector<WaveId> on_link_, on_board_;  // have changes ahead of their time, which a loss of power drops
    WaveId powered_ = kNone, phase_ = kNone, outstanding_ = kNone, backlog_ = kNone;
    WaveId in_firmware_ = kNone, ready_ = kNone;
    WaveId buffer_used_ = kNone, buffer_dirty_ = kNone, buffer_queued_ = kNone;
    WaveId gc_active_ = kNone, gc_victims_ = kNone, gc_victim_ = kNone, gc_moved_ = kNone;
    struct Last {
        std::uint64_t phase = 0, outstanding = 0, backlog = 0, in_firmware = 0, ready = 0;
        std::uint64_t buffer_used = 0, buffer_dirty = 0, buffer_queued = 0;
        std::uint64_t gc_active = 0, gc_victims = 0, gc_victim = 0, gc_moved = 0;
    } last_;
    std::vector<WaveId> cores_;
    std::vector<WaveId> sq_doorbell_, cq_doorbell_;  // by queue
    Direction up_, down_;
    SataLink* sata_link_ = nullptr;  // null: there is no such link, or it is not recorded
    std::optional<SataWave> sata_;
    std::vector<Pins> pins_;  // by channel
};

}  // namespace ssdtlm
