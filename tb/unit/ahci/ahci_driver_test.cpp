// SPDX-License-Identifier: Apache-2.0
// Driver and adapter against a drive of another make: the frames between them equal lists written by hand, and what was
// written is read.
#include "host_sata/driver/ahci_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/tlm/agenda_process.h"
#include "host_pcie/driver/root_complex.h"
#include "host_sata/ahci/ahci_hba.h"
#include "support/forked.h"
#include "unit/ahci/foreign_drive.h"
#include "unit/driver/fake_workload.h"

namespace ssdtlm {
namespace {

using namespace std::chrono_literals;

HostConfig without_latency(HostConfig c) {
    c.interrupt_latency = Ps{};
    return c;
}

/// Host memory, adapter and driver, without a PCIe link between them.
struct Bench {
    explicit Bench(const HostConfig& c = {}, const AhciDriverConfig& d = {}) : config(c), own(d) {
        driver.mmio_initiator.bind(hba.mmio_target);
        hba.dma_initiator.bind(root_complex.link_target);
        hba.sata_initiator.bind(drive.in);
        drive.out.bind(hba.sata_target);
        hba.set_message(AhciDriver::kMessageAddress, AhciDriver::kMessageData);
        driver.set_on_finished([this](SimTime) { driver.shutdown(); });
        driver.set_on_shutdown([this] { down = true; });
        driver.set_on_ready([this] { drive.log.clear(); });
        driver.set_power_switch([this](bool on) {
            if (on)
                drive.power_on();
            else
                drive.power_goes();
            return true;
        });
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        drive.power_on();
    }
    void run() {
        driver.start();
        for (std::uint64_t steps = 0; !agenda.empty(); ++steps) {
            if (steps == kMostSteps)
                throw CheckFailed(
                    "it does not end: " + driver.state() + hba.adapter().dump() +
                    testing::PrintToString(std::vector<std::string>(
                        drive.log.end() - std::min<std::ptrdiff_t>(20, static_cast<std::ptrdiff_t>(drive.log.size())),
                        drive.log.end())));
            agenda.step();
            hba.check_waiters();
            driver.check_waiters();
        }
    }
    static constexpr std::uint64_t kMostSteps = 1'000'000;
    /// What the drive has seen since bring-up, without the shutdown, one a line; or what is wrong.
    std::string frames() {
        std::string all;
        if (!down) all += "not shut down: " + driver.state();
        std::vector<std::string> log = drive.log;
        const std::vector<std::string> shutdown{"> ea", "< D2H 50", "> e0", "< D2H 50"};
        if (log.size() < 4 || !std::equal(shutdown.begin(), shutdown.end(), log.end() - 4)) all += "no shutdown\n";
        if (log.size() >= 4) log.resize(log.size() - 4);
        for (const std::string& line : log) all += line + "\n";
        return all;
    }
    const HostConfig config;
    const AhciDriverConfig own;
    const HostConfig io = without_latency(config);
    Agenda agenda;
    HostMemory memory{1_GiB};
    ListWorkload workload;
    AhciHba hba{"hba", agenda, AhciConfig{}};
    ForeignDrive drive{"drive", agenda};
    AhciDriver driver{"driver", agenda, memory, io, config.interrupt_latency, own, workload, nullptr, nullptr, nullptr};
    RootComplex root_complex{"root_complex", agenda, memory, &driver};
    bool down = false;
};

std::string outcomes(const Bench& b) {
    std::string all;
    for (const Outcome& o : b.workload.outcomes) all += std::to_string(o.request.tag) + (o.ok ? " " : "! ");
    return all;
}

TEST(AhciDriver, BringsTheDriveUpInTheOrderOfLinux) {
    EXPECT_EQ(in_child([] {
                  AhciDriverConfig own;
                  own.write_cache = WriteCacheWish::on;
                  Bench b({}, own);
                  std::string text;
                  b.driver.set_on_ready([&] {
                      for (const std::string& line : b.drive.log) text += line + "\n";
                      const DriveInfo& i = b.driver.drive();
                      text += std::to_string(i.queue_entries) + " " + std::to_string(i.blocks) + " " +
                              std::to_string(i.lba_bytes) + " " + std::to_string(i.max_transfer_bytes) + "\n";
                      text += b.agenda.now() - SimTime{} > 101ms ? "" : "without a debounce\n";
                  });
                  b.run();
                  return text + (b.down ? "" : "not shut down");
              }),
              "> COMRESET\n< D2H signature\n"
              "> ec\n< PIO Setup\n< Data 512\n> ef\n< D2H 50\n> ef\n< D2H 50\n> ec\n< PIO Setup\n< Data 512\n"
              "33 1048576 512 1310720\n");
}

TEST(AhciDriver, QueuedReadsAndWrites) {
    EXPECT_EQ(
        in_child([] {
            Bench b;
            b.workload.add(HostOp::write, 4096, 4096);
            b.workload.items.back().request.fua = true;
            b.workload.add(HostOp::read, 0, 16384, SimTime{5ms});
            b.run();
            return b.frames() + outcomes(b);
        }),
        "> 61 tag 0 FUA\n< D2H 40\n< DMA Setup tag 0 to drive 4096\n< DMA Activate\n> Data 4096\n< SDB 1 status 40\n"
        "> 60 tag 0\n< D2H 40\n< DMA Setup tag 0 to host 16384\n< Data 8192\n< Data 8192\n< SDB 1 status 40\n"
        "0 1 ");
}

// The flush waits for the reads that are in the drive, and the read behind it for the flush.
TEST(AhciDriver, AFlushIsAloneInTheDrive) {
    EXPECT_EQ(in_child([] {
                  Bench b;
                  b.workload.add(HostOp::read, 0, 512);
                  b.workload.add(HostOp::read, 512, 512);
                  b.workload.add(HostOp::flush, 0, 0);
                  b.workload.add(HostOp::read, 1024, 512);
                  b.run();
                  std::string commands;
                  for (const std::string& line : b.drive.log)
                      if (line[0] == '>' || line.find("SDB") != std::string::npos || line == "< D2H 50")
                          commands += line + "\n";
                  return commands + outcomes(b);
              }),
              "> 60 tag 0\n> 60 tag 1\n< SDB 1 status 40\n< SDB 2 status 40\n> ea\n< D2H 50\n> 60 tag 3\n"
              "< SDB 8 status 40\n> ea\n< D2H 50\n> e0\n< D2H 50\n0 1 2 3 ");
}

// 65,535 blocks to a range, 64 ranges to a block of data, one block for this drive: 2 GiB need two commands.
TEST(AhciDriver, TrimsAreDataSetManagement) {
    EXPECT_EQ(in_child([] {
                  Bench b;
                  b.workload.add(HostOp::trim, 1 << 20, 65536 * 512);
                  b.run();
                  return b.frames() + std::to_string(b.drive.trimmed);
              }),
              "> 06\n< DMA Activate\n> Data 512\n< D2H 50\n65536");
}

TEST(AhciDriver, WithoutNcqOneCommandAtATime) {
    EXPECT_EQ(
        in_child([] {
            AhciDriverConfig own;
            own.ncq = false;
            Bench b({}, own);
            b.drive.fua_ext = false;
            b.workload.add(HostOp::read, 0, 8192 + 512);
            b.workload.add(HostOp::write, 0, 512);
            b.workload.items.back().request.fua = true;
            b.run();
            return b.frames() + outcomes(b);
        }),
        "> 25\n< Data 8192\n< Data 512\n< D2H 50\n> 35\n< DMA Activate\n> Data 512\n< D2H 50\n> ea\n< D2H 50\n0 1 ");
}

// The failed one ends with its status; the two that the drive aborted go there again.
TEST(AhciDriver, RecoversFromAnErrorOfAQueuedCommand) {
    EXPECT_THAT(
        in_child([] {
            Bench b;
            b.drive.bad = {16};
            b.workload.add(HostOp::read, 0, 512);
            b.workload.add(HostOp::read, 16 * 512, 512);
            b.workload.add(HostOp::read, 1024, 512);
            b.workload.add(HostOp::write, 2048, 512);
            b.run();
            std::string commands;
            for (const std::string& line : b.drive.log)
                if (line[0] == '>' || line.find("SDB") != std::string::npos) commands += line + "\n";
            return commands + outcomes(b) + std::to_string(b.driver.queue().submitted_again()) + " " +
                   std::to_string(b.driver.counters().unrecovered_reads) + "\n" + b.driver.first_error();
        }),
        testing::StartsWith("> 60 tag 0\n> 60 tag 1\n> 60 tag 2\n< SDB 1 status 40\n> 61 tag 3\n< SDB 0 status 41\n"
                            "> 2f\n> 60 tag 2\n> 61 tag 3\n< SDB 4 status 40\n> Data 512\n< SDB 8 status 40\n"
                            "> ea\n> e0\n0 1! 2 3 2 1\n"
                            "read of 1 blocks at LBA 16: ATA status 41h, error 40h, queue 1 CID 1"));
}

TEST(AhciDriver, TriesAgainWhatTheInterfaceHasSpoiled) {
    EXPECT_EQ(in_child([] {
                  Bench b;
                  b.drive.broken = {16};
                  b.workload.add(HostOp::read, 16 * 512, 512);
                  b.workload.add(HostOp::read, 0, 512);
                  b.run();
                  return outcomes(b) + std::to_string(b.driver.queue().submitted_again()) + " " +
                         std::to_string(b.driver.counters().errors);
              }),
              "0 1 2 0");
}

TEST(AhciDriver, RecoversFromAnErrorOfACommandThatIsNotQueued) {
    EXPECT_EQ(in_child([] {
                  AhciDriverConfig own;
                  own.ncq = false;
                  Bench b({}, own);
                  b.drive.refused = {7};
                  b.workload.add(HostOp::write, 7 * 512, 512);
                  b.workload.add(HostOp::write, 0, 512);
                  b.run();
                  return b.frames() + outcomes(b) + std::to_string(b.driver.counters().refused_read_only);
              }),
              "> 35\n< D2H 41\n> 35\n< DMA Activate\n> Data 512\n< D2H 50\n0! 1 1");
}

std::string random_data_run(const HostConfig& config, const AhciDriverConfig& own, std::uint64_t seed) {
    Bench b(config, own);
    // What is to be written is what the buffers hold when a command is submitted: numbers of requests.
    std::uint64_t state = seed;
    const auto draw = [&state](std::uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % below;
    };
    for (int i = 0; i < 400; ++i) {
        const std::uint64_t kind = draw(20);
        const HostOp op = kind == 0   ? HostOp::flush
                          : kind == 1 ? HostOp::trim
                          : kind < 10 ? HostOp::read
                                      : HostOp::write;
        const auto bytes = static_cast<std::uint32_t>(512 * (1 + draw(40)));
        b.workload.add(op, op == HostOp::flush ? 0 : draw(2000) * 512, op == HostOp::flush ? 0 : bytes,
                       SimTime{Ps{static_cast<std::int64_t>(i) * 20'000'000}});
    }
    b.run();
    std::string wrong = b.down ? "" : "not shut down: " + b.driver.state();
    if (b.workload.outcomes.size() != 400) wrong += std::to_string(b.workload.outcomes.size()) + " ended\n";
    for (const Outcome& o : b.workload.outcomes)
        if (!o.ok) wrong += std::to_string(o.request.tag) + " failed\n";
    if (b.driver.resets() != 2 || b.driver.power_cuts() == 0) wrong += "without resets or losses of power\n";
    return wrong;
}

TEST(AhciDriver, ResetsAndLossesOfPowerUnderLoadLoseNoRequest) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        EXPECT_EQ(in_child([seed] {
                      HostConfig config;
                      config.interrupt_latency = Ps{3'000'000};
                      config.reset_at = {1ms, Ps{1'700'000'000 + static_cast<std::int64_t>(seed) * 1'234'567}};
                      config.power_cut_at = {Ps{2'900'000'000 + static_cast<std::int64_t>(seed) * 7'777'777}, 900ms};
                      config.power_off_time = 1ms;
                      config.reset_shutdown = seed % 2 == 0;
                      config.power_cut_shutdown = seed % 3 == 0;
                      AhciDriverConfig own;
                      own.ncq = seed % 4 != 0;
                      own.queue_depth = seed % 5 == 0 ? 4 : 32;
                      own.coalescing_commands = seed % 3 == 1 ? 4 : 0;
                      own.debounce = seed % 2 == 0 ? Ps{} : Ps{10ms};
                      return random_data_run(config, own, seed);
                  }),
                  "")
            << seed;
    }
}

}  // namespace
}  // namespace ssdtlm
