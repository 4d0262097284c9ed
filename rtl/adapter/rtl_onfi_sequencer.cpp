// SPDX-License-Identifier: Apache-2.0
#include "adapter/rtl_onfi_sequencer.h"

#include <verilated.h>
#include <verilated_fst_c.h>

#include <algorithm>
#include <string>
#include <utility>

#include "Vonfi_sequencer.h"
#include "adapter/verilated_messages.h"
#include "common/report/error.h"

namespace ssdtlm {
namespace {

// start_kind
constexpr unsigned kRead = 0, kDataOut = 1, kProgram = 2, kErase = 3, kStatus = 4;
constexpr std::uint64_t kEndless = 1u << 26;  // clocks, far more than any sequence takes
constexpr unsigned kRowWords = 24 * 8 / 32;

unsigned kind_of(FlashOp op) {
    switch (onfi_operation(op).effect) {
        case ArrayEffect::loads_register:
            return kRead;
        case ArrayEffect::programs_page:
            return kProgram;
        case ArrayEffect::erases_block:
            return kErase;
        default:
            break;
    }
    SSDTLM_CHECK(op == FlashOp::read_out, std::string("the sequencer in RTL does not play ") + onfi_operation(op).name);
    return kDataOut;
}

/// WE# cycles of one plane's part without the prefix of SLC mode, after the last of which R/B# falls.
unsigned busy_after(FlashOp op) {
    return is_array_operation(op) ? onfi_operation(op).cycles() : 0;
}

}  // namespace

struct RtlOnfiSequencer::Model {
    VerilatedContext context;
    std::unique_ptr<Vonfi_sequencer> top;
    std::unique_ptr<VerilatedFstC> trace;
    std::uint64_t traced = 0;  // last instant in the file
    SimTime fall_at{};         // of the clock; not in the file yet

    void eval(bool clk) {
        top->clk = clk;
        Verilated::threadContextp(&context);
        top->eval();
        if (__builtin_expect(context.gotFinish(), 0)) panic("RtlOnfiSequencer", rtl::verilated_errors());
    }
    /// A sequence may begin while the last clock of the one before is still high, even at its very edge. That clock is
    /// then shortened, to at least a picosecond.
    void dump(SimTime t) {
        traced = std::max(traced + 1, static_cast<std::uint64_t>(t.time_since_epoch().count()));
        trace->dump(traced);
    }
    void rising(SimTime t) {
        if (fall_at != SimTime{}) dump(std::min(fall_at, t - Ps{1}));
        fall_at = SimTime{};
    }
};

RtlOnfiSequencer::RtlOnfiSequencer(const NandConfig& nand, std::uint64_t hertz, int seed)
    : t_(nand.onfi),
      timing_(nand),
      clocks_(nand, hertz),
      rows_(nand.geometry),
      layout_(timing_, nand.geometry),
      hertz_(hertz),
      dies_per_chip_(nand.geometry.dies_per_chip),
      model_(std::make_unique<Model>()),
      last_(kPinCount) {
    model_->context.traceEverOn(true);
    model_->context.fatalOnError(false);  // eval() looks instead
    model_->context.randReset(seed == 0 ? 0 : 2);
    if (seed != 0) model_->context.randSeed(seed);
    model_->top = std::make_unique<Vonfi_sequencer>(&model_->context);
    for (std::uint32_t p = 0; p < kPinCount; ++p) last_[p] = idle_value(static_cast<Pin>(p));

    Vonfi_sequencer& v = *model_->top;
    v.t_cs = clocks_.t_cs;
    v.t_wc = clocks_.t_wc;
    v.t_we_fall = clocks_.t_we_fall;
    v.t_we_rise = clocks_.t_we_rise;
    v.t_adl = clocks_.t_adl;
    v.t_ccs = clocks_.t_ccs;
    v.t_rr = clocks_.t_rr;
    v.t_whr = clocks_.t_whr;
    v.t_plane = clocks_.t_plane;
    v.t_wpre = clocks_.t_wpre;
    v.t_rpre = clocks_.t_rpre;
    v.t_rhw = clocks_.t_rhw;
    v.step = clocks_.step;
    v.post_in = clocks_.post_in;
    v.post_out = clocks_.post_out;
    v.slc_prefix = nand.slc.prefix;
    v.start_valid = 0;
    v.rst_n = 0;
    // Reset, and the multiples of `step`.
    for (std::uint32_t i = 0; i < 2 + kSequencerLanes; ++i) {
        model_->eval(false);
        model_->eval(true);
    }
    model_->eval(false);
    v.rst_n = 1;
}

RtlOnfiSequencer::~RtlOnfiSequencer() {
    close_trace();
    Verilated::threadContextp(&model_->context);
    model_->top->final();
    model_->top.reset();
}

Ps RtlOnfiSequencer::duration(std::uint64_t fixed) const {
    __extension__ using Wide = unsigned __int128;
    const Wide denominator = static_cast<Wide>(hertz_) << 20;
    return Ps{
        static_cast<std::int64_t>((static_cast<Wide>(fixed) * 1'000'000'000'000u + denominator - 1) / denominator)};
}

BusSequencer::Held RtlOnfiSequencer::play(const PinCommand& command, bool keep_pins) {
    Request r;
    r.kind = kind_of(command.op);
    r.busy_after = busy_after(command.op);
    r.select = static_cast<unsigned>(command.select);
    r.die = command.die;
    r.planes = command.count;
    r.target = command.target;
    r.begin = command.begin;
    if (r.kind == kDataOut || r.kind == kProgram) r.transfers = transfers(command.target[0]);
    for (std::uint32_t p = 1; p < command.count && r.kind == kProgram; ++p)
        SSDTLM_CHECK(transfers(command.target[p]) == r.transfers, "planes of a program differ in bytes");
    return run(r, keep_pins);
}

BusSequencer::Held RtlOnfiSequencer::play_status(PinSelect select, std::uint16_t die, const OnfiTarget& target,
                                                 SimTime begin, bool keep_pins) {
    Request r;
    r.kind = kStatus;
    r.select = static_cast<unsigned>(select);
    r.die = die;
    r.target = &target;
    r.transfers = 2;
    r.begin = begin;
    return run(r, keep_pins);
}

BusSequencer::Held RtlOnfiSequencer::run(const Request& r, bool keep_pins) {
    Vonfi_sequencer& v = *model_->top;
    SSDTLM_CHECK(v.start_ready, "sequencer is asked to play before it is ready");
    begin_ = r.begin;
    die_ = r.die;
    way_ = r.die / dies_per_chip_;
    plane_cycles_ = r.busy_after;
    edges_.clear();
    burst_count_ = 0;

    v.start_kind = static_cast<CData>(r.kind & 7);
    v.start_select = static_cast<CData>(r.select & 3);
    v.start_chip = static_cast<CData>(way_ & 0x3F);
    v.start_planes = r.planes;
    // The column is that of the first plane. The block gives all planes one column, and planes are joined only for
    // whole pages.
    v.start_column = static_cast<SData>(layout_.column(r.target[0].first_byte));
    v.start_transfers = r.transfers;
    for (unsigned w = 0; w < kRowWords; ++w) v.start_rows[w] = 0;
    unsigned slc = 0;
    for (std::uint32_t p = 0; p < r.planes; ++p) {
        slc |= unsigned{r.target[p].slc} << p;
        const std::uint64_t row = rows_.row(r.die % dies_per_chip_, r.target[p]);
        const std::uint32_t bit = 24 * p, shift = bit % 32;
        v.start_rows[bit / 32] |= static_cast<std::uint32_t>(row << shift);
        if (shift > 8) v.start_rows[bit / 32 + 1] |= static_cast<std::uint32_t>(row >> (32 - shift));
    }

    v.start_slc = static_cast<CData>(slc);
    v.start_valid = 1;
    clock(r.begin, keep_pins);
    v.start_valid = 0;
    std::uint64_t n = 0;
    const bool timed = keep_pins || model_->trace;
    const auto instant = [&](std::uint64_t clocks) { return r.begin + duration(clocks << 20); };
    const auto next = [&] {
        SSDTLM_CHECK(n < kEndless, "the sequencer does not come to an end");
        ++n;
        clock(timed ? instant(n) : SimTime{}, keep_pins);
    };
    Held held;
    do next();
    while (!v.done);
    held.free = held.end = instant(n);
    if (!v.start_ready) {
        while (!v.start_ready) next();
        held.free = instant(n);
    }
    cycles_ += n + 1;
    end_ = held.end;
    return held;
}

void RtlOnfiSequencer::clock(SimTime time, bool keep_pins) {
    if (model_->trace) model_->rising(time);
    model_->eval(true);
    if (model_->trace) model_->dump(time);
    if (keep_pins) sample(time);
    model_->eval(false);
    if (model_->trace) model_->fall_at = time + duration(OnfiSequencerClocks::kOne / 2);
}

// --- pins ------------------------------------------------------------------------------------------------------------

void RtlOnfiSequencer::set(SimTime time, Pin pin, PinValue value) {
    PinValue& last = last_[idx(pin)];
    if (last == value) return;
    last = value;
    edges_.push_back({time, pin, value});
}

void RtlOnfiSequencer::sample(SimTime time) {
    const Vonfi_sequencer& v = *model_->top;
    set(time, ce_n(way_), static_cast<PinValue>(v.ce_n >> way_ & 1));
    set(time, Pin::cle, v.cle);
    set(time, Pin::ale, v.ale);
    set(time, Pin::we_n, v.we_n);
    set(time, Pin::dq, v.dq_oe ? static_cast<PinValue>(v.dq) : kReleased);
    set(time, Pin::re_n, v.re_n);
    set(time, Pin::dqs, v.dqs_oe ? PinValue{0} : kReleased);
    if (v.burst_count != 0) sample_burst(time);
}

void RtlOnfiSequencer::sample_burst(SimTime time) {
    const Vonfi_sequencer& v = *model_->top;
    if (burst_count_ == 0 || bursts_[burst_count_ - 1].strobes.size() == v.start_transfers) {
        if (bursts_.size() == burst_count_) bursts_.emplace_back();
        bursts_[burst_count_].in = v.burst_in;
        bursts_[burst_count_].strobes.clear();
        ++burst_count_;
    }
    std::uint64_t at = v.burst_phase;
    for (unsigned i = 0; i < v.burst_count; ++i, at += clocks_.step)
        bursts_[burst_count_ - 1].strobes.push_back(time + duration(at));
}

void RtlOnfiSequencer::add_data(const Burst& burst, const OnfiTarget* target, PinSequence& out) const {
    const std::uint32_t user = target == nullptr ? 0 : timing_.burst(target->data_bytes, target->spare_only).bytes;
    const std::uint32_t column = target == nullptr ? 0 : layout_.column(target->first_byte);
    const Ps half = Rate::megatransfers(t_.megatransfers).time_for(1) / 2;
    const Ps access = burst.in ? Ps{0} : t_.t_dqsre;
    PinValue dq = kReleased;
    for (std::uint32_t k = 0; k < burst.strobes.size(); ++k) {
        const SimTime t = burst.strobes[k];
        const PinValue level = k % 2 == 0;
        // DQ's bytes have the strobe in their middle on the way in, and begin with it on the way out.
        const PinValue byte = target == nullptr ? PinValue{0xE0}
                              : k < user        ? layout_.byte(*target, column + k)
                                                : PinValue{0xFF};
        if (byte != dq) out.edges.push_back({burst.in ? t - half : t + access, Pin::dq, byte});
        dq = byte;
        if (!burst.in) out.edges.push_back({t, Pin::re_n, level});
        out.edges.push_back({t + access, Pin::dqs, level});
    }
    if (burst.in) {
        out.edges.push_back({burst.strobes.back() + half, Pin::dq, kReleased});
        return;
    }
    // The die drives DQS from its preamble on, and both until CE# is high.
    const auto falls =
        std::find_if(edges_.begin(), edges_.end(), [](const PinEdge& e) { return e.pin == Pin::re_n && e.value == 0; });
    out.edges.push_back({falls->time + std::min(kDqsDriven, t_.t_rpre), Pin::dqs, 0});
    out.edges.push_back({end_, Pin::dq, kReleased});
    out.edges.push_back({end_, Pin::dqs, kReleased});
}

void RtlOnfiSequencer::pins(const PinCommand& command, PinSequence& out) {
    out.clear();
    out.begin = begin_;
    out.end = end_;
    out.die = die_;
    out.bursts = static_cast<std::uint8_t>(burst_count_);
    out.burst_bytes = burst_count_ == 0 ? 0 : static_cast<std::uint32_t>(bursts_[0].strobes.size());
    out.edges = edges_;
    for (std::size_t b = 0; b < burst_count_; ++b)
        add_data(bursts_[b], command.count == 0 ? nullptr : &command.target[b], out);
    std::uint32_t rises = 0, plane = 0;
    for (const PinEdge& e : edges_) {
        if (plane_cycles_ == 0 || e.pin != Pin::we_n || e.value == 0 ||
            ++rises != plane_cycles_ + command.target[plane].slc)
            continue;
        rises = 0;
        const SimTime busy = e.time + t_.t_wb;
        out.edges.push_back({busy, rb_n(die_), 0});
        if (++plane == command.count) break;
        out.edges.push_back({busy + t_.t_plane_busy, rb_n(die_), 1});
    }
    std::stable_sort(out.edges.begin(), out.edges.end(),
                     [](const PinEdge& a, const PinEdge& b) { return a.time < b.time; });
}

// --- the block's own signals -----------------------------------------------------------------------------------------

void RtlOnfiSequencer::open_trace(const std::string& path) {
    close_trace();
    model_->traced = 0;
    model_->fall_at = SimTime{};
    model_->trace = std::make_unique<VerilatedFstC>();
    model_->trace->set_time_unit("1ps");
    model_->trace->set_time_resolution("1ps");
    model_->top->trace(model_->trace.get(), 99);
    model_->trace->open(path.c_str());
    if (!model_->trace->isOpen())
        throw UserError(Problem{path, "cannot be written", "a file in a folder that exists", "choose another place"});
}

void RtlOnfiSequencer::close_trace() {
    if (!model_->trace) return;
    model_->rising(SimTime::max());
    model_->trace->close();
    model_->trace.reset();
}

}  // namespace ssdtlm
