// SPDX-License-Identifier: Apache-2.0
// One channel controller with somebody else's bus: what it refuses of the submitter and of the bus, each case beside
// those that are like it and right.
#include "controller/channel_ctrl/channel_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <memory>
#include <string>

#include "common/report/error.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

/// Answers requests as it is told.
struct Bus : sc_core::sc_module {
    explicit Bus(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_nb_transport_fw(this, &Bus::request);
    }
    tlm::tlm_sync_enum request(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
        requests.push_back(&p);
        phase = answer_phase;
        return answer;
    }
    tlm::tlm_sync_enum answer = tlm::TLM_UPDATED;
    tlm::tlm_phase answer_phase = tlm::END_REQ;
    std::deque<tlm::tlm_generic_payload*> requests;
    tlm_utils::simple_target_socket<Bus, 32, OnfiProtocol> socket{"socket"};
};

/// The module that a controller has its socket from.
struct Place : sc_core::sc_module {
    explicit Place(sc_core::sc_module_name name) : sc_module(name), onfi_initiator("onfi_initiator") {}
    void end_of_elaboration() override { controller->bound(); }
    OnfiInitiatorSocket onfi_initiator;
    std::unique_ptr<ChannelController> controller;
};

struct Bench {
    explicit Bench(const std::string& name) : place(name.c_str()), bus((name + "_bus").c_str()) {
        nand.geometry.channels = 1;
        nand.geometry.ways = 4;
        nand.geometry.planes_per_die = 1;
        scheduler =
            make_scheduler_policy(SchedulerConfig{}, SchedulerShape{1, nand.geometry.dies_per_channel(), false});
        place.controller =
            std::make_unique<ChannelController>(place.onfi_initiator, agenda, nand, EccConfig{}, std::uint16_t{0}, true,
                                                *scheduler, *order, nullptr, transactions);
        place.onfi_initiator.bind(controller->guard());
        place.onfi_initiator.bind(bus.socket);
    }
    void submit(FlashOp op, FlashClass cls, std::uint32_t die) {
        FlashTransaction& t = pool.emplace_back();
        t.op = op;
        t.cls = cls;
        t.die = DieId{die};
        t.address = PageAddress{PlaneId{die}, 0, 0};
        t.data_bytes = nand.geometry.page_bytes;
        t.then = Then::to<&Bench::ended>(this);
        controller->submit(t, die);
    }
    void ended() { ++done; }

    Agenda agenda;
    NandConfig nand;
    TransactionTable transactions;
    std::unique_ptr<BusOrder> order = make_bus_order(SchedulerConfig{});
    std::unique_ptr<SchedulerPort> scheduler;
    Place place;
    std::unique_ptr<ChannelController>& controller = place.controller;
    Bus bus;
    std::deque<FlashTransaction> pool;
    int done = 0;
};

constexpr tlm::tlm_sync_enum kAnswers[] = {tlm::TLM_ACCEPTED, tlm::TLM_UPDATED, tlm::TLM_COMPLETED};
const tlm::tlm_phase kPhases[] = {tlm::BEGIN_REQ, tlm::END_REQ, tlm::BEGIN_RESP, tlm::END_RESP};

struct Benches {
    std::deque<Bench> for_answers;
    Bench submits{"submits"}, responds{"responds"}, fails{"fails"};
    Benches() {
        for (int i = 0; i < 12; ++i) for_answers.emplace_back("answer" + std::to_string(i));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
};
Benches& benches() {
    static Benches b;
    return b;
}

/// The text of the Panic, or none.
template <class F>
std::string refusal(F f) {
    try {
        f();
    } catch (const Panic& p) {
        return p.what();
    }
    return {};
}

// END_REQ at once by the return value, and nothing else: the controller counts on the bus being its own from then on.
TEST(ChannelController, ABusMustAnswerARequestWithItsEnd) {
    std::size_t i = 0;
    for (const auto answer : kAnswers)
        for (const auto& phase : kPhases) {
            Bench& b = benches().for_answers[i++];
            b.bus.answer = answer;
            b.bus.answer_phase = phase;
            const std::string refused = refusal([&] { b.submit(FlashOp::read, FlashClass::host_read, 1); });
            EXPECT_EQ(b.bus.requests.size(), 1u);
            if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ)
                EXPECT_EQ(refused, "");
            else
                EXPECT_THAT(refused, testing::HasSubstr("BEGIN_REQ was not answered with END_REQ"))
                    << answer << " " << unsigned{phase};
        }
}

TEST(ChannelController, ABusMustRespondWithTheBeginOfItsResponse) {
    Bench& b = benches().responds;
    b.submit(FlashOp::erase, FlashClass::erase, 0);
    ASSERT_EQ(b.bus.requests.size(), 1u);
    b.agenda.run_until(SimTime{1ms});
    for (tlm::tlm_phase phase : {tlm::BEGIN_REQ, tlm::END_REQ, tlm::END_RESP, tlm::BEGIN_RESP}) {
        EXPECT_EQ(b.done, 0);
        sc_core::sc_time delay;
        b.bus.requests[0]->set_response_status(tlm::TLM_OK_RESPONSE);
        const std::string refused = refusal([&] { b.bus.socket->nb_transport_bw(*b.bus.requests[0], phase, delay); });
        EXPECT_EQ(refused.empty(), phase == tlm::BEGIN_RESP) << refused;
    }
    EXPECT_EQ(b.done, 1);
    EXPECT_TRUE(b.controller->idle());
}

// A response that is none, or an error, is the flash's mistake: nobody may take its data for those of the page.
TEST(ChannelController, AFlashMustAnswerWithOk) {
    Bench& b = benches().fails;
    b.submit(FlashOp::read, FlashClass::host_read, 2);
    for (const auto status :
         {tlm::TLM_INCOMPLETE_RESPONSE, tlm::TLM_GENERIC_ERROR_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE,
          tlm::TLM_COMMAND_ERROR_RESPONSE, tlm::TLM_BURST_ERROR_RESPONSE, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE}) {
        // What the payload has from the start is no answer either.
        if (status != tlm::TLM_INCOMPLETE_RESPONSE) b.bus.requests[0]->set_response_status(status);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        try {
            b.bus.socket->nb_transport_bw(*b.bus.requests[0], phase, delay);
            ADD_FAILURE() << "taken: " << status;
        } catch (const CheckFailed& f) {
            EXPECT_THAT(f.what(), testing::HasSubstr("the flash answered a read of die 2 with " +
                                                     b.bus.requests[0]->get_response_string()));
        }
    }
}

// What reads and erases is of no class of programs, and a program of no other.
TEST(ChannelController, TheClassMustFitTheOperation) {
    Bench& b = benches().submits;
    for (const FlashOp op : {FlashOp::read, FlashOp::program, FlashOp::erase})
        for (std::uint32_t c = 0; c < kFlashClassCount; ++c) {
            const auto cls = static_cast<FlashClass>(c);
            const bool programs =
                cls == FlashClass::host_write || cls == FlashClass::mapping_write || cls == FlashClass::gc_write;
            const std::string refused = refusal([&] { b.submit(op, cls, c % 4); });
            EXPECT_EQ(refused.empty(), programs == (op == FlashOp::program)) << class_names(class_bit(cls));
        }
}

}  // namespace
}  // namespace ssdtlm
