// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/bring_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/report/error.h"
#include "fake_controller.h"
#include "fake_workload.h"
#include "host_pcie/driver/prp_builder.h"

namespace ssdtlm {
namespace {

struct Bench {
    Agenda agenda;
    HostMemory memory{1_GiB};
    CommandTracker tracker;
    HostConfig config;
    FakeController device{agenda, memory, tracker};
    ListWorkload workload;
    std::unique_ptr<QueuePlan> plan;
    std::unique_ptr<BringUp> bring_up;
    bool up = false, down = false;

    Bench() {
        config.queue_pairs = 2;
        config.queue_entries = 64;
    }
    void start() {
        plan = std::make_unique<QueuePlan>(config, workload);
        bring_up = std::make_unique<BringUp>(agenda, memory, config, *plan, device);
        device.set_interrupt([this](std::uint64_t address, std::uint32_t data) {
            EXPECT_EQ(address, 0xFEE00000u);
            EXPECT_EQ(data, 0u);
            bring_up->admin_interrupt();
        });
        bring_up->start([this] { up = true; });
        agenda.run();
    }
};

std::string hex(const char* format, std::uint64_t v) {
    char text[64];
    std::snprintf(text, sizeof text, format, static_cast<unsigned>(v));
    return text;
}

std::vector<std::string> without_repeats(const std::vector<std::string>& log) {
    std::vector<std::string> out;
    for (const auto& s : log)
        if (out.empty() || s != out.back()) out.push_back(s);
    return out;
}

TEST(BringUp, TouchesRegistersAndSendsCommandsInTheOrderOfLinux) {
    Bench b;
    b.start();
    ASSERT_TRUE(b.up);
    std::vector<QueuePair> queues = b.bring_up->take_queues();
    ASSERT_EQ(queues.size(), 2u);
    // Admin queues are the first two allocations of the bump allocator, one page each.
    const std::uint64_t asq = HostMemory::kBase, acq = asq + 4096;
    const std::vector<std::string> expected = {
        "R 001C",  // present?
        "W 2000 FEE00000",
        "W 2004 00000000",
        "W 2008 00000000",
        "W 200C 00000000",  // admin vector
        "R 0000",
        "R 0004",
        "R 0008",  // CAP, VS
        "W 0014 00000000",
        "R 001C",  // disable
        "W 0024 001F001F",
        hex("W 0028 %08X", asq),
        "W 002C 00000001",
        hex("W 0030 %08X", acq),
        "W 0034 00000001",
        "W 0014 00460000",
        "W 0014 00460001",
        "R 001C",                      // enable, poll
        "admin 06 00000001 00000000",  // Identify Controller
        "admin 09 00000007 00010001",  // Number of Queues
        "W 2010 FEE01000",
        "W 2014 00000000",
        "W 2018 00000001",
        "W 201C 00000000",
        "W 2020 FEE02000",
        "W 2024 00000000",
        "W 2028 00000002",
        "W 202C 00000000",
        "admin 05 003F0001 00010003",
        "admin 01 003F0001 00010001",  // pair 1
        "admin 05 003F0002 00020003",
        "admin 01 003F0002 00020001",  // pair 2
        "admin 06 00000002 00000000",
        "admin 06 00000000 00000000",  // namespaces
    };
    EXPECT_EQ(without_repeats(b.device.log), expected);
    EXPECT_EQ(b.bring_up->info().version, 0x00010400u);
    EXPECT_EQ(b.bring_up->info().queue_pairs, 2u);
    EXPECT_EQ(b.bring_up->info().queue_entries, 64u);
    EXPECT_EQ(b.bring_up->info().max_transfer_bytes, 128u << 10);
    EXPECT_EQ(b.bring_up->info().namespaces.front().nsid, 1u);
    EXPECT_EQ(b.bring_up->info().lba_bytes, 512u);
    EXPECT_EQ(b.bring_up->info().blocks, 1u << 20);
    // Ready after 3.5 ms: one read at once and one after each millisecond until the fifth finds RDY.
    const auto reads = std::count(b.device.log.begin(), b.device.log.end(), "R 001C");
    EXPECT_EQ(reads, 1 + 1 + 5);
}

TEST(BringUp, ReadsTheLbaFormatInUse) {
    for (const std::uint8_t format : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{15}}) {
        Bench b;
        b.device.lba_format = format;
        b.device.lbads = 12;
        b.start();
        ASSERT_TRUE(b.up);
        EXPECT_EQ(b.bring_up->info().lba_bytes, 4096u);
    }
}

TEST(BringUp, TakesWhatTheControllerOffers) {
    Bench b;
    b.config.queue_pairs = 8;
    b.config.queue_entries = 1024;
    b.device.grants = 3;
    b.device.mdts = 0;
    b.device.lbads = 12;
    b.start();
    EXPECT_EQ(b.bring_up->info().queue_pairs, 3u);
    EXPECT_EQ(b.bring_up->info().queue_entries, 256u);  // CAP.MQES + 1
    EXPECT_EQ(b.bring_up->info().max_transfer_bytes, SlotBuffer::kMaxBytes);
    EXPECT_EQ(b.bring_up->info().lba_bytes, 4096u);
}

TEST(BringUp, QueuesHaveThePriorityOfTheirTenant) {
    Bench b;
    b.config.queue_pairs = 5;
    b.config.tenants = Tenants::by_job;
    b.config.queue_priorities = {3, 1, 2};
    b.workload.job_count = 3;
    b.start();
    ASSERT_TRUE(b.up);
    std::vector<std::string> created;
    for (const std::string& line : b.device.log)
        if (line.rfind("admin 01", 0) == 0) created.push_back(line.substr(line.size() - 8));
    // CDW11: CQID, QPRIO, physically contiguous. The tenants take the pairs in turn.
    EXPECT_EQ(created, (std::vector<std::string>{"00010007", "00020003", "00030005", "00040007", "00050003"}));
}

TEST(BringUp, ShutsDownInOrder) {
    Bench b;
    b.start();
    b.device.log.clear();
    b.bring_up->shutdown([&b] { b.down = true; });
    b.agenda.run();
    EXPECT_TRUE(b.down);
    const std::vector<std::string> expected = {
        "admin 00 00000001 00000000",
        "admin 00 00000002 00000000",
        "admin 04 00000001 00000000",
        "admin 04 00000002 00000000",
        "W 0014 00464001",
        "R 001C",
    };
    EXPECT_EQ(without_repeats(b.device.log), expected);
    EXPECT_STREQ(b.bring_up->doing(), "off");
}

TEST(BringUp, ResetsAndStartsOnTheSameRings) {
    for (const bool shutdown_first : {false, true}) {
        Bench b;
        b.start();
        const std::vector<QueuePair> queues = b.bring_up->take_queues();
        std::vector<std::string> first_start = without_repeats(b.device.log);
        first_start.erase(first_start.begin(), std::find(first_start.begin(), first_start.end(), "W 0024 001F001F"));
        b.device.log.clear();
        bool stopped = false, again = false;
        b.bring_up->reset(
            shutdown_first,
            [&] {
                EXPECT_FALSE(again);
                EXPECT_EQ(b.device.load(nvme::kRegCsts), 0u);
                b.device.log.pop_back();
                stopped = true;
            },
            [&] { again = true; });
        b.agenda.run();
        EXPECT_TRUE(stopped && again);
        // As the first start from the admin queue on, behind the way down.
        std::vector<std::string> expected;
        if (shutdown_first) expected = {"W 0014 00464001", "R 001C"};
        expected.insert(expected.end(), {"W 0014 00460000", "R 001C"});
        expected.insert(expected.end(), first_start.begin(), first_start.end());
        EXPECT_EQ(without_repeats(b.device.log), expected);
        EXPECT_TRUE(b.bring_up->take_queues().empty()) << "no rings were made anew";
        EXPECT_STREQ(b.bring_up->doing(), "running");
    }
}

std::string failure(Bench& b) {
    try {
        b.start();
    } catch (const CheckFailed& e) {
        return e.what();
    }
    return "";
}

TEST(BringUp, NamesTheStepThatFails) {
    {
        Bench b;
        b.device.never_ready = true;
        EXPECT_EQ(failure(b), "controller enable: timed out, CSTS is 0");
        // CAP.TO = 1: (1 + 1) x 500 ms, checked each millisecond.
        EXPECT_GE(b.agenda.now(), SimTime{1s});
        EXPECT_LT(b.agenda.now(), SimTime{1010ms});
    }
    {
        Bench b;
        b.device.never_disables = true;
        EXPECT_EQ(failure(b), "controller disable: timed out, CSTS is 1");
        EXPECT_GE(b.agenda.now(), SimTime{1s});
        EXPECT_LT(b.agenda.now(), SimTime{1010ms});
    }
    {
        Bench b;
        b.device.fail_admin_opcode = 0x01;
        EXPECT_EQ(failure(b), "controller Create I/O Submission Queue: status SCT 0 SC 2");
    }
    {
        Bench b;
        b.device.lbads = 10;
        EXPECT_THAT(failure(b), testing::HasSubstr("2^10 bytes"));
    }
    {
        Bench b;
        b.config.page_bytes = 8192;
        try {
            b.start();
            FAIL();
        } catch (const UserError& e) {
            EXPECT_EQ(e.problems().at(0).where, "HostConfig::page_bytes");
            EXPECT_EQ(e.problems().at(0).allowed, "4096 to 4096");
        }
    }
}

}  // namespace
}  // namespace ssdtlm
