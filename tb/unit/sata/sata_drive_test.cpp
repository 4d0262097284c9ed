// SPDX-License-Identifier: Apache-2.0
// The drive behind the link: what it sends for each command and each error equals lists written by hand from Serial
// ATA 3.0, 11 and 13.6, and ACS-3; times by formula; bytes.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "unit/sata/foreign_hba.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

using namespace test;
using Lines = std::vector<std::string>;

struct Benches {
    SataBench plain{"plain"};
    SataBench cut{"cut"};
    SataBench activated{"activated", [] {
                            SataConfig c;
                            c.auto_activate = true;
                            c.queue_depth = 8;
                            c.generation = 2;
                            return c;
                        }()};
    SataBench large{"large",
                    [] {
                        SataConfig c;
                        c.lba_bytes = 4096;
                        return c;
                    }(),
                    [] {
                        DriveFacts f = SataBench::facts();
                        f.volatile_write_cache = false;
                        f.unit_bytes = 16384;
                        return f;
                    }()};
};
Benches& benches() {
    static auto* const all = [] {
        auto* const b = new Benches;
        sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (SataBench* one : {&b->plain, &b->cut, &b->activated, &b->large}) {
            EXPECT_EQ(one->run(), (Lines{"phy up", "Register D2H status=50h error=01h lba=1 count=0001h"}));
        }
        return b;
    }();
    return *all;
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::uint8_t> v(bytes);
    for (std::size_t i = 0; i < bytes; ++i) v[i] = static_cast<std::uint8_t>(i * 7 + i / 512 * 13 + seed);
    return v;
}
const std::string kRelease3 = "Register D2H status=50h error=00h lba=0 count=0018h";
std::string release(unsigned tag) {
    char text[64];
    std::snprintf(text, sizeof text, "Register D2H status=50h error=00h lba=0 count=%04Xh", tag << 3);
    return text;
}
std::string bits(std::uint32_t active, const char* status = "50h", const char* error = "00h") {
    char text[96];
    std::snprintf(text, sizeof text, "Set Device Bits status=%s error=%s active=%08Xh I", status, error, active);
    return text;
}

TEST(SataDrive, QueuedWriteAndRead) {
    SataBench& b = benches().plain;
    const auto data = pattern(20 * 512, 1);
    b.hba.to_send[3] = data;
    b.queued(true, 3, 1000, 20);
    EXPECT_EQ(b.run(), (Lines{kRelease3, "DMA Setup tag=3 from host offset=0 bytes=10240", "DMA Activate",
                              "DMA Activate", bits(1u << 3)}));
    EXPECT_FALSE(b.firmware.was_fua);
    b.queued(false, 7, 1000, 20);
    EXPECT_EQ(b.run(), (Lines{release(7), "DMA Setup tag=7 to host offset=0 bytes=10240", "Data bytes=8192",
                              "Data bytes=2048", bits(1u << 7)}));
    EXPECT_EQ(b.hba.got[7], data);
    b.hba.to_send[0] = pattern(512, 2);
    b.queued(true, 0, 5, 1, 0xC0);
    b.run();
    EXPECT_TRUE(b.firmware.was_fua);
    b.drive.check_books();
}

/// Frames of 4,436 bytes at ten bits each, and the drive's own microsecond, and what the R_OK of a frame lets
/// wait. The wire is busy for exactly that.
TEST(SataDrive, TimeOfAReadByFormula) {
    for (const std::uint32_t sectors : {8u, 256u}) {
        SataBench& b = benches().plain;
        const SimTime from = b.agenda.now();
        const Ps busy = b.link.busy();
        b.queued(false, 0, 0, static_cast<std::uint16_t>(sectors));
        b.run();
        const std::uint32_t data = sectors * 512;
        std::int64_t ps = 0, wire = 0;
        const auto frame = [&](std::uint32_t n) {
            const std::int64_t bytes = sata::wire_bytes(n);
            wire += bytes;
            ps += (bytes * 5000 + 2) / 3;  // 600 MB/s: 5/3 ns a byte
        };
        for (const std::uint32_t n : {20u, 20u, 28u, 8u}) frame(n);
        for (std::uint32_t left = data; left != 0; left -= std::min(left, 8192u)) frame(4 + std::min(left, 8192u));
        EXPECT_EQ(wire, sectors == 8 ? 4436 : 132252);
        EXPECT_EQ((b.link.busy() - busy).count(), ps);
        // Decoding begins when the CRC is there, 28 bytes before the wire is free again.
        const std::int64_t handshake = 28 * 5000 / 3;
        EXPECT_NEAR(static_cast<double>((b.agenda.now() - from).count()),
                    static_cast<double>(ps + 1'000'000 - handshake), 2.0);
        const Timeline& line = b.tracker.at(1, 0);
        EXPECT_EQ(line.of(Stage::fetch), Ps{1'000'000});
        EXPECT_EQ(line.sum(), line.last() - line.start());
    }
}

TEST(SataDrive, BitsOfSeveralTagsGoTogether) {
    SataBench& b = benches().plain;
    b.firmware.holds = true;
    for (unsigned tag = 0; tag < 32; ++tag) {
        b.queued(false, tag, tag, 1);
        EXPECT_EQ(b.run(), Lines{release(tag)});
    }
    EXPECT_EQ(b.drive.device().active_tags(), ~0u);
    b.firmware.holds = false;
    b.firmware.go_on();
    const Lines lines = b.run();
    // The first data phase begins at once; then the bits of one tag go between two phases.
    ASSERT_EQ(lines.size(), 32u * 3);
    EXPECT_EQ(lines[2], bits(1));
    EXPECT_EQ(lines.back(), bits(1u << 31));
    EXPECT_EQ(b.drive.device().active_tags(), 0u);

    // A write ends a moment behind its data, when the next data phase has the wire: its bits wait for the end of that.
    b.firmware.holds = true;
    for (unsigned tag = 0; tag < 3; ++tag) {
        b.hba.to_send[tag] = pattern(512, tag);
        b.queued(true, tag, tag, 1);
        b.run();
    }
    b.queued(false, 9, 0, 16);
    b.run();
    b.firmware.holds = false;
    b.firmware.go_on();
    const auto setup = [](unsigned tag) {
        return "DMA Setup tag=" + std::to_string(tag) + " from host offset=0 bytes=512";
    };
    EXPECT_EQ(b.run(),
              (Lines{setup(0), "DMA Activate", setup(1), "DMA Activate", bits(1), bits(2), setup(2), "DMA Activate",
                     "DMA Setup tag=9 to host offset=0 bytes=8192", "Data bytes=8192", bits(1u << 9 | 1u << 2)}));
}

TEST(SataDrive, AutoActivateAndALowerRate) {
    SataBench& b = benches().activated;
    b.hba.to_send[1] = pattern(16384, 3);
    b.queued(true, 1, 64, 32);
    EXPECT_EQ(b.run(),
              (Lines{release(1), "DMA Setup tag=1 from host offset=0 bytes=16384 A", "DMA Activate", bits(2)}));
    EXPECT_EQ(b.link.config().generation(), 2);
    // A tag behind the queue's depth stops the queue.
    b.queued(false, 8, 0, 1);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0040h I"});
    b.command(ata::kReadLogExt, 0x10, 1);
    b.run();
}

TEST(SataDrive, DmaThatIsNotQueued) {
    SataBench& b = benches().plain;
    const auto data = pattern(40 * 512, 9);
    const std::string good = "Register D2H status=50h error=00h lba=77 count=0028h I";
    b.hba.to_send[32] = data;
    b.command(ata::kWriteDmaExt, 77, 40);
    EXPECT_EQ(b.run(), (Lines{"DMA Activate", "DMA Activate", "DMA Activate", good}));
    b.command(ata::kReadDmaExt, 77, 40);
    EXPECT_EQ(b.run(), (Lines{"Data bytes=8192", "Data bytes=8192", "Data bytes=4096", good}));
    EXPECT_EQ(b.hba.got[32], data);
    b.command(ata::kReadDma, 77, 40);
    b.run();
    EXPECT_EQ(b.hba.got[32], data);
    b.command(ata::kReadVerifyExt, 77, 40);
    EXPECT_EQ(b.run(), Lines{good});
    b.hba.to_send[32] = data;
    b.command(ata::kWriteDmaFuaExt, 77, 40);
    b.run();
    EXPECT_TRUE(b.firmware.was_fua);
    const std::uint64_t flushes = b.firmware.flushes;
    b.command(ata::kFlushCacheExt);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=50h error=00h lba=0 count=0000h I"});
    b.command(ata::kFlushCache);
    b.run();
    EXPECT_EQ(b.firmware.flushes, flushes + 2);
}

TEST(SataDrive, Trim) {
    SataBench& b = benches().plain;
    b.hba.to_send[32] = pattern(8 * 512, 1);
    b.command(ata::kWriteDmaExt, 5000, 8);
    b.run();
    ASSERT_EQ(b.firmware.sectors.count(5007), 1u);
    // Two blocks; the first entry takes 5001 to 5002, one in the second block takes 5006.
    std::vector<std::uint8_t> blocks(1024, 0);
    const auto entry = [&blocks](std::size_t at, std::uint64_t lba, std::uint64_t count) {
        const std::uint64_t e = lba | count << 48;
        std::memcpy(&blocks[at], &e, 8);
    };
    entry(0, 5001, 2);
    entry(512, 5006, 1);
    b.hba.to_send[32] = blocks;
    b.command(ata::kDataSetManagement, 0, 2, 1);
    EXPECT_EQ(b.run(), (Lines{"DMA Activate", "Register D2H status=50h error=00h lba=0 count=0002h I"}));
    for (unsigned i = 0; i < 8; ++i)
        EXPECT_EQ(b.firmware.sectors.count(5000 + i), i == 1 || i == 2 || i == 6 ? 0u : 1u) << i;
    // Outside the drive; no TRIM; too many blocks.
    blocks.assign(512, 0);
    entry(0, (1u << 21) - 1, 2);
    b.hba.to_send[32] = blocks;
    b.command(ata::kDataSetManagement, 0, 1, 1);
    EXPECT_EQ(b.run(), (Lines{"DMA Activate", "Register D2H status=51h error=10h lba=0 count=0001h I"}));
    b.command(ata::kDataSetManagement, 0, 1, 0);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0001h I"});
    b.command(ata::kDataSetManagement, 0, 9, 1);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0009h I"});
}

std::uint16_t word(const std::vector<std::uint8_t>& page, std::size_t w) {
    return static_cast<std::uint16_t>(page[2 * w] | page[2 * w + 1] << 8);
}
std::uint8_t sum_of(const std::vector<std::uint8_t>& page) {
    return static_cast<std::uint8_t>(std::accumulate(page.begin(), page.end(), 0u));
}
const Lines kPage{"PIO Setup to host status=58h end_status=50h bytes=512 I", "Data bytes=512"};

TEST(SataDrive, IdentifyDevice) {
    SataBench& b = benches().plain;
    b.command(ata::kIdentifyDevice);
    EXPECT_EQ(b.run(), kPage);
    const auto page = b.hba.got[32];
    ASSERT_EQ(page.size(), 512u);
    std::string model, serial;
    for (std::size_t w = 27; w < 47; ++w) model += {static_cast<char>(page[2 * w + 1]), static_cast<char>(page[2 * w])};
    for (std::size_t w = 10; w < 20; ++w)
        serial += {static_cast<char>(page[2 * w + 1]), static_cast<char>(page[2 * w])};
    EXPECT_EQ(model, "ssdtlm" + std::string(34, ' '));
    EXPECT_EQ(serial, "SSDTLM0000000001    ");
    EXPECT_EQ(word(page, 60) | std::uint32_t{word(page, 61)} << 16, 1u << 21);
    EXPECT_EQ(word(page, 100) | std::uint32_t{word(page, 101)} << 16, 1u << 21);
    EXPECT_EQ(word(page, 75), 31);
    EXPECT_EQ(word(page, 76), 0x010E);
    EXPECT_EQ(word(page, 77), 3 << 1);
    EXPECT_EQ(word(page, 69) & 0x4000, 0x4000);
    EXPECT_EQ(word(page, 83) & 0xC000, 0x4000);
    EXPECT_EQ(word(page, 82) & 0x20, 0x20);
    EXPECT_EQ(word(page, 85) & 0x20, 0x20);
    EXPECT_EQ(word(page, 106), 0x6003);  // 8 logical sectors of 512 bytes a physical one
    EXPECT_EQ(word(page, 169), 1);
    EXPECT_EQ(word(page, 217), 1);
    EXPECT_EQ(page[510], 0xA5);
    EXPECT_EQ(sum_of(page), 0);

    SataBench& l = benches().large;
    l.command(ata::kIdentifyDevice);
    l.run();
    const auto large = l.hba.got[32];
    EXPECT_EQ(word(large, 106), 0x7002);  // 4 of 4096
    EXPECT_EQ(word(large, 117), 2048);
    EXPECT_EQ(word(large, 100) | std::uint32_t{word(large, 101)} << 16, 1u << 18);
    EXPECT_EQ(word(large, 82) & 0x20, 0);
    l.hba.to_send[2] = pattern(3 * 4096, 5);
    l.queued(true, 2, 10, 3);
    l.run();
    l.queued(false, 4, 10, 3);
    l.run();
    EXPECT_EQ(l.hba.got[4], pattern(3 * 4096, 5));
    l.command(ata::kSetFeatures, 0, 0, ata::kFeatureWriteCacheOff);  // it has none
    EXPECT_EQ(l.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0000h I"});
}

TEST(SataDrive, SmartAndLogs) {
    SataBench& b = benches().plain;
    const std::uint64_t key = std::uint64_t{0xC24F} << 8;
    DeviceHealth health;
    b.drive.bind_health([&health] { return health; });
    b.command(ata::kSmart, key, 0, ata::kSmartReadData);
    EXPECT_EQ(b.run(), kPage);
    EXPECT_EQ(sum_of(b.hba.got[32]), 0);
    EXPECT_EQ(b.hba.got[32][2 + 4 * 12], 194);
    EXPECT_EQ(b.hba.got[32][2 + 4 * 12 + 5], 40);
    b.command(ata::kSmart, key, 0, ata::kSmartReturnStatus);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=50h error=00h lba=12734208 count=0000h I"});  // C24F00h
    health.read_only = true;
    b.command(ata::kSmart, key, 0, ata::kSmartReturnStatus);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=50h error=00h lba=2946048 count=0000h I"});  // 2CF400h
    b.command(ata::kSmart, 0, 0, ata::kSmartReadData);                                         // without the key
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0000h I"});
    b.command(ata::kReadLogExt, 0x00, 1);
    EXPECT_EQ(b.run(), kPage);
    EXPECT_EQ(word(b.hba.got[32], 0x10), 1);
    EXPECT_EQ(word(b.hba.got[32], 0x30), 2);
    b.command(ata::kReadLogExt, 0x30, 2);  // both pages, a DRQ block each
    EXPECT_EQ(b.run(),
              (Lines{"PIO Setup to host status=58h end_status=D0h bytes=512 I", "Data bytes=512", kPage[0], kPage[1]}));
    EXPECT_EQ(b.hba.got[32].size(), 1024u);
    b.command(ata::kReadLogExt, 0x30, 3);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=48 count=0003h I"});
    b.command(ata::kReadLogExt, 0x77, 1);
    EXPECT_EQ(b.run().size(), 1u);
}

TEST(SataDrive, FeaturesAndPower) {
    SataBench& b = benches().plain;
    const Lines good{"Register D2H status=50h error=00h lba=0 count=0000h I"};
    b.command(ata::kSetFeatures, 0, 0, ata::kFeatureWriteCacheOff);
    EXPECT_EQ(b.run(), good);
    b.hba.to_send[0] = pattern(512, 1);
    b.queued(true, 0, 0, 1);
    b.run();
    EXPECT_TRUE(b.firmware.was_fua);
    b.command(ata::kSetFeatures, 0, 0, ata::kFeatureWriteCacheOn);
    EXPECT_EQ(b.run(), good);
    b.command(ata::kSetFeatures, 0, 0x45, ata::kFeatureTransferMode);  // Ultra DMA 5
    EXPECT_EQ(b.run(), Lines{"Register D2H status=50h error=00h lba=0 count=0045h I"});
    b.command(ata::kSetFeatures, 0, 0x47, ata::kFeatureTransferMode);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0047h I"});
    b.command(ata::kSetFeatures, 0, 0, 0xAA);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0000h I"});
    b.command(ata::kCheckPowerMode);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=50h error=00h lba=0 count=00FFh I"});
    EXPECT_FALSE(b.drive.is_shut_down());
    // A flush is a command of the host's, but for one that belongs to the shutdown.
    const std::uint64_t ended = b.drive.counts().ended;
    b.command(ata::kFlushCacheExt);
    b.run();
    EXPECT_EQ(b.drive.counts().ended, ended + 1);
    b.command(ata::kStandbyImmediate);
    EXPECT_EQ(b.run(), good);
    EXPECT_EQ(b.drive.counts().ended, ended);
    EXPECT_TRUE(b.drive.is_shut_down());
    b.command(ata::kCheckPowerMode);
    EXPECT_EQ(b.run(), good);
    b.queued(false, 0, 0, 1);
    b.run();
    EXPECT_FALSE(b.drive.is_shut_down());
    b.command(0x99);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0000h I"});
}

TEST(SataDrive, ErrorsThatAreNotQueued) {
    SataBench& b = benches().plain;
    const auto end = [](const char* status, const char* error, unsigned lba) {
        char text[96];
        std::snprintf(text, sizeof text, "Register D2H status=%s error=%s lba=%u count=0004h I", status, error, lba);
        return std::string(text);
    };
    b.firmware.bad_sectors = {{9001, CommandStatus::unrecovered_read},
                              {9101, CommandStatus::write_fault},
                              {9201, CommandStatus::read_only},
                              {9301, CommandStatus::not_possible}};
    b.command(ata::kReadDmaExt, 9000, 4);
    EXPECT_EQ(b.run(), Lines{end("51h", "40h", 9000)});
    b.command(ata::kWriteDmaExt, 9100, 4);
    EXPECT_EQ(b.run(), Lines{end("71h", "04h", 9100)});
    b.command(ata::kWriteDmaExt, 9200, 4);
    EXPECT_EQ(b.run(), Lines{end("51h", "04h", 9200)});
    b.command(ata::kReadVerifyExt, 9300, 4);
    EXPECT_EQ(b.run(), Lines{end("51h", "04h", 9300)});
    b.firmware.bad_sectors.clear();
    b.command(ata::kReadDmaExt, (1u << 21) - 3, 4);
    EXPECT_EQ(b.run(), Lines{end("51h", "10h", (1u << 21) - 3)});
    // CRC errors of Data in both directions, and of what is not Data, which is repeated.
    b.link.inject_crc_error(2);
    b.command(ata::kReadDmaExt, 0, 4);
    EXPECT_EQ(b.run(), (Lines{"broken", end("51h", "84h", 0)}));
    b.link.inject_crc_error(3);
    b.hba.to_send[32] = pattern(2048, 0);
    b.command(ata::kWriteDmaExt, 0, 4);
    EXPECT_EQ(b.run(), (Lines{"DMA Activate", end("51h", "84h", 0)}));
    b.link.inject_crc_error(2);
    b.command(ata::kReadVerifyExt, 0, 4);
    EXPECT_EQ(b.run(), (Lines{"broken", end("50h", "00h", 0)}));
    b.drive.check_books();
}

TEST(SataDrive, AnErrorOfAQueuedCommandAbortsAll) {
    SataBench& b = benches().plain;
    for (const CommandStatus status : {CommandStatus::unrecovered_read, CommandStatus::write_fault}) {
        const bool writes = status == CommandStatus::write_fault;
        b.firmware.bad_sectors = {{700, status}};
        b.firmware.holds = true;
        b.queued(false, 1, 0, 8);
        b.run();
        b.hba.to_send[5] = pattern(512, 2);
        b.queued(writes, 5, 700, 1);
        b.run();
        b.queued(false, 6, 0, 8);
        b.run();
        // The bad one ends first.
        Command* const bad = b.firmware.held[1];
        b.firmware.held.erase(b.firmware.held.begin() + 1);
        b.firmware.start(*bad);
        EXPECT_EQ(b.run(), Lines{bits(0, writes ? "71h" : "51h", writes ? "04h" : "40h")});
        EXPECT_EQ(b.drive.device().in_firmware(), 0u);
        EXPECT_FALSE(b.firmware.aborts);
        b.firmware.holds = false;
        b.firmware.bad_sectors.clear();
        // Until the log is read all is refused.
        b.queued(false, 2, 0, 1);
        EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0010h I"});
        b.command(ata::kFlushCacheExt);
        EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0000h I"});
        b.command(ata::kReadLogExt, 0x10, 1);
        EXPECT_EQ(b.run(), (Lines{bits(~0u), kPage[0], kPage[1]}));
        const auto page = b.hba.got[32];
        EXPECT_EQ(page[0], 5);
        EXPECT_EQ(page[2], writes ? 0x71 : 0x51);
        EXPECT_EQ(page[3], writes ? 0x04 : 0x40);
        EXPECT_EQ(page[4] | page[5] << 8, 700);
        EXPECT_EQ(page[12], 5 << 3);
        EXPECT_EQ(sum_of(page), 0);
        b.queued(false, 2, 0, 1);
        EXPECT_EQ(b.run().back(), bits(4));
        b.drive.check_books();
    }
    // Out of range when it is received.
    b.queued(false, 4, 1u << 21, 1);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=10h lba=2097152 count=0020h I"});
    b.command(ata::kReadLogExt, 0x10, 1);
    b.run();
    // Broken Data of a queued read.
    b.link.inject_crc_error(4);
    b.queued(false, 4, 0, 32);
    EXPECT_EQ(b.run(),
              (Lines{release(4), "DMA Setup tag=4 to host offset=0 bytes=16384", "broken", bits(0, "51h", "84h")}));
    b.command(ata::kReadLogExt, 0x10, 1);
    b.run();
    // And of a queued write, while another one is under way.
    b.firmware.holds = true;
    b.queued(false, 8, 0, 8);
    b.run();
    b.firmware.holds = false;
    b.hba.to_send[4] = pattern(32 * 512, 7);
    b.link.inject_crc_error(5);
    b.queued(true, 4, 0, 32);
    EXPECT_EQ(b.run(), (Lines{release(4), "DMA Setup tag=4 from host offset=0 bytes=16384", "DMA Activate",
                              bits(0, "51h", "84h")}));
    b.command(ata::kReadLogExt, 0x10, 1);
    EXPECT_EQ(b.run().front(), bits(~0u));
    b.drive.check_books();
}

TEST(SataDrive, WhatIsNotQueuedBesideWhatIs) {
    SataBench& b = benches().plain;
    b.link.check_order(false);  // the host's breach
    b.firmware.holds = true;
    b.queued(false, 1, 0, 8);
    b.run();
    b.command(ata::kFlushCacheExt);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=0 count=0000h I"});
    b.firmware.holds = false;
    b.command(ata::kReadLogExt, 0x10, 1);
    EXPECT_EQ(b.run(), (Lines{bits(~0u), kPage[0], kPage[1]}));
    EXPECT_EQ(b.hba.got[32][0], 0x80);
    // A tag that is used twice.
    b.firmware.holds = true;
    b.queued(false, 1, 0, 8);
    b.run();
    b.queued(false, 1, 8, 8);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=51h error=04h lba=8 count=0008h I"});
    b.firmware.holds = false;
    b.hba.control(4);
    b.hba.control(0);
    EXPECT_EQ(b.run(), Lines{"Register D2H status=50h error=01h lba=1 count=0001h"});
    b.link.check_order(true);
    b.drive.check_books();
}

/// At any time: in the midst of a data phase, with commands in the firmware, the drive comes back with its signature.
TEST(SataDrive, ResetsInTheMidst) {
    SataBench& b = benches().cut;
    const auto data = pattern(64 * 512, 4);
    for (int us = 0; us < 60; us += 3)
        for (const bool hard : {true, false}) {
            b.firmware.time = 5us;
            const SimTime from = b.agenda.now();
            b.hba.to_send[1] = data;
            b.queued(true, 1, 0, 64);
            b.agenda.run_until(from + 4us);
            b.queued(false, 2, 100, 64);
            b.agenda.run_until(from + 4us + us * Ps{1'000'000});
            const std::uint64_t resets = b.drive.counts().resets, unheard = b.drive.counts().unheard_at_most;
            if (hard) {
                b.hba.comreset();
            } else {
                b.hba.control(4);
                b.agenda.run_until(b.agenda.now() + 20us);
                b.hba.seen.clear();
                b.hba.control(0);
            }
            const Lines lines = b.run();
            ASSERT_FALSE(lines.empty());
            EXPECT_EQ(lines.back(), "Register D2H status=50h error=01h lba=1 count=0001h") << us << hard;
            EXPECT_EQ(std::count(lines.begin(), lines.end(), lines.back()), 1);
            EXPECT_EQ(b.drive.counts().resets, resets + 1);
            // At most the two of this round, and tags 0 and 31 of the one before.
            EXPECT_LE(b.drive.counts().unheard_at_most, unheard + 4);
            EXPECT_EQ(b.drive.device().in_firmware(), 0u);
            EXPECT_FALSE(b.firmware.aborts);
            b.drive.check_books();
            b.firmware.time = Ps{};
            b.hba.to_send[0] = pattern(512, static_cast<unsigned>(us));
            b.queued(true, 0, 9, 1);
            b.run();
            b.queued(false, 31, 9, 1);
            EXPECT_EQ(b.run().back(), bits(1u << 31));
            EXPECT_EQ(b.hba.got[31], pattern(512, static_cast<unsigned>(us)));
        }
}

TEST(SataDrive, LossOfPower) {
    SataBench& b = benches().cut;
    for (int us = 1; us < 60; us += 7) {
        const FrontEndCounts before = b.drive.counts();
        b.firmware.time = 5us;
        b.hba.to_send[1] = pattern(64 * 512, 4);
        b.queued(true, 1, 0, 64);
        b.agenda.run_until(b.agenda.now() + us * Ps{1'000'000});
        b.agenda.drop_if([&b](const void* self) { return b.link.owns(self) || b.drive.owns(self); });
        b.drive.host_is_gone();
        b.link.restart();
        b.hba.out.restart();
        b.hba.in.restart();
        for (auto& [p, fis] : b.hba.sent) p->release();
        b.hba.sent.clear();
        b.agenda.run();  // the firmware on its capacitors
        b.agenda.drop_if([](const void*) { return true; });
        b.firmware.writes.clear();
        b.drive.lose_power(before.ended + (us > 50 ? 1 : 0));
        b.drive.drive_is_starting();
        b.drive.bind(b.firmware);
        EXPECT_TRUE(b.run().size() >= 1);  // phy down, nothing else comes
        EXPECT_FALSE(b.link.is_up());
        EXPECT_EQ(b.drive.counts().unsafe_shutdowns, before.unsafe_shutdowns + 1);
        b.drive.drive_is_up();
        EXPECT_EQ(b.run(), (Lines{"phy up", "Register D2H status=50h error=01h lba=1 count=0001h"}));
        b.firmware.time = Ps{};
        b.queued(false, 1, 0, 1);
        EXPECT_EQ(b.run().back(), bits(2));
        b.command(ata::kStandbyImmediate);
        b.run();
        EXPECT_TRUE(b.drive.is_shut_down());
        b.drive.check_books();
        b.command(ata::kFlushCacheExt);
        b.run();
    }
}

}  // namespace
}  // namespace ssdtlm
