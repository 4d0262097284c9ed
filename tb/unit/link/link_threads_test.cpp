// SPDX-License-Identifier: Apache-2.0
// Threads of loosely-timed initiators at both ends of the link, several in b_transport at once: each returns with the
// answer to its own request, and no earlier than that can be there.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda_process.h"
#include "common/tlm/lt_adapter.h"
#include "host_pcie/link/pcie_link.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr int kThreads = 4, kAccesses = 300;
constexpr std::uint32_t kRegion = 4096;  // of each thread
constexpr Ps kLeast = 50ns;              // of the memory

struct Memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(kThreads * kRegion);
    Random random{2, 8};
    explicit Memory(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_b_transport(this, &Memory::transport);
    }
    void transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
        unsigned char* const at = &bytes.at(p.get_address());
        std::memcpy(p.is_write() ? at : p.get_data_ptr(), p.is_write() ? p.get_data_ptr() : at, p.get_data_length());
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        delay += to_sc_time(kLeast + Ps{static_cast<std::int64_t>(random.below(2'000'000))});
    }
};

/// Each thread reads and writes a region of its own.
struct Threads : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Threads> socket{"socket"};
    const std::uint32_t most_bytes;
    const Ps least;  ///< a read takes
    int done = 0, inside = 0, most_inside = 0;

    Threads(sc_core::sc_module_name name, std::uint32_t bytes, Ps time)
        : sc_module(name), most_bytes(bytes), least(time) {
        SC_HAS_PROCESS(Threads);
        SC_THREAD(first);
        SC_THREAD(second);
        SC_THREAD(third);
        SC_THREAD(fourth);
    }
    void first() { work(0); }
    void second() { work(1); }
    void third() { work(2); }
    void fourth() { work(3); }
    void work(std::uint32_t number) {
        Random random(number + 1, most_bytes);
        std::vector<unsigned char> held(kRegion), data;
        for (int i = 0; i < kAccesses && !testing::Test::HasFailure(); ++i) {
            wait(to_sc_time(Ps{static_cast<std::int64_t>(random.below(400'000))}));
            data.assign(4 * (1 + random.below(most_bytes / 4)), 0xEE);
            const std::uint64_t at = 4 * random.below((kRegion - data.size()) / 4 + 1);
            tlm::tlm_generic_payload p;
            p.set_command(random.percent(40) ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
            p.set_address(number * kRegion + at);
            p.set_data_ptr(data.data());
            p.set_data_length(static_cast<unsigned>(data.size()));
            p.set_streaming_width(p.get_data_length());
            if (p.is_write()) {
                for (auto& byte : data) byte = static_cast<unsigned char>(random.below(256));
                std::memcpy(&held[at], data.data(), data.size());
            }
            const Ps ahead{static_cast<std::int64_t>(random.percent(30) ? random.below(100'000) : 0)};
            sc_core::sc_time delay = to_sc_time(ahead);
            const sc_core::sc_time begin = sc_core::sc_time_stamp();
            most_inside = std::max(most_inside, ++inside);
            socket->b_transport(p, delay);
            --inside;
            EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
            EXPECT_EQ(std::memcmp(data.data(), &held[at], data.size()), 0) << "access " << i << " of thread " << number;
            EXPECT_GE(sc_core::sc_time_stamp() + delay - begin, to_sc_time(ahead + (p.is_read() ? least : Ps{})));
        }
        ++done;
    }
};

TEST(LinkThreads, EachReturnsWithItsOwnAnswer) {
    Agenda agenda;
    AgendaProcess process("agenda", agenda, true);
    const LinkConfig config;
    PcieLink link("link", agenda, config);
    const Ps there_and_back = config.device_to_host_latency + config.host_to_device_latency + kLeast;
    Threads device("device", 1024, there_and_back + config.root_complex_latency), host("host", 4, there_and_back);
    LtTargetAdapter memory_adapter("memory_adapter", agenda), register_adapter("register_adapter", agenda);
    Memory memory("memory"), registers("registers");
    device.socket.bind(link.device_target);
    link.host_initiator.bind(memory_adapter.model_target);
    memory_adapter.lt_initiator.bind(memory.socket);
    host.socket.bind(link.host_target);
    link.device_initiator.bind(register_adapter.model_target);
    register_adapter.lt_initiator.bind(registers.socket);
    sc_core::sc_start();
    process.rethrow_error();
    for (const Threads* t : {&device, &host}) {
        EXPECT_EQ(t->done, kThreads);
        EXPECT_EQ(t->most_inside, kThreads) << "they were never all waiting at once";
    }
    link.check_waiters();
    EXPECT_FALSE(link.dma().blocks_threads());
    EXPECT_FALSE(link.mmio().blocks_threads());
}

}  // namespace
}  // namespace ssdtlm
