// SPDX-License-Identifier: Apache-2.0
// A drive of plain memory behind the NVMe controller: it carries out commands on bytes, in a time that the test says.
// What the host sees of the controller's own commands can be checked against it without flash.
#pragma once

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "controller/nvme/transfers.h"
#include "unit/nvme/fake_host.h"

namespace ssdtlm::test {

class MemoryDrive final : public CommandSink {
public:
    MemoryDrive(Agenda& agenda, HostPort& host, std::uint64_t bytes, std::uint32_t lba)
        : memory(bytes), metadata(bytes / lba * kOfBlock), agenda_(agenda), host_(host), lba_(lba) {}
    void bind(CompletionSink& ends) { ends_ = &ends; }

    void submit(Command& c) override {
        ++submitted[static_cast<std::size_t>(c.op)];
        if (c.op == IoOp::flush) beside_flushes += under_way.size();
        under_way.insert(&c);
        most = std::max(most, under_way.size());
        agenda_.post(agenda_.now() + time, Then::to<&MemoryDrive::begin>(this, c));
    }
    void abort_waits(bool) override {}

    Ps time{10us};
    std::vector<std::uint8_t> memory;
    std::vector<std::uint8_t> metadata;  ///< kOfBlock bytes for each block
    std::uint32_t piece = 0;             ///< bytes of one transfer; 0: all data of a command
    std::array<std::uint64_t, 5> submitted{};
    std::set<Command*> under_way;
    std::size_t most = 0;
    std::size_t beside_flushes = 0;               ///< commands under way when a flush came
    std::set<std::uint64_t> lost;                 ///< blocks that cannot be read
    CommandStatus next = CommandStatus::success;  ///< with which the next command ends, and does nothing

private:
    static constexpr std::uint32_t kOfBlock = nvme::kMetadataBytes;
    struct Moving {
        Command* command;
        std::vector<std::uint8_t> data;
        std::uint32_t at = 0;    ///< write: bytes that have come
        std::uint32_t left = 0;  ///< read: transfers that have not ended
    };
    void begin(Command& c) {
        c.status = next;
        next = CommandStatus::success;
        if (c.status != CommandStatus::success) return end(c);
        for (const LbaRange& r : c.ranges) {  // as the firmware: whole mapping units, of which there are 4 KiB
            const std::uint64_t unit = 4096 / lba_, first = (r.slba + unit - 1) / unit * unit;
            const std::uint64_t end = std::max(first, (r.slba + r.blocks) / unit * unit);
            if (c.op == IoOp::deallocate) clear(first, end - first);
        }
        if (c.op == IoOp::write_zeroes) clear(c.slba, c.blocks);
        if (c.op != IoOp::read && c.op != IoOp::write) return end(c);
        const auto bytes = static_cast<std::uint32_t>(c.bytes);
        moving_.push_back({&c, std::vector<std::uint8_t>(bytes)});
        Moving& m = moving_.back();
        if (c.op == IoOp::write) return fetch(moving_.size() - 1);
        std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(c.slba * lba_), bytes, m.data.begin());
        const auto bad = lost.lower_bound(c.slba);
        const bool fails = bad != lost.end() && *bad < c.slba + c.blocks;
        if (fails) c.status = CommandStatus::unrecovered_read;
        if (fails && piece == 0) return end(c);
        if (c.metadata != nullptr)
            std::copy_n(metadata.begin() + static_cast<std::ptrdiff_t>(c.slba * kOfBlock), c.blocks * kOfBlock,
                        c.metadata);
        // As parts of a read come from several dies: the last one may be the first.
        const std::uint32_t part = piece == 0 ? bytes : piece, parts = (bytes + part - 1) / part;
        const auto sent = DmaThen::to<&MemoryDrive::sent>(this, moving_.size() - 1);
        m.left = parts;
        for (std::uint32_t i = parts; i-- != 0;) {
            const std::uint64_t first = c.slba + i * part / lba_;
            if (lost.lower_bound(first) != lost.lower_bound(first + part / lba_)) {  // this part alone is not sent
                if (--m.left == 0) return end(c);
                continue;
            }
            host_.to_host(c, i * part, std::min(part, bytes - i * part), m.data.data() + i * part, sent, {},
                          kPlainTerms);
        }
    }
    void clear(std::uint64_t block, std::uint64_t blocks) {
        std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(block * lba_), blocks * lba_, std::uint8_t{0});
        std::fill_n(metadata.begin() + static_cast<std::ptrdiff_t>(block * kOfBlock), blocks * kOfBlock,
                    std::uint8_t{0});
    }
    std::uint32_t next_piece(const Moving& m) const {
        const auto left = static_cast<std::uint32_t>(m.data.size() - m.at);
        return piece == 0 ? left : std::min(left, piece);
    }
    void fetch(std::uint64_t number) {
        Moving& m = moving_[number];
        host_.from_host(*m.command, m.at, next_piece(m), m.data.data() + m.at,
                        DmaThen::to<&MemoryDrive::fetched>(this, number), {});
    }
    void fetched(std::uint64_t number, DmaEnd ended) {
        Moving& m = moving_[number];
        Command& c = *m.command;
        if (ended.failed) {
            c.status = CommandStatus::transfer_error;
            return end(c);
        }
        const std::uint32_t n = next_piece(m), first = m.at / lba_, blocks = n / lba_;
        std::copy_n(m.data.begin() + m.at, n, memory.begin() + static_cast<std::ptrdiff_t>(c.slba * lba_ + m.at));
        const auto to = metadata.begin() + static_cast<std::ptrdiff_t>((c.slba + first) * kOfBlock);
        if (c.metadata != nullptr)
            std::copy_n(c.metadata + first * kOfBlock, blocks * kOfBlock, to);
        else
            std::fill_n(to, blocks * kOfBlock, std::uint8_t{0});
        m.at += n;
        m.at == m.data.size() ? end(c) : fetch(number);
    }
    void sent(std::uint64_t number, DmaEnd ended) {
        Moving& m = moving_[number];
        if (ended.failed) m.command->status = CommandStatus::transfer_error;
        if (--m.left == 0) end(*m.command);
    }
    void end(Command& c) {
        under_way.erase(&c);
        if (c.timeline->last() < agenda_.now()) c.timeline->charge(Stage::array, agenda_.now());
        ends_->complete(c);
    }

    Agenda& agenda_;
    HostPort& host_;
    const std::uint32_t lba_;
    CompletionSink* ends_ = nullptr;
    std::deque<Moving> moving_;  // never given back: numbers stay good
};

/// A host, a controller and such a drive of 1 MiB.
struct DriveBench : NvmeBench {
    static constexpr std::uint64_t kBytes = 1u << 20;
    static constexpr std::uint64_t kData = 0xC0000, kOther = 0xD0000;  ///< buffers of the host

    explicit DriveBench(const NvmeConfig& c = NvmeBench::small())
        : NvmeBench(c), transfers(agenda, dma), drive(agenda, transfers, kBytes, c.lba_bytes) {
        start();
    }
    void start() {
        DriveFacts facts = NvmeBench::device(true);
        facts.drive_bytes = kBytes;
        controller.emplace(agenda, dma, tracker, config, facts, false);
        join();
    }
    void lose_power() {
        DriveFacts facts = NvmeBench::device(true);
        facts.drive_bytes = kBytes;
        agenda.drop_if([](const void*) { return true; });
        transfers.restart();
        drive.under_way.clear();
        const NvmeController::Before before{controller->counters(), controller->memory()};
        controller.emplace(agenda, dma, tracker, config, facts, false, before);
        join();
    }
    void join() {
        drive.bind(controller->completions());
        controller->bind(drive);
        target = &*controller;
    }
    /// Runs the command on `pair` and takes its completion.
    nvme::Cqe run(Pair& pair, nvme::Sqe s) {
        s.cid = next_cid++;
        push(pair, s);
        ring(pair);
        agenda.run();
        const nvme::Cqe e = take(pair);
        ring_head(pair);
        EXPECT_EQ(e.cid, s.cid);
        return e;
    }
    nvme::Sqe io(std::uint8_t opcode, std::uint64_t slba, std::uint32_t blocks, std::uint64_t at = kData) const {
        nvme::Sqe s = rw(opcode, 0, slba, blocks);
        s.prp1 = at;
        s.prp2 = at + 4096;
        return s;
    }
    void fill(std::uint64_t at, std::size_t bytes, std::uint8_t first) {
        for (std::size_t i = 0; i < bytes; ++i) dma.memory[at + i] = static_cast<std::uint8_t>(first + i / 64);
    }
    bool equal(std::uint64_t at, std::uint64_t drive_byte, std::size_t bytes) const {
        return std::equal(dma.memory.begin() + static_cast<std::ptrdiff_t>(at),
                          dma.memory.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                          drive.memory.begin() + static_cast<std::ptrdiff_t>(drive_byte));
    }
    std::vector<std::uint8_t> log(std::uint8_t lid, std::uint32_t bytes, std::uint32_t lsp = 0) {
        nvme::Sqe s;
        s.opc = nvme::kAdminGetLogPage;
        s.nsid = nvme::kNsidAll;
        s.prp1 = kOther;
        s.cdw10 = lid | lsp << 8 | (bytes / 4 - 1) << 16;
        EXPECT_EQ(run_admin(s).status(), nvme::kStSuccess);
        return {dma.memory.begin() + kOther, dma.memory.begin() + kOther + bytes};
    }
    nvme::Sqe admin_command(std::uint8_t opcode, std::uint32_t nsid = 0, std::uint32_t cdw10 = 0,
                            std::uint32_t cdw11 = 0) const {
        nvme::Sqe s;
        s.opc = opcode;
        s.nsid = nsid;
        s.cdw10 = cdw10;
        s.cdw11 = cdw11;
        s.prp1 = kData;
        return s;
    }

    NvmeTransfers transfers;
    MemoryDrive drive;
    std::optional<NvmeController> controller;
};

}  // namespace ssdtlm::test
