// SPDX-License-Identifier: Apache-2.0
// Commands and their frames, against lists written by hand from AHCI 1.3.1 (5.3, 5.6) and Serial ATA 3.0 (13.6).
#include <gtest/gtest.h>

#include <numeric>

#include "unit/ahci/adapter_bench.h"

namespace ssdtlm {
namespace {

using namespace ahci;
using Log = std::vector<std::string>;

std::vector<std::uint8_t> counting(std::uint32_t bytes, std::uint8_t from = 1) {
    std::vector<std::uint8_t> d(bytes);
    std::iota(d.begin(), d.end(), from);
    return d;
}

sata::DmaSetup setup_of(std::uint8_t tag, bool to_host, std::uint32_t offset, std::uint32_t bytes) {
    sata::DmaSetup f;
    f.tag = tag;
    f.to_host = to_host;
    f.buffer_offset = offset;
    f.transfer_bytes = bytes;
    return f;
}

TEST(AhciCommands, QueuedRead) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(8192, 4096);
    b.queued(3, false, 0x123456, {{at, 4096}});
    b.log.clear();
    b.issue_queued(1u << 3);
    const auto fis = b.sent();
    const sata::RegisterH2d c = sata::RegisterH2d::from(fis.data());
    EXPECT_EQ(fis.size(), 20u);
    EXPECT_EQ(c.command, 0x60);
    EXPECT_EQ(c.lba, 0x123456u);
    EXPECT_EQ(c.features, 8u);
    EXPECT_EQ(c.count, 3u << 3);
    // Header, table, and the time to prepare it.
    EXPECT_EQ(b.agenda.now().time_since_epoch(), 2 * AdapterBench::kRead + AhciConfig{}.issue_time);
    EXPECT_EQ(b.port(kPxTfd) & Tfd::kBsy, Tfd::kBsy);
    EXPECT_EQ(b.port(kPxCi), 8u);
    b.released();
    EXPECT_EQ(b.port(kPxCi), 0u);
    EXPECT_EQ(b.port(kPxSact), 8u);
    EXPECT_EQ(b.comes(setup_of(3, true, 0, 4096).bytes()), AhciPort::Answer::taken);
    EXPECT_EQ(b.data_comes(counting(4096)), AhciPort::Answer::taken);
    b.agenda.run();
    EXPECT_EQ(b.bytes_at(at, 4096), counting(4096));
    b.ends(8);
    EXPECT_EQ(b.port(kPxSact), 0u);
    EXPECT_EQ(b.port(kPxIs), PxIs::kSdbs);
    EXPECT_EQ(b.log, (Log{"R32", "R128", "P20", "P28", "R16", "W4096", "P8", "MSI"}));
    EXPECT_EQ(b.bytes_at(b.received + ReceivedFis::kSetDeviceBits, 1), std::vector<std::uint8_t>{0xA1});
    EXPECT_EQ(b.bytes_at(b.received + ReceivedFis::kDmaSetup, 1), std::vector<std::uint8_t>{0x41});
    EXPECT_EQ(b.prdbc(3), 0u) << "4.2.2: not of queued commands";
    b.settle();
}

// The message must not overtake the data: Set Device Bits waits until they are on their way.
TEST(AhciCommands, BitsWaitForData) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(8192, 4096);
    b.queued(0, false, 0, {{at, 512}});
    b.issue_queued(1);
    b.sent();
    b.released();
    b.log.clear();
    b.comes(setup_of(0, true, 0, 512).bytes());
    b.data_comes(counting(512));  // before the PRDT has come
    sata::SetDeviceBits bits;
    bits.active = 1;
    EXPECT_EQ(b.comes(bits.bytes()), AhciPort::Answer::later);
    EXPECT_EQ(b.messages, 0u);
    b.settle();
    EXPECT_EQ(b.log, (Log{"P28", "R16", "W512", "P8", "MSI"}));
    EXPECT_EQ(b.answers, std::vector<bool>{true});
    EXPECT_EQ(b.port(kPxSact), 0u);
}

// A transfer in parts, out of order, over a PRDT with odd pieces.
TEST(AhciCommands, BufferOffsetsOverOddPieces) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(65536, 4096);
    const std::vector<AdapterBench::Piece> pieces{{at + 2, 1030}, {at + 5000, 6}, {at + 8192, 15348}};
    std::vector<std::uint8_t> data = counting(16384);
    b.queued(31, false, 7, pieces);
    b.issue_queued(1u << 31);
    b.sent();
    b.released();
    for (const std::uint32_t from : {8192u, 1024u, 0u}) {
        const std::uint32_t bytes = from == 8192 ? 8192 : from == 1024 ? 7168 : 1024;
        b.comes(setup_of(31, true, from, bytes).bytes());
        b.data_comes({data.begin() + from, data.begin() + from + bytes});
        b.agenda.run();
    }
    std::vector<std::uint8_t> found;
    for (const auto& p : pieces) {
        const auto part = b.bytes_at(p.address, p.bytes);
        found.insert(found.end(), part.begin(), part.end());
    }
    EXPECT_EQ(found, data);
    b.ends(1u << 31);
    b.settle();
}

TEST(AhciCommands, QueuedWrite) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(16384, 4096);
    const auto data = counting(12288, 5);
    b.memory.write(at + 4, data.data(), data.size());
    b.queued(1, true, 9, {{at + 4, 4092}, {at + 4096, 8196}});
    b.issue_queued(2);
    b.sent();
    b.released();
    b.comes(setup_of(1, false, 0, 12288).bytes());
    b.agenda.run();
    EXPECT_TRUE(b.frames.empty()) << "not without DMA Activate";
    b.comes(sata::dma_activate());
    auto first = b.sent();
    EXPECT_EQ(first.size(), 8196u);
    EXPECT_EQ(first[0], 0x46);
    b.agenda.run();
    EXPECT_TRUE(b.frames.empty());
    b.comes(sata::dma_activate());
    auto second = b.sent();
    EXPECT_EQ(second.size(), 4100u);
    std::vector<std::uint8_t> all(first.begin() + 4, first.end());
    all.insert(all.end(), second.begin() + 4, second.end());
    EXPECT_EQ(all, data);
    b.ends(2);
    b.settle();
    EXPECT_EQ(b.port(kPxSact), 0u);
}

TEST(AhciCommands, AutoActivateNeedsNoActivate) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(4096, 4096);
    b.queued(0, true, 9, {{at, 4096}});
    b.issue_queued(1);
    b.sent();
    b.released();
    sata::DmaSetup f = setup_of(0, false, 0, 4096);
    f.auto_activate = true;
    b.comes(f.bytes());
    EXPECT_EQ(b.sent().size(), 4100u);
    b.ends(1);
    b.settle();
}

// 5.3.3: from the slot behind the last one on; a slot set meanwhile waits for its turn.
TEST(AhciCommands, SlotsTakeTurns) {
    AdapterBench b;
    b.bring_up();
    for (const std::uint32_t slot : {0u, 2u, 5u, 31u}) b.queued(slot, false, slot, {});
    std::vector<std::uint64_t> order;
    b.issue_queued(1u << 5 | 1u << 31 | 1u << 2);
    for (int i = 0; i < 4; ++i) {
        order.push_back(sata::RegisterH2d::from(b.sent().data()).lba);
        if (i == 0) b.issue_queued(1u);
        b.released();
    }
    EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 5, 31, 0}));
    b.ends(1u << 5 | 1u << 31 | 1u << 2 | 1u);
    EXPECT_EQ(b.port(kPxSact), 0u);
    b.settle();
}

// The next command is read while the device is busy with the last, and goes when it is not.
TEST(AhciCommands, OneCommandIsReadAhead) {
    AdapterBench b;
    b.bring_up();
    for (const std::uint32_t slot : {0u, 1u, 2u}) b.queued(slot, false, slot, {});
    b.log.clear();
    b.issue_queued(7);
    b.sent();
    b.agenda.run();
    EXPECT_EQ(b.log, (Log{"R32", "R128", "R32", "R128"}));
    EXPECT_TRUE(b.frames.empty());
    const SimTime before = b.agenda.now();
    b.released();
    EXPECT_EQ(sata::RegisterH2d::from(b.sent().data()).lba, 1u);
    EXPECT_EQ(b.agenda.now(), before);
}

TEST(AhciCommands, PioIn) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(4096, 4096);
    sata::RegisterH2d f;
    f.command = 0xEC;
    b.command(0, f, {{at, 512}});
    b.port(kPxCi, 1);
    b.sent();
    sata::PioSetup p;
    p.status = 0x58;
    p.end_status = 0x50;
    p.transfer_bytes = 512;
    b.log.clear();
    b.comes(p.bytes());
    EXPECT_EQ(b.port(kPxTfd), 0x58u);
    b.data_comes(counting(512));
    EXPECT_EQ(b.port(kPxCi), 1u) << "its data are not in memory";
    b.settle();
    EXPECT_EQ(b.port(kPxCi), 0u);
    EXPECT_EQ(b.port(kPxTfd), 0x50u);
    EXPECT_EQ(b.port(kPxIs), PxIs::kPss);
    EXPECT_EQ(b.log, (Log{"P20", "R16", "W512", "P4", "MSI"}));
    EXPECT_EQ(b.prdbc(0), 512u);
    EXPECT_EQ(b.bytes_at(at, 512), counting(512));
}

TEST(AhciCommands, DmaThatIsNotQueued) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(16384, 4096);
    sata::RegisterH2d f;
    f.command = 0x35;
    b.command(4, f, {{at, 12288}}, true);
    b.port(kPxCi, 1u << 4);
    b.sent();
    std::uint32_t moved = 0;
    for (int i = 0; i < 2; ++i) {
        b.comes(sata::dma_activate());
        moved += static_cast<std::uint32_t>(b.sent().size() - 4);
    }
    EXPECT_EQ(moved, 12288u);
    sata::RegisterD2h end;
    end.status = 0x50;
    b.comes(end.bytes());
    EXPECT_EQ(b.port(kPxCi), 0u);
    EXPECT_EQ(b.port(kPxIs), PxIs::kDhrs);
    EXPECT_EQ(b.prdbc(4), 12288u);
    b.settle();

    f.command = 0x25;
    b.command(5, f, {{at, 12288}});
    b.port(kPxCi, 1u << 5);
    b.sent();
    b.data_comes(counting(8192));
    b.data_comes(counting(4096));
    b.agenda.run();
    b.comes(end.bytes());
    b.settle();
    EXPECT_EQ(b.port(kPxCi), 0u);
    EXPECT_EQ(b.prdbc(5), 12288u);
}

// Its frames are full: the third holds the wire until memory has taken the first.
TEST(AhciCommands, DataWaitForRoom) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(65536, 4096);
    b.queued(0, false, 0, {{at, 24576}});
    b.issue_queued(1);
    b.sent();
    b.released();
    b.comes(setup_of(0, true, 0, 24576).bytes());
    EXPECT_EQ(b.data_comes(counting(8192)), AhciPort::Answer::taken);
    EXPECT_EQ(b.data_comes(counting(8192)), AhciPort::Answer::taken);
    EXPECT_EQ(b.data_comes(counting(8192)), AhciPort::Answer::later);
    b.settle();
    EXPECT_EQ(b.answers, std::vector<bool>{true});
    EXPECT_EQ(b.bytes_at(at + 16384, 8192), counting(8192));
    EXPECT_EQ(b.adapter.port().counters().held, 1u);
}

TEST(AhciCommands, MoreDataThanThePrdtHasRoomFor) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(4096, 4096);
    b.queued(0, false, 0, {{at, 512}});
    b.issue_queued(1);
    b.sent();
    b.released();
    b.comes(setup_of(0, true, 0, 1024).bytes());
    b.data_comes(counting(1024));
    b.settle();
    EXPECT_EQ(b.port(kPxIs), PxIs::kOfs);
    EXPECT_EQ(b.bytes_at(at, 512), counting(512));
    EXPECT_EQ(b.bytes_at(at + 512, 512), std::vector<std::uint8_t>(512));
}

// 6.2.2: nothing goes on until ST is 0; what was outstanding can be read until then.
TEST(AhciCommands, AnErrorStopsTheList) {
    AdapterBench b;
    b.bring_up();
    for (const std::uint32_t slot : {0u, 1u, 2u}) b.queued(slot, false, slot, {});
    b.issue_queued(3);
    b.sent();
    b.released();
    b.sent();
    b.released();
    b.ends(0, 0x41, 0x40);
    EXPECT_EQ(b.port(kPxIs), PxIs::kTfes | PxIs::kSdbs);
    EXPECT_EQ(b.port(kPxTfd), 0x4041u);
    EXPECT_EQ(b.port(kPxSact), 3u);
    b.issue_queued(4);
    b.agenda.run();
    EXPECT_TRUE(b.frames.empty());
    b.port(kPxCmd, PxCmd::kFre);
    b.settle();
    EXPECT_EQ(b.port(kPxCmd) & PxCmd::kCr, 0u);
    EXPECT_EQ(b.port(kPxSact), 0u);
    b.port(kPxCmd, PxCmd::kFre | PxCmd::kSt);
    b.queued(0, false, 77, {});
    b.issue_queued(1);
    EXPECT_EQ(sata::RegisterH2d::from(b.sent().data()).lba, 77u);
}

TEST(AhciCommands, FramesThatAreRefusedGoAgainButForData) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(4096, 4096);
    b.queued(0, true, 5, {{at, 512}});
    b.issue_queued(1);
    while (b.frames.empty()) b.agenda.step();
    b.frames.clear();
    b.adapter.port().frame_sent(AhciPort::Sent::refused);
    EXPECT_EQ(b.port(kPxIs), PxIs::kInfs);
    EXPECT_EQ(sata::RegisterH2d::from(b.sent().data()).lba, 5u);
    b.released();
    b.comes(setup_of(0, false, 0, 512).bytes());
    b.comes(sata::dma_activate());
    while (b.frames.empty()) b.agenda.step();
    b.adapter.port().frame_sent(AhciPort::Sent::refused);
    EXPECT_EQ(b.port(kPxIs) & PxIs::kIfs, PxIs::kIfs);
    b.settle();
}

TEST(AhciCommands, WhatTheHostsMemoryRefuses) {
    AdapterBench b;
    b.bring_up();
    b.queued(0, false, 0, {{0x10, 512}});
    b.memory.store<std::uint64_t>(b.list + 8, 0x100);  // its table lies outside of the memory
    b.issue_queued(1);
    b.settle();
    EXPECT_EQ(b.port(kPxIs), PxIs::kHbfs);
    EXPECT_NE(b.port(kPxSerr) & Serr::kErrE, 0u);
}

TEST(AhciCommands, UnknownFramesAreKept) {
    AdapterBench b;
    b.bring_up();
    std::vector<std::uint8_t> odd(12, 0x77);
    EXPECT_EQ(b.comes(odd), AhciPort::Answer::taken);
    EXPECT_EQ(b.port(kPxIs), PxIs::kUfs);
    EXPECT_EQ(b.bytes_at(b.received + ReceivedFis::kUnknown, 12), odd);
    EXPECT_EQ(b.comes(std::vector<std::uint8_t>(7)), AhciPort::Answer::refused);
}

// 10.4.1: two control frames; the first has no answer from the device.
TEST(AhciCommands, SoftwareReset) {
    AdapterBench b;
    b.bring_up();
    sata::RegisterH2d f;
    f.command_update = false;
    f.control = 4;
    b.command(0, f, {}, false, Header::kReset | Header::kClearBusy);
    b.port(kPxCi, 1);
    EXPECT_EQ(b.sent()[15], 4);
    EXPECT_EQ(b.port(kPxCi), 0u);
    EXPECT_EQ(b.port(kPxTfd) & Tfd::kBsy, 0u);
    f.control = 0;
    b.command(1, f, {});
    b.port(kPxCi, 2);
    EXPECT_EQ(b.sent()[15], 0);
    EXPECT_EQ(b.port(kPxCi), 2u);
    b.signature();
    b.settle();
    EXPECT_EQ(b.port(kPxSig), kSignatureAta);
}

// COMRESET under load: what was on the wire is gone, and the list starts again.
TEST(AhciCommands, ComresetUnderLoad) {
    AdapterBench b;
    b.bring_up();
    const std::uint64_t at = b.memory.allocate(65536, 4096);
    for (std::uint32_t slot = 0; slot < 8; ++slot) b.queued(slot, true, slot, {{at, 8192}});
    b.issue_queued(0xFF);
    b.sent();
    b.released();
    b.comes(setup_of(0, false, 0, 8192).bytes());
    b.comes(sata::dma_activate());
    b.port(kPxCmd, PxCmd::kFre);
    b.port(kPxSctl, 0x301);
    EXPECT_EQ(b.comresets, 1u);
    b.settle();
    EXPECT_EQ(b.port(kPxCmd) & PxCmd::kCr, 0u);
    b.port(kPxSctl, 0x300);
    b.adapter.port().phy_up(3);
    b.signature();
    b.port(kPxCmd, PxCmd::kFre | PxCmd::kSt);
    b.queued(3, true, 33, {{at, 8192}});
    b.issue_queued(8);
    EXPECT_EQ(sata::RegisterH2d::from(b.sent().data()).lba, 33u);
    b.released();
    b.comes(setup_of(3, false, 0, 8192).bytes());
    b.comes(sata::dma_activate());
    EXPECT_EQ(b.sent().size(), 8196u);
    b.settle();
}

}  // namespace
}  // namespace ssdtlm
