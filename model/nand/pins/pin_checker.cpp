// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_checker.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

PinChecker::PinChecker(const NandConfig& nand)
    : t_(nand.onfi),
      limits_(nand.onfi),
      sdr_(nand.onfi.interface == OnfiInterface::sdr),
      next_(pins_.values),
      told_(nand, pins_, violations_),
      bursts_(nand, limits_, pins_, told_, violations_) {
    SSDTLM_CHECK(nand.onfi.interface != OnfiInterface::nv_ddr, "pins of NV-DDR cannot be checked");
}

void PinChecker::check(const PinSequence& sequence) {
    sequences_ += sequence.end != sequence.begin;
    drain(sequence.begin);
    for (std::uint8_t b = 0; b < sequence.bursts; ++b) bursts_.expect(sequence.burst_bytes);
    const auto middle = static_cast<std::ptrdiff_t>(pending_.size());
    pending_.insert(pending_.end(), sequence.edges.begin(), sequence.edges.end());
    std::inplace_merge(pending_.begin(), pending_.begin() + middle, pending_.end(),
                       [](const PinEdge& a, const PinEdge& b) { return a.time < b.time; });
}

void PinChecker::finish() {
    drain(kNever);
    told_.overdue(kNever);
}

void PinChecker::power_lost(SimTime now) {
    drain(now);
    pending_.clear();
    pins_ = PinLevels{};
    next_ = pins_.values;
    told_.power_lost();
    bursts_.give_up();
}

void PinChecker::begin_inside(const std::vector<PinEdge>& levels) {
    for (const PinEdge& e : levels) next_[idx(e.pin)] = pins_.values[idx(e.pin)] = e.value;
    inside_a_sequence_ = !no_chip_enabled();
    told_.begin_inside(levels.empty() ? SimTime{} : levels.front().time);
}

void PinChecker::check_edges(const std::vector<PinEdge>& edges) {
    bursts_.expect_any();
    if (inside_a_sequence_) {
        for (const PinEdge& e : edges) next_[idx(e.pin)] = pins_.values[idx(e.pin)] = e.value;
        inside_a_sequence_ = !no_chip_enabled();
        if (!inside_a_sequence_) told_.begin_inside(edges.back().time);
        return;
    }
    pending_.insert(pending_.end(), edges.begin(), edges.end());
    drain(kNever);
}

bool PinChecker::no_chip_enabled() const {
    return std::all_of(pins_.values.begin() + idx(Pin::ce_n), pins_.values.begin() + idx(Pin::rb_n),
                       [](PinValue level) { return level != 0; });
}

void PinChecker::drain(SimTime before) {
    std::size_t first = 0;
    while (first < pending_.size() && pending_[first].time < before) {
        std::size_t last = first;
        while (last < pending_.size() && pending_[last].time == pending_[first].time) ++last;
        told_.overdue(pending_[first].time);
        apply(pending_[first].time, first, last);
        first = last;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(first));
}

/// Applies the edges of one instant together, so a pin that rises and falls at that instant has not changed.
void PinChecker::apply(SimTime t, std::size_t first, std::size_t last) {
    changes_.clear();
    for (std::size_t i = first; i < last; ++i) next_[idx(pending_[i].pin)] = pending_[i].value;
    for (std::size_t i = first; i < last; ++i) {
        const Pin pin = pending_[i].pin;
        PinValue& now = pins_.values[idx(pin)];
        if (now == next_[idx(pin)]) continue;
        changes_.push_back({pin, now, next_[idx(pin)]});
        now = next_[idx(pin)];
        pins_.since[idx(pin)] = t;
    }
    // Strobes come before edges that end a burst, and DQ before edges that latch it: a change with WE# breaks its
    // set-up time.
    const auto rank = [](Pin p) {
        constexpr int kRank[] = {4, 4, 3, 0, 2, 1};  // cle, ale, we_n, re_n, dqs, dq
        return is_rb_n(p) ? -1 : is_ce_n(p) ? 5 : kRank[idx(p)];
    };
    std::stable_sort(changes_.begin(), changes_.end(),
                     [&](const Change& x, const Change& y) { return rank(x.pin) < rank(y.pin); });
    for (const Change& c : changes_) dispatch(t, c);
}

void PinChecker::dispatch(SimTime t, const Change& c) {
    if (is_rb_n(c.pin)) return told_.ready_busy(t, ssdtlm::die_of(c.pin), c.now);
    if (is_ce_n(c.pin)) return on_chip(t, way_of(c.pin), c.now);
    switch (c.pin) {
        case Pin::re_n:
            return bursts_.read_enable(t, c.now);
        case Pin::dqs:
            return bursts_.strobe(t, c.before, c.now);
        case Pin::dq:
            return on_dq(t);
        case Pin::we_n:
            return on_we(t, c.now);
        default:
            return on_latch_enable(t, c.now);
    }
}

// --- cycles ----------------------------------------------------------------------------------------------------------

void PinChecker::on_chip(SimTime t, std::uint32_t way, PinValue level) {
    told_.chip(t, way, level);
    if (level == 0) return;
    violations_.at_least("tCH", t, we_rose_, limits_.t_ch);
    bursts_.ends(t);
}

void PinChecker::on_latch_enable(SimTime t, PinValue level) {
    violations_.at_least("tCALH", t, we_rose_, limits_.t_calh);
    if (level != 0) bursts_.ends(t);
}

void PinChecker::on_dq(SimTime t) {
    violations_.at_least("tCAH", t, we_rose_, limits_.t_cah);
    bursts_.data_changes(t);
}

void PinChecker::on_we(SimTime t, PinValue level) {
    PinDecoder::Target* const to = told_.target(t, "WE#");
    if (level == 0) {
        if (to != nullptr) violations_.at_least("tCS", t, to->chip_fell, t_.t_cs);
        if (!(sdr_ && pins_.value(Pin::cle) == 0 && pins_.value(Pin::ale) == 0)) {
            violations_.at_least("tWC", t, we_fell_, t_.t_wc);
            violations_.at_least("tWH", t, we_rose_, limits_.t_wh);
        }
        violations_.at_least("tRHW", t, bursts_.last_out(), t_.t_rhw);
        if (bursts_.under_way()) violations_.add("sequence", t, "WE# falls in a data burst");
        we_fell_ = t;
        return;
    }
    const bool cle = pins_.value(Pin::cle) != 0, ale = pins_.value(Pin::ale) != 0;
    if (sdr_ && !cle && !ale) {
        if (to != nullptr) to->data = true;
        return;
    }
    violations_.at_least("tWP", t, we_fell_, limits_.t_wp);
    violations_.at_least("tCALS", t, std::max(pins_.changed(Pin::cle), pins_.changed(Pin::ale)), limits_.t_cals);
    violations_.at_least("tCAS", t, pins_.changed(Pin::dq), limits_.t_cas);
    we_rose_ = t;
    if (to == nullptr) return;
    const PinValue byte = pins_.value(Pin::dq);
    if (byte > 0xFF) return violations_.add("sequence", t, "WE# rises while nobody drives DQ");
    if (cle == ale)
        return violations_.add("sequence", t, "WE# rises with CLE and ALE both " + std::string(cle ? "high" : "low"));
    if (cle)
        told_.command(t, *to, static_cast<std::uint8_t>(byte));
    else
        told_.address(t, *to, static_cast<std::uint8_t>(byte));
}

}  // namespace ssdtlm
