// SPDX-License-Identifier: Apache-2.0
// A host of another make: it knows TLM-2.0's base protocol, the NVMe 1.4 specification, and nothing of this model. One
// thread works through what a driver does, with its own memory, queues and doorbells; it polls its completion queue and
// takes no interrupt.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace ssdtlm::examples {

class ForeignHost : public sc_core::sc_module {
public:
    using Bytes = std::vector<unsigned char>;
    static constexpr std::uint64_t kMemory = 0x10000, kMemoryBytes = 1 << 20;  ///< physical

    tlm_utils::simple_initiator_socket<ForeignHost> registers;  ///< BAR0
    tlm_utils::simple_target_socket<ForeignHost> memory;        ///< for the device's DMA

    std::uint64_t blocks = 0;  ///< of namespace 1
    std::uint32_t block_bytes = 0;
    std::uint64_t wrong_addresses = 0;

    explicit ForeignHost(sc_core::sc_module_name name)
        : sc_module(name), registers("registers"), memory("memory"), ram_(kMemoryBytes) {
        memory.register_b_transport(this, &ForeignHost::serve);
        SC_HAS_PROCESS(ForeignHost);
        SC_THREAD(main);
    }

    /// For work(): one command each, to its end. Returns SCT << 8 | SC. `data`: whole blocks, up to two pages.
    unsigned write_blocks(std::uint64_t lba, const Bytes& data) {
        std::copy(data.begin(), data.end(), at(kData));
        return transfer(0x01, lba, data.size());
    }
    unsigned read_blocks(std::uint64_t lba, Bytes& data) {
        std::copy(data.begin(), data.end(), at(kData));
        const unsigned status = transfer(0x02, lba, data.size());
        std::copy_n(at(kData), data.size(), data.begin());
        return status;
    }
    unsigned flush() { return io(0x00, 0, 0, 0, 0); }

protected:
    virtual void work() = 0;  ///< between bring-up and shutdown; may wait()

private:
    static constexpr std::uint32_t kEntries = 8;
    static constexpr std::uint64_t kQueues = kMemory, kData = kMemory + 0x10000;  // a page for each queue
    struct Queue {
        std::uint64_t sq, cq;
        std::uint32_t tail = 0, head = 0, phase = 1;
    };

    void main() {
        start();
        work();
        stop();
    }
    void start() {
        if ((read32(0x04) & 0xF) != 0) fail("doorbell stride");
        write32(0x14, 0);
        until_status(1, 0);
        write32(0x24, (kEntries - 1) << 16 | (kEntries - 1));  // AQA
        write64(0x28, queues_[0].sq);
        write64(0x30, queues_[0].cq);
        write32(0x14, 6u << 16 | 4u << 20 | 1u);  // CC: entries of 64 and 16 bytes, EN
        until_status(1, 1);
        check("Identify Controller", admin(0x06, 0, kData, 1, 0));
        if (at(kData)[512] != 0x66 || at(kData)[513] != 0x44) fail("SQES and CQES");
        check("Identify Namespace", admin(0x06, 1, kData, 0, 0));
        blocks = get(kData, 8);
        block_bytes = 1u << at(kData)[128 + 4 * (at(kData)[26] & 15) + 2];
        check("Create I/O CQ", admin(0x05, 0, queues_[1].cq, (kEntries - 1) << 16 | 1u, 1));  // PC, no interrupt
        check("Create I/O SQ", admin(0x01, 0, queues_[1].sq, (kEntries - 1) << 16 | 1u, 1u << 16 | 1u));
    }
    void stop() {
        check("Delete I/O SQ", admin(0x00, 0, 0, 1, 0));
        check("Delete I/O CQ", admin(0x04, 0, 0, 1, 0));
        write32(0x14, read32(0x14) | 1u << 14);  // CC.SHN
        until_status(3u << 2, 2u << 2);
    }

    unsigned admin(std::uint8_t opcode, std::uint32_t nsid, std::uint64_t prp1, std::uint32_t dw10,
                   std::uint32_t dw11) {
        return submit(0, opcode, nsid, prp1, 0, dw10, dw11, 0);
    }
    unsigned io(std::uint8_t opcode, std::uint64_t prp1, std::uint64_t prp2, std::uint64_t lba, std::uint32_t dw12) {
        return submit(1, opcode, 1, prp1, prp2, static_cast<std::uint32_t>(lba), static_cast<std::uint32_t>(lba >> 32),
                      dw12);
    }
    unsigned transfer(std::uint8_t opcode, std::uint64_t lba, std::size_t bytes) {
        return io(opcode, kData, bytes > 4096 ? kData + 4096 : 0, lba,
                  static_cast<std::uint32_t>(bytes / block_bytes) - 1);
    }
    unsigned submit(std::uint32_t qid, std::uint8_t opcode, std::uint32_t nsid, std::uint64_t prp1, std::uint64_t prp2,
                    std::uint32_t dw10, std::uint32_t dw11, std::uint32_t dw12) {
        Queue& q = queues_[qid];
        const std::uint64_t entry = q.sq + 64 * q.tail;
        std::fill_n(at(entry), 64, 0);
        put(entry, opcode | ++cid_ << 16, 4);
        put(entry + 4, nsid, 4);
        put(entry + 24, prp1, 8);
        put(entry + 32, prp2, 8);
        put(entry + 40, dw10, 4);
        put(entry + 44, dw11, 4);
        put(entry + 48, dw12, 4);
        q.tail = (q.tail + 1) % kEntries;
        write32(0x1000 + 8 * qid, q.tail);
        const std::uint64_t done = q.cq + 16 * q.head;
        for (int i = 0; (get(done + 14, 2) & 1) != q.phase; ++i) {
            if (i == 1'000'000) fail("no completion");
            wait(1, sc_core::SC_US);
        }
        if (get(done + 12, 2) != cid_ || get(done + 10, 2) != qid || get(done + 8, 2) != q.tail)
            fail("completion of another command");
        const unsigned status = static_cast<unsigned>(get(done + 14, 2)) >> 1 & 0x7FF;
        q.head = (q.head + 1) % kEntries;
        if (q.head == 0) q.phase ^= 1;
        write32(0x1004 + 8 * qid, q.head);
        return status;
    }

    void until_status(std::uint32_t mask, std::uint32_t value) {
        for (int i = 0; (read32(0x1C) & mask) != value; ++i) {
            if (i == 100'000) fail("CSTS");
            wait(100, sc_core::SC_US);
        }
    }
    void check(const char* what, unsigned status) {
        if (status != 0) fail(std::string(what) + " ended with status " + std::to_string(status));
    }
    [[noreturn]] void fail(const std::string& what) { throw std::runtime_error("foreign host: " + what); }

    std::uint32_t read32(std::uint64_t offset) {
        std::uint32_t value = 0;
        access(tlm::TLM_READ_COMMAND, offset, value);
        return value;
    }
    void write32(std::uint64_t offset, std::uint32_t value) { access(tlm::TLM_WRITE_COMMAND, offset, value); }
    void write64(std::uint64_t offset, std::uint64_t value) {
        write32(offset, static_cast<std::uint32_t>(value));
        write32(offset + 4, static_cast<std::uint32_t>(value >> 32));
    }
    void access(tlm::tlm_command command, std::uint64_t offset, std::uint32_t& value) {
        tlm::tlm_generic_payload p;
        p.set_command(command);
        p.set_address(offset);
        p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        p.set_data_length(4);
        p.set_streaming_width(4);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        registers->b_transport(p, delay);
        if (!p.is_response_ok()) fail("register access refused");
        wait(delay);
    }

    /// The device at this host's memory: any byte enables, 100 ns.
    void serve(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
        delay += sc_core::sc_time(100, sc_core::SC_NS);
        const std::uint64_t length = p.get_data_length();
        if (p.get_address() < kMemory || p.get_address() - kMemory > kMemoryBytes - length) {
            ++wrong_addresses;
            return p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        }
        unsigned char* const bytes = at(p.get_address());
        const unsigned char* const enables = p.get_byte_enable_ptr();
        for (std::uint64_t i = 0; i < length; ++i) {
            if (enables != nullptr && enables[i % p.get_byte_enable_length()] == 0) continue;
            if (p.is_write())
                bytes[i] = p.get_data_ptr()[i];
            else
                p.get_data_ptr()[i] = bytes[i];
        }
        p.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    unsigned char* at(std::uint64_t address) { return ram_.data() + (address - kMemory); }
    void put(std::uint64_t address, std::uint64_t value, unsigned bytes) { std::memcpy(at(address), &value, bytes); }
    std::uint64_t get(std::uint64_t address, unsigned bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, at(address), bytes);
        return value;
    }

    Bytes ram_;
    Queue queues_[2] = {{kQueues, kQueues + 0x1000}, {kQueues + 0x2000, kQueues + 0x3000}};
    std::uint16_t cid_ = 0;
};

}  // namespace ssdtlm::examples
