// SPDX-License-Identifier: Apache-2.0
// Mistakes in one parameter: the message, to the letter, and its place.
#include <gmock/gmock.h>

#include "common/config/like.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ConfigErrors, GoodDeviceHasNone) {
    EXPECT_THAT(problems_of(good_device()), IsEmpty());
}

TEST(ConfigErrors, TypoInAKey) {
    EXPECT_THAT(problems_of("[nand]\n  t_reed = \"75us\"\n"),
                ElementsAre("d.toml:2:3: unknown key 'nand.t_reed'; did you mean 'nand.t_read'?"));
}

// Two letters that changed places are one slip. What differs by half of the word, or is another number, is none.
TEST(ConfigErrors, NamesThatAreNear) {
    const std::vector<std::string> schedulers = {"bfq",   "cfq",         "deadline", "fiops", "flashfq",
                                                 "kyber", "mq-deadline", "none",     "noop",  "off"};
    EXPECT_EQ(nearest("bqf", schedulers), "bfq");
    EXPECT_EQ(nearest("dealdine", schedulers), "deadline");
    EXPECT_EQ(nearest("kybre", schedulers), "kyber");
    EXPECT_EQ(nearest("dedline", schedulers), "deadline");
    EXPECT_EQ(nearest("xyz", schedulers), "");
    EXPECT_EQ(nearest("rn", {"run", "help"}), "run");
    EXPECT_EQ(nearest("sas", {"nvme", "raw", "sata"}), "");
    EXPECT_EQ(nearest("stat", {"nvme", "raw", "sata"}), "");
    EXPECT_EQ(nearest("saat", {"nvme", "raw", "sata"}), "sata");
    const std::vector<std::string> rates = {"1.5Gbps", "3Gbps", "6Gbps"};
    EXPECT_EQ(nearest("12Gbps", rates), "");
    EXPECT_EQ(nearest("6Gpbs", rates), "6Gbps");
    EXPECT_EQ(nearest("6gbps", rates), "6Gbps");
    // No word is a slip of one that has nothing in common with it, whatever its length.
    for (const std::string word : {"z", "zz", "zzz", "zzzz", "zzzzz", "zzzzzzzzz"})
        EXPECT_EQ(nearest(word, {"a", "ab", "abc", "abcd", "abcde", "abcdefghi"}), "") << word;
}

TEST(ConfigErrors, ABoundHasItsReasonWhereTheTableNamesIt) {
    EXPECT_THAT(
        problems_of("[nvme]\nmax_queue_entries = 65537\n"),
        ElementsAre("d.toml:2:21: nvme.max_queue_entries: 65537 is out of range; 2..65536; NVMe 1.4 §3.1.1, the "
                    "largest value of CAP.MQES: 65536"));
    // The other bound has none.
    EXPECT_THAT(problems_of("[nvme]\nmax_queue_entries = 1\n"),
                ElementsAre("d.toml:2:21: nvme.max_queue_entries: 1 is out of range; 2..65536"));
}

TEST(ConfigErrors, KeyOfAnotherTable) {
    EXPECT_THAT(problems_of("[run]\nt_erase = \"5ms\"\n"),
                ElementsAre("d.toml:2:1: unknown key 'run.t_erase'; did you mean 'nand.t_erase'?"));
}

TEST(ConfigErrors, NameOfTheRightMeaning) {
    EXPECT_THAT(
        problems_of("[nand.geometry]\ndies = 2\n"),
        ElementsAre("d.toml:2:1: unknown key 'nand.geometry.dies'; did you mean 'nand.geometry.dies_per_chip'?"));
    EXPECT_THAT(problems_of("capacity = \"1GB\"\n"),
                ElementsAre("d.toml:1:1: unknown key 'capacity'; did you mean 'ftl.user_capacity'?"));
    EXPECT_THAT(
        problems_of("[nand.geometry]\nblocks = 2\n"),
        ElementsAre("d.toml:2:1: unknown key 'nand.geometry.blocks'; did you mean 'nand.geometry.blocks_per_plane'?"));
    EXPECT_THAT(problems_of("[ftl]\nmapping = \"DFTL\"\n"),
                ElementsAre(::testing::HasSubstr("did you mean \"dftl\"?")));
}

TEST(ConfigErrors, BoundsInTheUnitOfTheValue) {
    EXPECT_THAT(problems_of("[nand.onfi]\nrate = \"5000MT/s\"\n"),
                ElementsAre("d.toml:2:8: nand.onfi.rate: 5000MT/s is out of range; 1MT/s..4800MT/s"));
    EXPECT_THAT(problems_of("[buffer]\nsize = \"100GiB\"\n"),
                ElementsAre("d.toml:2:8: buffer.size: 100GiB is out of range; 4KiB..64GiB"));
    EXPECT_EQ(format_like(1'500'000'000, Dimension::bytes, "480GB"), "1.5GB");
    EXPECT_EQ(format_like(1'500'000'000, Dimension::bytes, "3MB"), "1500MB");
    EXPECT_EQ(format_like(std::int64_t{3} << 29, Dimension::bytes, "2GiB"), "1.5GiB");
    EXPECT_EQ(format_like(4096, Dimension::bytes, "2GiB"), "4KiB");
    EXPECT_EQ(format_like(1000, Dimension::time, "20s"), "1ns");
    EXPECT_EQ(round_size_like(549'755'813'888, "480GB"), "549.755GB");
    EXPECT_EQ(round_size_like(5'505'024, "12MiB"), "5MiB");
    EXPECT_EQ(block_size_like(5'505'024, "12MiB"), "5MiB");
    EXPECT_EQ(block_size_like(11'000'000, "12MB"), "8.192MB");
    EXPECT_EQ(block_size_like(9'000, "12MB"), "8.192kB");
}

TEST(ConfigErrors, UnknownTableIsReportedOnce) {
    EXPECT_THAT(problems_of("[nand.onfii]\nrate = \"333MT/s\"\nt_wc = \"25ns\"\n"),
                ElementsAre("d.toml:1:7: unknown table [nand.onfii]; did you mean [nand.onfi]?"));
}

TEST(ConfigErrors, TableInThePlaceOfAValueAndTheOtherWayRound) {
    EXPECT_THAT(problems_of("gc = 5\n[nand.t_erase]\na = 1\n"),
                ElementsAre("d.toml:1:1: gc: is a value; a table of parameters; write [gc]",
                            "d.toml:2:7: nand.t_erase: is a table; a value, 1ns..10s"));
}

TEST(ConfigErrors, WrongUnit) {
    EXPECT_THAT(
        problems_of("[nand]\nt_erase = \"3.8MT/s\"\n"),
        ElementsAre("d.toml:2:11: nand.t_erase: '3.8MT/s' has the unknown unit 'MT/s'; a time (ps, ns, us, ms, s)"));
}

TEST(ConfigErrors, BareNumberWhereAUnitIsDue) {
    EXPECT_THAT(
        problems_of("[nand]\nt_erase = 3800\n"),
        ElementsAre(
            "d.toml:2:11: nand.t_erase: 3800 has no unit; a time (ps, ns, us, ms, s); write for example \"3.8ms\""));
}

TEST(ConfigErrors, WrongTypes) {
    EXPECT_THAT(
        problems_of("[run]\nintegrity = \"yes\"\nseed = 1.5\nagenda = 3\n[ftl]\nuser_capacity = [\"1GB\"]\n"),
        ElementsAre("d.toml:2:13: run.integrity: is 'yes'; true or false",
                    "d.toml:3:8: run.seed: is 1.5; a whole number, 0..9223372036854775807",
                    "d.toml:4:10: run.agenda: is 3; run_ahead or lockstep",
                    "d.toml:6:17: ftl.user_capacity: is a list; a size (B, kB, KiB, MB, MiB, GB, GiB, TB, TiB); "
                    "write for example \"480GB\""));
}

TEST(ConfigErrors, OutOfRange) {
    EXPECT_THAT(problems_of("[nand]\nbits_per_cell = 9\nt_erase = \"20s\"\n"),
                ElementsAre("d.toml:2:17: nand.bits_per_cell: 9 is out of range; 1..5",
                            "d.toml:3:11: nand.t_erase: 20s is out of range; 1ns..10s"));
}

TEST(ConfigErrors, NotAmongTheAllowedValues) {
    EXPECT_THAT(
        problems_of("[link]\nlanes = 3\nmax_payload = \"300B\"\n"),
        ElementsAre("d.toml:2:9: link.lanes: 3 is not possible; 1, 2, 4, 8 or 16",
                    "d.toml:3:15: link.max_payload: 300B is not possible; 128B, 256B, 512B, 1KiB, 2KiB or 4KiB"));
}

TEST(ConfigErrors, NotAMultiple) {
    EXPECT_THAT(problems_of("[buffer]\nflush_start = \"12.5%\"\n"),
                ElementsAre("d.toml:2:15: buffer.flush_start: 12.5% is not a multiple of 1%; 0%..99% in steps of 1%"));
}

TEST(ConfigErrors, UnknownNameGetsASuggestion) {
    EXPECT_THAT(
        problems_of("[nand.onfi]\ninterface = \"nvddr2\"\n"),
        ElementsAre("d.toml:2:13: nand.onfi.interface: is 'nvddr2'; sdr, nv-ddr, nv-ddr2, nv-ddr3, nv-lpddr4 or ideal; "
                    "did you mean \"nv-ddr2\"?"));
}

TEST(ConfigErrors, EachMistakeInAListHasItsPlace) {
    EXPECT_THAT(
        problems_of("[nand]\nt_read = [\"50us\", 60, \"70 uz\"]\n"),
        ElementsAre("d.toml:2:19: nand.t_read: 60 has no unit; a time (ps, ns, us, ms, s); write for example \"75us\"",
                    "d.toml:2:23: nand.t_read: '70 uz' has the unknown unit 'uz'; a time (ps, ns, us, ms, s)"));
}

TEST(ConfigErrors, KeyTwice) {
    EXPECT_THAT(
        problems_of("[nand]\nt_erase = \"3ms\"\nt_erase = \"4ms\"\n"),
        ElementsAre("d.toml:3:1: key 't_erase' is defined twice; a file defines each key once; remove one of the two"));
}

TEST(ConfigErrors, TableTwice) {
    EXPECT_THAT(
        problems_of("[nand]\nt_erase = \"3ms\"\n[run]\n  [nand]\n"),
        ElementsAre("d.toml:4:3: key 'nand' is defined twice; a file defines each key once; remove one of the two"));
}

TEST(ConfigErrors, NotToml) {
    const auto all = problems_of("[nand]\nt_erase = 3.8ms\n");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_THAT(all[0], ::testing::StartsWith("d.toml:2:14: not TOML: "));
}

TEST(ConfigErrors, MistakesOfSeveralSourcesComeTogether) {
    ConfigLoader loader;
    loader.add_text("[nand]\nt_reed = \"75us\"\nt_erase = 1\n", "a.toml");
    loader.add_text("[nand]\nt_erase = \"1ms\"\nt_erase = \"2ms\"\n", "b.toml");
    loader.add_assignment("run.integrity=maybe");
    loader.add_assignment("run");
    EXPECT_THAT(
        problems_of(loader),
        ElementsAre("a.toml:2:1: unknown key 'nand.t_reed'; did you mean 'nand.t_read'?",
                    "a.toml:3:11: nand.t_erase: 1 has no unit; a time (ps, ns, us, ms, s); write for example \"3.8ms\"",
                    "b.toml:3:1: key 't_erase' is defined twice; a file defines each key once; remove one of the two",
                    "--set run.integrity=maybe: run.integrity: is 'maybe'; true or false",
                    "--set run: is no assignment; key=value; for example --set nand.t_read=60us"));
}

TEST(ConfigErrors, WhatHasNoDefaultMustBeSet) {
    EXPECT_THAT(
        problems_of("[nand]\n"),
        ElementsAre(
            "d.toml: ftl.user_capacity: is not set; 4KiB..64TiB in steps of 512B; it has no default: set it, for "
            "example with --set ftl.user_capacity=\"480GB\""));
}

TEST(ConfigErrors, UnknownDevice) {
    ConfigLoader loader;
    loader.add_device("mqsim-tabel3");
    const auto all = problems_of(loader);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_THAT(all[0],
                ::testing::StartsWith("command line: no device 'mqsim-tabel3'; a file, or one of the presets "));
    EXPECT_THAT(all[0], ::testing::EndsWith("did you mean 'mqsim-table3'?"));
}

}  // namespace
}  // namespace ssdtlm
