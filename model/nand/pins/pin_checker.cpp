// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_checker.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr Ps kRounding{1};  // instants are whole picoseconds

std::string ns(Ps t) {
    return std::to_string(t.count() / 1000) + "." + std::to_string(1000 + t.count() % 1000).substr(1) + " ns";
}

std::string hex(std::uint8_t opcode) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    return std::string{kDigits[opcode >> 4], kDigits[opcode & 15], 'h'};
}

/// tDS = tDH by tRC (Micron L06B model parameters, NV-DDR3 modes 0 to 10); beyond, the fastest one's share of tRC.
Ps data_setup(Ps cycle) {
    constexpr std::pair<std::int64_t, std::int64_t> kModes[] = {
        {30'000, 4'000}, {25'000, 3'300}, {15'000, 2'000}, {12'000, 1'100}, {10'000, 700}, {7'500, 600},
        {6'000, 550},    {5'000, 400},    {3'750, 300},    {3'000, 240},    {2'500, 200}};
    for (const auto& [t_rc, t_ds] : kModes)
        if (cycle.count() >= t_rc) return Ps{t_ds};
    return cycle * 2 / 25;
}

bool selects(FlashOp op) { return op == FlashOp::change_column || op == FlashOp::select_plane; }
bool is_status(FlashOp op) { return op == FlashOp::read_status || op == FlashOp::read_status_enhanced; }

unsigned bits_for(std::uint32_t values) {
    unsigned bits = 0;
    while ((std::uint64_t{1} << bits) < values) ++bits;
    return bits;
}

}  // namespace

PinLimits::PinLimits(const OnfiTiming& timing) {
    if (timing.t_wc < 25ns)
        for (Ps* p : {&t_wp, &t_wh, &t_cals, &t_calh, &t_cas, &t_cah, &t_ch}) *p = *p * timing.t_wc.count() / 25'000;
    t_ds = data_setup(Rate::megatransfers(timing.megatransfers).time_for(2));
}

PinChecker::PinChecker(const NandConfig& nand)
    : t_(nand.onfi),
      limits_(nand.onfi),
      sdr_(nand.onfi.interface == OnfiInterface::sdr),
      independent_(nand.independent_plane_read),
      dies_per_chip_(nand.geometry.dies_per_chip),
      lun_shift_(bits_for(nand.geometry.pages_per_block) + bits_for(nand.geometry.planes_per_die) +
                 bits_for(nand.geometry.blocks_per_plane)),
      luns_known_(dies_per_chip_ == 1 || lun_shift_ + bits_for(dies_per_chip_) <= 24),
      transfer_(Rate::megatransfers(nand.onfi.megatransfers).time_for(1) - Ps{1}),
      t_rpst_(nand.onfi.t_dqsre + transfer_),
      targets_(nand.geometry.ways) {
    SSDTLM_CHECK(nand.onfi.interface != OnfiInterface::nv_ddr, "pins of NV-DDR cannot be checked");
    for (std::uint32_t p = 0; p < kPinCount; ++p) value_[p] = next_[p] = idle_value(static_cast<Pin>(p));
    changed_.fill(kLongAgo);
}

void PinChecker::check(const PinSequence& sequence) {
    sequences_ += sequence.end != sequence.begin;
    drain(sequence.begin);
    for (std::uint8_t b = 0; b < sequence.bursts; ++b) expected_bytes_.push_back(sequence.burst_bytes);
    const auto middle = static_cast<std::ptrdiff_t>(pending_.size());
    pending_.insert(pending_.end(), sequence.edges.begin(), sequence.edges.end());
    std::inplace_merge(pending_.begin(), pending_.begin() + middle, pending_.end(),
                       [](const PinEdge& a, const PinEdge& b) { return a.time < b.time; });
}

void PinChecker::finish() {
    drain(kNever);
    overdue(kNever);
}

void PinChecker::drain(SimTime before) {
    std::size_t first = 0;
    while (first < pending_.size() && pending_[first].time < before) {
        std::size_t last = first;
        while (last < pending_.size() && pending_[last].time == pending_[first].time) ++last;
        overdue(pending_[first].time);
        apply(pending_[first].time, first, last);
        first = last;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(first));
}

/// Edges of one instant take effect together: a pin that rises and falls at it has not moved.
void PinChecker::apply(SimTime t, std::size_t first, std::size_t last) {
    changes_.clear();
    for (std::size_t i = first; i < last; ++i) next_[idx(pending_[i].pin)] = pending_[i].value;
    for (std::size_t i = first; i < last; ++i) {
        const Pin pin = pending_[i].pin;
        PinValue& now = value_[idx(pin)];
        if (now == next_[idx(pin)]) continue;
        changes_.push_back({pin, now, next_[idx(pin)]});
        now = next_[idx(pin)];
        changed_[idx(pin)] = t;
    }
    // Strobes before what ends a burst, and DQ before what latches it: a change with WE# breaks its set-up time.
    const auto rank = [](Pin p) {
        constexpr int kRank[] = {4, 4, 3, 0, 2, 1};  // cle, ale, we_n, re_n, dqs, dq
        return is_rb_n(p) ? -1 : is_ce_n(p) ? 5 : kRank[idx(p)];
    };
    std::stable_sort(changes_.begin(), changes_.end(),
                     [&](const Change& x, const Change& y) { return rank(x.pin) < rank(y.pin); });
    for (const Change& c : changes_) dispatch(t, c);
}

void PinChecker::dispatch(SimTime t, const Change& c) {
    if (is_rb_n(c.pin)) return on_ready_busy(t, ssdtlm::die_of(c.pin), c.now);
    if (is_ce_n(c.pin)) return on_chip(t, way_of(c.pin), c.now);
    switch (c.pin) {
        case Pin::re_n:
            return on_re(t, c.now);
        case Pin::dqs:
            return on_dqs(t, c);
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
    if (level != 0) {
        --low_chips_;
        at_least("tCH", t, we_rose_, limits_.t_ch);
        after_data_in(t);
        if (out_) end_data_out(t);
        return;
    }
    ++low_chips_;
    way_ = way;
    if (way < targets_.size())
        targets_[way].chip_fell = t;
    else
        violation("CE#", t, to_string(ce_n(way)) + " does not exist");
}

void PinChecker::on_latch_enable(SimTime t, PinValue level) {
    at_least("tCALH", t, we_rose_, limits_.t_calh);
    if (level == 0) return;
    after_data_in(t);
    if (out_) end_data_out(t);
}

void PinChecker::on_dq(SimTime t) {
    at_least("tCAH", t, we_rose_, limits_.t_cah);
    if (in_ && in_strobes_ != 0) at_least("tDH", t, in_last_, limits_.t_ds);
}

PinChecker::Target* PinChecker::target(SimTime t, const char* what) {
    if (low_chips_ == 1 && way_ < targets_.size() && value(ce_n(way_)) == 0) return &targets_[way_];
    violation("CE#", t, std::string(what) + " with " + std::to_string(low_chips_) + " chip enables low; one has to be");
    return nullptr;
}

void PinChecker::on_we(SimTime t, PinValue level) {
    Target* const to = target(t, "WE#");
    if (level == 0) {
        if (to != nullptr) at_least("tCS", t, to->chip_fell, t_.t_cs);
        if (!(sdr_ && value(Pin::cle) == 0 && value(Pin::ale) == 0)) {
            at_least("tWC", t, we_fell_, t_.t_wc);
            at_least("tWH", t, we_rose_, limits_.t_wh);
        }
        at_least("tRHW", t, out_ended_, t_.t_rhw);
        if (in_ || out_) violation("sequence", t, "WE# falls in a data burst");
        we_fell_ = t;
        return;
    }
    const bool cle = value(Pin::cle) != 0, ale = value(Pin::ale) != 0;
    if (sdr_ && !cle && !ale) {
        if (to != nullptr) to->data = true;
        return;
    }
    at_least("tWP", t, we_fell_, limits_.t_wp);
    at_least("tCALS", t, std::max(changed(Pin::cle), changed(Pin::ale)), limits_.t_cals);
    at_least("tCAS", t, changed(Pin::dq), limits_.t_cas);
    we_rose_ = t;
    if (to == nullptr) return;
    const PinValue byte = value(Pin::dq);
    if (byte > 0xFF) return violation("sequence", t, "WE# rises while nobody drives DQ");
    if (cle == ale)
        return violation("sequence", t, "WE# rises with CLE and ALE both " + std::string(cle ? "high" : "low"));
    if (cle)
        command(t, *to, static_cast<std::uint8_t>(byte));
    else
        address(t, *to, static_cast<std::uint8_t>(byte));
}

// --- commands --------------------------------------------------------------------------------------------------------

void PinChecker::command(SimTime t, Target& to, std::uint8_t opcode) {
    ++commands_[opcode];
    if (to.open) return confirm(t, to, opcode);
    const FlashOp op = operation_of(opcode);
    if (op == FlashOp::count) return violation("sequence", t, hex(opcode) + " begins no sequence in use");
    to.open = true;
    to.opcode = opcode;
    to.op = op;
    to.addresses = 0;
    to.data = false;
    to.row = 0;
    to.die = kUnknown;
    // What goes on with the page in the register, and 78h, which a page is still selected after.
    if (op != FlashOp::change_column && !is_status(op) && onfi_operation(op).effect != ArrayEffect::suspends) to.readable = to.status = false;
    if (onfi_operation(op).addresses() != 0) return;
    if (is_status(op)) return status_selected(t, to);
    to.open = false;  // a resume: the die goes on with what it was told
    busy_.push_back({way_, kUnknown, t});
}

void PinChecker::status_selected(SimTime t, Target& to) {
    to.open = false;
    to.readable = to.status = true;
    await_data(t, to);
}

/// From now on the operation's data has to keep its distance.
void PinChecker::await_data(SimTime t, Target& to) {
    const OnfiOperation& op = onfi_operation(to.op);
    to.wait_rule = op.data_rule;
    to.wait = op.before_data == nullptr ? Ps{0} : op.before_data(t_);
    to.wait_from = t;
}

void PinChecker::address(SimTime t, Target& to, std::uint8_t byte) {
    const OnfiOperation& op = onfi_operation(to.op);
    const std::uint32_t wanted = to.open ? op.addresses() : 0;
    if (to.addresses >= wanted)
        return violation("address cycles", t,
                         to.open ? hex(to.opcode) + " takes " + std::to_string(wanted) : "without a command");
    if (op.rows != 0 && to.addresses >= op.columns) to.row |= std::uint32_t{byte} << 8 * (to.addresses - op.columns);
    if (++to.addresses == wanted) addresses_done(t, to);
}

void PinChecker::addresses_done(SimTime t, Target& to) {
    if (onfi_operation(to.op).rows == 0) return;
    to.die = die_of_row(way_, to.row);
    if (is_status(to.op)) return status_selected(t, to);
    if (onfi_operation(to.op).effect == ArrayEffect::suspends) {
        to.open = false;
        return;
    }
    const bool may_be_busy = independent_ && (to.op == FlashOp::read || to.op == FlashOp::select_plane);
    if (to.die != kUnknown && !may_be_busy && value(rb_n(static_cast<std::uint32_t>(to.die))) == 0)
        violation("R/B#", t, hex(to.opcode) + " to die " + std::to_string(to.die) + ", which is busy");
    to.wait_rule = "";
    if (onfi_operation(to.op).data == DataCycles::in) await_data(t, to);
}

void PinChecker::confirm(SimTime t, Target& to, std::uint8_t opcode) {
    to.open = false;
    const OnfiOperation& op = onfi_operation(to.op);
    const std::string both = hex(to.opcode) + " .. " + hex(opcode);
    if (!op.confirmed_by(opcode)) return violation("sequence", t, both + " is no sequence in use");
    if (to.addresses != op.addresses())
        violation("address cycles", t,
                  both + " with " + std::to_string(to.addresses) + " address cycles; it takes " +
                      std::to_string(op.addresses()));
    if (op.data == DataCycles::in && !to.data) violation("sequence", t, both + " without data");
    if (selects(to.op)) {
        if (op.rows != 0) to.source = to.die;
        if (op.rows == 0 && !to.readable) violation("sequence", t, "05h where no page was selected");
        to.readable = true;
        to.status = to.queued = false;
        return await_data(t, to);
    }
    if (op.effect == ArrayEffect::loads_register) {
        const bool single = opcode == op.confirm && !to.queued;
        to.readable = single;  // several planes: 06h has to say which
        to.source = to.die;
        to.queued = opcode == op.queue;
        to.wait_rule = "";
    }
    if (to.die != kUnknown && value(rb_n(static_cast<std::uint32_t>(to.die))) == 0) return;  // is low already
    busy_.push_back({way_, to.die, t});
}

int PinChecker::die_of_row(std::uint32_t way, std::uint32_t row) const {
    if (!luns_known_) return kUnknown;
    const std::uint32_t lun = dies_per_chip_ == 1 ? 0 : row >> lun_shift_;
    return lun < dies_per_chip_ ? static_cast<int>(way * dies_per_chip_ + lun) : kUnknown;
}

// --- ready and busy --------------------------------------------------------------------------------------------------

void PinChecker::on_ready_busy(SimTime t, std::uint32_t die, PinValue level) {
    if (level != 0) return;
    for (auto b = busy_.begin(); b != busy_.end(); ++b) {
        if (b->die == kUnknown ? b->way != die / dies_per_chip_ : b->die != static_cast<int>(die)) continue;
        busy_.erase(b);
        return;  // overdue() has looked at its time
    }
    violation("R/B#", t, to_string(rb_n(die)) + " falls, but nothing was started");
}

void PinChecker::overdue(SimTime t) {
    for (std::size_t i = 0; i < busy_.size();) {
        if (t <= busy_[i].since + t_.t_wb) {
            ++i;
            continue;
        }
        violation("tWB", busy_[i].since + t_.t_wb, "R/B# has not fallen within " + ns(t_.t_wb));
        // Its late fall is not another violation.
        busy_[i].since = kNever - t_.t_wb;
        if (t == kNever) busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// --- data ------------------------------------------------------------------------------------------------------------

void PinChecker::on_re(SimTime t, PinValue level) {
    if (!out_) {
        if (level == 0) begin_data_out(t);
        return;
    }
    if (sdr_) return;
    if (re_edges_.empty())
        at_least("tRPRE", t, out_began_, t_.t_rpre);
    else
        at_least("data rate", t, re_edges_.back(), transfer_);
    re_edges_.push_back(t);
}

void PinChecker::begin_data_out(SimTime t) {
    out_ = true;
    out_began_ = t;
    out_strobes_ = 0;
    out_late_ = false;
    re_edges_.clear();
    Target* const from = target(t, "RE#");
    if (from == nullptr) return;
    if (from->open || !from->readable) return violation("sequence", t, "data out of a page that was not selected");
    if (*from->wait_rule != '\0') at_least(from->wait_rule, t, from->wait_from, from->wait);
    from->wait_rule = "";
    // With independent plane reads R/B# says only whether any plane is busy.
    if (from->status || from->source == kUnknown || independent_) return;
    const Pin ready = rb_n(static_cast<std::uint32_t>(from->source));
    if (value(ready) == 0) violation("R/B#", t, "data out of die " + std::to_string(from->source) + ", which is busy");
    at_least("tRR", t, changed(ready), t_.t_rr);
}

void PinChecker::end_data_out(SimTime t) {
    out_ = false;
    out_ended_ = t;
    if (sdr_) {
        if (!expected_bytes_.empty()) expected_bytes_.pop_front();
        return;
    }
    SimTime back = t;  // RE# goes back to idle, here or before
    if (value(Pin::re_n) != 0 && !re_edges_.empty()) {
        back = re_edges_.back();
        re_edges_.pop_back();
    }
    const SimTime last = re_edges_.empty() ? out_began_ : re_edges_.back();
    at_least("tRPST", back, last, t_rpst_);
    at_least("tRPSTH", t, last, t_rpst_ + t_.t_rpsth);
    if (out_strobes_ != re_edges_.size())
        violation("DQS count", t,
                  std::to_string(out_strobes_) + " strobes for " + std::to_string(re_edges_.size()) + " of RE#");
    count_bytes(t, re_edges_.size());
}

void PinChecker::on_dqs(SimTime t, const Change& c) {
    if (c.before == kReleased) {
        if (out_) return;  // the die's, in its preamble
        Target* const to = target(t, "DQS");
        if (to != nullptr && !(to->open && onfi_operation(to->op).data == DataCycles::in && to->addresses == onfi_operation(to->op).addresses()))
            violation("sequence", t, "data in without 80h and its addresses");
        in_ = true;
        in_strobes_ = 0;
        in_driven_ = in_last_ = t;
        return;
    }
    if (c.now == kReleased) {
        if (in_) end_data_in(t);
        return;
    }
    ++strobes_;
    if (in_) {
        if (in_strobes_++ == 0) {
            at_least("tWPRE", t, in_driven_, t_.t_wpre);
            const Target& to = targets_[way_];
            if (*to.wait_rule != '\0') at_least(to.wait_rule, t, to.wait_from, to.wait);
        } else {
            at_least("data rate", t, in_last_, transfer_);
        }
        at_least("tDS", t, changed(Pin::dq), limits_.t_ds);
        in_last_ = t;
        return;
    }
    const std::size_t k = out_strobes_++;
    if (!out_ || k >= re_edges_.size()) return violation("DQS count", t, "DQS toggles without RE#");
    if (!out_late_ && t - re_edges_[k] > t_.t_dqsre + kRounding) {
        out_late_ = true;
        violation("tDQSRE", t, ns(t - re_edges_[k]) + " after RE#; at most " + ns(t_.t_dqsre));
    }
}

void PinChecker::end_data_in(SimTime t) {
    in_ = false;
    in_held_ = true;
    at_least("tWPST", t, in_last_, t_.t_wpst);
    if (low_chips_ == 1) {
        targets_[way_].data = in_strobes_ != 0;
        targets_[way_].wait_rule = "";
    }
    count_bytes(t, in_strobes_);
}

/// The first of CE#, CLE and ALE to rise after a burst.
void PinChecker::after_data_in(SimTime t) {
    if (!in_ && !in_held_) return;
    at_least("tWPSTH", t, in_last_, t_.t_wpst + t_.t_wpsth);
    in_held_ = false;
}

void PinChecker::count_bytes(SimTime t, std::size_t strobes) {
    if (expected_bytes_.empty()) return violation("byte count", t, "a data burst that no sequence has");
    if (expected_bytes_.front() != strobes)
        violation("byte count", t,
                  std::to_string(strobes) + " strobes for " + std::to_string(expected_bytes_.front()) + " bytes");
    expected_bytes_.pop_front();
}

// --- report ----------------------------------------------------------------------------------------------------------

void PinChecker::at_least(const char* rule, SimTime t, SimTime since, Ps limit) {
    if (t - since >= limit) return;
    violation(rule, t, ns(t - since) + "; at least " + ns(limit));
}

void PinChecker::violation(const char* rule, SimTime t, std::string text) {
    ++violation_count_;
    if (kept_.size() < kKept) kept_.push_back({rule, t, std::move(text)});
}

std::string PinChecker::report() const {
    std::string text;
    for (const PinViolation& v : kept_) text += ns(v.time.time_since_epoch()) + ": " + v.rule + ": " + v.text + "\n";
    if (violation_count_ > kept_.size()) text += "and " + std::to_string(violation_count_ - kept_.size()) + " more\n";
    return text;
}

}  // namespace ssdtlm
