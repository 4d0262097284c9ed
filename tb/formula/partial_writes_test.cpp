// SPDX-License-Identifier: Apache-2.0
// Writes of half units over old data: how often the rest is read from the flash, against a count in the test.
#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kUnit = 8192, kHalf = kUnit / 2;
constexpr std::uint32_t kBuffer = 64;  // units

/// A page for each unit, and a flash so fast that no write waits for room.
SsdConfig device(RestReads reads) {
    SsdConfig c = grid(16, 1);
    c.nand.onfi.megatransfers = 1200;
    c.nand.t_read = {Ps{5'000'000}};
    c.nand.t_program = {Ps{5'000'000}};
    c.nand.t_erase = Ps{5'000'000};
    c.nand.geometry.page_bytes = c.nand.geometry.unit_bytes = kUnit;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 80 / kUnit * kUnit;
    c.ftl.buffer_bytes = std::uint64_t{kBuffer} * kUnit;
    c.ftl.rest_reads = reads;
    return c;
}

std::uint64_t merge_reads(const SsdConfig& c, const std::vector<std::uint32_t>& halves, std::uint32_t depth) {
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.bytes = kHalf;
    s.pattern = ClosedLoop::Pattern::list;
    for (const std::uint32_t half : halves) s.offsets.push_back(std::uint64_t{half} * kHalf);
    s.requests = halves.size();
    s.depth = depth;
    s.span = c.ftl.user_capacity_bytes;
    const nlohmann::json n = run_closed_loop(c, s)["counters_whole_run"];
    const std::uint64_t read = n["partial_unit_merge_reads"];
    EXPECT_EQ(n.value("flash_rmw_page_reads", std::uint64_t{0}), read);  // the array has done as many
    return read;
}

// Each unit comes in two writes, one behind the other: the second brings the rest.
TEST(PartialWrites, InSequenceTheRestComesBeforeItIsRead) {
    std::vector<std::uint32_t> halves;
    for (std::uint32_t i = 0; i < 2000; ++i) halves.push_back(i);
    for (const std::uint32_t depth : {1u, 8u, 32u}) {
        const std::uint64_t at_once = merge_reads(device(RestReads::at_write), halves, depth),
                            late = merge_reads(device(RestReads::at_write_back), halves, depth);
        std::printf("[   FIGURE ] 2,000 writes in sequence, depth %u: %lu merge reads at once, %lu late\n", depth,
                    at_once, late);
        EXPECT_EQ(at_once, 1000u);
        EXPECT_EQ(late, 0u);
    }
}

// First halves of many units; then the other halves of the last few, which still wait, and those of the first ones,
// which have been programmed meanwhile. What is left when the run ends is read for the last flush.
TEST(PartialWrites, WhatHasNotComeIsReadOnce) {
    constexpr std::uint32_t kFirst = 1000, kLast = kBuffer / 4, kGone = 300;
    std::vector<std::uint32_t> halves;
    for (std::uint32_t i = 0; i < kFirst; ++i) halves.push_back(2 * i);
    for (std::uint32_t i = kFirst - kLast; i < kFirst; ++i) halves.push_back(2 * i + 1);
    for (std::uint32_t i = 0; i < kGone; ++i) halves.push_back(2 * i + 1);
    EXPECT_GE(merge_reads(device(RestReads::at_write), halves, 1), kFirst + kGone);
    EXPECT_EQ(merge_reads(device(RestReads::at_write_back), halves, 1), kFirst - kLast + kGone);
}

// A write of the same half, or of the whole unit, takes the place of the one that waits.
TEST(PartialWrites, TheSameHalfAgainWaitsOn) {
    std::vector<std::uint32_t> halves;
    for (std::uint32_t i = 0; i < 600; ++i) halves.push_back(2 * (i % 3));
    EXPECT_EQ(merge_reads(device(RestReads::at_write_back), halves, 1), 3u);
}

// A forced write goes to the flash now.
TEST(PartialWrites, ForcedWritesDoNotWait) {
    for (const RestReads reads : {RestReads::at_write, RestReads::at_write_back}) {
        SsdConfig c = device(reads);
        ClosedLoop::Spec s;
        s.op = HostOp::write;
        s.bytes = kHalf;
        s.pattern = ClosedLoop::Pattern::sequential;
        s.fua = true;
        s.requests = 400;
        s.span = c.ftl.user_capacity_bytes;
        EXPECT_EQ(run_closed_loop(c, s)["counters_whole_run"]["partial_unit_merge_reads"], 400);
    }
}

// FEMU programs a page for each write, and reads nothing.
TEST(PartialWrites, NeverReadsNothing) {
    std::vector<std::uint32_t> halves;
    for (std::uint32_t i = 0; i < 1500; ++i) halves.push_back(7 * i % 3000);
    EXPECT_EQ(merge_reads(device(RestReads::never), halves, 8), 0u);
}

}  // namespace
}  // namespace ssdtlm
