// SPDX-License-Identifier: Apache-2.0
// The controller's path to host memory: turns scattered segments into memory transactions on the PCIe socket, and
// arbitrates between them. Short requests (SQE fetches, PRP lists, CQEs, MSI-X messages) go to the link at once. Data
// move in bursts of up to 4 KiB, of which only a few are at the link at a time, so that a completion waits for a
// burst or two and not for all data of all commands; longer writes, and parts of a command's data, are bulk, which the
// link lets all others pass at each TLP. Adds no time and holds no data: the link serialises, the payloads point at the
// caller's buffers. Data of which only some bytes have content carries byte enables. Models no descriptor fetch.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "common/tlm/pooled_payload.h"
#include "common/tlm/tlm_guard.h"
#include "controller/ports/dma_port.h"
#include "protocol/link_extension.h"

namespace ssdtlm {

struct DmaCounters {
    std::uint64_t bytes_written = 0;  ///< device to host
    std::uint64_t bytes_read = 0;     ///< host to device
    std::uint64_t writes = 0;         ///< requests
    std::uint64_t reads = 0;
    std::uint64_t failed_reads = 0;
};

class DmaEngine : public sc_core::sc_module, public DmaPort, private tlm::tlm_bw_transport_if<> {
public:
    /// Contiguous segments become one payload up to this size; a longer one would keep others off the wire.
    static constexpr std::uint32_t kMaxPayloadBytes = 4096;
    /// As kMaxPayloadBytes, for bulk writes, which keep nobody off the wire. A write of more than kMaxPayloadBytes is
    /// bulk.
    static constexpr std::uint32_t kMaxBulkBytes = 1u << 20;
    /// A read of up to this size is control traffic (8 SQEs, a PRP list of 64 entries), as is a write of up to
    /// kDmaInlineBytes.
    static constexpr std::uint32_t kControlReadBytes = 512;

    /// Most data bursts to the host, without bulk, that are at the link and do not have the wire yet. Assumed: one
    /// keeps the wire busy.
    static constexpr std::uint32_t kWritesAhead = 1;

    /// The socket to the link. Writes carry LinkExtension.
    tlm::tlm_initiator_socket<> pcie_initiator;

    /// `read_window_bytes`: most bytes of data reads that are under way at the link (at least one read goes). It should
    /// leave some of the link's read tags to control traffic.
    DmaEngine(sc_core::sc_module_name name, Agenda& agenda, std::uint64_t read_window_bytes);
    ~DmaEngine() override;

    void write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data, const DmaThen& then,
                    ByteEnables content = {}, const DmaTerms& terms = kPlainTerms) override;
    void read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, const DmaThen& then,
                   ByteEnables content = {}) override;

    void post_host(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes) override;

    const DmaCounters& counters() const { return counters_; }
    /// Requests that have begun and are not reported yet.
    std::uint64_t outstanding() const { return work_->outstanding; }
    /// Carries out a loss of power: everything under way is lost, and nobody is told. Counters continue.
    void restart() {
        door_.restart();
        work_.emplace();
        link_ = host_;
        quiet_ = nullptr;
    }
    /// The host has lost power, and the drive has not yet. Until restart() the callers of requests under way, and of
    /// later ones, are not told. Precondition: the agenda holds no entry of the engine any more.
    void host_is_gone();
    /// The function is being reset. From now on no request reaches the host: writes are dropped, and reads fail at
    /// once.
    void cut_off() { link_ = refuses_.get(); }
    /// Ends the bursts that wait in the same way, if the engine is still cut off. `quiet` is called when no request is
    /// at the link, which may be within the call. A loss of power drops it.
    void end_waiting(std::function<void()> quiet);
    /// Requests reach the host again.
    void reconnect();
    /// True: data from the host wait until fewer are under way.
    bool reads_wait() const { return !work_->waiting_reads.empty(); }
    /// State for the watchdog's report.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Throws CheckFailed if bursts wait although no other is at the link. Call it between two entries of the agenda.
    void check_waiters() const;

private:
    /// A request of more than one payload.
    struct Request {
        DmaThen then;
        SimTime at;  // latest visible_at of its writes
        std::uint32_t bytes;
        std::uint32_t outstanding;  // payloads, plus one while payloads are still being sent
        bool write;
        bool failed;
        bool data;
    };
    struct Payload : tlm::tlm_generic_payload {
        Payload() { set_extension<LinkExtension>(link); }
        LinkExtension* link = new LinkExtension;  // freed by the payload
        Request* request = nullptr;               // null: this payload is the whole request
        DmaThen then;
        bool data = false;  // counts against the limits on data bursts
    };

    template <bool Write>
    void start(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, const DmaThen& then,
               ByteEnables content, const DmaTerms& terms);
    void start_many(bool write, const HostSegment* segments, std::uint32_t count, std::uint8_t* data,
                    const DmaThen& then, ByteEnables content, const DmaTerms& terms);
    void send(Request& request, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes, ByteEnables content,
              const DmaTerms& terms);
    struct Refuses;
    bool is_cut_off() const { return link_ == refuses_.get(); }
    static void enable(Payload& payload, ByteEnables content);
    static bool is_data(bool write, std::uint64_t bytes) {
        return bytes > (write ? kDmaInlineBytes : kControlReadBytes);
    }
    void admit(Payload& payload, const DmaTerms& terms);
    void transport(Payload& payload, SimTime from);
    void data_burst_left(bool write, std::uint32_t bytes);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void end_of_elaboration() override { link_ = host_ = door_.towards(pcie_initiator.operator->()); }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // has none
    void answered(Payload& payload);
    void answered_part(Payload& payload);
    void finish(Request& request);
    void look_if_quiet();
    void report(bool write, bool failed, std::uint32_t bytes, SimTime at, const DmaThen& then);

    Agenda& agenda_;
    InitiatorGuard<> door_;
    tlm::tlm_fw_transport_if<>* host_ = nullptr;                 // behind the socket
    tlm::tlm_fw_transport_if<>* link_ = nullptr;                 // the same, but for a host that is gone, or a reset
    const std::unique_ptr<tlm::tlm_fw_transport_if<>> refuses_;  // stands there during a reset
    SimTime latest_{};  // of the ends of requests, or of their data: what a reset ends must not end before
    std::function<void()> quiet_;
    const std::uint64_t read_window_;
    /// Everything that a restart resets.
    struct Work {
        std::deque<Payload*> waiting_writes;  // data, for the link to take the one before
        std::deque<Payload*> waiting_reads;
        std::uint32_t writes_ahead = 0;
        std::uint64_t reads_under_way = 0;  // bytes
        PooledPayloads<Payload> payloads;
        Pool<Request> requests;
        std::uint64_t outstanding = 0;
    };
    std::optional<Work> work_;
    DmaCounters counters_;
};

}  // namespace ssdtlm
