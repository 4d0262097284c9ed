// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_units.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

std::string size(const char* text, unsigned kb_base = 1024) {
    std::string why;
    const auto v = parse_fio_amount(text, kb_base, why);
    return !v ? "error" : std::to_string(v->value) + (v->percent ? "%" : "");
}
std::string time(const char* text, FioBareTime bare = FioBareTime::seconds) {
    std::string why;
    const auto v = parse_fio_time(text, bare, why);
    return !v ? "error" : std::to_string(v->count() / 1'000'000) + "us";
}

// Each value was measured with fio 3.33 (Debian): the io_bytes of size=<text>, ioengine=null.
TEST(FioUnits, SizesWithDefaultKbBaseAreThoseOfFio333) {
    EXPECT_EQ(size("10k"), "10240");
    EXPECT_EQ(size("10K"), "10240");
    EXPECT_EQ(size("10kb"), "10240");
    EXPECT_EQ(size("10kB"), "10240");
    EXPECT_EQ(size("10Ki"), "10240");
    EXPECT_EQ(size("10KiB"), "10000");  // fio: 9728, the multiple of bs=512 below
    EXPECT_EQ(size("10kib"), "10000");
    EXPECT_EQ(size("1m"), "1048576");
    EXPECT_EQ(size("1MiB"), "1000000");  // fio: 999936
    EXPECT_EQ(size("1Mi"), "1048576");
    EXPECT_EQ(size("10240"), "10240");
    EXPECT_EQ(size("0x2800"), "10240");
    EXPECT_EQ(size("1m/s"), "1048576");
    EXPECT_EQ(size("2t"), std::to_string(2 * 1024_GiB));
    EXPECT_EQ(size("50%"), "50%");
}

TEST(FioUnits, KbBase1000TurnsThePrefixesRound) {
    EXPECT_EQ(size("10k", 1000), "10000");
    EXPECT_EQ(size("10kb", 1000), "10000");
    EXPECT_EQ(size("10Ki", 1000), "10000");
    EXPECT_EQ(size("10KiB", 1000), "10240");
    EXPECT_EQ(size("1GiB", 1000), std::to_string(1_GiB));
}

// fio 3.33 reads these as 1, 16, 4, 1 and 10 KiB without a word.
TEST(FioUnits, WhatFioMisreadsInSilenceIsRefused) {
    for (const char* text : {"1.5m", "10x", "4q", "1 m", "10kfoo", "", "-3", "k", "99999999999999999999", "20000p"})
        EXPECT_EQ(size(text), "error") << text;
}

// Measured with fio 3.33: job_runtime of runtime=<text>, time_based, ioengine=null.
TEST(FioUnits, TimesAreThoseOfFio333) {
    EXPECT_EQ(time("1"), "1000000us");
    EXPECT_EQ(time("1s"), "1000000us");
    EXPECT_EQ(time("1S"), "1000000us");
    EXPECT_EQ(time("500ms"), "500000us");
    EXPECT_EQ(time("500msec"), "500000us");
    EXPECT_EQ(time("200000us"), "200000us");
    EXPECT_EQ(time("200000usec"), "200000us");
    EXPECT_EQ(time("2m"), "120000000us");
    EXPECT_EQ(time("1h"), "3600000000us");
    EXPECT_EQ(time("1d"), "86400000000us");
    EXPECT_EQ(time("250", FioBareTime::microseconds), "250us");
    EXPECT_EQ(time("3ms", FioBareTime::microseconds), "3000us");
}

// fio 3.33 reads 1sec as 1 microsecond and 0.5s as 0.
TEST(FioUnits, TimesThatFioMisreadsAreRefused) {
    for (const char* text : {"1sec", "0.5s", "1x", "", "s", "-1", "400d"}) EXPECT_EQ(time(text), "error") << text;
}

TEST(FioUnits, Floats) {
    std::string why;
    EXPECT_DOUBLE_EQ(parse_fio_float("99.95", why).value(), 99.95);
    EXPECT_FALSE(parse_fio_float("1.2x", why));
    EXPECT_FALSE(parse_fio_float("", why));
    EXPECT_FALSE(parse_fio_float("nan", why));
}

}  // namespace
}  // namespace ssdtlm
