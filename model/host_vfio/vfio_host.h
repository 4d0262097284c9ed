// SPDX-License-Identifier: Apache-2.0
// A guest as the host: a vfio-user client, for example QEMU, whose driver uses the drive. It takes the place of Host,
// between the same two sockets:
//
//   client <-- socket --> Session -- registers --> mmio_initiator -> PcieLink -> the drive
//                            |
//                         DmaRegions <---------- dma_target ------- PcieLink <- the drive
//
// The client's messages are handled between slices of simulated time. Its register accesses go over the link, and a
// read is answered when its completion has come. Reads and writes of the drive access the client's memory when they
// arrive here, and a message of MSI-X then writes an eventfd. The commands in the driver's rings are followed on their
// way (GuestQueues), so that statistics, breakdown and waves are those of any run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "common/tlm/tlm_guard.h"
#include "host_pcie/driver/host_driver.h"
#include "host_pcie/driver/mmio_initiator.h"
#include "host_vfio/function_reset.h"
#include "host_vfio/guest_queues.h"
#include "host_vfio/guest_service.h"
#include "host_vfio/session.h"

namespace ssdtlm {

/// The facts about the drive that the host does not read from its registers.
struct VfioHostFacts {
    vfio::PciFacts pci;
    DriveInfo drive;
    std::uint32_t lba_bytes = 512;  ///< used until the guest's driver has identified the namespace
    Ps settles{};                   ///< time after the last access in which an event may still come
};

class VfioHost : public sc_core::sc_module,
                 public HostDriver,
                 private DriveControl,
                 private CommandQueues,
                 private vfio::SessionDevice,
                 private tlm::tlm_fw_transport_if<> {
public:
    tlm::tlm_initiator_socket<> mmio_initiator;  ///< address = offset in BAR0, 4 bytes
    tlm::tlm_target_socket<> dma_target;         ///< address = the client's DMA address

    /// `workload` hands out the requests of `service.commands`. `is_idle` is true if the drive has no work. All
    /// arguments must outlive the host; `observer` may be null.
    VfioHost(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, const VfioHostFacts& facts,
             Workload& workload, GuestService& service, CommandTracker& stages, std::function<bool()> is_idle,
             vfio::FunctionReset::Carry reset_function, CompletionObserver* observer);
    ~VfioHost() override;

    /// Number of commands that have ended and that the drive counts.
    std::uint64_t carried_out() const { return carried_out_; }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const;
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }

private:
    /// One register access of the client, made of reads of 4 bytes.
    struct BarRead final : MmioClient {
        explicit BarRead(VfioHost& h) : host(h) {}
        void mmio_read_done(std::uint32_t value) override { host.dword_read(*this, value); }
        VfioHost& host;
        std::uint64_t number = 0;
        std::uint32_t offset = 0, bytes = 0, next = 0;
        vfio::Bytes data;
        bool open = false;
    };
    struct StatusRead final : MmioClient {
        explicit StatusRead(VfioHost& h) : host(h) {}
        void mmio_read_done(std::uint32_t value) override { host.status_read(value); }
        VfioHost& host;
    };
    struct Queue {
        std::vector<bool> open;  // by CID
        std::uint32_t outstanding = 0;
        std::deque<Ended> ended;
    };
    /// What the host waits for: the end of a reset of the function, or CSTS to report the end of a shutdown.
    enum class Waits : std::uint8_t { none, reset, shutdown };

    // These functions serve the client's messages at the present time.
    void turn();
    void take_messages();
    void take_signals();
    bool stands() const;
    std::int64_t patience(SimTime until, std::int64_t wall) const;
    void begin_client();
    void end_client(bool broke);
    void begin_end();

    // SessionDevice
    void read_bar(std::uint32_t offset, std::uint32_t bytes, std::uint64_t read) override;
    void write_bar(std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes) override;
    void reset() override;

    void dword_read(BarRead& read, std::uint32_t value);
    void answer(BarRead& read);
    void write_dword(std::uint32_t offset, std::uint32_t value);
    void rung(std::uint16_t queue, std::uint32_t tail);
    std::uint32_t doorbell(std::uint16_t queue, bool head, std::uint32_t value);
    void follow(std::uint16_t queue, const nvme::Sqe& sqe);
    void controller_enabled();
    void stop_following();
    void program_vectors();
    void look_at_pin();
    bool busy() const { return session_.busy() || waits_ == Waits::reset; }
    void begin_reset();
    void reset_ended();
    void poll();
    void status_read(std::uint32_t csts);
    std::uint64_t begin_of(std::uint32_t nsid) const;

    // These functions receive the accesses of the drive.
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void end_of_elaboration() override;
    void serve(tlm::tlm_generic_payload& payload);
    bool copy(bool write, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes);
    bool copy_by_message(bool write, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes);
    void interrupt(std::uint32_t vector);
    void completed(const vfio::GuestQueues::Completed& completed);

    // DriveControl
    void start(std::function<void()> done) override;
    void started();
    void shutdown(std::function<void()> done) override;
    void stop(std::function<void()> done) override { shutdown(std::move(done)); }
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) override;
    void power_lost() override;
    const DriveInfo& info() const override { return facts_.drive; }
    const char* doing() const override;
    void check_accesses() const override { mmio_.check_waiters("guest, register accesses"); }

    // CommandQueues
    std::uint32_t count() const override { return facts_.drive.queue_pairs; }
    bool has_room(std::uint16_t) const override { return true; }
    Submitted submit(std::uint16_t queue, const HostRequest& request) override;
    void announce(std::uint16_t) override {}
    bool has_ended(std::uint16_t queue) const override { return !at(queue).ended.empty(); }
    std::uint16_t next_ended(std::uint16_t queue) const override { return at(queue).ended.front().tag; }
    Ended take_ended(std::uint16_t queue) override;
    void acknowledge(std::uint16_t) override {}
    std::uint32_t outstanding(std::uint16_t queue) const override { return at(queue).outstanding; }
    bool is_outstanding(std::uint16_t queue, std::uint16_t tag) const override {
        return !at(queue).open.empty() && at(queue).open[tag];
    }
    void forget(std::uint16_t queue) override { at(queue) = Queue(); }
    std::string status_text(std::uint32_t code) const override;
    std::string dump(std::uint16_t) const override { return ""; }

    const Queue& at(std::uint16_t queue) const { return io_queues_[queue - 1u]; }
    Queue& at(std::uint16_t queue) { return io_queues_[queue - 1u]; }

    Agenda& agenda_;
    const VfioHostFacts facts_;
    GuestService& service_;
    CommandTracker& stages_;
    const std::function<bool()> is_idle_;
    TargetGuard<> door_;
    MmioInitiator mmio_;
    vfio::Session session_;
    vfio::GuestQueues queues_;
    std::vector<Queue> io_queues_;
    std::vector<std::unique_ptr<BarRead>> reads_;
    StatusRead status_{*this};
    vfio::FunctionReset function_reset_;
    Agenda::Entry poll_;
    Waits waits_ = Waits::none;
    SimTime waits_since_{};
    bool shutdown_asked_ = false;
    bool ending_ = false;
    bool drop_ = false;  // the client has broken the protocol within a callback
    std::uint16_t next_id_ = 0;
    SimTime last_access_{};
    std::function<void()> started_, shut_down_;
    std::uint64_t carried_out_ = 0, admin_ = 0, others_ = 0, partial_writes_ = 0, wrong_addresses_ = 0;
    std::uint64_t dma_by_message_ = 0, resets_of_function_ = 0;
};

}  // namespace ssdtlm
