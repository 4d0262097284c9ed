// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_bursts.h"

#include <string>

namespace ssdtlm {
namespace {

constexpr Ps kRounding{1};  // instants are whole picoseconds

}  // namespace

PinBursts::PinBursts(const NandConfig& nand, const PinLimits& limits, const PinLevels& pins, PinDecoder& told,
                     PinViolations& violations)
    : t_(nand.onfi),
      limits_(limits),
      pins_(pins),
      told_(told),
      violations_(violations),
      sdr_(nand.onfi.interface == OnfiInterface::sdr),
      independent_(nand.independent_plane_read),
      transfer_(Rate::megatransfers(nand.onfi.megatransfers).time_for(1) - Ps{1}),
      t_rpst_(nand.onfi.t_dqsre + transfer_) {}

void PinBursts::give_up() {
    in_ = in_held_ = out_ = false;
    expected_bytes_.clear();
}

void PinBursts::data_changes(SimTime t) {
    if (in_ && in_strobes_ != 0) violations_.at_least("tDH", t, in_last_, limits_.t_ds);
}

void PinBursts::ends(SimTime t) {
    if (in_ || in_held_) {  // this is the first of the three pins to rise after the burst
        violations_.at_least("tWPSTH", t, in_last_, t_.t_wpst + t_.t_wpsth);
        in_held_ = false;
    }
    if (out_) end_out(t);
}

// --- data out --------------------------------------------------------------------------------------------------------

void PinBursts::read_enable(SimTime t, PinValue level) {
    if (!out_) {
        if (level == 0) begin_out(t);
        return;
    }
    if (sdr_) return;
    if (re_edges_.empty())
        violations_.at_least("tRPRE", t, out_began_, t_.t_rpre);
    else
        violations_.at_least("data rate", t, re_edges_.back(), transfer_);
    re_edges_.push_back(t);
}

void PinBursts::begin_out(SimTime t) {
    out_ = true;
    out_began_ = t;
    out_strobes_ = 0;
    out_late_ = false;
    re_edges_.clear();
    PinDecoder::Target* const from = told_.target(t, "RE#");
    if (from == nullptr) return;
    if (from->open || from->prefixed || !from->readable)
        return violations_.add("sequence", t, "data out of a page that was not selected");
    from->end_wait(t, violations_);
    // With independent plane reads R/B# shows only whether any plane is busy.
    if (from->status || from->source == PinDecoder::kUnknown || independent_) return;
    const Pin ready = rb_n(static_cast<std::uint32_t>(from->source));
    if (pins_.value(ready) == 0)
        violations_.add("R/B#", t, "data out of die " + std::to_string(from->source) + ", which is busy");
    violations_.at_least("tRR", t, pins_.changed(ready), t_.t_rr);
}

void PinBursts::end_out(SimTime t) {
    out_ = false;
    out_ended_ = t;
    if (sdr_) {
        if (!expected_bytes_.empty()) expected_bytes_.pop_front();
        return;
    }
    SimTime back = t;  // when RE# goes back to idle: now or before
    if (pins_.value(Pin::re_n) != 0 && !re_edges_.empty()) {
        back = re_edges_.back();
        re_edges_.pop_back();
    }
    const SimTime last = re_edges_.empty() ? out_began_ : re_edges_.back();
    violations_.at_least("tRPST", back, last, t_rpst_);
    violations_.at_least("tRPSTH", t, last, t_rpst_ + t_.t_rpsth);
    if (out_strobes_ != re_edges_.size())
        violations_.add("DQS count", t,
                        std::to_string(out_strobes_) + " strobes for " + std::to_string(re_edges_.size()) + " of RE#");
    count_bytes(t, re_edges_.size());
}

void PinBursts::strobe_out(SimTime t) {
    const std::size_t k = out_strobes_++;
    if (!out_ || k >= re_edges_.size()) return violations_.add("DQS count", t, "DQS toggles without RE#");
    if (!out_late_ && t - re_edges_[k] > t_.t_dqsre + kRounding) {
        out_late_ = true;
        violations_.add("tDQSRE", t, nanoseconds(t - re_edges_[k]) + " after RE#; at most " + nanoseconds(t_.t_dqsre));
    }
}

// --- data in ---------------------------------------------------------------------------------------------------------

void PinBursts::strobe(SimTime t, PinValue before, PinValue now) {
    if (before == kReleased) {
        if (!out_) begin_in(t);  // else it is the die's preamble
        return;
    }
    if (now == kReleased) {
        if (in_) end_in(t);
        return;
    }
    ++strobes_;
    if (in_)
        strobe_in(t);
    else
        strobe_out(t);
}

void PinBursts::begin_in(SimTime t) {
    PinDecoder::Target* const to = told_.target(t, "DQS");
    if (to != nullptr && !to->takes_data()) violations_.add("sequence", t, "data in without 80h and its addresses");
    in_ = true;
    in_strobes_ = 0;
    in_driven_ = in_last_ = t;
}

void PinBursts::strobe_in(SimTime t) {
    if (in_strobes_++ == 0) {
        violations_.at_least("tWPRE", t, in_driven_, t_.t_wpre);
        const PinDecoder::Target& to = told_.last_told();
        if (*to.wait_rule != '\0') violations_.at_least(to.wait_rule, t, to.wait_from, to.wait);
    } else {
        violations_.at_least("data rate", t, in_last_, transfer_);
    }
    violations_.at_least("tDS", t, pins_.changed(Pin::dq), limits_.t_ds);
    in_last_ = t;
}

void PinBursts::end_in(SimTime t) {
    in_ = false;
    in_held_ = true;
    violations_.at_least("tWPST", t, in_last_, t_.t_wpst);
    if (PinDecoder::Target* const to = told_.only_low()) {
        to->data = in_strobes_ != 0;
        to->wait_rule = "";
    }
    count_bytes(t, in_strobes_);
}

void PinBursts::count_bytes(SimTime t, std::size_t strobes) {
    if (any_bytes_) return;
    if (expected_bytes_.empty()) return violations_.add("byte count", t, "a data burst that no sequence has");
    if (expected_bytes_.front() != strobes)
        violations_.add("byte count", t,
                        std::to_string(strobes) + " strobes for " + std::to_string(expected_bytes_.front()) + " bytes");
    expected_bytes_.pop_front();
}

}  // namespace ssdtlm
