// SPDX-License-Identifier: Apache-2.0
// Log pages as their fields lie: offset and width of each from the specification's figures (NVMe 1.4 §5.14.1), as
// libnvme's nvme_self_test_log, nvme_sanitize_log_page, nvme_telemetry_log and nvme_persistent_event_log decode them.
#include <gtest/gtest.h>

#include "controller/nvme/logs/persistent_events.h"
#include "controller/nvme/logs/sanitize_status.h"
#include "controller/nvme/logs/self_test_log.h"
#include "unit/nvme/figure.h"
#include "unit/nvme/memory_drive.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::DriveBench;
using test::Figure;

constexpr std::size_t kResult = 28;  // bytes of a self-test result

TEST(Structures, SelfTestLog) {
    SelfTestLog log;
    SelfTestResult failed;
    failed.test = SelfTest::extended;
    failed.outcome = SelfTestResult::failed_segment;
    failed.segment = 1;
    failed.hours = 0x1122334455667788;
    failed.nsid = 0x99AABBCC;
    failed.lba = 0xDDEEFF0011223344;
    log.end(failed);
    SelfTestResult passed;
    passed.test = SelfTest::short_test;
    passed.hours = 7;
    log.end(passed);
    log.begin(SelfTest::extended);
    log.progress(42);
    std::vector<std::uint8_t> p;
    log.write(p);
    ASSERT_EQ(p.size(), 564u);
    Figure f;
    f.number(0, 1, 2)               // current operation
        .number(1, 1, 42)           // completion, percent
        .number(4, 1, 1 << 4 | 0)   // newest result: code and outcome
        .number(4 + 4, 8, 7)        // power-on hours
        .number(32, 1, 2 << 4 | 7)  // the one before
        .number(32 + 1, 1, 1)       // segment
        .number(32 + 2, 1, 0xF)     // valid: NSID, LBA, SCT, SC
        .number(32 + 4, 8, failed.hours)
        .number(32 + 12, 4, failed.nsid)
        .number(32 + 16, 8, failed.lba)
        .number(32 + 24, 1, 2)                                               // SCT
        .number(32 + 25, 1, 0x81);                                           // SC
    for (std::size_t i = 2; i < 20; ++i) f.number(4 + kResult * i, 1, 0xF);  // not used
    f.expect_equal(p.data(), p.size());
    for (int i = 0; i < 30; ++i) log.end(passed);  // only the last twenty
    log.write(p);
    ASSERT_EQ(p.size(), 564u);
    EXPECT_EQ(p[4 + 19 * kResult], 1 << 4);
}

TEST(Structures, SanitizeStatus) {
    SanitizeStatus s;
    s.state = SanitizeStatus::running;
    s.progress = 0x1234;
    s.passes = 3;
    s.cdw10 = 0x55667788;
    std::vector<std::uint8_t> p;
    s.write(0, p);
    ASSERT_EQ(p.size(), 512u);
    Figure f;
    f.number(0, 2, 0x1234).number(2, 2, 2 | 3 << 3).number(4, 4, 0x55667788);
    for (std::size_t at = 8; at < 32; at += 4) f.number(at, 4, 0xFFFFFFFF);  // times: not reported
    f.expect_equal(p.data(), p.size());
    s.state = SanitizeStatus::done;
    s.writes = 5;
    s.write(5, p);
    f.number(0, 2, 0xFFFF).number(2, 2, 1 | 3 << 3 | 1 << 8);  // all is erased
    f.expect_equal(p.data(), p.size());
    s.write(6, p);
    f.number(2, 2, 1 | 3 << 3);
    f.expect_equal(p.data(), p.size());
}

TEST(Structures, TelemetryHeader) {
    DriveBench b;
    b.enable();
    for (const std::uint8_t lid : {kLogTelemetryHost, kLogTelemetryController}) {
        const std::vector<std::uint8_t> p = b.log(lid, 512, 1);
        const std::uint16_t last = load<std::uint16_t>(&p[8]);
        EXPECT_EQ(last != 0, lid == kLogTelemetryHost);
        Figure()
            .number(0, 1, lid)
            .number(8, 2, last)  // last blocks of data areas 1, 2, 3
            .number(10, 2, last)
            .number(12, 2, last)
            .expect_equal(p.data(), p.size());
    }
}

TEST(Structures, PersistentEvents) {
    DriveBench b;
    b.enable();
    const std::vector<std::uint8_t> p = b.log(kLogPersistentEvents, 1024, 1);
    Figure f;
    f.number(0, 1, 0x0D)              // log identifier
        .number(4, 4, 1)              // number of events
        .number(8, 8, 512 + 24 + 44)  // length of the log
        .number(16, 1, 1)             // revision
        .number(18, 2, 492)           // length of the header behind this field
        .number(44, 8, 1)             // power cycles
        .number(52, 2, 0xFFFE)        // PCI vendor, subsystem vendor
        .number(54, 2, 0xFFFE)
        .ascii(56, 20, "SSDTLM0000000001")
        .ascii(76, 40, "ssdtlm")
        .string(116, "nqn.2024-01.org.ssdtlm:SSDTLM0000000001")
        .number(480, 2, 0x07D8);  // events 03h, 04h, 06h to 0Ah
    const std::size_t e = 512;
    f.number(e, 1, 4)                    // type: power on
        .number(e + 1, 1, 1)             // revision
        .number(e + 2, 1, 21)            // length of its header behind this field
        .number(e + 22, 2, 44)           // length of the event
        .ascii(e + 24, 8, "0.1")         // firmware
        .number(e + 24 + 8 + 16, 4, 1);  // power cycle
    f.expect_equal(p.data(), p.size());
}

TEST(Structures, EventsOfFormatAndNamespaces) {
    NvmeConfig c = test::NvmeBench::small();
    c.namespaces = {256u << 10};
    DriveBench b(c);
    b.enable();
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminFormat, 2, 1u << 9)).status(), kStSuccess);
    ASSERT_EQ(b.run_admin(b.admin_command(kAdminNamespaceManagement, 2, 1)).status(), kStSuccess);
    const std::vector<std::uint8_t> p = b.log(kLogPersistentEvents, 2048, 1);
    const std::uint8_t* const change = &p[512 + 24];  // newest first
    Figure()
        .number(0, 4, 1)  // CDW10: deleted
        .number(8, 8, (768u << 10) / 512)
        .number(24, 8, (768u << 10) / 512)
        .number(44, 4, 2)
        .expect_equal(change, 48);
    Figure().number(0, 4, 2).expect_equal(change + 48 + 24, 12);  // completion
    Figure()
        .number(0, 4, 2)
        .number(4, 1, 4)
        .number(8, 4, 1u << 9)
        .expect_equal(change + 48 + 24 + 12 + 24, 12);  // start
}

}  // namespace
}  // namespace ssdtlm
