// SPDX-License-Identifier: Apache-2.0
// The root complex behind its socket: what becomes an interrupt, what reaches memory (against a flat array, by both
// calls), and what is an unsupported request.
#include "host_pcie/driver/root_complex.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "protocol/signature.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr std::uint64_t kBase = HostMemory::kBase;
constexpr std::uint64_t kBytes = 2 * HostMemory::kChunkBytes;
constexpr std::uint64_t kMsi = RootComplex::kMsiBase;

struct Messages final : InterruptSink {
    void interrupt(std::uint64_t address, std::uint32_t data) override { seen.emplace_back(address, data); }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;
};

/// The two calls that a request can come by.
enum class Call { nonblocking, blocking };
constexpr Call kCalls[] = {Call::nonblocking, Call::blocking};

struct Link : sc_core::sc_module {
    explicit Link(sc_core::sc_module_name name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<Link> socket{"socket"};

    tlm::tlm_response_status request(Call call, tlm::tlm_command command, std::uint64_t address, void* data,
                                     std::uint32_t bytes, ByteEnables enables = {}) {
        tlm::tlm_generic_payload p;
        describe(p, command, address, data, bytes, enables);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        if (call == Call::blocking)
            socket->b_transport(p, delay);
        else
            EXPECT_EQ(socket->nb_transport_fw(p, phase, delay), tlm::TLM_COMPLETED);
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
        return p.get_response_status();
    }
    static void describe(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address, void* data,
                         std::uint32_t bytes, ByteEnables enables = {}) {
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(static_cast<unsigned char*>(data));
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        p.set_byte_enable_ptr(const_cast<unsigned char*>(enables.pattern));
        p.set_byte_enable_length(enables.bytes);
    }
};

/// All modules must exist before elaboration ends, so the tests share them; each looks at what it adds to the counts.
struct Bench {
    HostMemory memory{kBytes};
    Messages messages;
    Agenda agenda;
    RootComplex root{"root", agenda, memory, &messages};
    Link link{"link"};
    RootComplex deaf{"deaf", agenda, memory, nullptr};
    Link deaf_link{"deaf_link"};
    Bench() {
        link.socket.bind(root.link_target);
        deaf_link.socket.bind(deaf.link_target);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
};

Bench& bench() {
    static Bench b;
    return b;
}

constexpr auto kOk = tlm::TLM_OK_RESPONSE;
constexpr auto kUnsupported = tlm::TLM_ADDRESS_ERROR_RESPONSE;

TEST(RootComplex, AFourByteWriteToTheWindowIsAnInterrupt) {
    Bench& b = bench();
    for (const Call call : kCalls)
        for (const std::uint64_t address : {kMsi, kMsi + 0x1008, RootComplex::kMsiEnd - 4}) {
            b.messages.seen.clear();
            const std::uint64_t interrupts = b.root.interrupts(), requests = b.root.requests();
            std::uint32_t data = 0xC0FFEE;
            EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, address, &data, 4), kOk);
            ASSERT_EQ(b.messages.seen.size(), 1u);
            EXPECT_EQ(b.messages.seen[0], std::pair(address, 0xC0FFEEu));
            EXPECT_EQ(b.root.interrupts(), interrupts + 1);
            EXPECT_EQ(b.root.requests(), requests + 1);
        }
    // Without a sink they are dropped and counted.
    std::uint32_t data = 1;
    EXPECT_EQ(b.deaf_link.request(Call::nonblocking, tlm::TLM_WRITE_COMMAND, kMsi, &data, 4), kOk);
    EXPECT_EQ(b.deaf.interrupts(), 1u);
}

// Each reason alone not to be an interrupt; none of them lies in memory, so each is an unsupported request.
TEST(RootComplex, NothingElseIs) {
    Bench& b = bench();
    std::array<std::uint8_t, 8> data{};
    std::array<std::uint8_t, 4> all{0xFF, 0xFF, 0xFF, 0xFF};
    for (const Call call : kCalls) {
        b.messages.seen.clear();
        const std::uint64_t requests = b.root.requests(), unsupported = b.root.unsupported_requests();
        EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, kMsi - 4, data.data(), 4), kUnsupported);
        EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, RootComplex::kMsiEnd, data.data(), 4), kUnsupported);
        EXPECT_EQ(b.link.request(call, tlm::TLM_READ_COMMAND, kMsi, data.data(), 4), kUnsupported);
        EXPECT_EQ(b.link.request(call, tlm::TLM_IGNORE_COMMAND, kMsi, data.data(), 4), kUnsupported);
        EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, kMsi, data.data(), 2), kUnsupported);
        EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, kMsi, data.data(), 8), kUnsupported);
        EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, kMsi, data.data(), 4, {all.data(), 4}), kUnsupported);
        EXPECT_TRUE(b.messages.seen.empty());
        EXPECT_EQ(b.root.requests() - requests, 7u);
        EXPECT_EQ(b.root.unsupported_requests() - unsupported, 7u);
    }
}

TEST(RootComplex, MemoryEndsWhereItEnds) {
    Bench& b = bench();
    std::array<std::uint8_t, 8> data{};
    for (const Call call : kCalls)
        for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
            const std::uint64_t unsupported = b.root.unsupported_requests();
            EXPECT_EQ(b.link.request(call, command, kBase, data.data(), 8), kOk);
            EXPECT_EQ(b.link.request(call, command, kBase + kBytes - 8, data.data(), 8), kOk);
            EXPECT_EQ(b.root.unsupported_requests(), unsupported);
            EXPECT_EQ(b.link.request(call, command, kBase - 1, data.data(), 8), kUnsupported);
            EXPECT_EQ(b.link.request(call, command, kBase + kBytes - 7, data.data(), 8), kUnsupported);
            EXPECT_EQ(b.link.request(call, command, 0, data.data(), 8), kUnsupported);
            EXPECT_EQ(b.root.unsupported_requests() - unsupported, 3u);
        }
}

// Reads and writes of any place and length, all bytes or those of a pattern, by either call: as on a flat array.
TEST(RootComplex, MovesTheEnabledBytesAndNoOthers) {
    Bench& b = bench();
    std::vector<std::uint8_t> flat(kBytes);
    b.memory.read(kBase, flat.data(), flat.size());
    Random r(11);
    std::array<std::uint8_t, 7> odd{0, 0xFF, 0xFF, 0, 0, 0, 0xFF};
    for (int n = 0; n < 3000; ++n) {
        const auto bytes = static_cast<std::uint32_t>(1 + r.below(n % 10 == 0 ? 20'000 : 600));
        // A third of them about the border of two chunks, a third up to the memory's end.
        const std::uint64_t offset =
            std::array{r.below(kBytes - bytes + 1), kBytes / 2 - r.below(bytes + 1), kBytes - bytes}[r.below(3)];
        ByteEnables enables;
        switch (r.below(4)) {
            case 0:
                enables = signatures_of(512);
                break;
            case 1:
                enables = signatures_of(4096);
                break;
            case 2:
                enables = {odd.data(), 7};
                break;
            default:
                break;
        }
        const auto moves = [&](std::uint32_t i) {
            return enables.pattern == nullptr || enables.pattern[i % enables.bytes] != 0;
        };
        std::vector<std::uint8_t> data(bytes), before;
        for (std::uint8_t& v : data) v = static_cast<std::uint8_t>(r.next());
        before = data;
        const Call call = r.below(2) ? Call::blocking : Call::nonblocking;
        const auto command = r.below(8) == 0 ? tlm::TLM_IGNORE_COMMAND
                             : r.below(2)    ? tlm::TLM_WRITE_COMMAND
                                             : tlm::TLM_READ_COMMAND;
        ASSERT_EQ(b.link.request(call, command, kBase + offset, data.data(), bytes, enables), kOk);
        for (std::uint32_t i = 0; i < bytes; ++i) {
            std::uint8_t& place = flat[offset + i];
            if (command == tlm::TLM_WRITE_COMMAND && moves(i)) place = before[i];
            ASSERT_EQ(data[i], command == tlm::TLM_READ_COMMAND && moves(i) ? place : before[i]) << n << " byte " << i;
        }
        std::vector<std::uint8_t> around(bytes + 64);
        const std::uint64_t from = std::min(offset - std::min<std::uint64_t>(offset, 32), kBytes - around.size());
        b.memory.read(kBase + from, around.data(), around.size());
        ASSERT_EQ(std::memcmp(around.data(), &flat[from], around.size()), 0) << n;
    }
    std::vector<std::uint8_t> all(kBytes);
    b.memory.read(kBase, all.data(), all.size());
    EXPECT_EQ(all, flat);
}

TEST(RootComplex, AnEmptyPatternIsUnsupported) {
    Bench& b = bench();
    std::array<std::uint8_t, 8> data{};
    const std::uint8_t pattern = 0xFF;
    for (const Call call : kCalls)
        EXPECT_EQ(b.link.request(call, tlm::TLM_WRITE_COMMAND, kBase, data.data(), 8, {&pattern, 0}), kUnsupported);
}

// A debug access is no request: it moves bytes and counts nothing.
TEST(RootComplex, DebugAccessesAreNotCounted) {
    Bench& b = bench();
    const std::uint64_t requests = b.root.requests(), unsupported = b.root.unsupported_requests();
    std::array<std::uint8_t, 8> data{1, 2, 3, 4, 5, 6, 7, 8}, back{};
    tlm::tlm_generic_payload p;
    Link::describe(p, tlm::TLM_WRITE_COMMAND, kBase + 100, data.data(), 8);
    EXPECT_EQ(b.link.socket->transport_dbg(p), 8u);
    Link::describe(p, tlm::TLM_READ_COMMAND, kBase + 100, back.data(), 8);
    EXPECT_EQ(b.link.socket->transport_dbg(p), 8u);
    EXPECT_EQ(back, data);
    Link::describe(p, tlm::TLM_READ_COMMAND, kBase + kBytes, back.data(), 8);
    EXPECT_EQ(b.link.socket->transport_dbg(p), 0u);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(b.link.socket->get_direct_mem_ptr(p, dmi));
    EXPECT_EQ(b.root.requests(), requests);
    EXPECT_EQ(b.root.unsupported_requests(), unsupported);
}

TEST(RootComplex, RefusesPhasesItHasNoUseFor) {
    std::uint32_t data = 0;
    for (const tlm::tlm_phase other : {tlm::END_REQ, tlm::BEGIN_RESP, tlm::END_RESP}) {
        tlm::tlm_generic_payload p;
        Link::describe(p, tlm::TLM_READ_COMMAND, kBase, &data, 4);
        tlm::tlm_phase phase = other;
        sc_core::sc_time delay;
        EXPECT_THROW(bench().link.socket->nb_transport_fw(p, phase, delay), Panic) << unsigned{other};
    }
}

}  // namespace
}  // namespace ssdtlm
