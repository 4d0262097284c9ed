// SPDX-License-Identifier: Apache-2.0
// Signals of the scheduler, the channels and the dies. Kernel-free.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/wave/wave_recorder.h"
#include "nand/onfi/onfi_timing.h"
#include "sim/wave/flash_observer.h"
#include "sim/wave/wave_options.h"

namespace ssdtlm {

class FlashSignals final : public FlashListener {
public:
    FlashSignals(WaveRecorder& recorder, const WaveScopes& scopes, const NandConfig& nand);

    void submitted(std::uint32_t channel, std::uint32_t die, const FlashWork& work, SimTime now) override;
    void sequence(const BusSequence& s) override;
    void control(const BusSequence& s) override;
    void suspended(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) override;
    void array_done(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) override;
    void data_done(std::uint32_t channel, std::uint32_t die, std::uint32_t plane, SimTime now) override;
    void power_lost(SimTime now) override;

    /// Number of pages that garbage collection has programmed.
    std::uint64_t moved_pages() const { return moved_pages_; }
    /// The most programs of garbage collection that a later host read has passed on a die since the last call.
    std::uint32_t take_overtaken() {
        const std::uint32_t was = overtaken_;
        overtaken_ = 0;
        return was;
    }
    std::uint32_t overtaken_channel() const { return overtaken_channel_; }
    /// The time at which that read was submitted to the scheduler.
    SimTime overtaker_submitted() const { return overtaker_; }

private:
    static constexpr WaveId kNone = ~WaveId{0};
    struct Plane {
        enum class State : std::uint8_t { idle, array, loaded, sending } state = State::idle;
        FlashClass cls = FlashClass::host_read;
        FlashCause cause = FlashCause::of_class;
        SimTime busy_from{};
    };
    struct Die {
        std::array<Plane, kMaxPlanes> planes{};
        WaveId state = kNone, rb_n = kNone, ardy = kNone, busy_planes = kNone, waiting = kNone;
        std::uint32_t waits = 0;
    };
    struct Channel {
        WaveId bus = kNone, cls = kNone, die = kNone;
        std::array<WaveId, kFlashClassCount> level{};
        WaveId grant_class = kNone, grant_die = kNone, passed = kNone;
        std::array<std::uint32_t, kFlashClassCount> waits{};
    };
    Die& die(std::uint32_t channel, std::uint32_t d) { return dies_[channel * dies_per_channel_ + d]; }
    void set(WaveId id, SimTime at, std::uint64_t value) {
        if (id != kNone && !recorder_.closed()) recorder_.change(id, at, value);
    }
    void step(WaveId id, SimTime at, std::int64_t delta) {
        if (id != kNone && !recorder_.closed()) recorder_.step(id, at, delta);
    }
    void bus(const BusSequence& s, Channel& c);
    void show(Die& d, SimTime now);
    void cached_program(const BusSequence& s, Die& d);
    void array_over(Die& d, std::uint32_t planes, SimTime at);

    WaveRecorder& recorder_;
    const std::uint32_t dies_per_channel_;
    const OnfiBusTiming timing_;
    const Ps program_end_;  // time of the last command cycle of a program
    const Ps between_;      // time between the planes of a multi-plane sequence
    std::vector<Channel> channels_;
    std::vector<Die> dies_;
    std::vector<WaveId> all_;
    std::uint64_t moved_pages_ = 0;
    std::uint32_t overtaken_ = 0;
    std::uint32_t overtaken_channel_ = 0;
    SimTime overtaker_{};
};

}  // namespace ssdtlm
