// SPDX-License-Identifier: Apache-2.0
// A host that carries out a case: it has the model's bring-up and host memory, and submission, data and their check of
// its own. What it writes is of its own making (each write a number, in each of its logical blocks a text that follows
// from number and place), Write Zeroes included; after a loss of power nothing is submitted again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "common/tlm/doors.h"
#include "common/tlm/pooled_payload.h"
#include "host_pcie/driver/bring_up.h"
#include "host_pcie/driver/prp_builder.h"
#include "host_pcie/driver/root_complex.h"
#include "property/block_contents.h"
#include "property/drive_case.h"
#include "property/reference_map.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class CaseHost : public sc_core::sc_module, public InterruptSink, private MmioPort, private tlm::tlm_bw_transport_if<> {
public:
    struct Drive {
        std::uint32_t unit_bytes, lba_bytes;
        std::uint64_t units, filled;
        bool bytes, durable_writes;
        bool durable_trims;  ///< capacitors protect the journal, too
        bool caches_filled;  ///< what the drive holds at the start is in part in its write buffer only
        bool loses_pages;    ///< any read may find that the flash has lost what it is for
        std::uint32_t version_bits;
        std::uint64_t seed;
    };
    struct Counts {
        std::uint64_t done[DriveOp::kKinds] = {};
        std::uint64_t cut_off = 0, looked_at = 0, cuts = 0, under_load = 0;  ///< cuts with commands under way
        std::uint64_t resets_under_load = 0;
        std::uint64_t failed = 0, lost = 0;  ///< lost: of those that failed, on a drive that loses pages
    };

    tlm::tlm_initiator_socket<> mmio_initiator;

    CaseHost(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, const Drive& drive,
             std::uint32_t depth, const std::vector<DriveOp>& ops);

    /// Called with false when the power goes, and with true when it is back; see NvmeDriver.
    void set_power_switch(std::function<bool(bool)> f) { power_switch_ = std::move(f); }
    void drive_is_off() {
        if (std::exchange(power_waits_, false)) power_returns(0);
    }
    /// Whether the drive's flash has failed so often that it is.
    void set_is_read_only(std::function<bool()> f) { is_read_only_ = std::move(f); }
    /// All is done, and the drive shut down.
    void set_on_end(std::function<void()> f) { on_end_ = std::move(f); }
    void start();
    bool ended() const { return ended_; }
    std::string where() const;
    const Counts& counts() const { return counts_; }
    const ReferenceMap& reference() const { return map_; }
    std::uint64_t commands() const { return commands_; }
    RootComplex& root_complex() { return root_complex_; }

    void interrupt(std::uint64_t address, std::uint32_t data) override;

private:
    static constexpr Ps kOff{20'000'000};  // 20 us
    /// Of a command under way, the part of a unit that it touches.
    struct Part {
        std::uint64_t unit;
        std::uint32_t first, blocks;
        ReferenceMap::Moment begun;
    };
    struct Slot {
        DriveOp::Kind kind = DriveOp::Kind::read;
        bool busy = false;
        bool read_only = false;  ///< the drive was, when it was submitted
        std::uint64_t lba = 0;
        std::uint32_t blocks = 0;
        ReferenceMap::Moment begun = 0;
        std::vector<Part> parts;
        std::vector<nvme::DsmRange> ranges;  ///< trim
        SlotBuffer buffer;
    };
    struct Access : tlm::tlm_generic_payload {
        Access() { set_up(*this, tlm::TLM_WRITE_COMMAND, 0, reinterpret_cast<unsigned char*>(&value), sizeof value); }
        std::uint32_t value = 0;
        MmioClient* client = nullptr;
    };
    struct OneJob final : Workload {
        Next next(SimTime) override { return {}; }
        void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override {}
        std::uint32_t jobs() const override { return 1; }
        std::uint32_t depth(std::uint32_t) const override { return 1; }
        double progress(SimTime) const override { return 0; }
        bool measuring(const HostRequest&, SimTime) const override { return false; }
    };
    /// What is to be done next.
    enum class Stage : std::uint8_t { starts, works, looks, last_look, ends };

    void write32(std::uint32_t offset, std::uint32_t value) override {
        access(tlm::TLM_WRITE_COMMAND, offset, value, nullptr);
    }
    void read32(std::uint32_t offset, MmioClient& client) override {
        access(tlm::TLM_READ_COMMAND, offset, 0, &client);
    }
    void access(tlm::tlm_command command, std::uint32_t offset, std::uint32_t value, MmioClient* client);
    void access_done(Access& a);
    void access_done_at_once(std::uint64_t number);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override { registers_ = door_.towards(mmio_initiator.operator->()); }
    void admin_handler(std::uint64_t) { bring_up_.admin_interrupt(); }

    void bring_up(std::uint64_t);
    void started();
    void go_on(std::uint64_t);
    bool next_op();
    bool next_look();
    std::uint32_t submit(const DriveOp& op);
    void touch(Slot& s, std::uint64_t lba, std::uint64_t blocks) const;
    bool too_many_there(const Slot& s) const;
    void write_sqe(Slot& s);
    void take_completions();
    void completed(Slot& s, const nvme::Cqe& cqe);
    void failed(Slot& s, std::uint16_t status);
    std::string what_is_known(const std::vector<Part>& parts) const;
    void check_read(Slot& s);
    void drop_commands();
    void forget(Slot& s);
    void reset(std::uint64_t);
    void cut_power(std::uint64_t);
    void power_returns(std::uint64_t);
    void wait(Ps time);
    std::uint32_t blocks_per_unit() const { return drive_.unit_bytes / drive_.lba_bytes; }

    Agenda& agenda_;
    const HostConfig config_;
    const Drive drive_;
    const std::uint32_t depth_;
    const std::vector<DriveOp>& ops_;
    HostMemory memory_;
    InitiatorDoor<> door_;
    RootComplex root_complex_;
    tlm::tlm_fw_transport_if<>* registers_ = nullptr;
    PooledPayloads<Access> accesses_;
    OneJob one_job_;
    QueuePlan plan_;
    BringUp bring_up_;
    std::vector<QueuePair> queue_;  // one, once the controller has granted it
    std::vector<Slot> slots_;       // by command identifier
    BlockContents contents_;
    ReferenceMap map_;
    bool initial_at_risk_;  // no flush has made durable what was in the buffer at the start
    bool flush_failed_ = false;
    std::function<bool(bool)> power_switch_;
    std::function<bool()> is_read_only_;
    bool was_read_only_ = false;  ///< before a loss of power: what it had given up stays lost, though a start may know
                                  ///< nothing of the block that had failed
    std::function<void()> on_end_;
    Stage stage_ = Stage::starts;
    std::size_t next_ = 0;       // of ops_
    std::uint64_t look_at_ = 0;  // next unit
    std::uint32_t under_way_ = 0;
    std::uint64_t commands_ = 0;
    bool waits_ = false;  // for its own entry of the agenda
    Agenda::Entry timer_;
    bool powered_ = true, power_waits_ = false, serves_ = false, going_on_ = false, ended_ = false, shut_down_ = false;
    const DriveOp* cut_by_ = nullptr;  // the operation that takes the power away or resets, until the drive is back
    std::uint32_t cuts_left_ = 0;      // of that operation
    Counts counts_;
};

}  // namespace ssdtlm
