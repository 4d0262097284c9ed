// SPDX-License-Identifier: Apache-2.0
// A host that sends what it likes: frames of any type, length and fields, resets at any time, Data that nobody asked
// for, none that was asked for, CRC errors. The drive never fails, answers or drops each frame, and serves a host that
// behaves again after a reset, with the right bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "unit/sata/foreign_hba.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

using namespace test;

constexpr std::uint64_t kDriveBytes = 1u << 20;
constexpr std::uint64_t kSectors = kDriveBytes / 512;

SataBench& bench() {
    static auto* const b = [] {
        SataConfig c;
        c.queue_depth = 30;
        DriveFacts f = SataBench::facts();
        f.drive_bytes = kDriveBytes;
        auto* const made = new SataBench("fuzz", c, f);
        sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        made->run();
        return made;
    }();
    return *b;
}

std::vector<std::uint8_t> bytes_of(Random& random, std::size_t n) {
    std::vector<std::uint8_t> v(n);
    for (auto& b : v) b = static_cast<std::uint8_t>(random.next());
    return v;
}

void any_command(SataBench& b, Random& random) {
    static constexpr std::uint8_t kKnown[] = {
        ata::kDataSetManagement, ata::kReadDmaExt,     ata::kReadLogExt,      ata::kWriteDmaExt,
        ata::kWriteDmaFuaExt,    ata::kReadVerify,     ata::kReadVerifyExt,   ata::kReadFpdmaQueued,
        ata::kWriteFpdmaQueued,  ata::kSmart,          ata::kReadDma,         ata::kWriteDma,
        ata::kStandbyImmediate,  ata::kCheckPowerMode, ata::kFlushCache,      ata::kFlushCacheExt,
        ata::kIdentifyDevice,    ata::kSetFeatures,    ata::kReadFpdmaQueued, ata::kWriteFpdmaQueued};
    sata::RegisterH2d r;
    r.command =
        random.below(10) == 0 ? static_cast<std::uint8_t>(random.next()) : kKnown[random.below(std::size(kKnown))];
    r.lba = random.below(3) == 0 ? random.below(1ull << 48) : random.below(kSectors + 8);
    r.features = static_cast<std::uint16_t>(random.below(4) == 0 ? random.next() : random.below(40));
    r.count = static_cast<std::uint16_t>(random.below(4) == 0 ? random.next() : random.below(32) << 3);
    if (r.command == ata::kSmart && random.below(2) == 0) {
        r.lba = std::uint64_t{ata::kSmartKey} << 8;
        r.features = static_cast<std::uint16_t>(0xD0 + random.below(12));
    }
    if (r.command == ata::kReadLogExt && random.below(2) == 0) {
        r.lba = random.below(2) == 0 ? 0x10 : 0x30;
        r.count = static_cast<std::uint16_t>(random.below(4));
    }
    r.device = static_cast<std::uint8_t>(random.below(5) == 0 ? random.next() : 0x40);
    for (unsigned tag = 0; tag <= 32; ++tag)
        if (b.hba.to_send[tag].empty()) b.hba.to_send[tag] = bytes_of(random, 4 * random.below(6000));
    if (!b.link.is_up()) return;
    if (!is_queued_command(r.command)) b.hba.tag = 32;
    b.hba.send(r.bytes());
}

void anything(SataBench& b, Random& random) {
    switch (random.below(16)) {
        case 0: {  // of any type
            std::vector<std::uint8_t> fis = bytes_of(random, 4 * (1 + random.below(12)));
            static constexpr std::uint8_t kTypes[] = {0x27, 0x34, 0x39, 0x41, 0x46, 0x58, 0x5F, 0xA1};
            if (random.below(3) != 0) fis[0] = kTypes[random.below(std::size(kTypes))];
            if (fis[0] == 0x27) fis[1] |= 0x80;  // resets have a case of their own
            return b.hba.send(fis);
        }
        case 1: {
            std::vector<std::uint8_t> fis = bytes_of(random, 4 + 4 * (1 + random.below(2048)));
            fis[0] = 0x46;
            return b.hba.send(fis);
        }
        case 2:
            b.hba.sends_data = random.below(4) != 0;
            return;
        case 3:
            if (random.below(4) == 0) b.link.inject_crc_error(1 + random.below(5));
            return;
        case 4:
            if (random.below(8) == 0) b.hba.control(static_cast<std::uint8_t>(random.below(2) * 4));
            return;
        case 5:
            if (random.below(16) == 0) b.hba.comreset();
            return;
        case 6:
            b.firmware.bad_sectors.clear();
            if (random.below(3) == 0)
                b.firmware.bad_sectors[random.below(kSectors)] = static_cast<CommandStatus>(1 + random.below(5));
            return;
        case 7:
            if (random.below(2) == 0) {
                b.firmware.holds = true;
            } else {
                b.firmware.holds = false;
                b.firmware.go_on();
            }
            return;
        default:
            return any_command(b, random);
    }
}

/// Whatever has happened: after COMRESET it is a drive as any other.
void behaves_again(SataBench& b, Random& random) {
    for (int i = 0; i < 8; ++i) b.hba.send(std::vector<std::uint8_t>{0x11, 0, 0, 0});  // for the CRC errors to come
    b.run();
    b.link.check_order(true);
    b.hba.comreset();
    b.firmware.holds = false;
    b.firmware.bad_sectors.clear();
    b.firmware.go_on();
    b.hba.sends_data = true;
    b.hba.to_send.clear();
    const auto lines = b.run();
    ASSERT_FALSE(lines.empty());
    ASSERT_EQ(lines.back(), "Register D2H status=50h error=01h lba=1 count=0001h") << b.drive.dump();
    ASSERT_EQ(b.drive.device().in_firmware(), 0u);
    const auto sectors = static_cast<std::uint16_t>(1 + random.below(40));
    const std::uint64_t lba = random.below(kSectors - sectors);
    const auto data = bytes_of(random, sectors * 512u);
    const auto tag = static_cast<unsigned>(random.below(30));
    b.hba.to_send[tag] = data;
    b.queued(true, tag, lba, sectors);
    b.run();
    b.queued(false, tag, lba, sectors);
    b.run();
    ASSERT_EQ(b.hba.got[tag], data);
    b.command(ata::kIdentifyDevice);
    ASSERT_EQ(b.run().size(), 2u);
    b.drive.check_books();
    b.link.check_order(false);
}

TEST(SataFuzz, AnythingFromTheHost) {
    SataBench& b = bench();
    b.link.check_order(false);
    std::uint64_t commands = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        b.firmware.time = Ps{static_cast<std::int64_t>(random.below(20'000'000))};
        for (int i = 0; i < 120; ++i) {
            anything(b, random);
            if (random.below(3) == 0) {
                b.agenda.run_until(b.agenda.now() + Ps{static_cast<std::int64_t>(random.below(30'000'000))});
            } else if (random.below(2) == 0) {
                b.run();
                const SataDevice& d = b.drive.device();
                // What is still there waits for the test: for held commands, or for Data that are not sent.
                if (!b.firmware.holds && d.transport().phases() == 0) {
                    ASSERT_EQ(d.in_firmware(), 0u) << b.drive.dump();
                }
            }
            b.drive.check_waiters();
        }
        b.run();
        b.drive.check_books();
        behaves_again(b, random);
        if (HasFatalFailure()) return;
    }
    commands = b.drive.device().counts().commands;
    const SataDevice::Counts& c = b.drive.device().counts();
    // The test has gone where it should.
    EXPECT_GT(commands, 5000u);
    EXPECT_GT(c.refused, 500u);
    EXPECT_GT(c.dropped, 100u);
    EXPECT_GT(c.busy, 100u);
    EXPECT_GT(c.aborted_queues, 100u);
    EXPECT_GT(b.drive.device().transport().counts().ignored, 100u);
    EXPECT_GT(b.drive.device().transport().counts().repeated, 10u);
    EXPECT_GT(b.hba.r_errs, 100);
}

}  // namespace
}  // namespace ssdtlm
