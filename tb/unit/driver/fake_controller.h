// SPDX-License-Identifier: Apache-2.0
// A small NVMe controller for driver tests: registers, admin queue, I/O queues, one version per mapping unit.
// Kernel-free; every register access, command and interrupt takes a fixed time. Written against the NVMe
// specification, sharing only the names of offsets and opcodes with the driver.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "host_pcie/driver/host_memory.h"
#include "host_pcie/driver/mmio_port.h"
#include "protocol/nvme.h"
#include "protocol/signature.h"

namespace ssdtlm {

class FakeController : public MmioPort {
public:
    // What it is.
    std::uint64_t cap = 0x0000'0020'0101'00FF;  // MQES 255, CQR, TO 500 ms, NVM command set, 4 KiB pages only
    std::uint32_t namespaces = 1;               // each of `blocks`
    std::uint32_t grants = 8;                   // queue pairs
    std::uint8_t mdts = 5;                      // 128 KiB
    std::uint8_t lbads = 9;
    std::uint8_t lba_format = 0;  ///< the one in use
    std::uint8_t metadata_bytes = 0;
    std::uint64_t blocks = 1u << 20;
    std::uint64_t filled_units = 0;
    Ps ready_time{3'500'000'000};
    bool volatile_write_cache = true;
    bool never_ready = false;
    bool never_disables = false;
    std::uint16_t fail_admin_opcode = 0xFFFF;
    // How it serves I/O.
    static constexpr Ps kMmio{100'000};
    Ps service{10'000'000};  // fetch -> CQE visible
    std::function<Ps(const nvme::Sqe&, std::uint64_t index)> service_of;
    std::function<std::uint16_t(const nvme::Sqe&, std::uint64_t index)> status_of;
    std::function<void(std::uint64_t lba, BlockSignature&)> corrupt;  // read data on its way out
    /// Of a command in flight at a reset: whether it still takes effect on the media.
    std::function<bool(const nvme::Sqe&)> survives_reset = [](const nvme::Sqe&) { return true; };
    bool drop_data = false;  // completes reads without transferring
    // What it has seen.
    std::vector<std::string> log;
    std::vector<nvme::Sqe> commands;
    std::vector<SimTime> doorbell_times;
    std::vector<std::uint32_t> cq_doorbells;
    std::map<std::uint32_t, std::uint32_t> versions;

    FakeController(Agenda& agenda, HostMemory& memory, CommandTracker& tracker)
        : agenda_(agenda), memory_(memory), tracker_(tracker) {}
    void set_interrupt(std::function<void(std::uint64_t, std::uint32_t)> f) { interrupt_ = std::move(f); }
    /// Hears where each completion entry was written.
    void set_written(std::function<void(std::uint64_t)> f) { written_ = std::move(f); }

    // MmioPort, for kernel-free tests.
    void write32(std::uint32_t offset, std::uint32_t value) override {
        agenda_.post(agenda_.now() + kMmio,
                     Then::to<&FakeController::arrive>(this, std::uint64_t{offset} << 32 | value));
    }
    void read32(std::uint32_t offset, MmioClient& client) override {
        reads_.push_back({offset, &client});
        agenda_.post(agenda_.now() + 2 * kMmio, Then::to<&FakeController::answer>(this));
    }

    // The register file.
    std::uint32_t load(std::uint32_t offset) {
        note("R", offset, 0, false);
        switch (offset) {
            case 0x00:
                return static_cast<std::uint32_t>(cap);
            case 0x04:
                return static_cast<std::uint32_t>(cap >> 32);
            case 0x08:
                return 0x00010400;
            case 0x14:
                return cc_;
            case 0x1C:
                return csts_ | (never_disables ? 1u : 0u);
            default:
                return 0;
        }
    }
    void store(std::uint32_t offset, std::uint32_t value) {
        if (offset >= 0x1000 && offset < 0x2000) return doorbell((offset - 0x1000) / 4, value);
        note("W", offset, value, true);
        if (offset >= 0x2000 && offset < 0x3000) {
            msix_[(offset - 0x2000) / 16][offset % 16 / 4] = value;
            return;
        }
        const auto half = [value](std::uint64_t& reg, bool upper) {
            reg = upper ? (reg & 0xFFFFFFFF) | std::uint64_t{value} << 32 : (reg & ~0xFFFFFFFFull) | value;
        };
        switch (offset) {
            case 0x14:
                return control(value);
            case 0x24:
                aqa_ = value;
                break;
            case 0x28:
            case 0x2C:
                half(asq_, offset == 0x2C);
                break;
            case 0x30:
            case 0x34:
                half(acq_, offset == 0x34);
                break;
            default:
                break;
        }
    }
    std::uint64_t outstanding() const { return outstanding_; }
    std::uint64_t most_outstanding() const { return most_; }

private:
    struct Ring {
        std::uint64_t sq = 0, cq = 0;
        std::uint32_t sq_size = 0, cq_size = 0, vector = 0, head = 0, cq_tail = 0;
        std::uint8_t phase = 1;
        bool interrupts = true;
    };
    struct Running {
        std::uint16_t qid;
        nvme::Sqe sqe;
        std::uint16_t status;
        bool done = false;
    };

    void note(const char* kind, std::uint32_t offset, std::uint32_t value, bool store) {
        char text[64];
        if (store)
            std::snprintf(text, sizeof text, "%s %04X %08X", kind, offset, value);
        else
            std::snprintf(text, sizeof text, "%s %04X", kind, offset);
        log.push_back(text);
    }
    void arrive(std::uint64_t a) { store(static_cast<std::uint32_t>(a >> 32), static_cast<std::uint32_t>(a)); }
    void answer() {
        const auto r = reads_.front();
        reads_.erase(reads_.begin());
        r.client->mmio_read_done(load(r.offset));
    }
    void control(std::uint32_t value) {
        if ((value & 1) != 0 && (cc_ & 1) == 0 && !never_ready) {
            rings_.clear();
            rings_[0] = Ring{asq_, acq_, (aqa_ & 0xFFF) + 1, (aqa_ >> 16) + 1};
            agenda_.post(agenda_.now() + ready_time, Then::to<&FakeController::become>(this, 1));
        }
        if ((value & 1) == 0) stop();
        if ((value & 0xC000) == 0x4000) {
            csts_ |= 4;
            agenda_.post(agenda_.now() + ready_time, Then::to<&FakeController::become>(this, 9));
        }
        cc_ = value;
    }
    void stop() {
        csts_ = 0;
        for (std::size_t i = first_running_; i < running_.size(); ++i) {
            // Data of a read must not reach the host any more.
            if (!running_[i].done && running_[i].sqe.opc != nvme::kIoRead && survives_reset(running_[i].sqe))
                serve(running_[i].sqe);
        }
        first_running_ = running_.size();
        outstanding_ = 0;
    }
    void become(std::uint64_t csts) { csts_ = static_cast<std::uint32_t>(csts); }

    void doorbell(std::uint32_t index, std::uint32_t value) {
        const auto qid = static_cast<std::uint16_t>(index / 2);
        if (index % 2 == 1) {
            if (qid != 0) cq_doorbells.push_back(value);
            return;
        }
        if (qid != 0) doorbell_times.push_back(agenda_.now());
        while (rings_.at(qid).head != value) {
            Ring& r = rings_.at(qid);
            const auto sqe = memory_.load<nvme::Sqe>(r.sq + 64u * r.head);
            r.head = (r.head + 1) % r.sq_size;
            if (qid == 0)
                admin(sqe);
            else
                begin(qid, sqe);
        }
    }
    void admin(const nvme::Sqe& s) {
        char text[64];
        std::snprintf(text, sizeof text, "admin %02X %08X %08X", s.opc, s.cdw10, s.cdw11);
        log.push_back(text);
        if (s.opc == fail_admin_opcode) return post(0, s.cid, 0x002, 0);
        std::uint32_t result = 0;
        std::vector<std::uint8_t> page(4096);
        switch (s.opc) {
            case 0x06:
                if (s.cdw10 == 1) page[77] = mdts, page[525] = volatile_write_cache;
                if (s.cdw10 == 2)
                    for (std::uint32_t id = s.nsid + 1; id <= namespaces; ++id)
                        nvme::store(&page[4 * (id - s.nsid - 1)], id);
                if (s.cdw10 == 0) {
                    nvme::store(&page[0], blocks);
                    page[26] = lba_format;
                    page[128 + 4 * lba_format] = metadata_bytes;
                    page[130 + 4 * lba_format] = lbads;
                }
                memory_.write(s.prp1, page.data(), page.size());
                break;
            case 0x09:
                result = (grants - 1) | (grants - 1) << 16;
                break;
            case 0x05: {
                Ring& r = rings_[static_cast<std::uint16_t>(s.cdw10)];
                r.cq = s.prp1;
                r.cq_size = (s.cdw10 >> 16) + 1;
                r.vector = s.cdw11 >> 16;
                r.interrupts = (s.cdw11 & 2) != 0;
                break;
            }
            case 0x01: {
                Ring& r = rings_[static_cast<std::uint16_t>(s.cdw10)];
                r.sq = s.prp1;
                r.sq_size = (s.cdw10 >> 16) + 1;
                break;
            }
            default:
                break;
        }
        post(0, s.cid, 0, result);
    }

    void begin(std::uint16_t qid, const nvme::Sqe& sqe) {
        const std::uint64_t index = commands.size();
        commands.push_back(sqe);
        most_ = std::max(most_, ++outstanding_);
        tracker_.at(qid, sqe.cid).begin(agenda_.now());
        const Ps time = service_of ? service_of(sqe, index) : service;
        running_.push_back({qid, sqe, status_of ? status_of(sqe, index) : std::uint16_t{0}});
        agenda_.post(agenda_.now() + time, Then::to<&FakeController::done>(this, running_.size() - 1));
    }
    void done(std::uint64_t i) {
        if (i < first_running_) return;  // before the reset
        running_[i].done = true;
        const Running run = running_[i];
        --outstanding_;
        if (run.status == 0) serve(run.sqe);
        tracker_.at(run.qid, run.sqe.cid).charge(Stage::array, agenda_.now());
        post(run.qid, run.sqe.cid, run.status, 0);
    }
    void serve(const nvme::Sqe& s) {
        const std::uint32_t lba_bytes = 1u << lbads;
        const std::uint32_t unit_blocks = 4096 / lba_bytes;
        const auto version = [&](std::uint64_t unit) -> std::uint32_t& {
            return versions.try_emplace(static_cast<std::uint32_t>(unit), unit < filled_units ? 1 : 0).first->second;
        };
        if (s.opc == nvme::kIoDatasetMgmt) {
            const auto range = nvme::load<nvme::DsmRange>(bytes(s, sizeof(nvme::DsmRange)).data());
            for (std::uint64_t u = (range.slba + unit_blocks - 1) / unit_blocks;
                 u < (range.slba + range.blocks) / unit_blocks; ++u)
                version(u) = 0;
        }
        if (s.opc != nvme::kIoRead && s.opc != nvme::kIoWrite) return;
        const std::uint32_t n = (s.cdw12 & 0xFFFF) + 1;
        std::vector<std::uint8_t> data = bytes(s, n * lba_bytes);
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint64_t lba = s.slba() + i;
            if (s.opc == nvme::kIoWrite) {
                version(lba / unit_blocks) = BlockSignature::load(&data[i * lba_bytes]).version;
                continue;
            }
            const std::uint32_t v = version(lba / unit_blocks);
            BlockSignature b = v == 0 ? BlockSignature{} : BlockSignature{lba, v, BlockSignature::kMagic};
            if (corrupt) corrupt(lba, b);
            b.store(&data[i * lba_bytes]);
        }
        if (s.opc == nvme::kIoRead && !drop_data) {
            std::uint64_t at = 0;
            for (const auto& [address, length] : segments(s, data.size())) {
                memory_.write(address, &data[at], length);
                at += length;
            }
        }
    }
    std::vector<std::uint8_t> bytes(const nvme::Sqe& s, std::uint64_t n) {
        std::vector<std::uint8_t> out(n);
        std::uint64_t at = 0;
        for (const auto& [address, length] : segments(s, n)) {
            memory_.read(address, &out[at], length);
            at += length;
        }
        return out;
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> segments(const nvme::Sqe& s, std::uint64_t n) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
        std::uint64_t length = std::min<std::uint64_t>(n, 4096 - s.prp1 % 4096);
        out.emplace_back(s.prp1, length);
        n -= length;
        std::uint64_t list = s.prp2;
        const bool direct = n <= 4096;
        while (n > 0) {
            const std::uint64_t page = direct ? s.prp2 : memory_.load<std::uint64_t>(list);
            list += 8;
            length = std::min<std::uint64_t>(n, 4096);
            out.emplace_back(page, length);
            n -= length;
        }
        return out;
    }
    void post(std::uint16_t qid, std::uint16_t cid, std::uint16_t status, std::uint32_t result) {
        Ring& r = rings_.at(qid);
        nvme::Cqe c;
        c.dw0 = result;
        c.sqhd = static_cast<std::uint16_t>(r.head);
        c.sqid = qid;
        c.cid = cid;
        c.set_status(status, false, r.phase != 0);
        const std::uint64_t address = r.cq + 16u * r.cq_tail;
        memory_.store(address, c);
        r.cq_tail = (r.cq_tail + 1) % r.cq_size;
        if (r.cq_tail == 0) r.phase ^= 1;
        if (r.interrupts) agenda_.post(agenda_.now() + kMmio, Then::to<&FakeController::message>(this, r.vector));
        if (written_) written_(address);
    }
    void message(std::uint64_t vector) {
        const auto& entry = msix_[static_cast<std::uint32_t>(vector)];
        if ((entry[3] & 1) == 0) interrupt_(std::uint64_t{entry[1]} << 32 | entry[0], entry[2]);
    }

    struct Entry {
        std::uint32_t dw[4] = {0, 0, 0, 1};
        std::uint32_t& operator[](std::size_t i) { return dw[i]; }
        std::uint32_t operator[](std::size_t i) const { return dw[i]; }
    };
    struct Read {
        std::uint32_t offset;
        MmioClient* client;
    };
    Agenda& agenda_;
    HostMemory& memory_;
    CommandTracker& tracker_;
    std::function<void(std::uint64_t, std::uint32_t)> interrupt_;
    std::function<void(std::uint64_t)> written_;
    std::vector<Read> reads_;
    std::map<std::uint32_t, Entry> msix_;
    std::map<std::uint16_t, Ring> rings_;
    std::vector<Running> running_;
    std::size_t first_running_ = 0;  // since the last reset
    std::uint64_t outstanding_ = 0, most_ = 0;
    std::uint32_t cc_ = 0, csts_ = 0, aqa_ = 0;
    std::uint64_t asq_ = 0, acq_ = 0;
};

}  // namespace ssdtlm
