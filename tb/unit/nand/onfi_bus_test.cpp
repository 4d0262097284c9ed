// SPDX-License-Identifier: Apache-2.0
// The bus and a package driven by hand: routing by chip enable, answers at the right time, refusal of overlap.
#include "nand/channel/onfi_bus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <string>
#include <systemc>
#include <vector>

#include "common/report/error.h"
#include "common/tlm/agenda.h"
#include "common/tlm/payload_pool.h"
#include "nand/onfi/onfi_timing.h"
#include "nand/package/nand_package.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

class Tester : public sc_core::sc_module {
public:
    Tester(sc_core::sc_module_name name, Agenda& agenda) : sc_module(name), socket("socket"), agenda_(agenda) {
        socket.register_nb_transport_bw(this, &Tester::answer);
    }
    void send(FlashOp op, std::uint16_t die, SimTime begin, Ps length, OnfiTarget target) {
        OnfiExtension* onfi = nullptr;
        tlm::tlm_generic_payload& payload = pool_.acquire(onfi);
        onfi->op = op;
        onfi->die = die;
        onfi->count = 1;
        onfi->target[0] = target;
        onfi->bus_begin = begin;
        onfi->bus_end = begin + length;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        EXPECT_EQ(socket->nb_transport_fw(payload, phase, delay), tlm::TLM_UPDATED);
        EXPECT_EQ(phase, tlm::END_REQ);
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    }
    void send(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_fw(payload, phase, delay);
    }
    tlm_utils::simple_initiator_socket<Tester, 32, OnfiProtocol> socket;
    std::vector<SimTime> answers;

private:
    tlm::tlm_sync_enum answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        EXPECT_TRUE(payload.is_response_ok());
        answers.push_back(agenda_.now());
        payload.release();
        return tlm::TLM_COMPLETED;
    }
    Agenda& agenda_;
    PayloadPool<OnfiExtension> pool_;
};

TEST(OnfiBus, CarriesSequencesAndRefusesOverlap) {
    NandConfig config;
    config.geometry.ways = 2;
    config.geometry.dies_per_chip = 2;
    config.geometry.blocks_per_plane = 4;
    config.geometry.pages_per_block = 4;
    config.t_read = {50us};
    config.t_program = {600us};
    Agenda agenda;
    SpareArea area(config.geometry);
    Tester tester("tester", agenda);
    OnfiBus bus("bus", config);
    NandPackage package0("package0", agenda, config, DieId{0}, area);
    NandPackage package1("package1", agenda, config, DieId{2}, area);
    tester.socket.bind(bus.controller_target);
    bus.package_initiator[0].bind(package0.bus_target);
    bus.package_initiator[1].bind(package1.bus_target);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    // Die 3 is LUN 1 of the second package: program, then read back.
    Spare written{42};
    tester.send(FlashOp::program, 3, SimTime{}, 10us, OnfiTarget{0, 1, 0, 4096, &written});
    EXPECT_TRUE(package1.die(1).busy());
    EXPECT_FALSE(package0.die(1).busy());
    // Another die's command right behind it.
    tester.send(FlashOp::read, 0, SimTime{10us}, 195ns, OnfiTarget{0, 0, 0, 4096, nullptr});
    agenda.run();
    const SimTime program_end = SimTime{10us} + config.onfi.t_wb + 600us;
    ASSERT_EQ(tester.answers.size(), 2u);
    EXPECT_EQ(tester.answers[0], SimTime{10us} + 195ns + config.onfi.t_wb + 50us);
    EXPECT_EQ(tester.answers[1], program_end);

    tester.send(FlashOp::read, 3, agenda.now(), 195ns, OnfiTarget{0, 1, 0, 4096, nullptr});
    agenda.run();
    Spare read{};
    const SimTime out = agenda.now();
    tester.send(FlashOp::read_out, 3, out, 12us, OnfiTarget{0, 1, 0, 4096, &read});
    agenda.run();
    EXPECT_EQ(tester.answers.back(), out + 12us);
    EXPECT_EQ(read, written);

    // tRHW after data out has not passed.
    try {
        tester.send(FlashOp::erase, 1, agenda.now(), 145ns, OnfiTarget{});
        FAIL() << "accepted";
    } catch (const Panic& p) {
        EXPECT_THAT(p.what(), ::testing::HasSubstr("sequences of one channel may not overlap"));
    }
    // Each reason alone, and the first instant that is late enough.
    const auto refusal = [&](std::uint16_t die, SimTime begin, Ps length) -> std::string {
        try {
            tester.send(FlashOp::erase, die, begin, length, OnfiTarget{0, 3, 0, 4096, nullptr});
        } catch (const Panic& p) {
            return p.what();
        }
        return "accepted";
    };
    const SimTime free = agenda.now() + config.onfi.t_rhw;
    EXPECT_THAT(refusal(4, free, 145ns), ::testing::HasSubstr("die 4 is not on this channel; dies 0 to 3"));
    EXPECT_THAT(refusal(1, free - Ps{1}, 145ns), ::testing::HasSubstr("sequences of one channel may not overlap"));
    EXPECT_THAT(refusal(1, free, Ps{-1}), ::testing::HasSubstr("sequence for die 1"));
    tlm::tlm_generic_payload plain;
    EXPECT_THROW(tester.send(plain, tlm::BEGIN_REQ), Panic);
    OnfiPayload onfi;
    onfi.onfi.bus_begin = onfi.onfi.bus_end = free;
    EXPECT_THROW(tester.send(onfi, tlm::END_RESP), Panic);
    EXPECT_EQ(refusal(1, free, 145ns), "accepted");
    agenda.run();

    // An erase, a suspend, a read of another block, a resume: each as long on the bus as the table of operations says.
    const OnfiBusTiming timing(config);
    const Ps wb = config.onfi.t_wb;
    const auto send = [&](FlashOp op, SimTime begin, std::uint32_t block) {
        tester.send(op, 2, begin, timing.issue(op, 1), OnfiTarget{0, block, 0, 4096, nullptr});
        return begin + timing.issue(op, 1);
    };
    EXPECT_EQ(timing.issue(FlashOp::erase_suspend, 1), 120ns);  // tCS + 4 tWC
    EXPECT_EQ(timing.issue(FlashOp::erase_resume, 1), 45ns);    // tCS + tWC
    tester.answers.clear();
    const std::uint64_t entries = agenda.executed();
    const SimTime erase = send(FlashOp::erase, agenda.now() + 1us, 1) + wb;
    const SimTime suspend = send(FlashOp::erase_suspend, erase + 1ms, 1) + wb;
    agenda.run();
    EXPECT_TRUE(package1.die(0).suspended());
    const SimTime read_end = send(FlashOp::read, agenda.now(), 2) + wb + 50us;
    agenda.run();
    const SimTime resume = send(FlashOp::erase_resume, agenda.now(), 1);
    agenda.run();
    const SimTime end = resume + wb + (config.t_erase - (suspend - erase)) + config.t_erase_resume;
    EXPECT_EQ(tester.answers, (std::vector<SimTime>{suspend + config.t_erase_suspend, read_end, resume, end}));
    EXPECT_EQ(agenda.executed() - entries, 4u) << "the erase's first end was taken from the agenda";
    EXPECT_EQ(area.erase_count(config.geometry.block_id(PlaneId{2}, 1)), 1u);
}

}  // namespace
}  // namespace ssdtlm
