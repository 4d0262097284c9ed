// SPDX-License-Identifier: Apache-2.0
// Serial ATA for the host of a case: frames of its own making at the link's sockets, without an adapter and a driver.
// It trusts the drive in nothing: each frame must be one that a command under way waits for, and data must be whole.
// - Queued commands keep their slot as tag. The next one is sent when the drive has released the one before. What is
//   not queued waits until no tag is outstanding.
// - After an error of a queued command it reads log 10h. That says who has failed; the others are aborted.
// - Data with a CRC error end their command. Whatever else arrives broken at the drive is sent again.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"
#include "common/tlm/tlm_guard.h"
#include "host_sata/link/sata_link.h"
#include "property/case_port.h"
#include "protocol/ata.h"
#include "protocol/sata.h"
#include "protocol/sata_payload.h"

namespace ssdtlm {

class SataCasePort final : public sc_core::sc_module,
                           public CasePort,
                           private tlm::tlm_fw_transport_if<SataProtocol>,
                           private tlm::tlm_bw_transport_if<SataProtocol> {
public:
    SataInitiatorSocket initiator;  ///< to the link
    SataTargetSocket target;        ///< from it

    struct Config {
        std::uint32_t lba_bytes = 512;
        std::uint32_t max_transfer_bytes = 0;
        std::uint32_t depth = 32;
        bool cache_off = false;  ///< SET FEATURES when the drive comes up
    };
    struct Counts {
        std::uint64_t recoveries = 0, soft_resets = 0, data_frames_lost = 0;
    };

    SataCasePort(sc_core::sc_module_name name, Agenda& agenda, const Config& config, SataLink& link,
                 CasePortClient& client);

    void start(Done started) override;
    const Facts& facts() const override { return facts_; }
    bool has_room(const CaseCommand& command) const override;
    std::uint32_t next_slot() const override;
    std::uint8_t* buffer(std::uint32_t slot, std::uint32_t bytes) override;
    void submit(std::uint32_t slot, const CaseCommand& command) override;
    void drop() override;
    void reset(std::uint32_t variant, Done stopped, Done done) override;
    void stop(Done done) override;
    void shutdown(Done done) override { stop(std::move(done)); }
    void power_lost() override;
    bool resets_end_commands() const override { return true; }
    void break_frame(std::uint32_t n) override { link_object_.inject_crc_error(n); }
    std::uint64_t commands() const override { return commands_; }
    std::string doing() const override { return doing_; }

    const Counts& counts() const { return counts_; }
    /// Entries of the agenda that are its own stay when the drive has no power.
    bool owns(const void* object) const;

private:
    using Next = void (SataCasePort::*)();
    static constexpr std::uint32_t kNobody = ~0u;
    static constexpr std::uint32_t kOwn = 32;  ///< slot of the port's own commands
    static constexpr Ps kSrst{5'000'000};      ///< at least 5 us (Serial ATA 3.0, 10.3.4.2; ATA8-APT)
    enum class Link : std::uint8_t { no_signature, soft_reset, ready };

    struct Slot {
        bool under_way = false, queued = false, released = false, to_host = false;
        std::uint8_t opcode = 0;
        std::vector<std::uint8_t> data;
        std::size_t bytes = 0;  ///< that are to go
        std::size_t moved = 0;
    };

    // Frames (sata_case_port.cpp).
    void send(const std::uint8_t* fis, std::size_t bytes);
    void next_frame();
    void answered(tlm::tlm_generic_payload& payload);
    void received(const std::uint8_t* fis, std::uint32_t bytes);
    void register_frame(const sata::RegisterD2h& r);
    void device_bits(const sata::SetDeviceBits& s);
    void dma_setup(const sata::DmaSetup& s);
    void send_data();
    void data(const std::uint8_t* bytes, std::uint32_t count);
    void hear_no_more();
    [[noreturn]] void wrong(const std::string& what) const;

    // What the port does by itself (sata_case_control.cpp).
    void own(sata::RegisterH2d command, const char* doing, std::size_t bytes, bool may_fail, Next next);
    void own_ended(std::uint8_t status, std::uint8_t error);
    void repeat_own();
    void signature();
    void identified();
    void up();
    void queue_failed();
    void recover();
    void log_read();
    void begin_stop();
    void flushed();
    void standing_by();
    void reset_now();
    void end_srst(std::uint64_t attempt);
    void when_idle();
    void ended(std::uint32_t slot, std::uint8_t status, std::uint8_t error);
    bool idle() const { return outstanding_ == 0 && other_ == kNobody && !halted_ && own_next_ == nullptr; }
    Slot& slot_of_data();

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override;

    Agenda& agenda_;
    const Config config_;
    SataLink& link_object_;
    CasePortClient& client_;
    TargetGuard<SataProtocol> in_;
    InitiatorGuard<SataProtocol> out_;
    tlm::tlm_fw_transport_if<SataProtocol>* link_ = nullptr;
    PayloadPool<SataExtension> payloads_;
    std::deque<std::vector<std::uint8_t>> frames_;  // to be sent; the first one is at the link if sent_ says so
    tlm::tlm_generic_payload* sent_ = nullptr;      // at the link
    Link state_ = Link::no_signature;
    std::array<Slot, 33> slots_;
    std::uint32_t last_slot_ = kOwn - 1;
    std::uint32_t outstanding_ = 0;       // tags
    std::uint32_t unreleased_ = kNobody;  // tag whose command the drive has not answered
    std::uint32_t other_ = kNobody;       // slot of a command that is not queued
    std::uint32_t phase_ = kNobody;       // tag whose data go
    std::uint8_t pio_end_ = 0;            // status behind the Data of a PIO Setup
    bool pio_ = false;
    bool halted_ = false;  // by an error of a queued command
    bool clean_ = false;   // and the drive has cleared all tags
    bool told_ = true;     // what the drive ends is told
    sata::RegisterH2d own_command_;
    bool own_may_fail_ = false;
    Next own_next_ = nullptr;
    Done started_, done_, stopped_;
    std::uint32_t reset_variant_ = 0;
    bool reset_waits_ = false;  // for the end of what is under way, and the shutdown
    std::uint64_t attempt_ = 0;
    bool starting_ = false;
    bool signature_came_ = false;
    Facts facts_;
    std::uint64_t commands_ = 0;
    Counts counts_;
    const char* doing_ = "off";
};

}  // namespace ssdtlm
