// SPDX-License-Identifier: Apache-2.0
// The checker accepts what the generator makes, and finds every rule broken: by pins that were generated with a shorter
// time than the one checked, and by single edges that were moved, removed or changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "pin_channel.h"

namespace ssdtlm {
namespace {

TEST(PinChecker, AcceptsWhatTheGeneratorMakes) {
    for (const std::uint32_t rate : {67u, 333u, 400u, 533u, 1200u, 2400u}) {
        NandConfig c = config(rate);
        c.onfi.interface = OnfiInterface::nv_ddr3;
        Channel channel(c);
        channel.everything();
        const Checked checker(c, channel.sequences);
        EXPECT_EQ(checker.violation_count(), 0u) << checker.report();
        EXPECT_EQ(checker.sequences(), 13u);
        EXPECT_EQ(checker.commands(0x30), 3u);
        EXPECT_EQ(checker.commands(0x11), 1u);
        EXPECT_EQ(checker.commands(0xD0), 2u);
        EXPECT_EQ(checker.commands(0xE0), 3u);
        // Four data-outs and three programmed planes of 512 + 64 bytes, two statuses of two transfers.
        EXPECT_EQ(checker.strobes(), 7u * 576 + 2 * 2);
    }
}

TEST(PinChecker, AcceptsASuspendedEraseAndAReadMeanwhile) {
    Channel channel(config());
    channel.add(FlashOp::erase, 0);
    channel.now += 1us;
    channel.add(FlashOp::erase_suspend, 0);  // to a busy die
    channel.ready(0);
    channel.add(FlashOp::read, 0);
    channel.ready(0);
    channel.add(FlashOp::read_out, 0);
    channel.add(FlashOp::erase_resume, 0);
    channel.ready(0);
    const Checked checker(config(), channel.sequences);
    EXPECT_EQ(checker.violation_count(), 0u) << checker.report();
    EXPECT_EQ(checker.commands(0x61), 1u);
    EXPECT_EQ(checker.commands(0xD2), 1u);
    // A resume whose R/B# does not fall within tWB.
    PinSequence& resume = *(channel.sequences.end() - 2);
    resume.edges.pop_back();
    EXPECT_EQ(rules(Checked(config(), channel.sequences)), std::set<std::string>{"tWB"});
}

TEST(PinChecker, AcceptsCachedProgramsAndASuspendBehindThem) {
    NandConfig c = config();
    c.cache_program = true;
    Channel channel(c);
    channel.more = true;
    channel.add(FlashOp::program, 0, 2);
    channel.ready(0);
    channel.add(FlashOp::program, 1);
    channel.add(FlashOp::program, 0, 2);  // the array of die 0 is at work
    channel.ready(0);
    channel.status(PinSelect::enhanced, 0);
    channel.add(FlashOp::program_suspend, 0);  // R/B# is high, and falls
    channel.ready(0);
    channel.add(FlashOp::read, 0);
    channel.ready(0);
    channel.add(FlashOp::read_out, 0, 1, PinSelect::enhanced);
    channel.add(FlashOp::program_resume, 0);
    channel.ready(0);
    const Checked checker(c, channel.sequences);
    EXPECT_EQ(checker.violation_count(), 0u) << checker.report();
    EXPECT_EQ(checker.commands(0x15), 3u);
    // The same of parts that do not have it.
    const auto found = rules(Checked(config(), channel.sequences));
    EXPECT_TRUE(found.count("sequence")) << ::testing::PrintToString(found);
}

TEST(PinChecker, AcceptsAResumeThatSelectsItsLun) {
    Channel channel(config());
    channel.add(FlashOp::erase, 0);
    channel.add(FlashOp::erase_suspend, 0);
    channel.ready(0);
    channel.add(FlashOp::program, 1);
    channel.add(FlashOp::erase_resume, 0, 1, PinSelect::enhanced);
    channel.ready(1);
    channel.ready(0);
    const Checked checker(config(), channel.sequences);
    EXPECT_EQ(checker.violation_count(), 0u) << checker.report();
    EXPECT_EQ(checker.commands(0x78), 1u);
}

TEST(PinChecker, AcceptsSingleDataRateCommands) {
    NandConfig c = config(50);
    c.onfi.interface = OnfiInterface::sdr;
    Channel channel(c);
    channel.everything();
    const Checked checker(c, channel.sequences);
    EXPECT_EQ(checker.violation_count(), 0u) << checker.report();
}

// --- parameters: generated with a time that is too short -------------------------------------------------------------

struct ShortTime {
    const char* rule;
    Ps OnfiTiming::*field;
    Ps value;
};

class ShortTimes : public ::testing::TestWithParam<ShortTime> {};

TEST_P(ShortTimes, AreReported) {
    const NandConfig good = config();
    NandConfig bad = good;
    bad.onfi.*GetParam().field = GetParam().value;
    Channel channel(bad);
    channel.everything();
    const auto found = rules(Checked(good, channel.sequences));
    EXPECT_TRUE(found.count(GetParam().rule)) << ::testing::PrintToString(found);
}

INSTANTIATE_TEST_SUITE_P(
    PinChecker, ShortTimes,
    ::testing::Values(ShortTime{"tCS", &OnfiTiming::t_cs, 12ns}, ShortTime{"tWC", &OnfiTiming::t_wc, 24ns},
                      ShortTime{"tADL", &OnfiTiming::t_adl, 270ns}, ShortTime{"tCCS", &OnfiTiming::t_ccs, 370ns},
                      ShortTime{"tRR", &OnfiTiming::t_rr, 19ns}, ShortTime{"tRHW", &OnfiTiming::t_rhw, 70ns},
                      ShortTime{"tWPRE", &OnfiTiming::t_wpre, 14ns}, ShortTime{"tWPST", &OnfiTiming::t_wpst, -12ns},
                      ShortTime{"tWPSTH", &OnfiTiming::t_wpsth, 12ns}, ShortTime{"tRPRE", &OnfiTiming::t_rpre, 14ns},
                      ShortTime{"tRPST", &OnfiTiming::t_rpsth, -28ns},
                      ShortTime{"tRPSTH", &OnfiTiming::t_rpsth, -13ns}),
    [](const auto& i) { return std::string(i.param.rule); });

TEST(PinChecker, LongDieTimesAreReported) {
    const NandConfig good = config();
    NandConfig bad = good;
    bad.onfi.t_dqsre = 26ns;
    Channel slow(bad);
    slow.everything();
    EXPECT_EQ(rules(Checked(good, slow.sequences)), std::set<std::string>{"tDQSRE"});
    bad = good;
    bad.onfi.t_wb = 101ns;
    Channel late(bad);
    late.everything();
    EXPECT_EQ(rules(Checked(good, late.sequences)), std::set<std::string>{"tWB"});
}

TEST(PinChecker, AFasterRateIsReported) {
    Channel channel(config(405));
    channel.everything();
    EXPECT_TRUE(rules(Checked(config(400), channel.sequences)).count("data rate"));
}

// --- single edges ----------------------------------------------------------------------------------------------------

struct Mutation {
    const char* name;
    const char* rule;
    std::function<void(Channel&)> play;  ///< sequences with one mistake
};
std::ostream& operator<<(std::ostream& out, const Mutation& m) {
    return out << m.name;
}

class Mutations : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutations, AreReported) {
    Channel channel(config());
    GetParam().play(channel);
    const Checked c(channel.nand, channel.sequences);
    EXPECT_TRUE(rules(c).count(GetParam().rule)) << c.report();
    EXPECT_LT(c.violation_count(), 600u);
}

PinSequence& read(Channel& c) {
    return c.add(FlashOp::read, 0);
}
PinSequence& data_out(Channel& c, PinSelect select = PinSelect::none) {
    read(c);
    c.ready(0);
    return c.add(FlashOp::read_out, 0, 1, select);
}
PinSequence& program(Channel& c) {
    return c.add(FlashOp::program, 0);
}

const Mutation kMutations[] = {
    {"ChipSelectLate", "tCS",
     [](Channel& c) {
         move(read(c), {ce_n(0), 0}, 8ns);
     }},
    {"ChipReleasedEarly", "tCH",
     [](Channel& c) {
         PinSequence& s = read(c);
         move(s, {ce_n(0), 1}, -1ns);
     }},
    {"WriteEnableEarly", "tWC",
     [](Channel& c) {
         move(read(c), {Pin::we_n, 0, 3}, -1ns);
     }},
    {"WritePulseNarrow", "tWP",
     [](Channel& c) {
         move(read(c), {Pin::we_n, 1, 2}, -2ns);
     }},
    {"WriteEnableHighShort", "tWH",
     [](Channel& c) {
         move(read(c), {Pin::we_n, 1, 2}, 2ns);
     }},
    {"CommandLatchLate", "tCALS",
     [](Channel& c) {
         move(read(c), {Pin::cle, 1, 1}, 6ns);
     }},
    {"AddressLatchLate", "tCALS",
     [](Channel& c) {
         move(read(c), {Pin::ale, 1}, 6ns);
     }},
    {"CommandLatchReleasedEarly", "tCALH",
     [](Channel& c) {
         move(read(c), {Pin::cle, 0}, -1ns);
     }},
    {"ByteLate", "tCAS",
     [](Channel& c) {
         move(read(c), {Pin::dq, 0x30}, 16ns);
     }},
    {"ByteGoneEarly", "tCAH",
     [](Channel& c) {
         move(read(c), {Pin::dq, kReleased}, -1ns);
     }},
    {"DataTooSoon", "tADL",
     [](Channel& c) {
         PinSequence& s = program(c);
         const SimTime strobe = s.edges[find(s, {Pin::dqs, 1})].time;
         for (PinEdge& e : s.edges)
             if (e.time >= strobe - 20ns) e.time -= 25ns;
     }},
    {"DataOutAfterSelectTooSoon", "tCCS",
     [](Channel& c) {
         PinSequence& s = data_out(c, PinSelect::enhanced);
         const SimTime strobe = s.edges[find(s, {Pin::re_n, 0})].time;
         for (PinEdge& e : s.edges)
             if (e.time >= strobe) e.time -= 30ns;
     }},
    {"StatusTooSoon", "tWHR",
     [](Channel& c) {
         PinSequence& s = c.status(PinSelect::none, 0);
         const SimTime strobe = s.edges[find(s, {Pin::re_n, 0})].time;
         for (PinEdge& e : s.edges)
             if (e.time >= strobe) e.time -= 10ns;
     }},
    {"DataOutAtReady", "tRR",
     [](Channel& c) {
         move(data_out(c), {Pin::re_n, 0}, -1ns);
     }},
    {"CommandAfterDataOut", "tRHW",
     [](Channel& c) {
         data_out(c);
         c.now -= 40ns;
         read(c);
     }},
    {"ReadyBusyLate", "tWB",
     [](Channel& c) {
         move(read(c), {rb_n(0), 0}, Ps{1});
     }},
    {"ReadyBusyNever", "tWB",
     [](Channel& c) {
         remove(read(c), {rb_n(0), 0});
     }},
    {"WritePreambleShort", "tWPRE",
     [](Channel& c) {
         move(program(c), {Pin::dqs, 0}, 1ns);
     }},
    {"WritePostambleShort", "tWPST",
     [](Channel& c) {
         move(program(c), {Pin::dqs, kReleased}, -18ns);
     }},
    {"CommandDuringPostamble", "tWPSTH",
     [](Channel& c) {
         move(program(c), {Pin::cle, 1, 1}, -3ns);
     }},
    {"ByteWithStrobe", "tDS",
     [](Channel& c) {
         move(program(c), {Pin::dq, 0x22, 3}, Ps{1'000});
     }},
    {"ByteGoneWithStrobe", "tDH",
     [](Channel& c) {
         move(program(c), {Pin::dq, 0x22, 3}, Ps{-1'000});
     }},
    {"ReadPreambleShort", "tRPRE",
     [](Channel& c) {
         move(data_out(c), {Pin::re_n, 1}, -1ns);
     }},
    {"ReadPostambleShort", "tRPST",
     [](Channel& c) {
         move(data_out(c), {Pin::re_n, 1, 288}, -45ns);
     }},
    {"ChipReleasedInPostamble", "tRPSTH",
     [](Channel& c) {
         move(data_out(c), {ce_n(0), 1}, -30ns);
     }},
    {"StrobeLateAfterReadEnable", "tDQSRE",
     [](Channel& c) {
         move(data_out(c), {Pin::dqs, 1, 5}, Ps{2});
     }},
    {"StrobeEarlyIn", "data rate",
     [](Channel& c) {
         move(program(c), {Pin::dqs, 1, 7}, Ps{-2});
     }},
    {"StrobeEarlyOut", "data rate",
     [](Channel& c) {
         move(data_out(c), {Pin::re_n, 1, 7}, Ps{-2});
     }},
    {"StrobeLost", "DQS count",
     [](Channel& c) {
         PinSequence& s = data_out(c);
         remove(s, {Pin::dqs, 1, 9});
         remove(s, {Pin::dqs, 0, 10});
     }},
    {"StrobeWithoutReadEnable", "DQS count",
     [](Channel& c) {
         PinSequence& s = data_out(c);
         remove(s, {Pin::re_n, 1, 9});
         remove(s, {Pin::re_n, 0, 10});
     }},
    {"BytesMissingIn", "byte count",
     [](Channel& c) {
         PinSequence& s = program(c);
         remove(s, {Pin::dqs, 1, 9});
         remove(s, {Pin::dqs, 0, 9});
     }},
    {"BytesMissingOut", "byte count", [](Channel& c) { data_out(c).burst_bytes += 2; }},
    {"NoChipSelected", "CE#",
     [](Channel& c) {
         PinSequence& s = read(c);
         remove(s, {ce_n(0), 0});
         remove(s, {ce_n(0), 1});
     }},
    {"TwoChipsSelected", "CE#",
     [](Channel& c) {
         PinSequence& s = read(c);
         s.edges.insert(s.edges.begin(), {s.begin, ce_n(1), 0});
         s.edges.push_back({s.end, ce_n(1), 1});
         sort(s);
     }},
    {"CommandToABusyDie", "R/B#",
     [](Channel& c) {
         read(c);
         c.add(FlashOp::erase, 0);
     }},
    {"DataOutOfABusyDie", "R/B#",
     [](Channel& c) {
         read(c);
         c.now += 1us;
         c.add(FlashOp::read_out, 0);
     }},
    {"BusyWithoutACommand", "R/B#",
     [](Channel& c) {
         PinSequence s;
         PinGenerator::play_ready(1, c.now, s);
         s.edges[0].value = 0;
         c.append(s, false);
     }},
    {"UnknownCommand", "sequence", [](Channel& c) { relatch(read(c), 0, 0x42); }},
    {"WrongConfirmation", "sequence", [](Channel& c) { relatch(read(c), 6, 0x10); }},
    {"EraseConfirmedAsRead", "sequence", [](Channel& c) { relatch(c.add(FlashOp::erase, 0), 4, 0x30); }},
    {"SelectWithoutConfirmation", "sequence",
     [](Channel& c) {
         PinSequence& s = data_out(c, PinSelect::enhanced);
         skip_cycle(s, 6);
     }},
    {"ProgramWithoutData", "sequence",
     [](Channel& c) {
         PinSequence& s = program(c);
         s.edges.erase(
             std::remove_if(s.edges.begin(), s.edges.end(), [](const PinEdge& e) { return e.pin == Pin::dqs; }),
             s.edges.end());
     }},
    {"DataWithoutProgram", "sequence", [](Channel& c) { relatch(program(c), 0, 0x00); }},
    {"DataOutWithoutRead", "sequence", [](Channel& c) { c.add(FlashOp::read_out, 0); }},
    {"DataOutOfTheOtherDie", "sequence",
     [](Channel& c) {
         read(c);
         c.ready(0);
         c.add(FlashOp::erase, 1);
         c.add(FlashOp::read_out, 0);
     }},
    {"DataOutOfOneOfSeveralPlanes", "sequence",
     [](Channel& c) {
         c.add(FlashOp::read, 0, 2);
         c.ready(0);
         c.add(FlashOp::read_out, 0);
     }},
    {"BothLatchesHigh", "sequence",
     [](Channel& c) {
         PinSequence& s = read(c);
         move(s, {Pin::cle, 0}, 25ns);
     }},
    {"NoLatchHigh", "sequence",
     [](Channel& c) {
         move(read(c), {Pin::ale, 1}, 25ns);
     }},
    {"NobodyDrives", "sequence",
     [](Channel& c) {
         PinSequence& s = read(c);
         s.edges[find(s, {Pin::dq, 0x30})].value = kReleased;
     }},
    {"WriteEnableInABurst", "sequence",
     [](Channel& c) {
         PinSequence& s = data_out(c);
         const SimTime t = s.begin + 300ns;
         s.edges.push_back({t, Pin::we_n, 0});
         s.edges.push_back({t + 12ns, Pin::we_n, 1});
         sort(s);
     }},
    {"ResumeOfTheLunThatWasReadLast", "resume",
     [](Channel& c) {
         c.add(FlashOp::erase, 0);
         c.add(FlashOp::erase_suspend, 0);
         c.ready(0);
         c.add(FlashOp::read, 1);
         c.add(FlashOp::erase_resume, 0);
     }},
    {"ResumeOfAProgramWhereAnEraseIsSuspended", "resume",
     [](Channel& c) {
         c.add(FlashOp::erase, 0);
         c.add(FlashOp::erase_suspend, 0);
         c.ready(0);
         c.add(FlashOp::program_resume, 0);
     }},
    {"AReadBehind15h", "ARDY",
     [](Channel& c) {
         c.nand.cache_program = c.more = true;
         c.add(FlashOp::program, 0);
         c.ready(0);
         c.add(FlashOp::read, 0);
     }},
    {"AnEraseBehind15h", "ARDY",
     [](Channel& c) {
         c.nand.cache_program = c.more = true;
         c.add(FlashOp::program, 0, 2);
         c.ready(0);
         c.add(FlashOp::erase, 0);
     }},
    {"AProgramBeforeReadyBehind15h", "R/B#",
     [](Channel& c) {
         c.nand.cache_program = c.more = true;
         c.add(FlashOp::program, 0);
         c.add(FlashOp::program, 0);
     }},
    {"ASecondResume", "resume",
     [](Channel& c) {
         c.add(FlashOp::erase, 0);
         c.add(FlashOp::erase_suspend, 0);
         c.ready(0);
         c.add(FlashOp::erase_resume, 0);
         c.add(FlashOp::erase_resume, 0);
     }},
    {"AddressCycleMissing", "address cycles", [](Channel& c) { skip_cycle(read(c), 3); }},
    {"EraseWithAColumn", "address cycles", [](Channel& c) { relatch(read(c), 0, 0x60); }},
};
INSTANTIATE_TEST_SUITE_P(PinChecker, Mutations, ::testing::ValuesIn(kMutations),
                         [](const auto& i) { return std::string(i.param.name); });

/// Every rule of the head of pin_checker.h is broken above.
TEST(PinChecker, EveryRuleHasAMutation) {
    std::set<std::string> broken;
    for (const Mutation& m : kMutations) broken.insert(m.rule);
    for (const char* rule : {"tCS",
                             "tCH",
                             "tWC",
                             "tWP",
                             "tWH",
                             "tCALS",
                             "tCALH",
                             "tCAS",
                             "tCAH",
                             "tADL",
                             "tCCS",
                             "tWHR",
                             "tRR",
                             "tRHW",
                             "tWB",
                             "tWPRE",
                             "tWPST",
                             "tWPSTH",
                             "tDS",
                             "tDH",
                             "tRPRE",
                             "tRPST",
                             "tRPSTH",
                             "tDQSRE",
                             "data rate",
                             "DQS count",
                             "byte count",
                             "CE#",
                             "R/B#",
                             "sequence",
                             "address cycles",
                             "resume",
                             "ARDY"})
        EXPECT_TRUE(broken.count(rule)) << rule;
}

}  // namespace
}  // namespace ssdtlm
