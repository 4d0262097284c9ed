// SPDX-License-Identifier: Apache-2.0
// Pins of each sequence: first and last instants by OnfiBusTiming, the number of edges by counting cycles and bytes.
#include "nand/pins/pin_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

NandConfig config(OnfiInterface interface = OnfiInterface::nv_ddr2, std::uint32_t megatransfers = 400) {
    NandConfig c;
    c.geometry.ways = 2;
    c.geometry.dies_per_chip = 2;
    c.geometry.planes_per_die = 4;
    c.geometry.blocks_per_plane = 100;
    c.geometry.pages_per_block = 256;
    c.geometry.page_bytes = 16384;
    c.geometry.spare_bytes = 2048;
    c.onfi.interface = interface;
    c.onfi.megatransfers = megatransfers;
    return c;
}

constexpr SimTime kBegin{Ps{1'234'567}};

struct Played {
    NandConfig nand;
    PinSequence sequence;
    std::array<Spare, 4> spare{Spare{0x44332211}, Spare{0x88776655}, Spare{3}, Spare{4}};
    std::array<OnfiTarget, 8> target{};

    explicit Played(const NandConfig& c) : nand(c) {}
    const PinSequence& play(FlashOp kind, std::uint8_t planes, std::uint32_t bytes,
                            PinSelect select = PinSelect::none) {
        for (std::uint8_t p = 0; p < planes; ++p) target[p] = OnfiTarget{p, 77, 129, bytes, spare.data()};
        PinCommand c;
        c.op = kind;
        c.select = select;
        c.die = 3;  // way 1, LUN 1
        c.count = planes;
        c.target = target.data();
        c.begin = kBegin;
        PinGenerator(nand).play(c, sequence);
        return sequence;
    }
    std::uint32_t edges(Pin p, PinValue v) const {
        return static_cast<std::uint32_t>(std::count_if(sequence.edges.begin(), sequence.edges.end(),
                                                        [=](const PinEdge& e) { return e.pin == p && e.value == v; }));
    }
    std::vector<SimTime> times(Pin p, PinValue v) const {
        std::vector<SimTime> t;
        for (const PinEdge& e : sequence.edges)
            if (e.pin == p && e.value == v) t.push_back(e.time);
        return t;
    }
    /// What is on DQ when WE# rises.
    std::vector<unsigned> latched() const {
        std::vector<unsigned> bytes;
        PinValue dq = kReleased;
        for (const PinEdge& e : sequence.edges) {
            if (e.pin == Pin::dq) dq = e.value;
            if (e.pin == Pin::we_n && e.value == 1) bytes.push_back(dq);
        }
        return bytes;
    }
};

void expect_well_formed(const PinSequence& s) {
    std::map<Pin, PinValue> value;
    const auto at = [&value](Pin p) -> PinValue& { return value.try_emplace(p, idle_value(p)).first->second; };
    SimTime last = s.begin;
    for (const PinEdge& e : s.edges) {
        EXPECT_GE(e.time, last) << to_string(e.pin);
        last = e.time;
        if (!is_rb_n(e.pin)) {
            EXPECT_LE(e.time, s.end) << to_string(e.pin);
            EXPECT_NE(at(e.pin), e.value) << to_string(e.pin) << " does not change";
        }
        at(e.pin) = e.value;
    }
    for (const auto& [pin, v] : value)
        if (!is_rb_n(pin)) {
            EXPECT_EQ(v, idle_value(pin)) << to_string(pin);
        }
    ASSERT_FALSE(s.edges.empty());
    EXPECT_EQ(s.edges.front().time, s.begin);
}

TEST(PinGenerator, DurationsAreThoseOfTheTimingModel) {
    for (const auto& [interface, rate] : {std::pair{OnfiInterface::nv_ddr2, 333u},
                                          {OnfiInterface::nv_ddr2, 533u},
                                          {OnfiInterface::nv_ddr3, 2400u},
                                          {OnfiInterface::nv_lpddr4, 3600u},
                                          {OnfiInterface::sdr, 50u},
                                          {OnfiInterface::sdr, 10u}}) {
        Played p(config(interface, rate));
        const OnfiBusTiming t(p.nand);
        for (std::uint8_t n = 1; n <= 4; ++n) {
            const auto& read = p.play(FlashOp::read, n, 0);
            expect_well_formed(read);
            EXPECT_EQ(read.end - read.begin, t.issue(FlashOp::read, n));
            const auto& erase = p.play(FlashOp::erase, n, 0);
            expect_well_formed(erase);
            EXPECT_EQ(erase.end - erase.begin, t.issue(FlashOp::erase, n));
            const auto& program = p.play(FlashOp::program, n, 16384);
            expect_well_formed(program);
            EXPECT_EQ(program.end - program.begin, t.issue(FlashOp::program, n) + n * t.data_in(16384));
            EXPECT_EQ(program.bursts, n);
        }
        for (const std::uint32_t bytes : {512u, 513u, 4096u, 16384u}) {
            const auto& out = p.play(FlashOp::read_out, 1, bytes);
            expect_well_formed(out);
            EXPECT_EQ(out.end - out.begin, t.data_out(bytes));
            const auto& selected = p.play(FlashOp::read_out, 1, bytes, PinSelect::enhanced);
            expect_well_formed(selected);
            EXPECT_EQ(selected.end - selected.begin, t.select() + t.data_out(bytes));
            const auto& column = p.play(FlashOp::read_out, 1, bytes, PinSelect::column);
            expect_well_formed(column);
            EXPECT_EQ(column.end - column.begin, 20ns + 4 * 25ns + 400ns + t.data_out(bytes));  // cmd(4) + tCCS
        }
    }
}

TEST(PinGenerator, ReadIsSevenCycles) {
    Played p(config());
    p.play(FlashOp::read, 1, 0);
    // Row: page 129, plane 0, block 77, LUN 1 at 8 + 2 + 7 bits.
    const unsigned row = 129 | 77u << 10 | 1u << 17;
    EXPECT_EQ(p.latched(), (std::vector<unsigned>{0x00, 0, 0, row & 0xFF, row >> 8 & 0xFF, row >> 16, 0x30}));
    EXPECT_EQ(p.edges(ce_n(1), 0), 1u);
    EXPECT_EQ(p.times(Pin::we_n, 0).front(), kBegin + 20ns + Ps{7'500});
    EXPECT_EQ(p.times(Pin::we_n, 1).back(), kBegin + 195ns - 25ns / 5);
    EXPECT_EQ(p.times(rb_n(3), 0), std::vector<SimTime>{p.times(Pin::we_n, 1).back() + 100ns});
    EXPECT_EQ(p.edges(Pin::cle, 1), 2u);
    EXPECT_EQ(p.edges(Pin::ale, 1), 1u);
    EXPECT_EQ(p.edges(Pin::dqs, 0), 0u);
}

TEST(PinGenerator, MultiPlaneCommandsAreQueued) {
    Played p(config());
    p.play(FlashOp::erase, 2, 0);
    const unsigned row = 129 | 77u << 10 | 1u << 17, second = row | 1u << 8;
    EXPECT_EQ(p.latched(), (std::vector<unsigned>{0x60, row & 0xFF, row >> 8 & 0xFF, row >> 16, 0xD1, 0x60,
                                                  second & 0xFF, second >> 8 & 0xFF, second >> 16, 0xD0}));
    ASSERT_EQ(p.edges(rb_n(3), 0), 2u);
    EXPECT_EQ(p.times(rb_n(3), 1), std::vector<SimTime>{kBegin + 140ns + 100ns + 500ns});  // WE# + tWB + tPLEBSY
}

TEST(PinGenerator, DataOutTogglesOncePerByte) {
    Played p(config());  // 2.5 ns per byte
    p.play(FlashOp::read_out, 1, 4096);
    EXPECT_EQ(p.sequence.burst_bytes, 4608u);
    EXPECT_EQ(p.edges(Pin::dqs, 1), 2304u);
    EXPECT_EQ(p.edges(Pin::dqs, 0), 2304u + 1u);                           // preamble
    EXPECT_EQ(p.edges(Pin::re_n, 1), 2304u + 1u);                          // back to idle
    EXPECT_EQ(p.times(Pin::re_n, 0).front(), kBegin + 20ns);               // tRR
    EXPECT_EQ(p.times(Pin::re_n, 1).front(), kBegin + 20ns + 15ns);        // tRPRE
    EXPECT_EQ(p.times(Pin::dqs, 1).front(), kBegin + 20ns + 15ns + 25ns);  // tDQSRE
    EXPECT_EQ(p.times(Pin::dqs, 0).back(), kBegin + 60ns + 4607 * Ps{2'500});
    EXPECT_EQ(p.times(Pin::dqs, kReleased).back(), p.sequence.end);
    std::vector<PinValue> dq;
    for (const PinEdge& e : p.sequence.edges)
        if (e.pin == Pin::dq) dq.push_back(e.value);
    ASSERT_GE(dq.size(), 5u);
    EXPECT_EQ((std::vector<PinValue>(dq.begin(), dq.begin() + 5)),
              (std::vector<PinValue>{0x11, 0x22, 0x33, 0x44, 0x11}));
}

TEST(PinGenerator, DataInIsCentredOnTheStrobe) {
    Played p(config());
    p.play(FlashOp::program, 1, 16384);
    const SimTime data = kBegin + 170ns + 300ns;  // cmd(6) + tADL
    EXPECT_EQ(p.times(Pin::dqs, 0).front(), data);
    EXPECT_EQ(p.times(Pin::dqs, 1).front(), data + 15ns);
    EXPECT_EQ(p.edges(Pin::dqs, 1), 9216u);
    SimTime changed{}, strobe{};
    for (const PinEdge& e : p.sequence.edges) {
        if (e.time < data + 15ns - Ps{1'250} || e.time > data + 15ns + 18431 * Ps{2'500}) continue;
        if (e.pin == Pin::dq) changed = e.time;
        if (e.pin != Pin::dqs) continue;
        EXPECT_GE(e.time - changed, Ps{1'250});
        if (strobe != SimTime{}) {
            EXPECT_EQ(e.time - strobe, Ps{2'500});
        }
        strobe = e.time;
    }
    EXPECT_EQ(p.latched().back(), 0x10u);
    EXPECT_EQ(p.edges(Pin::re_n, 0), 0u);
}

TEST(PinGenerator, SdrMovesBytesByPulses) {
    Played p(config(OnfiInterface::sdr, 50));
    p.play(FlashOp::read_out, 1, 512);
    EXPECT_EQ(p.edges(Pin::re_n, 0), 576u);
    EXPECT_EQ(p.edges(Pin::dqs, 0), 0u);
    p.play(FlashOp::program, 1, 512);
    EXPECT_EQ(p.edges(Pin::we_n, 1), 6u + 576u + 1u);
}

TEST(PinGenerator, Status) {
    Played p(config());
    const PinGenerator g(p.nand);
    p.target[0] = OnfiTarget{0, 77, 129, 0, nullptr};
    g.play_status(PinSelect::enhanced, 3, p.target[0], 0xE0, kBegin, p.sequence);
    expect_well_formed(p.sequence);
    EXPECT_EQ(p.latched(), (std::vector<unsigned>{0x78, 129, 77u << 2 & 0xFF, (77u << 10 | 1u << 17) >> 16}));
    EXPECT_EQ(p.edges(Pin::dqs, 1), 1u);
    EXPECT_EQ(p.edges(Pin::dq, 0xE0), 1u);
    // cmd(4) + tWHR + tRPRE + tDQSRE + T + tRPST + tRPSTH, T 5 ns
    EXPECT_EQ(p.sequence.end - p.sequence.begin, 120ns + 80ns + 15ns + 25ns + 5ns + (25ns + Ps{2'500}) + 15ns);
    g.play_status(PinSelect::none, 3, p.target[0], 0xE0, kBegin, p.sequence);
    EXPECT_EQ(p.latched(), std::vector<unsigned>{0x70});
}

TEST(PinGenerator, ACommandIsReadFromThePayload) {
    Played p(config());
    const OnfiBusTiming t(p.nand);
    const PinGenerator g(p.nand);
    p.target[0].data_bytes = 4096;
    const SimTime end = kBegin + t.data_out(4096);
    EXPECT_EQ(g.command(FlashOp::read_out, 0, 1, p.target.data(), kBegin, end).select, PinSelect::none);
    EXPECT_EQ(g.command(FlashOp::read_out, 0, 1, p.target.data(), kBegin, end + t.select()).select,
              PinSelect::enhanced);
}

TEST(PinGenerator, LongBurstsCanBeCutShort) {
    Played p(config());
    PinGenerator g(p.nand);
    p.play(FlashOp::program, 1, 16384);
    const SimTime end = p.sequence.end;
    g.limit_burst_edges(4);
    const PinCommand c = g.command(FlashOp::program, 3, 1, p.target.data(), kBegin, end);
    g.play(c, p.sequence);
    expect_well_formed(p.sequence);
    EXPECT_EQ(p.sequence.end, end);
    EXPECT_EQ(p.edges(Pin::dqs, 1), 4u);
}

/// The byte on DQ in each column of a 16 KiB page of 4 KiB units with 2 KiB of spare area: 512 B of data, then 64 B of
/// spare area.
TEST(PinGenerator, TheBytesOfThePageAreOnDq) {
    const NandConfig nand = config();
    Played p(nand);
    std::array<UnitBytes, 4> bytes;
    const auto byte_at = [](std::uint32_t user) { return static_cast<std::uint8_t>(user * 7 + user / 251); };
    for (std::uint32_t unit = 0; unit < 4; ++unit) {
        std::vector<std::uint8_t> of_unit;
        for (std::uint32_t b = 0; b < 4096; ++b) of_unit.push_back(byte_at(unit * 4096 + b));
        bytes[unit] = UnitBytes::copy_of(of_unit.data(), 4096);
    }
    const auto expected = [&](std::uint32_t column) {
        const std::uint32_t sector = column / 576, in_sector = column % 576;
        return in_sector < 512 ? byte_at(sector * 512 + in_sector)
                               : static_cast<std::uint8_t>(idx(p.spare[sector / 8]) >> 8 * (column % 4));
    };
    const auto burst = [&](FlashOp op, std::uint32_t first_byte, std::uint32_t data_bytes) {
        p.target[0] = OnfiTarget{0, 77, 129, data_bytes, p.spare.data(), bytes.data()};
        p.target[0].first_byte = first_byte;
        PinCommand c;
        c.op = op;
        c.select = op == FlashOp::read_out ? PinSelect::enhanced : PinSelect::none;
        c.die = 3;
        c.count = 1;
        c.target = p.target.data();
        c.begin = kBegin;
        PinGenerator(nand).play(c, p.sequence);
        // DQ is changed before each strobe (in) or with it (out).
        std::vector<unsigned> seen;
        PinValue dq = kReleased;
        for (std::size_t i = 0; i < p.sequence.edges.size(); ++i) {
            const PinEdge& e = p.sequence.edges[i];
            if (e.pin == Pin::dq) dq = e.value;
            if (e.pin == Pin::dqs && e.value != kReleased && p.sequence.edges[i].time > kBegin &&
                !(seen.empty() && e.value == 0))
                seen.push_back(dq);
        }
        return seen;
    };
    for (const auto& [op, first, count] :
         {std::tuple{FlashOp::program, 0u, 16384u}, std::tuple{FlashOp::read_out, 0u, 16384u},
          std::tuple{FlashOp::read_out, 4096u, 4096u}, std::tuple{FlashOp::read_out, 6656u, 512u}}) {
        const std::vector<unsigned> seen = burst(op, first, count);
        ASSERT_EQ(seen.size(), count / 512 * 576u);
        for (std::uint32_t k = 0; k < seen.size(); ++k)
            ASSERT_EQ(seen[k], expected(first / 512 * 576 + k)) << "byte " << k << " from " << first;
        if (op != FlashOp::read_out) continue;
        const std::vector<unsigned> cycles = p.latched();  // 06h, two columns, three rows, E0h
        EXPECT_EQ(cycles[1] | cycles[2] << 8, first / 512 * 576);
    }
}

TEST(PinGenerator, ClockedCyclesAreRefused) {
    EXPECT_THROW(PinGenerator(config(OnfiInterface::nv_ddr, 200)), UserError);
}

}  // namespace
}  // namespace ssdtlm
