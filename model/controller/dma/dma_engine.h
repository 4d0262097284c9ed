// SPDX-License-Identifier: Apache-2.0
// The controller's path to host memory: turns scattered segments into memory transactions on the PCIe socket.
// Adds no time and holds no data: the link serialises, the payloads point at the caller's buffers. Models no
// descriptor fetch and no limit on outstanding requests other than the link's own.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"
#include "controller/ports/dma_port.h"
#include "host_pcie/protocol/link_extension.h"

namespace ssdtlm {

struct DmaCounters {
    std::uint64_t bytes_written = 0;  ///< device to host
    std::uint64_t bytes_read = 0;     ///< host to device
    std::uint64_t writes = 0;         ///< requests
    std::uint64_t reads = 0;
    std::uint64_t failed_reads = 0;
};

class DmaEngine : public sc_core::sc_module, public DmaPort {
public:
    /// Contiguous segments become one payload up to this size; a longer one would keep others off the wire.
    static constexpr std::uint32_t kMaxPayloadBytes = 16384;

    /// To the link. Writes carry LinkExtension.
    tlm_utils::simple_initiator_socket<DmaEngine> pcie_initiator;

    DmaEngine(sc_core::sc_module_name name, Agenda& agenda);

    void write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data, DmaClient* client,
                    std::uint64_t cookie) override;
    void read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, DmaClient* client,
                   std::uint64_t cookie) override;

    const DmaCounters& counters() const { return counters_; }
    /// Requests begun and not yet reported to their client.
    std::uint64_t outstanding() const { return requests_.size() - free_requests_.size(); }
    /// State for the watchdog's report.
    std::string dump() const;

private:
    struct Request {
        DmaClient* client;
        std::uint64_t cookie;
        SimTime at;  // latest visible_at of its writes
        std::uint32_t bytes;
        std::uint32_t outstanding;  // payloads, plus one while payloads are still being sent
        bool write;
        bool failed;
    };
    /// The link's extension and our request in one.
    struct Tag : LinkExtension {
        Request* request = nullptr;
        tlm::tlm_extension_base* clone() const override { return new Tag(*this); }
    };

    void start(bool write, const HostSegment* segments, std::uint32_t count, std::uint8_t* data, DmaClient* client,
               std::uint64_t cookie);
    void send(Request& request, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes);
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void answered(tlm::tlm_generic_payload& p, const Tag& tag);
    void finish(Request& request);

    Agenda& agenda_;
    PayloadPool<Tag> payloads_;
    std::deque<Request> requests_;  // deque: stable addresses
    std::vector<Request*> free_requests_;
    DmaCounters counters_;
};

}  // namespace ssdtlm
