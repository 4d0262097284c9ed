// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_generator.h"

#include <algorithm>
#include <array>

#include "common/report/error.h"
#include "nand/pins/row_bits.h"

namespace ssdtlm {
RowAddress::RowAddress(const NandGeometry& geometry)
    : plane_shift_(bits_for(geometry.pages_per_block)),
      block_shift_(plane_shift_ + bits_for(geometry.planes_per_die)),
      lun_shift_(block_shift_ + bits_for(geometry.blocks_per_plane)) {}

PageLayout::PageLayout(const OnfiBusTiming& timing, const NandGeometry& geometry) : unit_bytes_(geometry.unit_bytes) {
    for (std::uint32_t byte = 0; byte <= geometry.page_bytes; byte += kSector)
        starts_.push_back(timing.bus_bytes(byte));
}

std::uint8_t PageLayout::byte(const OnfiTarget& target, std::uint32_t column) const {
    if (target.spare == nullptr) return 0xFF;
    if (target.spare_only) return static_cast<std::uint8_t>(idx(target.spare[0]) >> 8 * (column % 4));
    const auto sector =
        static_cast<std::uint32_t>(std::upper_bound(starts_.begin() + 1, starts_.end() - 1, column) - starts_.begin()) -
        1;
    const std::uint32_t in_sector = column - starts_[sector], unit = sector * kSector / unit_bytes_;
    if (target.bytes != nullptr && target.bytes[unit] && in_sector < kSector)
        return target.bytes[unit].data()[sector * kSector % unit_bytes_ + in_sector];
    return static_cast<std::uint8_t>(idx(target.spare[unit]) >> 8 * (column % 4));
}

/// Appends an edge where a pin changes, and knows its place in the sequence.
class PinGenerator::Writer {
public:
    Writer(const OnfiTiming& t, PinSequence& out, SimTime begin, std::uint16_t die, std::uint32_t way)
        : t_(t), out_(out), way_(way), now_(begin) {
        out.clear();
        out.begin = begin;
        out.die = die;
        for (std::uint32_t p = 0; p < fixed_.size(); ++p) fixed_[p] = idle_value(static_cast<Pin>(p));
    }

    SimTime now() const { return now_; }
    void move_to(SimTime t) { now_ = t; }
    void wait(Ps d) { now_ += d; }

    void set(SimTime t, Pin p, PinValue v) {
        PinValue& current = fixed_[idx(p)];
        if (current == v) return;
        current = v;
        out_.edges.push_back({t, p, v});
    }
    void select_chip() {
        out_.edges.push_back({now_, ce_n(way_), 0});
        lead_ = t_.t_cs;
    }
    /// The next cycle is the first of a group: tCS before its WE#.
    void begin_group() { lead_ = t_.t_cs; }

    void command(std::uint8_t opcode) { cycle(1, 0, opcode); }
    void address(std::uint32_t byte) { cycle(0, 1, static_cast<std::uint8_t>(byte)); }

    void release_bus() {
        set(now_, Pin::cle, 0);
        set(now_, Pin::ale, 0);
        set(now_, Pin::dq, kReleased);
    }
    /// R/B# falls and rises again between the planes.
    void busy_between_planes() {
        release_bus();
        busy_after_last_cycle();
        now_ += t_.t_wb + t_.t_plane_busy;
        out_.edges.push_back({rise_ + t_.t_wb + t_.t_plane_busy, rb_n(out_.die), 1});
        begin_group();
    }
    void finish(bool busy) {
        release_bus();
        set(now_, Pin::re_n, 1);
        set(now_, Pin::dqs, kReleased);
        out_.edges.push_back({now_, ce_n(way_), 1});
        if (busy) busy_after_last_cycle();
        out_.end = now_;
    }

private:
    void busy_after_last_cycle() {
        const SimTime t = rise_ + t_.t_wb;  // a tWB below the rest of the cycle puts it before edges that are there
        const auto at = std::upper_bound(out_.edges.begin(), out_.edges.end(), t,
                                         [](SimTime time, const PinEdge& e) { return time < e.time; });
        out_.edges.insert(at, {t, rb_n(out_.die), 0});
    }
    void cycle(PinValue cle, PinValue ale, std::uint8_t byte) {
        set(now_, Pin::cle, cle);
        set(now_, Pin::ale, ale);
        set(now_, Pin::dq, byte);
        now_ += lead_;
        lead_ = Ps{0};
        set(now_ + t_.t_wc * 3 / 10, Pin::we_n, 0);
        rise_ = now_ + t_.t_wc * 8 / 10;
        set(rise_, Pin::we_n, 1);
        now_ += t_.t_wc;
    }

    const OnfiTiming& t_;
    PinSequence& out_;
    const std::uint32_t way_;
    SimTime now_;
    SimTime rise_{};  // last rise of WE#
    Ps lead_{};
    std::array<PinValue, idx(Pin::ce_n)> fixed_{};
};

PinGenerator::PinGenerator(const NandConfig& config)
    : t_(config.onfi),
      slc_prefix_(config.slc.prefix),
      timing_(config),
      rows_(config.geometry),
      layout_(timing_, config.geometry),
      rate_(Rate::megatransfers(config.onfi.megatransfers)),
      sdr_(config.onfi.interface == OnfiInterface::sdr),
      dies_per_chip_(config.geometry.dies_per_chip),
      access_(timing_.data_out(0) - config.onfi.t_rr) {
    const bool ideal = config.onfi.interface == OnfiInterface::ideal;
    if (config.onfi.interface == OnfiInterface::nv_ddr || ideal)
        throw UserError(Problem{"nand.onfi.interface",
                                std::string("pins are asked for, but ") +
                                    (ideal ? "\"ideal\" has none" : "\"nv-ddr\" runs its cycles on a clock"),
                                "pins exist for sdr, nv-ddr2, nv-ddr3 and nv-lpddr4",
                                "choose one of these, or run without pins"});
    SSDTLM_CHECK(config.geometry.ways <= kMaxPinWays && config.geometry.dies_per_channel() <= kMaxPinDies,
                 "more chip enables or dies on a channel than there are pins");
}

PinCommand PinGenerator::command(FlashOp op, std::uint16_t die, std::uint8_t count, const OnfiTarget* target,
                                 SimTime begin, SimTime end) const {
    PinCommand c;
    c.op = op;
    c.die = die;
    c.count = count;
    c.target = target;
    c.begin = begin;
    if (op == FlashOp::read_out &&
        end - begin > timing_.burst(target[0].data_bytes, target[0].spare_only).out + timing_.select() / 2)
        c.select = PinSelect::enhanced;
    if (onfi_operation(op).effect == ArrayEffect::resumes && end - begin > timing_.issue(op, 1))
        c.select = PinSelect::enhanced;
    return c;
}

PinGenerator::Bytes PinGenerator::bytes_of(const OnfiTarget& target) const {
    Bytes b;
    b.target = &target;
    b.column = layout_.column(target.first_byte);
    b.user = timing_.burst(target.data_bytes, target.spare_only).bytes;
    b.transfers = sdr_ ? b.user : (b.user + 1u) & ~1u;  // double data rate moves an even number
    return b;
}

void PinGenerator::address_cycles(Writer& w, const OnfiOperation& op, std::uint16_t die,
                                  const OnfiTarget& target) const {
    w.command(static_cast<std::uint8_t>(op.first));
    const std::uint32_t column = op.columns == 0 ? 0 : layout_.column(target.first_byte);
    for (std::uint32_t c = 0; c < op.columns; ++c) w.address(column >> 8 * c);
    if (op.rows == 0) return;
    const std::uint32_t row = rows_.row(die % dies_per_chip_, target);
    for (std::uint32_t c = 0; c < op.rows; ++c) w.address(row >> 8 * c);
}

void PinGenerator::play(const PinCommand& command, PinSequence& out) const {
    Writer w(t_, out, command.begin, command.die, command.die / dies_per_chip_);
    w.select_chip();
    const OnfiOperation& op = onfi_operation(command.op);
    if (op.data == DataCycles::out) {
        if (command.select != PinSelect::none) {
            const OnfiOperation& select = select_operation(command.select);
            address_cycles(w, select, command.die, command.target[0]);
            w.command(static_cast<std::uint8_t>(select.confirm));
            w.release_bus();
            w.wait(select.before_data(t_));
        }
        w.wait(op.before_data(t_));
        const Bytes bytes = bytes_of(command.target[0]);
        out.bursts = 1;
        out.burst_bytes = bytes.transfers;
        data_out(w, bytes);
        w.finish(false);
        return;
    }
    if (op.effect == ArrayEffect::resumes && command.select != PinSelect::none)
        address_cycles(w, status_operation(command.select), command.die, command.target[0]);
    for (std::uint32_t p = 0; p < command.count; ++p) {
        const bool last = p + 1 == command.count;
        if (command.target[p].slc && is_array_operation(command.op)) w.command(slc_prefix_);
        address_cycles(w, op, command.die, command.target[p]);
        if (op.data == DataCycles::in) {
            w.release_bus();
            w.wait(op.before_data(t_));
            const Bytes bytes = bytes_of(command.target[p]);
            ++out.bursts;
            out.burst_bytes = bytes.transfers;
            data_in(w, bytes);
            w.begin_group();
        }
        if (op.confirm != kNoCycle)
            w.command(static_cast<std::uint8_t>(!last ? op.queue : command.more ? op.cache : op.confirm));
        if (!last) w.busy_between_planes();
    }
    w.finish(op.effect != ArrayEffect::suspends || command.ready);  // else R/B# is low
}

void PinGenerator::play_status(PinSelect select, std::uint16_t die, const OnfiTarget& target, std::uint8_t status,
                               SimTime begin, PinSequence& out) const {
    Writer w(t_, out, begin, die, die / dies_per_chip_);
    w.select_chip();
    const OnfiOperation& op = status_operation(select);
    address_cycles(w, op, die, target);
    w.release_bus();
    w.wait(op.before_data(t_));
    Bytes bytes;
    bytes.status = status;
    bytes.transfers = sdr_ ? 1 : 2;
    out.bursts = 1;
    out.burst_bytes = bytes.transfers;
    data_out(w, bytes);
    w.finish(false);
}

void PinGenerator::play_ready(std::uint16_t die, SimTime time, PinSequence& out) {
    out.clear();
    out.begin = out.end = time;
    out.die = die;
    out.edges.push_back({time, rb_n(die), 1});
}

void PinGenerator::data_in(Writer& w, const Bytes& bytes) const {
    const SimTime begin = w.now();
    if (sdr_) {
        const Ps period = rate_.time_for(1);
        for (std::uint32_t k = 0; k < bytes.transfers; ++k) {
            if (skipped(bytes, k)) continue;
            const SimTime t = begin + rate_.time_for(k);
            w.set(t, Pin::dq, byte(bytes, k));
            w.set(t + period * 3 / 10, Pin::we_n, 0);
            w.set(t + period * 8 / 10, Pin::we_n, 1);
        }
        w.move_to(begin + rate_.time_for(bytes.transfers));
        w.release_bus();
        return;
    }
    w.set(begin, Pin::dqs, 0);
    const SimTime first = begin + t_.t_wpre;
    const Ps half = rate_.time_for(1) / 2;
    for (std::uint32_t k = 0; k < bytes.transfers; ++k) {
        if (skipped(bytes, k)) continue;
        const SimTime strobe = first + rate_.time_for(k);
        w.set(std::max(begin, strobe - half), Pin::dq, byte(bytes, k));
        w.set(strobe, Pin::dqs, k % 2 == 0);
    }
    if (bytes.transfers != 0) w.set(first + rate_.time_for(bytes.transfers - 1) + half, Pin::dq, kReleased);
    w.move_to(first + rate_.time_for(bytes.transfers) + t_.t_wpst + t_.t_wpsth);
    w.set(w.now(), Pin::dqs, kReleased);
}

void PinGenerator::data_out(Writer& w, const Bytes& bytes) const {
    const SimTime begin = w.now();
    if (sdr_) {
        const Ps half = rate_.time_for(1) / 2;
        std::uint32_t next = 0;  // edge of RE#: falls and rises once per byte
        const auto strobe = [&](SimTime until) {
            for (; next < 2 * bytes.transfers; ++next) {
                const SimTime t = begin + rate_.time_for(next / 2) + (next % 2 == 0 ? Ps{0} : half);
                if (t > until) return;
                if (!skipped(bytes, next / 2)) w.set(t, Pin::re_n, next % 2 != 0);
            }
        };
        for (std::uint32_t k = 0; k < bytes.transfers; ++k) {
            if (skipped(bytes, k)) continue;
            const SimTime valid = begin + rate_.time_for(k) + access_;
            strobe(valid);
            w.set(valid, Pin::dq, byte(bytes, k));
        }
        w.move_to(begin + rate_.time_for(bytes.transfers) + access_);
        strobe(w.now());
        return;
    }
    w.set(begin, Pin::re_n, 0);
    w.set(begin + std::min(kDqsDriven, t_.t_rpre), Pin::dqs, 0);
    const SimTime first = begin + t_.t_rpre;
    std::uint32_t next = 0;  // edge of RE#
    const auto strobe = [&](SimTime until) {
        for (; next < bytes.transfers && first + rate_.time_for(next) <= until; ++next)
            if (!skipped(bytes, next)) w.set(first + rate_.time_for(next), Pin::re_n, next % 2 == 0);
    };
    for (std::uint32_t k = 0; k < bytes.transfers; ++k) {
        if (skipped(bytes, k)) continue;
        const SimTime valid = first + rate_.time_for(k) + t_.t_dqsre;
        strobe(valid);
        w.set(valid, Pin::dq, byte(bytes, k));
        w.set(valid, Pin::dqs, k % 2 == 0);
    }
    // tRPST is tDQSRE + half a cycle, after the die's access time.
    w.move_to(first + rate_.time_for(std::uint64_t{bytes.transfers} + 1) + 2 * t_.t_dqsre + t_.t_rpsth);
}

}  // namespace ssdtlm
