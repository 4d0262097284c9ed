// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/identify.h"

#include <gtest/gtest.h>

#include <string>

#include "controller/nvme/log_pages.h"

namespace ssdtlm {
namespace {

using namespace nvme;

NvmeDevice device() {
    NvmeDevice d;
    d.namespace_bytes = 480'000'000'000 / 4096 * 4096;
    d.volatile_write_cache = true;
    d.unit_bytes = 4096;
    d.serial = "S123";
    return d;
}

std::string text(const std::uint8_t* at, std::size_t bytes) { return {reinterpret_cast<const char*>(at), bytes}; }

TEST(Identify, Controller) {
    NvmeConfig config;
    config.max_transfer_bytes = 128 * 1024;
    IdentifyData d;
    identify_controller(config, device(), d);
    EXPECT_EQ(text(d.data() + 4, 20), "S123                ");
    EXPECT_EQ(text(d.data() + 24, 6), "ssdtlm");
    EXPECT_EQ(d[77], 5);  // MDTS: 2^5 pages are 128 KiB
    EXPECT_EQ(load<std::uint32_t>(&d[80]), kVersion14);
    EXPECT_EQ(d[111], 1);
    EXPECT_EQ(d[258], 3);
    EXPECT_EQ(d[259], 3);
    EXPECT_EQ(d[512], 0x66);
    EXPECT_EQ(d[513], 0x44);
    EXPECT_EQ(load<std::uint32_t>(&d[516]), 1u);
    EXPECT_EQ(load<std::uint16_t>(&d[520]), 1u << 2 | 1u << 3 | 1u << 4);
    EXPECT_EQ(d[525], 0x7);
    EXPECT_EQ(load<std::uint16_t>(&d[526]), 4096 / config.lba_bytes - 1);
    EXPECT_EQ(load<std::uint32_t>(&d[536]), 0u);  // no SGLs
    EXPECT_EQ(load<std::uint64_t>(&d[280]), device().namespace_bytes);
    EXPECT_EQ(text(d.data() + 768, 4), "nqn.");

    NvmeDevice no_cache = device();
    no_cache.volatile_write_cache = false;
    config.max_transfer_bytes = 0;
    identify_controller(config, no_cache, d);
    EXPECT_EQ(d[525] & 1, 0);
    EXPECT_EQ(d[77], 0);
}

TEST(Identify, Namespace) {
    for (const std::uint32_t lba : {512u, 4096u}) {
        NvmeConfig config;
        config.lba_bytes = lba;
        NvmeDevice dev = device();
        dev.unit_bytes = 16384;
        IdentifyData d;
        identify_namespace(config, dev, d);
        const std::uint64_t blocks = dev.namespace_bytes / lba;
        EXPECT_EQ(load<std::uint64_t>(&d[0]), blocks);
        EXPECT_EQ(load<std::uint64_t>(&d[8]), blocks);
        EXPECT_EQ(load<std::uint64_t>(&d[16]), blocks);
        EXPECT_EQ(d[25], 0);  // one format
        EXPECT_EQ(d[26], 0);
        EXPECT_EQ(d[33] & 7, 1);  // deallocated blocks read zeros
        EXPECT_EQ(load<std::uint16_t>(&d[64]), 16384 / lba - 1);
        EXPECT_EQ(load<std::uint16_t>(&d[68]), 16384 / lba - 1);
        EXPECT_EQ(1u << d[130], lba);
        EXPECT_EQ(load<std::uint16_t>(&d[128]), 0);
    }
}

TEST(Identify, DescriptorsAgreeWithTheNamespace) {
    IdentifyData ns;
    IdentifyData list;
    identify_namespace(NvmeConfig{}, device(), ns);
    identify_descriptors(device(), list);
    EXPECT_EQ(list[0], 1);
    ASSERT_EQ(list[1], 8);
    EXPECT_EQ(text(&list[4], 8), text(&ns[120], 8));
    EXPECT_EQ(list[12], 2);
    ASSERT_EQ(list[13], 16);
    EXPECT_EQ(text(&list[16], 16), text(&ns[104], 16));
    EXPECT_EQ(list[33], 0);  // the end
    NvmeDevice other = device();
    other.serial = "S124";
    identify_namespace(NvmeConfig{}, other, list);
    EXPECT_NE(text(&list[120], 8), text(&ns[120], 8));
}

TEST(LogPages, SmartCounts) {
    NvmeCounters counters;
    counters.bytes_read = 512'001;
    counters.bytes_written = 512'000;
    counters.reads = 7;
    counters.writes = 8;
    counters.media_errors = 3;
    counters.busy = 3min + 59s;
    const NvmeFeatures features(NvmeConfig{}, false);
    std::vector<std::uint8_t> p;
    smart_log(counters, DeviceHealth{}, features, 5, SimTime{2h + 1min}, p);
    ASSERT_EQ(p.size(), 512u);
    EXPECT_EQ(p[0], 0);
    EXPECT_EQ(load<std::uint16_t>(&p[1]), 313);
    EXPECT_EQ(p[3], 100);
    EXPECT_EQ(load<std::uint64_t>(&p[32]), 2u);  // units of 512000 bytes, rounded up
    EXPECT_EQ(load<std::uint64_t>(&p[48]), 1u);
    EXPECT_EQ(load<std::uint64_t>(&p[64]), 7u);
    EXPECT_EQ(load<std::uint64_t>(&p[80]), 8u);
    EXPECT_EQ(load<std::uint64_t>(&p[96]), 3u);
    EXPECT_EQ(load<std::uint64_t>(&p[128]), 2u);
    EXPECT_EQ(load<std::uint64_t>(&p[160]), 3u);
    EXPECT_EQ(load<std::uint64_t>(&p[176]), 5u);
    smart_log(counters, DeviceHealth{5, 101, 350}, features, 5, SimTime{}, p);
    EXPECT_EQ(p[0], 3);  // spare low and temperature
    EXPECT_EQ(p[5], 101);
}

TEST(LogPages, ErrorsNewestFirstAndOnlyTheLast) {
    ErrorLog log;
    std::vector<std::uint8_t> p;
    const std::uint32_t total = kErrorLogEntries + 5;
    for (std::uint32_t i = 1; i <= total; ++i) log.add(2, static_cast<std::uint16_t>(i), kStLbaOutOfRange, 100 + i, 1);
    log.write(p);
    ASSERT_EQ(p.size(), kErrorLogEntries * 64u);
    for (std::uint32_t i = 0; i < kErrorLogEntries; ++i) {
        const std::uint8_t* e = &p[i * 64];
        EXPECT_EQ(load<std::uint64_t>(e), total - i);
        EXPECT_EQ(load<std::uint16_t>(e + 8), 2);
        EXPECT_EQ(load<std::uint16_t>(e + 10), total - i);
        EXPECT_EQ(load<std::uint16_t>(e + 12) >> 1 & 0x7FF, kStLbaOutOfRange);
        EXPECT_EQ(load<std::uint64_t>(e + 16), 100 + total - i);
        EXPECT_EQ(load<std::uint32_t>(e + 24), 1u);
    }
}

}  // namespace
}  // namespace ssdtlm
