// SPDX-License-Identifier: Apache-2.0
// The prefix of SLC mode on the pins: where it is, when its cycles are, and that the checker takes it nowhere else.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "pin_channel.h"

namespace ssdtlm {
namespace {

std::vector<SimTime> times(const PinSequence& s, Pin p, PinValue v) {
    std::vector<SimTime> found;
    for (const PinEdge& e : s.edges)
        if (e.pin == p && e.value == v) found.push_back(e.time);
    return found;
}
/// What is on DQ when WE# rises, with 1000 for a command.
std::vector<unsigned> latched(const PinSequence& s) {
    std::vector<unsigned> bytes;
    PinValue dq = kReleased, cle = 0;
    for (const PinEdge& e : s.edges) {
        if (e.pin == Pin::dq) dq = e.value;
        if (e.pin == Pin::cle) cle = e.value;
        if (e.pin == Pin::we_n && e.value == 1) bytes.push_back(dq + 1000u * cle);
    }
    return bytes;
}
constexpr unsigned cmd(unsigned opcode) {
    return 1000 + opcode;
}

TEST(SlcPrefix, StandsBeforeTheFirstCommandOfEachPlaneInThatMode) {
    // Row of block 7, page 9: 7 bits of page, 1 of plane, 6 of block, LUN.
    const unsigned row = 9 | 7u << 8, second = row | 1u << 7, low = row & 0xFF, low2 = second & 0xFF,
                   middle = row >> 8 & 0xFF;
    Channel c(config());
    c.slc = 1;
    EXPECT_EQ(latched(c.add(FlashOp::read, 0)),
              (std::vector<unsigned>{cmd(0xA2), cmd(0x00), 0, 0, low, middle, 0, cmd(0x30)}));
    EXPECT_EQ(latched(c.add(FlashOp::erase, 0)),
              (std::vector<unsigned>{cmd(0xA2), cmd(0x60), low, middle, 0, cmd(0xD0)}));
    c.slc = 2;
    EXPECT_EQ(latched(c.add(FlashOp::erase, 0, 2)),
              (std::vector<unsigned>{cmd(0x60), low, middle, 0, cmd(0xD1), cmd(0xA2), cmd(0x60), low2, middle, 0,
                                     cmd(0xD0)}));
    EXPECT_EQ(latched(c.add(FlashOp::program, 0, 2)),
              (std::vector<unsigned>{cmd(0x80), 0, 0, low, middle, 0, cmd(0x11), cmd(0xA2), cmd(0x80), 0, 0, low2,
                                     middle, 0, cmd(0x10)}));
    c.slc = 3;
    EXPECT_EQ(latched(c.add(FlashOp::read_out, 0, 1, PinSelect::enhanced)).front(), cmd(0x06))
        << "the page is in the register";
    EXPECT_EQ(latched(c.add(FlashOp::program_suspend, 0)).front(), cmd(0x84));
    EXPECT_EQ(latched(c.add(FlashOp::program_resume, 0)).front(), cmd(0x13));
    c.nand.slc.prefix = 0xDA;
    Channel other(c.nand);
    other.slc = 1;
    EXPECT_EQ(latched(other.add(FlashOp::erase, 0)).front(), cmd(0xDA));
}

TEST(SlcPrefix, IsACycleOfTheFirstGroup) {
    Channel c(config());
    c.slc = 1;
    const SimTime begin = c.now;
    const PinSequence& s = c.add(FlashOp::read, 0);
    EXPECT_EQ(s.end - s.begin, 20ns + 8 * 25ns);
    const std::vector<SimTime> falls = times(s, Pin::we_n, 0);
    ASSERT_EQ(falls.size(), 8u);
    for (std::size_t i = 0; i < falls.size(); ++i) EXPECT_EQ(falls[i], begin + 20ns + i * 25ns + Ps{7'500});
    EXPECT_EQ(times(s, Pin::cle, 1), (std::vector<SimTime>{begin, begin + 20ns + 7 * 25ns}))
        << "high through prefix and command";
    EXPECT_EQ(times(s, Pin::dq, 0x00).front(), begin + 20ns + 25ns);
    EXPECT_EQ(times(s, rb_n(0), 0), std::vector<SimTime>{times(s, Pin::we_n, 1).back() + 100ns});
}

/// Any mix of modes: as long as the bus's formula says, and nothing the checker minds.
TEST(SlcPrefix, RandomMixesOfModesTakeTheirFormulaAndBreakNoRule) {
    Random random(7);
    NandConfig nand = config(533);
    nand.geometry.planes_per_die = 4;
    const OnfiBusTiming t(nand);
    Channel c(nand);
    std::uint64_t prefixes = 0;
    for (int i = 0; i < 400; ++i) {
        const auto op = static_cast<FlashOp>(random.below(3));
        const auto planes = static_cast<std::uint8_t>(1 + random.below(4));
        const auto die = static_cast<std::uint16_t>(random.below(4));
        c.slc = static_cast<std::uint32_t>(random.below(16));
        const int in_slc = __builtin_popcount(c.slc & ((1u << planes) - 1));
        prefixes += static_cast<std::uint64_t>(in_slc);
        const PinSequence& s = c.add(op, die, planes);
        const Ps data = op == FlashOp::program ? planes * t.data_in(512) : Ps{0};
        ASSERT_EQ(s.end - s.begin, t.issue(op, planes) + data + in_slc * nand.onfi.t_wc);
        c.ready(die);
        if (op == FlashOp::read) c.add(FlashOp::read_out, die, 1, planes == 1 ? PinSelect::none : PinSelect::enhanced);
    }
    const Checked checker(nand, c.sequences);
    EXPECT_EQ(checker.violation_count(), 0u) << checker.report();
    EXPECT_EQ(checker.commands(0xA2), prefixes);
    EXPECT_GT(prefixes, 300u);
}

struct Misplaced {
    const char* name;
    const char* report;
    std::function<void(Channel&)> play;  ///< c.slc is 1
};
std::ostream& operator<<(std::ostream& out, const Misplaced& m) {
    return out << m.name;
}

const Misplaced kMisplaced[] = {
    {"BeforeStatus", "A2h before 70h", [](Channel& c) { relatch(c.add(FlashOp::erase, 0), 1, 0x70); }},
    {"BeforeASelect", "A2h before 06h", [](Channel& c) { relatch(c.add(FlashOp::read, 0), 1, 0x06); }},
    {"BeforeASuspend", "A2h before 61h", [](Channel& c) { relatch(c.add(FlashOp::erase, 0), 1, 0x61); }},
    {"BeforeAResume", "A2h before D2h", [](Channel& c) { relatch(c.add(FlashOp::erase, 0), 1, 0xD2); }},
    {"BeforeNothingInUse", "A2h before 42h", [](Channel& c) { relatch(c.add(FlashOp::read, 0), 1, 0x42); }},
    {"Twice", "A2h before A2h", [](Channel& c) { relatch(c.add(FlashOp::read, 0), 1, 0xA2); }},
    {"AsAConfirmation", "00h .. A2h is no sequence in use",
     [](Channel& c) { relatch(c.add(FlashOp::read, 0), 7, 0xA2); }},
    {"BeforeAddresses", "address cycles: without a command",
     [](Channel& c) { skip_cycle(c.add(FlashOp::read, 0), 1); }},
    {"AloneInItsSequence", "A2h before the end of its sequence",
     [](Channel& c) {
         PinSequence& s = c.add(FlashOp::erase, 0);
         for (int cycle = 0; cycle < 5; ++cycle) skip_cycle(s, 1);
         remove(s, {rb_n(0), 0});
         c.slc = 0;
         c.now += 1us;  // CE# is high between the two
         c.add(FlashOp::erase, 1);
     }},
    {"BeforeDataOut", "data out of a page that was not selected",
     [](Channel& c) {
         c.add(FlashOp::read, 0);
         c.ready(0);
         c.slc = 0;
         PinSequence& s = c.add(FlashOp::read_out, 0, 1, PinSelect::column);
         relatch(s, 0, 0xA2);
         for (int cycle = 0; cycle < 3; ++cycle) skip_cycle(s, 1);
     }},
    {"AnotherOpcode", "DAh begins no sequence in use", [](Channel& c) { relatch(c.add(FlashOp::read, 0), 0, 0xDA); }},
    {"TooFast", "tWC: 24.000 ns",
     [](Channel& c) {
         move(c.add(FlashOp::read, 0), {Pin::we_n, 0, 1}, -1ns);
     }},
    {"ToABusyDie", "60h to die 0, which is busy",
     [](Channel& c) {
         c.add(FlashOp::read, 0);
         c.add(FlashOp::erase, 0);
     }},
};

class PrefixMisplaced : public ::testing::TestWithParam<Misplaced> {};

TEST_P(PrefixMisplaced, IsReported) {
    Channel channel(config());
    channel.slc = 1;
    GetParam().play(channel);
    const Checked c(channel.nand, channel.sequences);
    EXPECT_NE(c.report().find(GetParam().report), std::string::npos) << c.report();
}
INSTANTIATE_TEST_SUITE_P(SlcPrefix, PrefixMisplaced, ::testing::ValuesIn(kMisplaced),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(SlcPrefix, APrefixThatWasReportedIsForgotten) {
    Channel channel(config());
    channel.slc = 1;
    PinSequence& s = channel.add(FlashOp::erase, 0);
    for (int cycle = 0; cycle < 5; ++cycle) skip_cycle(s, 1);
    remove(s, {rb_n(0), 0});
    channel.slc = 0;
    channel.now += 1us;
    channel.status(PinSelect::none, 0);
    const Checked c(channel.nand, channel.sequences);
    EXPECT_EQ(c.violation_count(), 1u) << c.report();
    EXPECT_NE(c.report().find("A2h before the end of its sequence"), std::string::npos) << c.report();
}

}  // namespace
}  // namespace ssdtlm
