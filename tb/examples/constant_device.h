// SPDX-License-Identifier: Apache-2.0
// A drive of another make: it knows TLM-2.0's base protocol, the NVMe 1.4 specification, and nothing of this model.
// Every I/O command takes the same time from its doorbell on, however many there are; admin commands take none.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

namespace ssdtlm::examples {

class ConstantDevice : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<ConstantDevice> registers;  ///< BAR0
    tlm_utils::simple_initiator_socket<ConstantDevice> memory;  ///< the host's

    std::uint64_t commands = 0;  ///< I/O

    ConstantDevice(sc_core::sc_module_name name, std::uint64_t blocks, sc_core::sc_time latency)
        : sc_module(name),
          registers("registers"),
          memory("memory"),
          blocks_(blocks),
          latency_(latency),
          flash_(blocks * kBlock) {
        registers.register_b_transport(this, &ConstantDevice::access);
        put(0x00, 1023 | 20u << 24);  // CAP: 1024 entries, 10 s
        put(0x04, 1u << 5);           // the NVM command set
        put(0x08, 1u << 16 | 4u << 8);
        SC_HAS_PROCESS(ConstantDevice);
        SC_THREAD(fetch);
        SC_THREAD(execute);
    }

private:
    static constexpr std::uint32_t kBlock = 512, kPage = 4096, kQueues = 65;
    static constexpr std::uint32_t kDoorbells = 0x1000, kVectors = 0x2000, kBar = 0x4000;
    struct Sqe {
        std::uint8_t opcode = 0, flags = 0;
        std::uint16_t cid = 0;
        std::uint32_t nsid = 0;
        std::uint64_t reserved = 0, metadata = 0, prp1 = 0, prp2 = 0;
        std::array<std::uint32_t, 6> dw{};  // 10 to 15
        std::uint64_t lba() const { return std::uint64_t{dw[1]} << 32 | dw[0]; }
    };
    static_assert(sizeof(Sqe) == 64);
    struct Queue {  // a submission or a completion queue
        std::uint64_t base = 0;
        std::uint32_t entries = 0, at = 0, other = 0;  // where the device is; its completion queue or its vector
        bool phase = true;
    };
    struct Due {
        sc_core::sc_time at;
        std::uint32_t sq;
        Sqe sqe;
    };

    // --- registers --------------------------------------------------------------------------------------------------

    std::uint32_t get(std::uint32_t offset) const {
        std::uint32_t v = 0;
        std::memcpy(&v, &bar_[offset], 4);
        return v;
    }
    void put(std::uint32_t offset, std::uint32_t v) { std::memcpy(&bar_[offset], &v, 4); }

    /// Takes no time, and nobody may wait here.
    void access(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
        const auto offset = static_cast<std::uint32_t>(p.get_address());
        if (p.get_data_length() != 4 || offset > kBar - 4)
            return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (p.is_read())
            std::memcpy(p.get_data_ptr(), &bar_[offset], 4);
        else
            std::memcpy(&bar_[offset], p.get_data_ptr(), 4);
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (p.is_read()) return;
        if (offset == 0x14) configure(get(0x14));
        if (offset >= kDoorbells && offset < kVectors && (offset & 4) == 0) rung_.notify(sc_core::SC_ZERO_TIME);
    }
    void configure(std::uint32_t cc) {
        const bool enabled = (cc & 1) != 0;
        if (enabled && (get(0x1C) & 1) == 0) {
            sq_[0] = Queue{get(0x28) | std::uint64_t{get(0x2C)} << 32, (get(0x24) & 0xFFF) + 1};
            cq_[0] = Queue{get(0x30) | std::uint64_t{get(0x34)} << 32, (get(0x24) >> 16 & 0xFFF) + 1};
        }
        put(0x1C, (enabled ? 1u : 0u) | ((cc >> 14 & 3) != 0 ? 2u << 2 : 0u));
    }

    // --- commands ---------------------------------------------------------------------------------------------------

    void fetch() {
        for (;;) {
            wait(rung_);
            const sc_core::sc_time due = sc_core::sc_time_stamp() + latency_;
            for (std::uint32_t q = 0; q < kQueues; ++q)
                while (sq_[q].entries != 0 && sq_[q].at != get(kDoorbells + 8 * q)) {
                    Sqe sqe;
                    transfer(tlm::TLM_READ_COMMAND, sq_[q].base + 64 * sq_[q].at, &sqe, 64);
                    sq_[q].at = (sq_[q].at + 1) % sq_[q].entries;
                    if (q == 0) {
                        const std::uint32_t result = admin(sqe);
                        complete(q, sqe.cid, result);
                    } else {
                        ++commands;
                        due_.push_back({due, q, sqe});
                        begun_.notify(sc_core::SC_ZERO_TIME);
                    }
                }
        }
    }
    /// In order: all take the same time.
    void execute() {
        for (;;) {
            while (due_.empty()) wait(begun_);
            const Due d = due_.front();
            due_.pop_front();
            if (d.at > sc_core::sc_time_stamp()) wait(d.at - sc_core::sc_time_stamp());
            unsigned char* const data = flash_.data() + d.sqe.lba() * kBlock;
            const std::uint32_t bytes = ((d.sqe.dw[2] & 0xFFFF) + 1) * kBlock;
            if (d.sqe.opcode == 0x01) host_pages(tlm::TLM_READ_COMMAND, d.sqe, data, bytes);
            if (d.sqe.opcode == 0x02) host_pages(tlm::TLM_WRITE_COMMAND, d.sqe, data, bytes);
            complete(d.sq, d.sqe.cid, 0);
        }
    }
    std::uint32_t admin(const Sqe& sqe) {
        const std::uint32_t q = sqe.dw[0] & 0xFFFF, entries = (sqe.dw[0] >> 16) + 1;
        switch (sqe.opcode) {
            case 0x00:
                sq_[q] = Queue{};
                break;
            case 0x01:
                sq_[q] = Queue{sqe.prp1, entries, 0, sqe.dw[1] >> 16};
                break;
            case 0x04:
                cq_[q] = Queue{};
                break;
            case 0x05:
                cq_[q] = Queue{sqe.prp1, entries, 0, sqe.dw[1] >> 16};
                break;
            case 0x06:
                identify(sqe, sqe.dw[0] & 0xFF);
                break;
            case 0x09:
                return sqe.dw[1];  // Set Features: as many queues as the host wants
            default:
                break;
        }
        return 0;
    }
    void identify(const Sqe& sqe, std::uint32_t structure) {
        std::array<unsigned char, kPage> id{};
        const auto set = [&id](std::size_t at, std::uint64_t v, std::size_t n) { std::memcpy(&id[at], &v, n); };
        if (structure == 0) {  // the namespace
            for (const std::size_t size : {0, 8, 16}) set(size, blocks_, 8);
            set(128 + 2, 9, 1);
        } else if (structure == 1) {  // the controller
            set(77, 5, 1);            // MDTS: 128 KiB
            set(512, 0x4466, 2);      // SQES, CQES
            set(516, 1, 4);
        } else {  // active namespaces
            set(0, 1, 4);
        }
        transfer(tlm::TLM_WRITE_COMMAND, sqe.prp1, id.data(), kPage);
    }
    void complete(std::uint32_t sq, std::uint16_t cid, std::uint32_t result) {
        const std::uint32_t number = sq_[sq].other;
        Queue& cq = cq_[number];
        const std::uint32_t cqe[4] = {result, 0, sq << 16 | sq_[sq].at, std::uint32_t{cq.phase} << 16 | cid};
        transfer(tlm::TLM_WRITE_COMMAND, cq.base + 16 * cq.at, cqe, 16);
        cq.at = (cq.at + 1) % cq.entries;
        if (cq.at == 0) cq.phase = !cq.phase;
        const std::uint32_t vector = kVectors + 16 * cq.other, message = get(vector + 8);
        transfer(tlm::TLM_WRITE_COMMAND, get(vector) | std::uint64_t{get(vector + 4)} << 32, &message, 4);
    }

    // --- the host's memory ------------------------------------------------------------------------------------------

    /// Between `data` and the pages of the command's PRPs.
    void host_pages(tlm::tlm_command direction, const Sqe& sqe, unsigned char* data, std::uint32_t bytes) {
        const auto first = std::min<std::uint32_t>(bytes, kPage - sqe.prp1 % kPage);
        transfer(direction, sqe.prp1, data, first);
        const std::uint32_t pages = (bytes - first + kPage - 1) / kPage;
        std::vector<std::uint64_t> list(pages, sqe.prp2);
        if (pages > 1) transfer(tlm::TLM_READ_COMMAND, sqe.prp2, list.data(), 8 * pages);
        for (std::uint32_t i = 0, at = first; i < pages; ++i, at += kPage)
            transfer(direction, list[i], data + at, std::min(kPage, bytes - at));
    }
    void transfer(tlm::tlm_command command, std::uint64_t address, const void* data, std::uint32_t bytes) {
        tlm::tlm_generic_payload p;
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(static_cast<unsigned char*>(const_cast<void*>(data)));  // a write does not change it
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        memory->b_transport(p, delay);
        sc_assert(p.is_response_ok());
        wait(delay);
    }

    const std::uint64_t blocks_;
    const sc_core::sc_time latency_;
    std::vector<unsigned char> flash_;
    std::array<unsigned char, kBar> bar_{};
    std::array<Queue, kQueues> sq_, cq_;
    std::deque<Due> due_;
    sc_core::sc_event rung_, begun_;
};

}  // namespace ssdtlm::examples
