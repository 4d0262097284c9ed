// SPDX-License-Identifier: Apache-2.0
// A host port that knows nothing of AHCI: sends frames when it is told to, writes down each frame of the drive as a
// line of text, and answers what the protocol asks for (Data of writes). Behind the drive stands a firmware of a few
// lines. For tests of drive and link together, several in one program.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/pooled_payload.h"
#include "controller/sata/sata_front_end.h"
#include "host_sata/link/sata_link.h"

namespace ssdtlm::test {

/// Commands wait until the test ends them; by itself it does so at once, with real bytes. Keeps the drive's content as
/// sparse sectors.
struct SectorFirmware final : CommandSink {
    SectorFirmware(Agenda& a, std::uint32_t lba_bytes) : agenda(a), bytes_of_sector(lba_bytes) {}

    void submit(Command& c) override {
        ++submitted;
        if (holds) return held.push_back(&c);
        agenda.post(agenda.now() + time, Then::to<&SectorFirmware::start>(this, c));
    }
    void abort_waits(bool on) override {
        aborts = on;
        if (!on) return;
        std::deque<Command*> ended;
        ended.swap(held);
        for (Command* c : ended) {
            c->status = CommandStatus::aborted;
            sink->complete(*c);
        }
    }
    void go_on() {
        std::deque<Command*> go;
        go.swap(held);
        for (Command* c : go) start(*c);
    }
    void start(Command& c) {
        c.timeline->charge(Stage::firmware, agenda.now());
        if (const auto bad = bad_sectors.lower_bound(c.slba);
            c.blocks != 0 && bad != bad_sectors.end() && bad->first < c.slba + c.blocks) {
            c.status = bad->second;
            return sink->complete(c);
        }
        switch (c.op) {
            case IoOp::read: {
                std::vector<std::uint8_t> data(c.bytes);
                for (std::uint32_t i = 0; i < c.blocks; ++i) {
                    const auto found = sectors.find(c.slba + i);
                    if (found != sectors.end())
                        std::memcpy(&data[std::size_t{i} * bytes_of_sector], found->second.data(), bytes_of_sector);
                }
                // In two pieces, the second one first.
                const auto half = static_cast<std::uint32_t>(c.blocks / 2 * bytes_of_sector);
                const auto rest = static_cast<std::uint32_t>(c.bytes) - half;
                pending = 1 + (half != 0);
                host->to_host(c, half, rest, data.data() + half, DmaThen::to<&SectorFirmware::sent>(this), {});
                if (half != 0) host->to_host(c, 0, half, data.data(), DmaThen::to<&SectorFirmware::sent>(this), {});
                EXPECT_EQ(pending, 0);
                return sink->complete(c);
            }
            case IoOp::write: {
                Write& w = writes[&c];
                w.data.resize(c.bytes);
                w.left = 2;
                const auto half = static_cast<std::uint32_t>(c.blocks / 2 * bytes_of_sector);
                if (half == 0) w.left = 1;
                const auto rest = static_cast<std::uint32_t>(c.bytes) - half;
                if (half != 0)
                    host->from_host(c, 0, half, w.data.data(), DmaThen::to<&SectorFirmware::brought>(this, c), {});
                host->from_host(c, half, rest, w.data.data() + half, DmaThen::to<&SectorFirmware::brought>(this, c),
                                {});
                return;
            }
            case IoOp::deallocate:
                for (const LbaRange& r : c.ranges)
                    for (std::uint32_t i = 0; i < r.blocks; ++i) sectors.erase(r.slba + i);
                return sink->complete(c);
            case IoOp::flush:
            case IoOp::write_zeroes:
                ++flushes;
                return sink->complete(c);
        }
    }
    void sent(DmaEnd) { --pending; }
    void brought(Command& c, DmaEnd end) {
        Write& w = writes.at(&c);
        if (end.failed) c.status = CommandStatus::transfer_error;
        if (--w.left != 0) return;
        c.timeline->charge(Stage::host_transfer, agenda.now());
        if (c.status == CommandStatus::success)
            for (std::uint32_t i = 0; i < c.blocks; ++i) {
                const std::uint8_t* from = &w.data[std::size_t{i} * bytes_of_sector];
                sectors[c.slba + i].assign(from, from + bytes_of_sector);
            }
        was_fua = c.fua;
        writes.erase(&c);
        // Not from inside from_host().
        agenda.post(agenda.now(), Then::to<&SectorFirmware::complete>(this, c));
    }
    void complete(Command& c) { sink->complete(c); }

    struct Write {
        std::vector<std::uint8_t> data;
        int left = 0;
    };
    Agenda& agenda;
    const std::uint32_t bytes_of_sector;
    CompletionSink* sink = nullptr;
    HostPort* host = nullptr;
    Ps time{};
    bool holds = false;
    bool aborts = false;
    bool was_fua = false;
    int pending = 0;
    std::uint64_t submitted = 0, flushes = 0;
    std::deque<Command*> held;
    std::map<Command*, Write> writes;
    std::map<std::uint64_t, std::vector<std::uint8_t>> sectors;
    std::map<std::uint64_t, CommandStatus> bad_sectors;
};

struct ForeignHba final : sc_core::sc_module,
                          tlm::tlm_bw_transport_if<SataProtocol>,
                          tlm::tlm_fw_transport_if<SataProtocol> {
    ForeignHba(const sc_core::sc_module_name& name, Agenda& a)
        : sc_module(name), agenda(a), in(a, *this), out(a, *this) {
        target.bind(in);
        initiator.bind(out);
    }
    template <class Bytes>
    void send(const Bytes& fis, SataExtension::Kind kind = SataExtension::Kind::frame) {
        SataExtension* more = nullptr;
        tlm::tlm_generic_payload& p = payloads.acquire(more);
        sent[&p].assign(fis.begin(), fis.end());
        auto& bytes = sent[&p];
        set_up(p, kind == SataExtension::Kind::frame ? tlm::TLM_WRITE_COMMAND : tlm::TLM_IGNORE_COMMAND, 0,
               bytes.data(), static_cast<std::uint32_t>(bytes.size()));
        more->kind = kind;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time none;
        if (link->nb_transport_fw(p, phase, none) == tlm::TLM_COMPLETED) answered(p);
    }
    void comreset() { send(std::vector<std::uint8_t>{}, SataExtension::Kind::comreset); }
    void control(std::uint8_t value) {
        sata::RegisterH2d r;
        r.command_update = false;
        r.control = value;
        r.device = 0;
        send(r.bytes());
    }
    void answered(tlm::tlm_generic_payload& p) {
        last_answer = p.get_response_status();
        if (last_answer == tlm::TLM_GENERIC_ERROR_RESPONSE) ++r_errs;
        sent.erase(&p);
        p.release();
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) override {
        answered(p);
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) override {
        const auto& more = *p.get_extension<SataExtension>();
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (more.kind == SataExtension::Kind::phy_up) seen.push_back("phy up");
        if (more.kind == SataExtension::Kind::phy_down) seen.push_back("phy down");
        if (more.kind != SataExtension::Kind::frame) return tlm::TLM_COMPLETED;
        if (more.crc_error) {
            seen.push_back("broken");
            p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        } else {
            frame(p.get_data_ptr(), p.get_data_length());
        }
        return tlm::TLM_COMPLETED;
    }
    void frame(const std::uint8_t* fis, std::uint32_t bytes) {
        times.push_back(agenda.now());
        seen.push_back(sata::describe(fis, bytes));
        switch (static_cast<sata::FisType>(fis[0])) {
            case sata::FisType::dma_setup: {
                const sata::DmaSetup s = sata::DmaSetup::from(fis);
                tag = s.tag;
                got[tag].clear();
                if (s.auto_activate) send_data();
                return;
            }
            case sata::FisType::dma_activate:
                return send_data();
            case sata::FisType::data:
                got[tag].insert(got[tag].end(), fis + 4, fis + bytes);
                return;
            default:
                return;
        }
    }
    void send_data() {
        std::vector<std::uint8_t>& data = to_send[tag];
        const std::size_t n = std::min<std::size_t>(data.size(), 8192);
        const auto header = sata::data_header();
        std::vector<std::uint8_t> fis(header.begin(), header.end());
        fis.insert(fis.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(n));
        data.erase(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(n));
        if (sends_data && n != 0) send(fis);
    }
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override {
        link = out.towards(initiator.operator->());
        in.towards(target.operator->());
    }

    Agenda& agenda;
    SataInitiatorSocket initiator{"initiator"};
    SataTargetSocket target{"target"};
    TargetGuard<SataProtocol> in;
    InitiatorGuard<SataProtocol> out;
    tlm::tlm_fw_transport_if<SataProtocol>* link = nullptr;
    PayloadPool<SataExtension> payloads;
    std::map<tlm::tlm_generic_payload*, std::vector<std::uint8_t>> sent;
    std::vector<std::string> seen;
    std::vector<SimTime> times;  ///< of frames
    unsigned tag = 32;           ///< of the data phase; 32: not queued
    std::map<unsigned, std::vector<std::uint8_t>> got, to_send;
    bool sends_data = true;
    tlm::tlm_response_status last_answer = tlm::TLM_INCOMPLETE_RESPONSE;
    int r_errs = 0;
};

/// SystemC elaborates once in a program, so the netlists are made before the first test runs (`sata_benches`).
struct SataBench {
    SataBench(const std::string& name, const SataConfig& c = {}, const DriveFacts& f = facts(), SataLinkConfig l = {})
        : config(c),
          firmware(agenda, c.lba_bytes),
          hba((name + "_hba").c_str(), agenda),
          drive((name + "_drive").c_str(), agenda, tracker, c, f),
          link((name + "_link").c_str(), agenda, [&] {
              l.device_generation = c.generation;
              return l;
          }()) {
        hba.initiator.bind(link.host_target);
        link.host_initiator.bind(hba.target);
        drive.link_initiator.bind(link.device_target);
        link.device_initiator.bind(drive.link_target);
        drive.bind(firmware);
        firmware.sink = &drive.completions();
        firmware.host = &drive.data();
    }
    static DriveFacts facts() {
        DriveFacts d;
        d.drive_bytes = 1u << 30;
        d.volatile_write_cache = true;
        return d;
    }
    /// Runs until nothing is left; the lines since the last call.
    std::vector<std::string> run() {
        agenda.run();
        drive.check_waiters();
        link.check_waiters();
        std::vector<std::string> lines;
        lines.swap(hba.seen);
        return lines;
    }
    void queued(bool write, unsigned tag, std::uint64_t lba, std::uint16_t sectors, std::uint8_t device = 0x40) {
        sata::RegisterH2d r;
        r.command = write ? ata::kWriteFpdmaQueued : ata::kReadFpdmaQueued;
        r.features = sectors;
        r.lba = lba;
        r.device = device;
        r.count = static_cast<std::uint16_t>(tag << 3);
        hba.send(r.bytes());
    }
    void command(std::uint8_t opcode, std::uint64_t lba = 0, std::uint16_t count = 0, std::uint16_t features = 0) {
        sata::RegisterH2d r;
        r.command = opcode;
        r.features = features;
        r.lba = lba;
        r.count = count;
        hba.tag = 32;
        hba.got[32].clear();
        hba.send(r.bytes());
    }

    const SataConfig config;
    Agenda agenda;
    CommandTracker tracker;
    SectorFirmware firmware;
    ForeignHba hba;
    SataFrontEnd drive;
    SataLink link;
};

}  // namespace ssdtlm::test
