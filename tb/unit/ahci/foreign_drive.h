// SPDX-License-Identifier: Apache-2.0
// A SATA drive that knows nothing of the model's: sectors in a map, one command after the other, frames written from
// the specification. It stands at the adapter's Serial ATA sockets, and writes down what passes there.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/at_interfaces.h"
#include "protocol/sata.h"
#include "protocol/sata_payload.h"

namespace ssdtlm {

class ForeignDrive : public sc_core::sc_module, AtTarget<SataProtocol>, AtInitiator<SataProtocol> {
public:
    static constexpr Ps kStep{2'000'000};  // between its frames
    SataTargetSocket in{"in"};
    SataInitiatorSocket out{"out"};

    ForeignDrive(sc_core::sc_module_name name, Agenda& agenda) : sc_module(name), agenda_(agenda) {
        in.bind(*this);
        out.bind(*this);
        payload_.set_extension(new SataExtension);
    }
    /// From power-on; again after power_goes().
    void power_on() { agenda_.post(agenda_.now() + Ps{100'000'000}, Then::to<&ForeignDrive::comes_up>(this, life_)); }
    void power_goes() {
        forget();
        signal(SataExtension::Kind::phy_down);
    }

    std::vector<std::string> log;     ///< "> 60 3": from the host; "< SDB 8"
    std::set<std::uint64_t> bad;      ///< LBAs that cannot be read
    std::set<std::uint64_t> broken;   ///< that cannot be read once, because of the interface
    std::set<std::uint64_t> refused;  ///< that are not written, with the registers of an abort
    std::map<std::uint64_t, std::array<std::uint8_t, 512>> sectors;
    std::uint64_t comresets = 0;
    unsigned depth = 32;
    bool ncq = true, fua_ext = true;
    std::uint64_t flushes = 0, trimmed = 0;

private:
    struct Command {
        sata::RegisterH2d fis;
        std::uint32_t sent = 0;  // bytes
        unsigned tag() const { return fis.count >> 3; }
        std::uint32_t sectors() const {
            const bool queued = fis.command == 0x60 || fis.command == 0x61;
            const std::uint32_t n = queued ? fis.features : fis.count;
            return n == 0 ? 65536 : n;
        }
    };
    struct Out {
        std::vector<std::uint8_t> fis;
        std::string text;
    };

    // --- What comes ---

    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, [[maybe_unused]] tlm::tlm_phase& phase,
                                       sc_core::sc_time&) override {
        sc_assert(phase == tlm::BEGIN_REQ);
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        const auto* const x = p.get_extension<SataExtension>();
        if (x != nullptr && x->kind == SataExtension::Kind::comreset) {
            ++comresets;
            log.emplace_back("> COMRESET");
            forget();
            power_on();
            return tlm::TLM_COMPLETED;
        }
        take(p.get_data_ptr(), p.get_data_length());
        return tlm::TLM_COMPLETED;
    }
    void take(const std::uint8_t* b, std::uint32_t bytes) {
        char text[64];
        if (b[0] == 0x46) {
            std::snprintf(text, sizeof text, "> Data %u", bytes - 4);
            log.emplace_back(text);
            written(b + 4, bytes - 4);
            return work();
        }
        const sata::RegisterH2d f = sata::RegisterH2d::from(b);
        const bool queued = f.command == 0x60 || f.command == 0x61;
        std::snprintf(text, sizeof text, queued ? "> %02x tag %u%s" : "> %02x", f.command, f.count >> 3,
                      (f.device & 0x80) != 0 ? " FUA" : "");
        log.emplace_back(text);
        if (queued && failed_) {  // until its log has been read
            send(register_d2h(0x51, 0x04, true), "< D2H 51");
        } else if (queued) {
            waiting_.push_back({f});
            send(register_d2h(0x40, 0, false), "< D2H 40");
        } else {
            not_queued(f);
        }
        work();
    }
    /// What is on the wire is one frame at a time.
    void not_queued(const sata::RegisterH2d& f) {
        switch (f.command) {
            case 0xEC:
                identify();
                return pio();
            case 0x2F:
                block_.fill(0);
                block_[0] = static_cast<std::uint8_t>(failed_tag_);
                block_[2] = failed_status_;
                block_[3] = failed_error_;
                failed_ = false;
                return pio();
            case 0x25:
            case 0x35:
            case 0x3D:
            case 0x06:
                waiting_.push_back({f});
                return;
            case 0xEA:
                ++flushes;
                [[fallthrough]];
            case 0xEF:
            case 0xE0:
                return send(register_d2h(0x50, 0, true), "< D2H 50");
            default:
                return send(register_d2h(0x51, 0x04, true), "< D2H 51");
        }
    }
    void identify() {
        const auto word = [this](unsigned n, std::uint16_t v) { std::memcpy(block_.data() + 2 * n, &v, 2); };
        block_.fill(0);
        word(75, static_cast<std::uint16_t>(depth - 1));
        word(76, ncq ? 1u << 8 : 0u);
        word(82, 1u << 5);
        word(84, fua_ext ? 1u << 6 : 0u);
        word(85, 1u << 5);
        word(101, 0x10);  // 2^20 sectors
        word(105, 1);
        word(169, 1);
    }
    void pio() {
        sata::PioSetup f;
        f.status = 0x58;
        f.end_status = 0x50;
        f.transfer_bytes = 512;
        send(f.bytes(), "< PIO Setup");
        std::vector<std::uint8_t> data{0x46, 0, 0, 0};
        data.insert(data.end(), block_.begin(), block_.end());
        send(data, "< Data 512");
    }
    void written(const std::uint8_t* data, std::uint32_t bytes) {
        Command& c = waiting_.front();
        for (std::uint32_t i = 0; i < bytes; i += 512, c.sent += 512) {
            if (c.fis.command != 0x06) {
                std::memcpy(sectors[c.fis.lba + c.sent / 512].data(), data + i, 512);
                continue;
            }
            for (unsigned e = 0; e < 64; ++e) {
                std::uint64_t entry = 0;
                std::memcpy(&entry, data + i + 8 * e, 8);
                trimmed += entry >> 48;
            }
        }
        asked_ = false;
    }

    // --- What it does: one command after the other ---

    void work() {
        if (working_ || waiting_.empty() || failed_ || asked_) return;
        working_ = true;
        agenda_.post(agenda_.now() + kStep, Then::to<&ForeignDrive::step>(this, life_));
    }
    void step(std::uint64_t life) {
        if (life != life_) return;
        working_ = false;
        Command& c = waiting_.front();
        const bool queued = c.fis.command == 0x60 || c.fis.command == 0x61;
        const bool reads = c.fis.command == 0x60 || c.fis.command == 0x25;
        const std::uint32_t bytes = c.sectors() * 512;
        for (std::uint32_t i = 0; i < c.sectors(); ++i) {
            if (reads && broken.erase(c.fis.lba + i) != 0) return fail(c, queued, 0x41, 0x84);
            if ((reads && bad.count(c.fis.lba + i) != 0)) return fail(c, queued, 0x41, 0x40);
            if ((!reads && refused.count(c.fis.lba + i) != 0)) return fail(c, queued, 0x41, 0x04);
        }
        char text[64];
        if (queued && c.sent == 0 && !set_up_) {
            set_up_ = true;
            sata::DmaSetup f;
            f.tag = static_cast<std::uint8_t>(c.tag());
            f.to_host = reads;
            f.transfer_bytes = bytes;
            std::snprintf(text, sizeof text, "< DMA Setup tag %u %s %u", c.tag(), reads ? "to host" : "to drive",
                          bytes);
            send(f.bytes(), text);
        }
        if (reads) {
            for (; c.sent < bytes; c.sent += std::min(bytes - c.sent, 8192u)) {
                const std::uint32_t n = std::min(bytes - c.sent, 8192u);
                std::vector<std::uint8_t> data{0x46, 0, 0, 0};
                for (std::uint32_t i = 0; i < n / 512; ++i) {
                    const auto& s = sectors[c.fis.lba + c.sent / 512 + i];
                    data.insert(data.end(), s.begin(), s.end());
                }
                std::snprintf(text, sizeof text, "< Data %u", n);
                send(data, text);
            }
        } else if (c.sent < bytes) {
            asked_ = true;
            return send(sata::dma_activate(), "< DMA Activate");
        }
        set_up_ = false;
        const unsigned tag = c.tag();
        waiting_.pop_front();
        if (queued)
            ends(tag, 0x40, 0);
        else
            send(register_d2h(0x50, 0, true), "< D2H 50");
        work();
    }
    void ends(unsigned tag, std::uint8_t status, std::uint8_t error) {
        sata::SetDeviceBits f;
        f.status = status;
        f.error = error;
        f.active = (status & 1) != 0 ? 0 : 1u << tag;
        char text[64];
        std::snprintf(text, sizeof text, "< SDB %x status %02x", f.active, status);
        send(f.bytes(), text);
    }
    /// All others are aborted with it.
    void fail(const Command& c, bool queued, std::uint8_t status, std::uint8_t error) {
        failed_tag_ = c.tag();
        failed_status_ = status;
        failed_error_ = error;
        waiting_.clear();
        set_up_ = false;
        if (!queued) {
            char text[64];
            std::snprintf(text, sizeof text, "< D2H %02x", status);
            return send(register_d2h(status, error, true), text);
        }
        failed_ = true;
        ends(failed_tag_, status, error);
    }

    // --- What goes: one frame at a time ---

    static std::vector<std::uint8_t> register_d2h(std::uint8_t status, std::uint8_t error, bool interrupt) {
        sata::RegisterD2h f;
        f.status = status;
        f.error = error;
        f.interrupt = interrupt;
        const auto b = f.bytes();
        return {b.begin(), b.end()};
    }
    template <class Bytes>
    void send(const Bytes& fis, const std::string& text) {
        queue_.push_back({{fis.begin(), fis.end()}, text});
        if (!posted_ && !on_wire_) {
            posted_ = true;
            agenda_.post(agenda_.now() + kStep, Then::to<&ForeignDrive::next_frame>(this, life_));
        }
    }
    void next_frame(std::uint64_t life) {
        if (life != life_) return;
        posted_ = false;
        if (queue_.empty()) return;
        frame_ = queue_.front().fis;
        log.push_back(queue_.front().text);
        queue_.pop_front();
        payload_.set_command(tlm::TLM_WRITE_COMMAND);
        payload_.set_data_ptr(frame_.data());
        payload_.set_data_length(static_cast<unsigned>(frame_.size()));
        payload_.set_streaming_width(static_cast<unsigned>(frame_.size()));
        payload_.get_extension<SataExtension>()->kind = SataExtension::Kind::frame;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time none;
        on_wire_ = true;
        if (out->nb_transport_fw(payload_, phase, none) == tlm::TLM_COMPLETED) sent();
    }
    void sent() {
        on_wire_ = false;
        if (!queue_.empty() && !posted_) {
            posted_ = true;
            agenda_.post(agenda_.now() + kStep, Then::to<&ForeignDrive::next_frame>(this, life_));
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
        sent();
        return tlm::TLM_COMPLETED;
    }
    void signal(SataExtension::Kind kind) {
        tlm::tlm_generic_payload p;
        auto* const x = new SataExtension;
        x->kind = kind;
        x->generation = 3;
        p.set_extension(x);
        p.set_command(tlm::TLM_IGNORE_COMMAND);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time none;
        out->nb_transport_fw(p, phase, none);
    }
    void comes_up(std::uint64_t life) {
        if (life != life_) return;
        signal(SataExtension::Kind::phy_up);
        sata::RegisterD2h f;
        f.status = 0x50;
        f.error = 1;
        f.lba = 1;
        f.count = 1;
        f.interrupt = false;
        send(f.bytes(), "< D2H signature");
    }
    void forget() {
        ++life_;
        waiting_.clear();
        queue_.clear();
        working_ = posted_ = on_wire_ = failed_ = asked_ = set_up_ = false;
    }

    Agenda& agenda_;
    std::uint64_t life_ = 0;
    std::deque<Command> waiting_;
    std::deque<Out> queue_;
    std::vector<std::uint8_t> frame_;
    tlm::tlm_generic_payload payload_;
    std::array<std::uint8_t, 512> block_{};
    bool working_ = false, posted_ = false, on_wire_ = false, failed_ = false, asked_ = false, set_up_ = false;
    unsigned failed_tag_ = 0;
    std::uint8_t failed_status_ = 0, failed_error_ = 0;
};

}  // namespace ssdtlm
