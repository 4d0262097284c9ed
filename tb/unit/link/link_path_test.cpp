// SPDX-License-Identifier: Apache-2.0
// The link as a requester sees it that hands over its own payloads: what is refused at once, and when what is accepted
// is answered. Times are sums of wire times and latencies.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/report/error.h"
#include "host_pcie/driver/root_complex.h"
#include "host_pcie/link/link_rate.h"
#include "host_pcie/link/pcie_link.h"
#include "protocol/link_extension.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr std::uint64_t kBase = HostMemory::kBase;

struct Requester : sc_core::sc_module {
    Requester(sc_core::sc_module_name name, Agenda& a) : sc_module(name), agenda(a) {
        socket.register_nb_transport_bw(this, &Requester::answer);
    }
    tlm::tlm_sync_enum send(tlm::tlm_generic_payload& p, tlm::tlm_phase phase = tlm::BEGIN_REQ,
                            sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
        return socket->nb_transport_fw(p, phase, delay);
    }
    tlm::tlm_sync_enum answer(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        answers.push_back(agenda.now());
        return tlm::TLM_COMPLETED;
    }
    Agenda& agenda;
    tlm_utils::simple_initiator_socket<Requester> socket{"socket"};
    std::vector<SimTime> answers;
};

/// Registers of which only the number of accesses counts.
struct Registers : sc_core::sc_module {
    explicit Registers(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_nb_transport_fw(this, &Registers::access);
    }
    tlm::tlm_sync_enum access(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
        ++accesses;
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    tlm_utils::simple_target_socket<Registers> socket{"socket"};
    int accesses = 0;
};

struct Bench {
    LinkConfig config = [] {
        LinkConfig c;
        c.data_link_efficiency = 1.0;
        return c;
    }();
    Agenda agenda;
    HostMemory memory{16_MiB};
    RootComplex root{"root", agenda, memory, nullptr};
    PcieLink link{"link", agenda, config};
    Registers registers{"registers"};
    Requester device{"device", agenda}, host{"host", agenda};
    Bench() {
        device.socket.bind(link.device_target);
        link.host_initiator.bind(root.link_target);
        host.socket.bind(link.host_target);
        link.device_initiator.bind(registers.socket);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    SimTime at_host(std::uint64_t wire_bytes) const {
        return agenda.now() + link_rate(config).time_for(wire_bytes) + config.device_to_host_latency;
    }
};

/// There can be one elaboration, so the tests share the link; each leaves it idle.
Bench& bench() {
    static Bench b;
    return b;
}

struct Payload : tlm::tlm_generic_payload {
    Payload(tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes, std::vector<std::uint8_t>& data) {
        set_command(command);
        set_address(address);
        set_data_ptr(data.data());
        set_data_length(bytes);
        set_streaming_width(bytes);
        set_byte_enable_ptr(nullptr);
        set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    }
    /// `pattern` may be 0 long.
    Payload& enable(std::array<unsigned char, 4>& enables, std::uint32_t pattern) {
        set_byte_enable_ptr(enables.data());
        set_byte_enable_length(pattern);
        return *this;
    }
};

// Each reason alone beside a request that is like it and accepted. What is refused costs nothing and arrives nowhere.
TEST(LinkPath, RefusesAtOnceWhatItDoesNotCarry) {
    Bench& b = bench();
    std::vector<std::uint8_t> data(4096);
    std::array<unsigned char, 4> half{0xFF, 0xFF, 0, 0};
    constexpr std::uint32_t kAll = ~0u;  // without byte enables
    constexpr auto kRead = tlm::TLM_READ_COMMAND, kWrite = tlm::TLM_WRITE_COMMAND, kIgnore = tlm::TLM_IGNORE_COMMAND;
    constexpr auto kOk = tlm::TLM_OK_RESPONSE, kEnables = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    struct Case {
        bool dma;  // from the device to memory; else from the host to the device's registers
        tlm::tlm_command command;
        std::uint32_t bytes;
        std::uint32_t pattern;
        tlm::tlm_response_status status;
    };
    for (const Case& c : {Case{true, kWrite, 4, kAll, kOk},
                          {true, kRead, 4, kAll, kOk},
                          {false, kWrite, 4, kAll, kOk},
                          {false, kRead, 4, kAll, kOk},
                          {true, kWrite, 0, kAll, tlm::TLM_BURST_ERROR_RESPONSE},
                          {true, kRead, 0, kAll, tlm::TLM_BURST_ERROR_RESPONSE},
                          {true, kIgnore, 4, kAll, tlm::TLM_COMMAND_ERROR_RESPONSE},
                          {false, kIgnore, 4, kAll, tlm::TLM_COMMAND_ERROR_RESPONSE},
                          // Byte enables: of reads, and of writes that are too long to be copied.
                          {true, kRead, 4, 4, kOk},
                          {true, kRead, 64, 4, kOk},
                          {true, kRead, 4096, 4, kOk},
                          {true, kRead, 4, 0, kEnables},
                          {true, kWrite, 4, 4, kEnables},
                          {true, kWrite, LinkPath::kInlineBytes, 4, kEnables},
                          {true, kWrite, LinkPath::kInlineBytes + 4, 4, kOk},
                          {true, kWrite, 4096, 0, kEnables},
                          {false, kRead, 4, 4, kEnables},
                          {false, kWrite, 4, 4, kEnables},
                          {false, kWrite, 128, 4, kEnables}}) {
        SCOPED_TRACE(testing::Message() << (c.dma ? "DMA" : "MMIO") << " command " << c.command << ", " << c.bytes
                                        << " bytes, pattern " << c.pattern);
        Requester& from = c.dma ? b.device : b.host;
        from.answers.clear();
        const std::uint64_t arrived = b.root.requests() + static_cast<std::uint64_t>(b.registers.accesses),
                            executed = b.agenda.executed();
        Payload p(c.command, c.dma ? kBase : 0, c.bytes, data);
        if (c.pattern != kAll) p.enable(half, c.pattern);
        const bool completed = from.send(p) == tlm::TLM_COMPLETED;
        if (c.status != kOk) {
            EXPECT_TRUE(completed);
            EXPECT_EQ(p.get_response_status(), c.status);
        }
        b.agenda.run();
        EXPECT_EQ(p.get_response_status(), c.status);
        EXPECT_EQ(from.answers.size(), completed ? 0u : 1u);
        const std::uint64_t now = b.root.requests() + static_cast<std::uint64_t>(b.registers.accesses);
        EXPECT_EQ(now != arrived, c.status == kOk);
        EXPECT_EQ(b.agenda.executed() != executed, c.status == kOk);
    }
}

TEST(LinkPath, RefusesWhatIsNotTheBaseProtocol) {
    Bench& b = bench();
    std::vector<std::uint8_t> data(64);
    for (const tlm::tlm_phase phase : {tlm::END_REQ, tlm::BEGIN_RESP}) {
        Payload p(tlm::TLM_WRITE_COMMAND, kBase, 64, data);
        EXPECT_THROW(b.device.send(p, phase), Panic) << unsigned{phase};
        EXPECT_THROW(b.host.send(p, phase), Panic) << unsigned{phase};
    }
}

// What is at most kInlineBytes long is copied: it is answered at once, and what becomes of the data is the requester's
// business. A longer write is answered at once, too, if its requester understands LinkExtension, else on arrival.
TEST(LinkPath, AWriteIsAnsweredAtOnceOrOnArrival) {
    Bench& b = bench();
    for (const bool extended : {false, true})
        for (const std::uint32_t bytes : {4u, LinkPath::kInlineBytes, LinkPath::kInlineBytes + 4, 256u}) {
            SCOPED_TRACE(testing::Message() << bytes << " bytes" << (extended ? ", extended" : ""));
            const bool copied = bytes <= LinkPath::kInlineBytes;
            std::vector<std::uint8_t> data(bytes, 0x5A);
            b.memory.write(kBase, std::vector<std::uint8_t>(bytes).data(), bytes);
            b.device.answers.clear();
            Payload p(tlm::TLM_WRITE_COMMAND, kBase, bytes, data);
            LinkExtension extension;
            if (extended) p.set_extension(&extension);
            const SimTime arrival = b.at_host(24 + bytes);
            const bool completed = b.device.send(p) == tlm::TLM_COMPLETED;
            EXPECT_EQ(completed, copied || extended);
            if (copied) data.assign(bytes, 0);
            if (extended) {
                EXPECT_EQ(extension.visible_at, arrival);
                p.clear_extension(&extension);
            }
            b.agenda.run_until(arrival - Ps{1});
            EXPECT_EQ(b.memory.load<std::uint8_t>(kBase), 0);
            EXPECT_TRUE(b.device.answers.empty());
            b.agenda.run();
            EXPECT_EQ(b.agenda.now(), arrival);
            EXPECT_EQ(b.device.answers, completed ? std::vector<SimTime>{} : std::vector<SimTime>{arrival});
            for (std::uint32_t i = 0; i < bytes; ++i) ASSERT_EQ(b.memory.load<std::uint8_t>(kBase + i), 0x5A) << i;
        }
}

// The wire takes writes in order: one that finds it busy is answered when it gets its place.
TEST(LinkPath, AWriteBehindAnotherIsAnsweredWhenTheWireTakesIt) {
    Bench& b = bench();
    std::vector<std::uint8_t> data(4096, 1);
    LinkExtension first_extension, second_extension;
    Payload first(tlm::TLM_WRITE_COMMAND, kBase, 4096, data), second(tlm::TLM_WRITE_COMMAND, kBase + 4096, 4096, data);
    first.set_extension(&first_extension);
    second.set_extension(&second_extension);
    b.device.answers.clear();
    const SimTime begin = b.agenda.now();
    const Ps wire = link_rate(b.config).time_for(16 * (256 + 24));
    EXPECT_EQ(b.device.send(first), tlm::TLM_COMPLETED);
    EXPECT_EQ(b.device.send(second), tlm::TLM_UPDATED);
    EXPECT_NE(b.link.dump().find("DMA: 1 payloads open, 2 parts in flight, 0 payloads wait for tags, 32 tags free"),
              std::string::npos)
        << b.link.dump();
    b.agenda.run();
    EXPECT_NE(b.link.dump().find("DMA: 0 payloads open, 0 parts in flight, 0 payloads wait for tags, 32 tags free"),
              std::string::npos)
        << b.link.dump();
    EXPECT_EQ(b.device.answers, (std::vector<SimTime>{begin + wire}));
    EXPECT_EQ(first_extension.visible_at, begin + wire + b.config.device_to_host_latency);
    EXPECT_EQ(second_extension.visible_at, begin + 2 * wire + b.config.device_to_host_latency);
    first.clear_extension(&first_extension);
    second.clear_extension(&second_extension);
}

// A read takes a tag for each of its requests; one that finds too few takes those and waits for more.
TEST(LinkPath, ReadsTakeTagsUntilTheirDataArrives) {
    Bench& b = bench();
    const auto has = [&](const std::string& state) {
        EXPECT_NE(b.link.dump().find("DMA: " + state), std::string::npos) << state << "\n" << b.link.dump();
    };
    ASSERT_EQ(b.config.read_tags, 32u);
    ASSERT_EQ(b.config.max_read_request_bytes, 512u);
    const Rate rate = link_rate(b.config);
    // The first read's data: 2 completions of 256 bytes for each request of 512.
    const auto first_data = [&](std::uint32_t requests) {
        return rate.time_for(24) + b.config.device_to_host_latency + b.config.root_complex_latency +
               rate.time_for(requests * 2 * (256 + 20)) + b.config.host_to_device_latency;
    };
    std::vector<std::uint8_t> data(4096);
    for (const auto& [requests, reads] : {std::pair{1u, 33u}, {7u, 5u}}) {
        SCOPED_TRACE(testing::Message() << reads << " reads of " << requests << " requests");
        const std::uint32_t whole = 32 / requests, left = 32 % requests;  // what the tags are enough for
        const Ps stalled = b.link.dma().tag_stall();
        b.device.answers.clear();
        const SimTime begin = b.agenda.now();
        std::vector<std::unique_ptr<Payload>> all;
        for (std::uint32_t i = 0; i < reads; ++i) {
            if (i < whole)
                has(std::to_string(i) + " payloads open, " + std::to_string(i) +
                    " parts in flight, 0 payloads wait for tags, " + std::to_string(32 - i * requests) + " tags free");
            all.push_back(std::make_unique<Payload>(tlm::TLM_READ_COMMAND, kBase, requests * 512, data));
            EXPECT_EQ(b.device.send(*all.back()), tlm::TLM_UPDATED);
        }
        has(std::to_string(reads) + " payloads open, " + std::to_string(whole + (left != 0)) +
            " parts in flight, 1 payloads wait for tags, 0 tags free");
        b.agenda.run();
        has("0 payloads open, 0 parts in flight, 0 payloads wait for tags, 32 tags free");
        ASSERT_EQ(b.device.answers.size(), reads);
        EXPECT_EQ(b.device.answers[0], begin + first_data(requests));
        EXPECT_EQ(b.link.dma().tag_stall() - stalled, first_data(requests));
    }
}

}  // namespace
}  // namespace ssdtlm
