// SPDX-License-Identifier: Apache-2.0
// Ceilings by resource against the closed formulas of tb/formula.
#include <gtest/gtest.h>

#include "formula/reference.h"
#include "support/devices.h"
#include "unit/derive/derived.h"

namespace ssdtlm {
namespace {

const Work& sequential_reads = derived_works()[0];
const Work& sequential_writes = derived_works()[1];
const Work& random_reads = derived_works()[2];
const Work& random_writes = derived_works()[3];

// What leaves the device for a read of 128 KiB: data, one entry, one message, and its share of a read of 8 entries.
TEST(Ceilings, OfTheLinkToTheHost) {
    for (const std::uint32_t payload : {128u, 256u}) {
        SsdConfig c = table3_small();
        c.link.max_payload_bytes = payload;
        const LinkConfig& l = c.link;
        const std::uint64_t list = reference::header(true);  // of 31 PRPs
        const std::uint64_t bytes = reference::write_bytes(l, 131072) + reference::header(true) + 16 +
                                    reference::header(false) + 4 + list + reference::header(true) / 8;
        EXPECT_NEAR(iops_of(ceilings_of(c, sequential_reads), "link to host") *
                        static_cast<double>(reference::wire(l, bytes)) * 1e-12,
                    1, 1e-6);
    }
}

TEST(Ceilings, OfTheLinkToTheDevice) {
    const SsdConfig c = table3_small();
    const std::uint64_t data = 4096 + 16 * reference::header(false), doorbells = 2 * (4 + reference::header(true)),
                        entry = 64 + 2 * reference::header(false) / 8;
    const double time = static_cast<double>(reference::wire(c.link, data + doorbells + entry)) * 1e-12;
    EXPECT_NEAR(iops_of(ceilings_of(c, random_writes), "link to device") * time, 1, 2e-4);
}

TEST(Ceilings, OfDiesThatRead) {
    const SsdConfig c = grid(4, 1);
    const double cycle = static_cast<double>(reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() +
                                             c.nand.t_read[0].count() + reference::data_out(c.nand, 4096)) *
                         1e-12;
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "die") * cycle, 4, 1e-6);
    const double bus = static_cast<double>(reference::read_issue(c.nand) + reference::data_out(c.nand, 4096) +
                                           c.nand.onfi.t_rhw.count()) *
                       1e-12;
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "channel bus") * bus, 4, 1e-6);
}

TEST(Ceilings, OfDiesThatProgramRows) {
    for (const std::uint32_t planes : {1u, 2u, 4u}) {
        SsdConfig c = grid(4, 2, planes);
        const double cycle = static_cast<double>(reference::program_cycle(c.nand, planes)) * 1e-12;
        EXPECT_NEAR(iops_of(ceilings_of(c, sequential_writes), "die") * 32 / planes * cycle, 8, 1e-6);
        c.ftl.user_capacity_bytes = 100 * c.ftl.buffer_bytes;  // one write in 100 finds its unit in the buffer
        EXPECT_NEAR(iops_of(ceilings_of(c, random_writes), "die") / planes * cycle * 0.99, 8, 1e-6);
    }
}

// Planes that go by themselves may program together, or one after the other.
TEST(Ceilings, OfPlanesThatDriftApart) {
    SsdConfig c = grid(1, 1, 4);
    c.ftl.superblock = SuperblockSpan::plane;
    c.ftl.user_capacity_bytes = 100 * c.ftl.buffer_bytes;
    const double alone = static_cast<double>(reference::program_cycle(c.nand, 1)) * 1e-12;
    const double together = static_cast<double>(reference::program_cycle(c.nand, 4)) * 1e-12;
    const Ceilings writes = ceilings_of(c, sequential_writes);
    EXPECT_NEAR(ceiling_of(writes, "die")->reached * 32 * alone, 1, 1e-6);
    EXPECT_NEAR(iops_of(writes, "die") * 8 * together, 1, 1e-6);
}

TEST(Ceilings, OfCoresDramAndHost) {
    SsdConfig c = table3_small();
    c.firmware.cores = 3;
    c.firmware.read_command = 1000;
    c.dram.bytes_per_second = 1'000'000'000;
    c.host.queue_pairs = 4;
    c.host.submit_time = Ps{2'000'000};
    c.host.completion_time = Ps{3'000'000};
    const Ceilings reads = ceilings_of(c, random_reads);
    EXPECT_NEAR(iops_of(reads, "firmware core"), 3 * 500e6 / (1000 + 25 + 50), 1e-3);
    EXPECT_NEAR(iops_of(reads, "DRAM port"), 1e9 / 8192, 1e-3);
    EXPECT_NEAR(iops_of(reads, "host CPU"), 4 / 5e-6, 1e-3);
    c.host.cores = 1;
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "host CPU"), 1 / 5e-6, 1e-3);
}

// Frames of the command, its release, DMA Setup, data, and Set Device Bits: 20, 20, 28, 4 + data, 8 bytes with 52 of
// handshake, SOF, CRC and EOF each.
TEST(Ceilings, OfASerialAtaLink) {
    SsdConfig c = table3_small();
    c.front_end.kind = "sata";
    const double read = 72 + 72 + 80 + (4 + 4096 + 52), write = read + (4 + 52);
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "SATA link") * read / 600e6, 1, 1e-9);
    EXPECT_NEAR(ceiling_of(ceilings_of(c, random_reads), "SATA link")->reached * (read + 60) / 600e6, 1, 1e-9);
    EXPECT_NEAR(iops_of(ceilings_of(c, random_writes), "SATA link") * write / 600e6, 1, 1e-9);
    EXPECT_NEAR(iops_of(ceilings_of(c, sequential_writes), "SATA link") * (224 + 131072 + 16 * (56 + 56)) / 600e6, 1,
                1e-9);
    EXPECT_EQ(ceiling_of(ceilings_of(c, random_reads), "link to host"), nullptr);
    c.front_end.policies["sata"]["auto_activate"] = Value{true};
    EXPECT_NEAR(iops_of(ceilings_of(c, random_writes), "SATA link") * read / 600e6, 1, 1e-9);
    c.front_end.policies["sata"]["rate"] = Value{std::string("1.5Gbps")};
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "SATA link") * read / 150e6, 1, 1e-9);
    c.host_sides["sata"]["ncq"] = Value{false};  // no DMA Setup, and the D2H Register ends it
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "SATA link") * (read - 80) / 150e6, 1, 1e-9);
    c.front_end.kind = "raw";
    EXPECT_EQ(ceiling_of(ceilings_of(c, random_reads), "SATA link"), nullptr);
    EXPECT_TRUE(ceilings_of(c, random_reads).left_out.empty());
}

TEST(Ceilings, OfDramWithBanks) {
    SsdConfig c = table3_small();
    c.dram.bytes_per_second = 1'000'000'000;
    c.dram.model = "banks";
    c.dram.policies["banks"]["t_refi"] = Value{std::int64_t{1'000'000}};
    c.dram.policies["banks"]["t_rfc"] = Value{std::int64_t{250'000}};
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "DRAM port"), 0.75e9 / 8192, 1e-3);
    EXPECT_EQ(ceiling_of(ceilings_of(c, random_reads), "DRAM port")->reached, 0);
    c.dram.policies["banks"]["t_refi"] = Value{std::int64_t{0}};
    EXPECT_NEAR(iops_of(ceilings_of(c, random_reads), "DRAM port"), 1e9 / 8192, 1e-3);
}

TEST(Ceilings, PlanesThatReadOnTheirOwnAreTheResource) {
    SsdConfig c = grid(4, 1, 2);
    c.nand.independent_plane_read = true;
    const Ceilings reads = ceilings_of(c, random_reads);
    EXPECT_EQ(ceiling_of(reads, "die"), nullptr);
    EXPECT_GT(iops_of(reads, "plane"), 0);
}

TEST(Ceilings, AreLeftOutWithASentence) {
    const auto left_out = [](const SsdConfig& c, const Work& w, const std::string& what) {
        for (const std::string& why : ceilings_of(c, w).left_out)
            if (why.find(what) != std::string::npos) return true;
        return false;
    };
    SsdConfig c = table3_small();
    EXPECT_TRUE(ceilings_of(c, random_reads).left_out.empty());
    c.front_end.kind = "one of the user's";
    EXPECT_TRUE(left_out(c, random_reads, "link: no formula"));
    EXPECT_EQ(ceiling_of(ceilings_of(c, random_reads), "link to host"), nullptr);
    c = table3_small();
    c.ftl.read_cache.bytes = 1 << 20;
    EXPECT_TRUE(left_out(c, random_reads, "read cache"));
    c = table3_small();
    c.scheduler.merge_reads = true;
    EXPECT_TRUE(left_out(c, random_reads, "merge_reads"));
    c = table3_small();
    c.ftl.buffer_bytes = c.ftl.user_capacity_bytes;
    EXPECT_TRUE(left_out(c, random_writes, "holds the whole drive"));
    c = table3_small();
    c.ftl.slc.blocks = 4;
    EXPECT_TRUE(left_out(c, sequential_writes, "SLC cache"));
    c.ftl.slc.blocks = 0;
    c.ftl.mapping = "fast";
    EXPECT_TRUE(left_out(c, random_writes, "log blocks"));
}

}  // namespace
}  // namespace ssdtlm
