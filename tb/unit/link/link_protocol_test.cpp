// SPDX-License-Identifier: Apache-2.0
// The base protocol at both ends of the link: a far end that answers in any of the ways that are allowed, and a
// requester that ends responses in any of them, at random, with delays annotated or not. Each request arrives once, in
// order, and is answered once, with its bytes.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/sc_time_bridge.h"
#include "host_pcie/link/pcie_link.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

constexpr std::uint32_t kBytes = 256;  // of the largest request: one part
constexpr std::uint32_t kPlaces = 64;

struct FarEnd : sc_core::sc_module {
    FarEnd(sc_core::sc_module_name name, Agenda& a, Random& r) : sc_module(name), agenda(a), random(r) {
        socket.register_nb_transport_fw(this, &FarEnd::forward);
    }
    Ps some_time() { return Ps{static_cast<std::int64_t>(random.below(300'000))}; }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;  // of a response that was a return value
        EXPECT_EQ(phase, tlm::BEGIN_REQ);
        EXPECT_EQ(request, nullptr) << "a request before the END_REQ of another";
        EXPECT_GE(agenda.now(), request_ends) << "a request before the annotated END_REQ of another";
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
        arrived.push_back(p.get_address());
        unsigned char* const there = &memory[p.get_address()];
        if (p.is_write())
            std::memcpy(there, p.get_data_ptr(), p.get_data_length());
        else
            std::memcpy(p.get_data_ptr(), there, p.get_data_length());
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        switch (random.below(6)) {
            case 0:
                return tlm::TLM_COMPLETED;
            case 1:
                delay += to_sc_time(some_time());
                return tlm::TLM_COMPLETED;
            case 2:
                phase = tlm::BEGIN_RESP;
                delay += to_sc_time(some_time());
                return tlm::TLM_UPDATED;
            case 3:
                phase = tlm::END_REQ;
                delay = to_sc_time(any_time());
                request_ends = agenda.now() + to_sim_time(delay).time_since_epoch();
                answer_later(p, request_ends);
                return tlm::TLM_UPDATED;
            case 4:
                request = &p;
                agenda.post(agenda.now() + some_time(), Then::to<&FarEnd::end_request>(this));
                return tlm::TLM_ACCEPTED;
            default:  // the response means the end of the request
                request = &p;
                answer_later(p, agenda.now());
                return tlm::TLM_ACCEPTED;
        }
    }
    Ps any_time() { return random.below(2) ? some_time() : Ps{}; }
    void answer_later(tlm::tlm_generic_payload& p, SimTime from) {
        agenda.post(from + any_time(), Then::to<&FarEnd::respond>(this, p));
    }
    void end_request() {
        tlm::tlm_generic_payload& p = *request;
        request = nullptr;
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_core::sc_time delay = to_sc_time(any_time());
        request_ends = agenda.now() + to_sim_time(delay).time_since_epoch();
        answer_later(p, request_ends);
        EXPECT_EQ(socket->nb_transport_bw(p, phase, delay), tlm::TLM_ACCEPTED);
    }
    void respond(tlm::tlm_generic_payload& p) {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = to_sc_time(any_time());
        if (request == &p) {
            request = nullptr;
            request_ends = agenda.now() + to_sim_time(delay).time_since_epoch();
        }
        EXPECT_EQ(socket->nb_transport_bw(p, phase, delay), tlm::TLM_COMPLETED);
    }

    Agenda& agenda;
    Random& random;
    tlm_utils::simple_target_socket<FarEnd> socket{"socket"};
    std::vector<unsigned char> memory = std::vector<unsigned char>(kPlaces * kBytes);
    tlm::tlm_generic_payload* request = nullptr;  // without END_REQ
    SimTime request_ends{};                       // of the one before
    std::vector<std::uint64_t> arrived;           // addresses
};

struct Requester : sc_core::sc_module {
    Requester(sc_core::sc_module_name name, Agenda& a, Random& r) : sc_module(name), agenda(a), random(r) {
        socket.register_nb_transport_bw(this, &Requester::backward);
    }
    void send(tlm::tlm_generic_payload& p) {
        local_time = std::max(local_time, agenda.now() + any_time());
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = to_sc_time(local_time - agenda.now());
        const auto status = socket->nb_transport_fw(p, phase, delay);
        EXPECT_EQ(delay, to_sc_time(local_time - agenda.now()));
        if (status == tlm::TLM_COMPLETED)
            answered.push_back(&p);
        else
            EXPECT_TRUE(status == tlm::TLM_UPDATED && phase == tlm::END_REQ);
    }
    Ps any_time() { return random.below(2) ? Ps{static_cast<std::int64_t>(random.below(300'000))} : Ps{}; }
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
        EXPECT_EQ(response, nullptr) << "a response before the END_RESP of another";
        EXPECT_GE(agenda.now(), response_ends) << "a response before the annotated END_RESP of another";
        EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
        answered.push_back(&p);
        const Ps annotated = any_time();
        response_ends = agenda.now() + annotated;
        switch (random.below(3)) {
            case 0:
                delay = to_sc_time(annotated);
                return tlm::TLM_COMPLETED;
            case 1:
                phase = tlm::END_RESP;
                delay = to_sc_time(annotated);
                return tlm::TLM_UPDATED;
            default:
                response = &p;
                agenda.post(agenda.now() + Ps{static_cast<std::int64_t>(random.below(300'000))},
                            Then::to<&Requester::end_response>(this));
                return tlm::TLM_ACCEPTED;
        }
    }
    void end_response() {
        tlm::tlm_generic_payload& p = *response;
        response = nullptr;
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay = to_sc_time(any_time());
        response_ends = agenda.now() + to_sim_time(delay).time_since_epoch();
        EXPECT_EQ(socket->nb_transport_fw(p, phase, delay), tlm::TLM_COMPLETED);
    }

    Agenda& agenda;
    Random& random;
    SimTime local_time{};  // of the last request
    tlm_utils::simple_initiator_socket<Requester> socket{"socket"};
    tlm::tlm_generic_payload* response = nullptr;  // without END_RESP
    SimTime response_ends{};                       // of the one before
    std::vector<const tlm::tlm_generic_payload*> answered;
};

struct Request : tlm::tlm_generic_payload {
    std::uint64_t place = 0;
    std::vector<unsigned char> data;
};

struct Netlist {
    Random random{1, 3};
    Agenda agenda;
    PcieLink link{"link", agenda, LinkConfig{}};
    FarEnd host{"host", agenda, random}, device{"device", agenda, random};
    Requester dma{"dma", agenda, random}, mmio{"mmio", agenda, random};
    Netlist() {
        dma.socket.bind(link.device_target);
        link.host_initiator.bind(host.socket);
        mmio.socket.bind(link.host_target);
        link.device_initiator.bind(device.socket);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
};

// Each request has a place in memory of its own; what it finds there was written before it was sent.
TEST(LinkProtocol, AnyWayOfAnsweringWillDo) {
    Netlist n;
    for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
        SCOPED_TRACE(round);
        for (auto [from, to] : {std::pair{&n.dma, &n.host}, std::pair{&n.mmio, &n.device}}) {
            from->answered.clear();
            to->arrived.clear();
            for (auto& byte : to->memory) byte = static_cast<unsigned char>(n.random.below(256));
            std::deque<Request> requests;
            std::vector<std::uint64_t> writes;  // where, in the order of sending
            const std::vector<unsigned char> before = to->memory;
            for (std::uint64_t i = 0, count = 1 + n.random.below(kPlaces); i < count; ++i) {
                Request& q = requests.emplace_back();
                q.place = i * kBytes;
                q.data.resize(4 * (1 + n.random.below(kBytes / 4)));
                for (auto& byte : q.data) byte = static_cast<unsigned char>(n.random.below(256));
                q.set_command(n.random.below(2) ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
                q.set_address(q.place);
                q.set_data_ptr(q.data.data());
                q.set_data_length(static_cast<unsigned>(q.data.size()));
                q.set_streaming_width(q.get_data_length());
                q.set_byte_enable_ptr(nullptr);
                if (q.is_write()) writes.push_back(q.place);
                from->send(q);
                const SimTime until =
                    n.agenda.now() +
                    Ps{static_cast<std::int64_t>(n.random.below(4) == 0 ? n.random.below(1'000'000) : 0)};
                while (n.agenda.run_one(until)) n.link.check_waiters();
                n.agenda.run_until(until);
            }
            while (n.agenda.run_one(kNever)) n.link.check_waiters();
            EXPECT_EQ(to->arrived.size(), requests.size());
            std::vector<std::uint64_t> written;
            for (const std::uint64_t place : to->arrived)
                if (requests[place / kBytes].is_write()) written.push_back(place);
            EXPECT_EQ(written, writes) << "posted writes keep their order";
            for (const Request& q : requests) {
                EXPECT_EQ(std::count(from->answered.begin(), from->answered.end(), &q), 1);
                EXPECT_EQ(std::count(to->arrived.begin(), to->arrived.end(), q.place), 1);
                EXPECT_EQ(q.get_response_status(), tlm::TLM_OK_RESPONSE);
                const unsigned char* const expected = q.is_write() ? &to->memory[q.place] : &before[q.place];
                EXPECT_EQ(std::memcmp(q.data.data(), expected, q.data.size()), 0);
            }
            for (const char* path : {"DMA", "MMIO"})
                EXPECT_NE(
                    n.link.dump().find(std::string(path) + ": 0 payloads open, 0 parts in flight, 0 payloads wait"),
                    std::string::npos);
        }
    }
}

}  // namespace
}  // namespace ssdtlm
