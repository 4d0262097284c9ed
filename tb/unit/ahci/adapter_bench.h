// SPDX-License-Identifier: Apache-2.0
// The adapter without the kernel: host memory that answers after a while, a link that the test plays.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "host_pcie/driver/host_memory.h"
#include "host_sata/ahci/ahci_adapter.h"
#include "protocol/ahci.h"
#include "protocol/sata.h"

namespace ssdtlm {

class AdapterBench : public AdapterMemory, public AdapterSerial {
public:
    static constexpr Ps kRead{500'000}, kWrite{300'000};
    static constexpr std::uint64_t kMessage = 0xFEE00000;

    explicit AdapterBench(const AhciConfig& config = {}) : adapter(agenda, config, *this, *this) {
        adapter.set_message(kMessage, 7);
        list = memory.allocate(ahci::kListBytes, ahci::kListAlignment);
        received = memory.allocate(ahci::ReceivedFis::kBytes, ahci::ReceivedFis::kBytes);
        for (std::uint64_t& table : tables)
            table = memory.allocate(ahci::kTableBytes + 256 * ahci::kPrdBytes, ahci::kTableAlignment);
    }

    // --- Software ---
    void write(std::uint32_t offset, std::uint32_t value) { adapter.write(offset, value); }
    void port(std::uint32_t offset, std::uint32_t value) { adapter.write(ahci::kPortBase + offset, value); }
    std::uint32_t port(std::uint32_t offset) const { return adapter.read(ahci::kPortBase + offset); }
    /// A running port whose drive has shown its signature.
    void bring_up() {
        port(ahci::kPxClb, static_cast<std::uint32_t>(list));
        port(ahci::kPxClbu, static_cast<std::uint32_t>(list >> 32));
        port(ahci::kPxFb, static_cast<std::uint32_t>(received));
        port(ahci::kPxFbu, static_cast<std::uint32_t>(received >> 32));
        port(ahci::kPxCmd, ahci::PxCmd::kFre);
        adapter.port().phy_up(3);
        signature();
        port(ahci::kPxSerr, ~0u);
        port(ahci::kPxIs, ~0u);
        write(ahci::kRegIs, ~0u);
        port(ahci::kPxIe, ahci::PxIs::kAll);
        write(ahci::kRegGhc, ahci::Ghc::kAe | ahci::Ghc::kIe);
        port(ahci::kPxCmd, ahci::PxCmd::kFre | ahci::PxCmd::kSt);
        messages = 0;
    }
    void signature() {
        sata::RegisterD2h f;
        f.status = 0x50;
        f.error = 1;
        f.lba = 1;
        f.count = 1;
        f.interrupt = false;
        comes(f.bytes());
    }
    struct Piece {
        std::uint64_t address;
        std::uint32_t bytes;
    };
    void command(std::uint32_t slot, const sata::RegisterH2d& fis, const std::vector<Piece>& pieces, bool write = false,
                 std::uint32_t more_flags = 0) {
        const auto bytes = fis.bytes();
        memory.write(tables[slot], bytes.data(), bytes.size());
        std::uint64_t at = tables[slot] + ahci::kTableBytes;
        for (const Piece& p : pieces) {
            memory.store<std::uint64_t>(at, p.address);
            memory.store<std::uint32_t>(at + 12, p.bytes - 1);
            at += ahci::kPrdBytes;
        }
        const std::uint64_t header = list + slot * ahci::kHeaderBytes;
        memory.store<std::uint32_t>(
            header, static_cast<std::uint32_t>(pieces.size()) << 16 | (write ? 1u << 6 : 0) | 5u | more_flags);
        memory.store<std::uint64_t>(header + 8, tables[slot]);
    }
    void queued(std::uint32_t slot, bool write, std::uint64_t lba, const std::vector<Piece>& pieces) {
        sata::RegisterH2d f;
        f.command = write ? 0x61 : 0x60;
        f.lba = lba;
        f.count = static_cast<std::uint16_t>(slot << 3);
        std::uint32_t bytes = 0;
        for (const Piece& p : pieces) bytes += p.bytes;
        f.features = static_cast<std::uint16_t>(bytes / 512);
        command(slot, f, pieces, write);
    }
    void issue_queued(std::uint32_t slots) {
        port(ahci::kPxSact, slots);
        port(ahci::kPxCi, slots);
    }
    std::uint32_t prdbc(std::uint32_t slot) const {
        return memory.load<std::uint32_t>(list + slot * ahci::kHeaderBytes + ahci::Header::kPrdbc);
    }
    std::vector<std::uint8_t> bytes_at(std::uint64_t address, std::uint32_t bytes) const {
        std::vector<std::uint8_t> b(bytes);
        memory.read(address, b.data(), bytes);
        return b;
    }

    // --- The drive ---
    template <class Bytes>
    AhciPort::Answer comes(const Bytes& fis) {
        return adapter.port().receive(fis.data(), static_cast<std::uint32_t>(fis.size()));
    }
    AhciPort::Answer data_comes(const std::vector<std::uint8_t>& data) {
        std::vector<std::uint8_t> fis{0x46, 0, 0, 0};
        fis.insert(fis.end(), data.begin(), data.end());
        return comes(fis);
    }
    void released() {  // BSY, as a queued command is taken
        sata::RegisterD2h f;
        f.interrupt = false;
        f.status = 0x40;
        comes(f.bytes());
    }
    void ends(std::uint32_t slots, std::uint8_t status = 0x40, std::uint8_t error = 0) {
        sata::SetDeviceBits f;
        f.status = status;
        f.error = error;
        f.active = slots;
        comes(f.bytes());
    }
    /// What the adapter sends next, after whatever has to happen before.
    std::vector<std::uint8_t> sent() {
        while (frames.empty() && !agenda.empty()) agenda.step();
        if (frames.empty()) return {};
        std::vector<std::uint8_t> f = frames.front();
        frames.pop_front();
        adapter.port().frame_sent(AhciPort::Sent::taken);
        return f;
    }
    void settle() {
        agenda.run();
        adapter.check_waiters();
    }

    // AdapterMemory
    void read(std::uint64_t address, std::uint8_t* to, std::uint32_t bytes, MemoryClient& client,
              std::uint32_t cookie) override {
        log.push_back("R" + std::to_string(bytes));
        pending.push_back({address, to, nullptr, bytes, &client, cookie});
        agenda.post(agenda.now() + kRead, Then::to<&AdapterBench::done>(this, pending.size() - 1));
    }
    void write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, MemoryClient& client,
               std::uint32_t cookie) override {
        log.push_back("W" + std::to_string(bytes));
        pending.push_back({address, nullptr, from, bytes, &client, cookie});
        agenda.post(agenda.now() + kWrite, Then::to<&AdapterBench::done>(this, pending.size() - 1));
    }
    void post(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes) override {
        if (address == kMessage) {
            log.push_back("MSI");
            ++messages;
            return;
        }
        log.push_back("P" + std::to_string(bytes));
        if (memory.contains(address, bytes)) memory.write(address, from, bytes);
    }
    // AdapterSerial
    void send(const std::uint8_t* fis, std::uint32_t bytes) override { frames.emplace_back(fis, fis + bytes); }
    void answer(bool ok) override { answers.push_back(ok); }
    void comreset() override {
        ++comresets;
        frames.clear();
    }

    Agenda agenda;
    HostMemory memory;
    AhciAdapter adapter;
    std::uint64_t list = 0, received = 0, tables[ahci::kSlots] = {};
    std::deque<std::vector<std::uint8_t>> frames;  // sent, and not answered
    std::vector<bool> answers;
    std::vector<std::string> log;  // of host memory
    unsigned messages = 0, comresets = 0;

private:
    struct Pending {
        std::uint64_t address;
        std::uint8_t* to;
        const std::uint8_t* from;
        std::uint32_t bytes;
        MemoryClient* client;
        std::uint32_t cookie;
    };
    void done(std::uint64_t number) {
        const Pending p = pending[number];
        const bool ok = memory.contains(p.address, p.bytes);
        if (p.to != nullptr) {
            if (ok) memory.read(p.address, p.to, p.bytes);
            p.client->memory_read(p.cookie, ok);
        } else {
            if (ok) memory.write(p.address, p.from, p.bytes);
            p.client->memory_written(p.cookie);
        }
    }
    std::deque<Pending> pending;
};

}  // namespace ssdtlm
