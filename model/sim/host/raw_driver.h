// SPDX-License-Identifier: Apache-2.0
// The host's driver for the front end "raw". Each command is one payload at the drive's TLM target. The driver takes no
// time, so only the drive is measured. The queues are in the host; host.queue_pairs and host.queue_entries give their
// number and depth. The drive gets one stream of payloads. There are no resets, which belong to a protocol.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/latency/command_tracker.h"
#include "common/tlm/agenda.h"
#include "common/tlm/tlm_guard.h"
#include "controller/raw/raw_extension.h"
#include "host_pcie/driver/host_driver.h"

namespace ssdtlm {

class RawDriver : public sc_core::sc_module,
                  public HostDriver,
                  private DriveControl,
                  private CommandQueues,
                  private tlm::tlm_bw_transport_if<> {
public:
    /// The socket's address is a byte of the drive; see RawFrontEnd.
    tlm::tlm_initiator_socket<> socket;

    /// `info` describes the drive. In `stages` the drive records the stages of commands. `oracle` and `observer` may be
    /// null, see IoPath. All arguments must outlive the driver.
    RawDriver(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, const DriveInfo& info,
              Workload& workload, CommandTracker& stages, IntegrityOracle* oracle, CompletionObserver* observer);

    using HostDriver::shutdown;
    using HostDriver::start;
    void dump(std::ostream& out) const override { out << state(); }

private:
    struct Slot {
        tlm::tlm_generic_payload payload;
        RawExtension& more = *new RawExtension;  // owned by the payload
        std::unique_ptr<std::uint8_t[]> data;
        std::uint32_t capacity = 0;
        bool busy = false;

        Slot() { payload.set_extension(&more); }
    };
    struct Queue {
        std::deque<Slot> slots;  // by tag; a deque keeps the addresses of the payloads
        std::vector<std::uint16_t> free;
        std::vector<std::uint16_t> written;  // written, but not sent
        std::deque<std::uint16_t> ended;     // ended, but not taken
        std::uint32_t outstanding = 0;
    };

    // The following functions are those of DriveControl.
    void start(std::function<void()> done) override;
    void shutdown(std::function<void()> done) override { stop(std::move(done)); }
    void stop(std::function<void()> done) override;
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) override;
    void power_lost() override;
    const DriveInfo& info() const override { return info_; }
    const char* doing() const override { return doing_; }
    void check_accesses() const override { door_.check_waiters("host, raw commands"); }

    // The following functions are those of CommandQueues.
    std::uint32_t count() const override { return static_cast<std::uint32_t>(queues_.size()); }
    bool has_room(std::uint16_t queue) const override { return at(queue).outstanding + 1 < info_.queue_entries; }
    Submitted submit(std::uint16_t queue, const HostRequest& request) override;
    void announce(std::uint16_t queue) override;
    bool has_ended(std::uint16_t queue) const override { return !at(queue).ended.empty(); }
    std::uint16_t next_ended(std::uint16_t queue) const override { return at(queue).ended.front(); }
    Ended take_ended(std::uint16_t queue) override;
    void acknowledge(std::uint16_t) override {}
    std::uint32_t outstanding(std::uint16_t queue) const override { return at(queue).outstanding; }
    bool is_outstanding(std::uint16_t queue, std::uint16_t tag) const override {
        return tag < at(queue).slots.size() && at(queue).slots[tag].busy;
    }
    void forget(std::uint16_t queue) override;
    std::string status_text(std::uint32_t code) const override { return status_name(static_cast<CommandStatus>(code)); }
    std::string dump(std::uint16_t) const override { return ""; }

    const Queue& at(std::uint16_t queue) const { return queues_[queue - 1u]; }
    Queue& at(std::uint16_t queue) { return queues_[queue - 1u]; }
    Slot& take_slot(Queue& q, std::uint16_t number);
    void send(tlm::tlm_generic_payload& payload);
    void started();
    void shut_down_when_idle();
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override { drive_ = door_.towards(socket.operator->()); }

    Agenda& agenda_;
    InitiatorGuard<> door_;
    tlm::tlm_fw_transport_if<>* drive_ = nullptr;  // what the socket is bound to
    const HostConfig& config_;
    const DriveInfo info_;
    CommandTracker& stages_;
    std::deque<Queue> queues_;
    std::uint64_t in_drive_ = 0;   // commands without an answer
    bool shutdown_waits_ = false;  // until these have ended
    Slot ending_;                  // the command that shuts down
    const char* doing_ = "off";
    std::function<void()> done_;  // called at the end of start() or stop()
    Agenda::Entry start_;
};

}  // namespace ssdtlm
