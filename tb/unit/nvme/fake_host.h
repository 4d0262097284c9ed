// SPDX-License-Identifier: Apache-2.0
// A host for front-end tests: memory as one byte vector, DMA with fixed latencies, and a firmware that keeps the
// commands until the test completes them. Models no link.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "controller/nvme/controller.h"

namespace ssdtlm::test {

inline constexpr std::uint64_t kMsiBase = 0xFEE00000;

struct FakeDma final : DmaPort {
    static constexpr Ps kReadTime{1us};
    static constexpr Ps kWriteTime{300ns};
    explicit FakeDma(Agenda& a) : agenda(a), memory(1u << 20) {}

    void write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data, const DmaThen& then,
                    ByteEnables, const DmaTerms&) override {
        for (std::uint32_t i = 0; i < count; ++i) {
            const HostSegment& s = segments[i];
            if (s.address >= kMsiBase && s.address < kMsiBase + 0x100000) {
                EXPECT_EQ(s.bytes, 4u);
                messages.push_back({s.address, nvme::load<std::uint32_t>(data)});
                message_times.push_back(agenda.now());
            } else {
                ASSERT_LE(s.address + s.bytes, memory.size());
                std::memcpy(&memory[s.address], data, s.bytes);
            }
            data += s.bytes;
        }
        if (then) then({agenda.now() + kWriteTime});
    }
    void read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, const DmaThen& then,
                   ByteEnables) override {
        std::uint32_t bytes = 0;
        for (std::uint32_t i = 0; i < count; ++i) bytes += segments[i].bytes;
        read_sizes.push_back(bytes);
        const bool inside = segments[count - 1].address + segments[count - 1].bytes <= memory.size();
        reads.push_back({std::vector<HostSegment>(segments, segments + count), data, then, !inside});
        const Ps time = read_times.empty() ? kReadTime : read_times.front();
        if (!read_times.empty()) read_times.pop_front();
        agenda.post(agenda.now() + time, Then::to<&FakeDma::arrive>(this, reads.size() - 1));
    }
    void arrive(std::uint64_t index) {
        Read r = reads[index];
        if (r.fails) return r.then({agenda.now(), true});
        for (const HostSegment& s : r.segments) {
            std::memcpy(r.data, &memory[s.address], s.bytes);
            r.data += s.bytes;
        }
        r.then({agenda.now()});
    }
    template <class T>
    T get(std::uint64_t at) const {
        return nvme::load<T>(&memory[at]);
    }
    template <class T>
    void put(std::uint64_t at, const T& v) {
        nvme::store(&memory[at], v);
    }

    struct Read {
        std::vector<HostSegment> segments;
        std::uint8_t* data;
        DmaThen then;
        bool fails;
    };
    Agenda& agenda;
    std::vector<std::uint8_t> memory;
    std::vector<Read> reads;
    std::vector<std::uint32_t> read_sizes;
    std::deque<Ps> read_times;  ///< of the next reads; then kReadTime
    std::vector<MsixMessage> messages;
    std::vector<SimTime> message_times;
};

struct FakeFirmware final : CommandSink {
    void submit(Command& c) override {
        waiting.push_back(&static_cast<NvmeCommand&>(c));
        ++submitted;
    }
    void abort_waits(bool on) override { aborts = on; }
    bool aborts = false;
    std::deque<NvmeCommand*> waiting;
    std::uint64_t submitted = 0;
};

/// A controller without work of its own, for an organ that only asks for its state.
struct NoWork final : ControllerWork {
    void create_admin_queues(const NvmeRegisters&) override {}
    bool idle() const override { return true; }
    void abort_waits(bool) override {}
    void drop_queues() override {}
    void flush() override {}
    void resume() override {}
};

/// The driver's side of one queue pair.
struct Pair {
    std::uint16_t qid = 0;
    std::uint64_t sq = 0;
    std::uint64_t cq = 0;
    std::uint32_t sq_entries = 0;
    std::uint32_t cq_entries = 0;
    std::uint32_t tail = 0;
    std::uint32_t head = 0;
    bool phase = true;
};

struct NvmeBench {
    explicit NvmeBench(const NvmeConfig& c = small(), bool write_cache = true)
        : config(c), dma(agenda), nvme(agenda, dma, tracker, config, device(write_cache)) {
        nvme.bind(firmware);
    }
    static NvmeConfig small() {
        NvmeConfig c;
        c.max_queue_pairs = 4;
        c.max_queue_entries = 256;
        c.ready_time = 10us;
        return c;
    }
    static DriveFacts device(bool write_cache) {
        DriveFacts d;
        d.drive_bytes = 1u << 30;
        d.volatile_write_cache = write_cache;
        return d;
    }

    void write(std::uint32_t offset, std::uint64_t value, std::uint32_t bytes = 4) {
        target->mmio_write(offset, bytes, value);
    }
    std::uint32_t csts() const { return static_cast<std::uint32_t>(target->mmio_read(nvme::kRegCsts, 4)); }
    void enable(std::uint32_t cc = nvme::Cc::kTypical) {
        admin = Pair{0, 0x1000, 0x2000, 32, 32, 0, 0, true};
        std::memset(&dma.memory[0x1000], 0, 0x2000);
        write(nvme::kRegAqa, nvme::Aqa::of(32, 32));
        write(nvme::kRegAsq, admin.sq, 8);
        write(nvme::kRegAcq, admin.cq, 8);
        for (std::uint32_t v = 0; v <= config.max_queue_pairs; ++v) {
            write(nvme::msix_entry(v) + nvme::kMsixAddressLow, kMsiBase + 0x1000 * v);
            write(nvme::msix_entry(v) + nvme::kMsixData, v);
            write(nvme::msix_entry(v) + nvme::kMsixControl, 0);
        }
        write(nvme::kRegCc, cc);
        agenda.run();
        ASSERT_EQ(csts(), nvme::Csts::kReady);
    }
    /// Queue pair `qid` with CQ `cqid` on vector `cqid`.
    Pair create_pair(std::uint16_t qid, std::uint32_t sq_entries = 64, std::uint32_t cq_entries = 64,
                     std::uint8_t priority = 0) {
        Pair p{qid, 0x10000u + 0x8000u * qid, 0x14000u + 0x8000u * qid, sq_entries, cq_entries, 0, 0, true};
        std::memset(&dma.memory[p.cq], 0, cq_entries * 16);
        nvme::Sqe s;
        s.opc = nvme::kAdminCreateCq;
        s.prp1 = p.cq;
        s.cdw10 = nvme::queue_cdw10(qid, cq_entries);
        s.cdw11 = nvme::create_cq_cdw11(qid);
        EXPECT_EQ(run_admin(s).status(), nvme::kStSuccess);
        s.opc = nvme::kAdminCreateSq;
        s.prp1 = p.sq;
        s.cdw10 = nvme::queue_cdw10(qid, sq_entries);
        s.cdw11 = nvme::create_sq_cdw11(qid, priority);
        EXPECT_EQ(run_admin(s).status(), nvme::kStSuccess);
        return p;
    }
    /// Writes the SQE into the ring ; ring() tells the controller.
    void push(Pair& p, const nvme::Sqe& s) {
        dma.put(p.sq + p.tail * 64u, s);
        p.tail = (p.tail + 1) % p.sq_entries;
    }
    void ring(const Pair& p) { write(nvme::sq_tail_doorbell(p.qid), p.tail); }
    bool has_cqe(const Pair& p) const { return dma.get<nvme::Cqe>(p.cq + p.head * 16u).phase() == p.phase; }
    /// Takes the next CQE; does not ring the head doorbell.
    nvme::Cqe take(Pair& p) {
        EXPECT_TRUE(has_cqe(p)) << "no completion in CQ " << p.qid;
        const auto e = dma.get<nvme::Cqe>(p.cq + p.head * 16u);
        if (++p.head == p.cq_entries) {
            p.head = 0;
            p.phase = !p.phase;
        }
        return e;
    }
    void ring_head(const Pair& p) { write(nvme::cq_head_doorbell(p.qid), p.head); }
    nvme::Cqe run_admin(nvme::Sqe s) {
        s.cid = next_cid++;
        push(admin, s);
        ring(admin);
        agenda.run();
        const nvme::Cqe e = take(admin);
        ring_head(admin);
        EXPECT_EQ(e.cid, s.cid);
        return e;
    }
    nvme::Sqe rw(std::uint8_t opcode, std::uint16_t cid, std::uint64_t slba = 0, std::uint32_t blocks = 8) const {
        nvme::Sqe s;
        s.opc = opcode;
        s.cid = cid;
        s.nsid = 1;
        s.prp1 = 0x80000;
        s.prp2 = 0x90000;
        s.set_slba(slba);
        s.cdw12 = blocks - 1;
        return s;
    }
    /// The firmware completes its oldest command.
    void complete_oldest(CommandStatus status = CommandStatus::success) {
        NvmeCommand* c = firmware.waiting.front();
        firmware.waiting.pop_front();
        c->status = status;
        c->timeline->charge(Stage::firmware, agenda.now());
        nvme.completions().complete(*c);
    }

    Agenda agenda;
    NvmeConfig config;
    FakeDma dma;
    CommandTracker tracker;
    FakeFirmware firmware;
    NvmeController nvme;
    NvmeController* target = &nvme;  ///< whom the host talks to
    Pair admin;
    std::uint16_t next_cid = 1000;
};

}  // namespace ssdtlm::test
