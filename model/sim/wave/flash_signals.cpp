// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/flash_signals.h"

#include <string>

#include "sim/wave/wave_enums.h"

namespace ssdtlm {

FlashSignals::FlashSignals(WaveRecorder& recorder, const WaveScopes& scopes, const NandConfig& nand)
    : recorder_(recorder),
      dies_per_channel_(nand.geometry.dies_per_channel()),
      timing_(nand),
      program_end_(nand.onfi.interface == OnfiInterface::ideal ? Ps{} : nand.onfi.t_cs + nand.onfi.t_wc),
      between_(timing_.issue(FlashOp::program, 2) - 2 * timing_.issue(FlashOp::program, 1)),
      channels_(nand.geometry.channels),
      dies_(nand.geometry.dies()) {
    const auto add = [&](const WaveSignal& signal) {
        all_.push_back(recorder_.add(signal));
        return all_.back();
    };
    const auto enumeration = [&](const std::string& scope, const char* name, const WaveEnum& e) {
        return add({scope, name, WaveKind::enumeration, e.width(), 0, &e});
    };
    const auto count = [&](const std::string& scope, const std::string& name) {
        return add({scope, name, WaveKind::integer, 32, 0, nullptr});
    };
    for (std::uint32_t ch = 0; ch < channels_.size(); ++ch) {
        Channel& c = channels_[ch];
        c.level.fill(kNone);
        const std::string number = std::to_string(ch);
        if (scopes.scheduler[ch]) {
            const std::string scope = "ssd.scheduler.channel_" + number;
            for (std::size_t k = 0; k < kFlashClassCount; ++k)
                c.level[k] = count(scope, "waiting_" + class_names().labels[k + 1].text);
            c.grant_class = enumeration(scope, "grant", class_names());
            c.grant_die = count(scope, "grant_die");
            c.passed = count(scope, "grant_passes");
        }
        if (scopes.channels[ch]) {
            const std::string scope = "ssd.channel_" + number;
            c.bus = enumeration(scope, "bus", bus_state_names());
            c.cls = enumeration(scope, "class", work_names());
            c.die = count(scope, "die");
        }
    }
    for (std::uint32_t ch = 0; ch < channels_.size(); ++ch) {
        for (std::uint32_t i = 0; i < dies_per_channel_; ++i) {
            if (!scopes.dies[ch * dies_per_channel_ + i]) continue;
            Die& d = die(ch, i);
            const std::string scope = "ssd.die_" + std::to_string(ch) + "_" + std::to_string(i);
            d.state = enumeration(scope, "state", die_state_names());
            d.rb_n = add({scope, "rb_n", WaveKind::bit, 1, 1, nullptr});
            if (nand.cache_program) d.ardy = add({scope, "ardy", WaveKind::bit, 1, 1, nullptr});
            d.busy_planes =
                add({scope, "busy_planes", nand.geometry.planes_per_die == 1 ? WaveKind::bit : WaveKind::vector,
                     nand.geometry.planes_per_die, 0, nullptr});
            d.waiting = count(scope, "waiting");
        }
    }
}

void FlashSignals::submitted(std::uint32_t channel, std::uint32_t d, const FlashWork& work, SimTime now) {
    Channel& c = channels_[channel];
    const auto k = static_cast<std::size_t>(work.cls);
    set(c.level[k], now, ++c.waits[k]);
    set(die(channel, d).waiting, now, ++die(channel, d).waits);
}

void FlashSignals::sequence(const BusSequence& s) {
    Channel& c = channels_[s.channel];
    Die& d = die(s.channel, s.die);
    bus(s, c);
    if (s.op == FlashOp::read_out) {
        for (std::uint32_t p = 0; p < kMaxPlanes; ++p)
            if ((s.planes >> p & 1u) != 0) d.planes[p].state = Plane::State::sending;
        show(d, s.begin);
        return;
    }
    for (std::uint32_t i = 0; i < s.count; ++i) {
        const auto k = static_cast<std::size_t>(s.work[i].cls);
        set(c.level[k], s.begin, --c.waits[k]);
        if (s.cached == nullptr) d.planes[s.work[i].plane] = {Plane::State::array, s.cls, s.cause, s.busy_from};
    }
    d.waits -= s.count;
    set(d.waiting, s.begin, d.waits);
    set(c.grant_class, s.begin, class_value(s.cls));
    set(c.grant_die, s.begin, s.die);
    set(c.passed, s.begin, s.passed);
    if (s.cls == FlashClass::host_read && s.passed_gc > overtaken_) {
        overtaken_ = s.passed_gc;
        overtaken_channel_ = s.channel;
        overtaker_ = s.work[0].submitted;
    }
    if (s.cached != nullptr) return cached_program(s, d);
    show(d, s.begin);
    set(d.state, s.busy_from, die_state(s.cause, s.cls));
    set(d.rb_n, s.busy_from, 0);
    set(d.ardy, s.busy_from, 0);
    step(d.busy_planes, s.busy_from, s.planes);
}

/// Shows a cached program. rb_n is RDY of SR[6], and ardy is ARDY of SR[5].
void FlashSignals::cached_program(const BusSequence& s, Die& d) {
    const BusSequence::Cached& c = *s.cached;
    if (c.before != 0) {
        array_over(d, c.before, c.before_to);
        if (c.before_to < c.array_from) {  // the array is idle until the transfer ends
            set(d.state, c.before_to, static_cast<std::uint64_t>(DieState::selected));
            set(d.ardy, c.before_to, 1);
        }
    }
    for (std::uint32_t i = 0; i < s.count; ++i)
        d.planes[s.work[i].plane] = {Plane::State::array, s.cls, s.cause, c.array_from};
    if (c.before == 0) show(d, s.begin);
    set(d.state, c.array_from, die_state(s.cause, s.cls));
    set(d.rb_n, s.busy_from, 0);
    set(d.rb_n, c.ready_at, 1);
    set(d.ardy, c.array_from, 0);
    step(d.busy_planes, c.array_from, s.planes);
}

void FlashSignals::control(const BusSequence& s) {
    Die& d = die(s.channel, s.die);
    bus(s, channels_[s.channel]);
    if (onfi_operation(s.op).effect != ArrayEffect::resumes) {
        if (d.ardy != kNone) set(d.rb_n, s.busy_from, 0);  // it may be high after a cached program
        return;
    }
    for (std::uint32_t i = 0; i < s.count; ++i)
        d.planes[s.work[i].plane] = {Plane::State::array, s.cls, s.cause, s.busy_from};
    show(d, s.begin);
    set(d.state, s.busy_from, die_state(s.cause, s.cls));
    set(d.rb_n, s.busy_from, 0);
    set(d.ardy, s.busy_from, 0);
    step(d.busy_planes, s.busy_from, s.planes);
}

void FlashSignals::suspended(std::uint32_t channel, std::uint32_t i, std::uint32_t planes, SimTime now) {
    Die& d = die(channel, i);
    for (std::uint32_t p = 0; p < kMaxPlanes; ++p)
        if ((planes >> p & 1u) != 0) d.planes[p].state = Plane::State::idle;
    step(d.busy_planes, now, -static_cast<std::int64_t>(planes));
    show(d, now);
}

/// Shows the phases of a sequence on the bus. They follow from its begin and end.
void FlashSignals::bus(const BusSequence& s, Channel& c) {
    if (c.bus == kNone) return;
    const auto state = [&](SimTime at, BusState b) { set(c.bus, at, static_cast<std::uint64_t>(b)); };
    set(c.cls, s.begin, work_value(s.cause, s.cls));
    set(c.die, s.begin, s.die);
    state(s.begin, BusState::command);
    SimTime free = s.end;
    if (s.op == FlashOp::program) {
        // This goes backwards from the last plane: 10h or 11h, then data, then address and tADL.
        const Ps data = timing_.data_in(s.data_bytes);
        SimTime end = s.end;
        for (std::uint32_t i = 0; i < s.count; ++i) {
            state(end - program_end_ - data, BusState::data_in);
            state(end - program_end_, BusState::command);
            end -= timing_.issue(FlashOp::program, 1) + data + between_;
        }
    } else if (s.op == FlashOp::read_out) {
        state(s.end - timing_.burst(s.data_bytes, s.spare_only).out, BusState::data_out);
        state(s.end, BusState::turnaround);
        free = s.end + timing_.turnaround();
    }
    state(free, BusState::idle);
    set(c.cls, free, 0);
}

/// Shows the state of the die, which is that of its most informative plane.
void FlashSignals::show(Die& d, SimTime now) {
    if (d.state == kNone) return;
    std::uint64_t best = static_cast<std::uint64_t>(DieState::idle);
    bool busy = false;
    const auto offer = [&best](std::uint64_t s, int rank, int& best_rank) {
        if (rank <= best_rank) return;
        best_rank = rank;
        best = s;
    };
    int rank = 0;
    for (const Plane& p : d.planes) {
        switch (p.state) {
            case Plane::State::idle:
                break;
            case Plane::State::loaded:
                offer(static_cast<std::uint64_t>(DieState::data_ready), 1, rank);
                break;
            case Plane::State::sending:
                offer(static_cast<std::uint64_t>(DieState::data_out), 2, rank);
                break;
            case Plane::State::array:
                if (p.busy_from <= now) {
                    busy = true;
                    offer(die_state(p.cause, p.cls), 4, rank);
                } else {
                    offer(static_cast<std::uint64_t>(DieState::selected), 3, rank);
                }
                break;
        }
    }
    set(d.state, now, best);
    set(d.rb_n, now, busy ? 0 : 1);
    set(d.ardy, now, busy ? 0 : 1);
}

void FlashSignals::array_done(std::uint32_t channel, std::uint32_t i, std::uint32_t planes, SimTime now) {
    Die& d = die(channel, i);
    array_over(d, planes, now);
    show(d, now);
}

void FlashSignals::array_over(Die& d, std::uint32_t planes, SimTime at) {
    for (std::uint32_t p = 0; p < kMaxPlanes; ++p) {
        if ((planes >> p & 1u) == 0) continue;
        const bool read = d.planes[p].cls == FlashClass::host_read || d.planes[p].cls == FlashClass::gc_read ||
                          d.planes[p].cls == FlashClass::mapping_read;
        d.planes[p].state = read ? Plane::State::loaded : Plane::State::idle;
        moved_pages_ += d.planes[p].cls == FlashClass::gc_write && d.planes[p].cause == FlashCause::of_class;
    }
    step(d.busy_planes, at, -static_cast<std::int64_t>(planes));
}

void FlashSignals::data_done(std::uint32_t channel, std::uint32_t i, std::uint32_t plane, SimTime now) {
    Die& d = die(channel, i);
    d.planes[plane].state = Plane::State::idle;
    show(d, now);
}

void FlashSignals::power_lost(SimTime now) {
    for (Channel& c : channels_) c.waits.fill(0);
    for (Die& d : dies_) {
        d.waits = 0;
        d.planes.fill(Plane{});
    }
    if (!recorder_.closed()) recorder_.reset(all_, now);
}

}  // namespace ssdtlm
