// SPDX-License-Identifier: Apache-2.0
// One package without a bus in front: which of its dies a sequence reaches, what it refuses, and how failures are
// reported.
#include "nand/package/nand_package.h"

#include <gmock/gmock.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "nand/array/array_faults.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NandConfig two_dies_a_package() {
    NandConfig c;
    c.geometry.channels = 2;
    c.geometry.ways = 2;
    c.geometry.dies_per_chip = 2;
    c.geometry.planes_per_die = 2;
    c.geometry.blocks_per_plane = 4;
    c.geometry.pages_per_block = 4;
    c.t_read = {50us};
    c.t_program = {600us};
    c.t_erase = 3ms;
    return c;
}

/// The channel's side of the package's socket.
struct Channel : sc_core::sc_module {
    Channel(sc_core::sc_module_name name, Agenda& a) : sc_module(name), agenda(a) {
        socket.register_nb_transport_bw(this, &Channel::answer);
    }
    tlm::tlm_sync_enum send(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase = tlm::BEGIN_REQ) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        return socket->nb_transport_fw(payload, phase, delay);
    }
    tlm::tlm_sync_enum answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        EXPECT_TRUE(payload.is_response_ok());
        answers.push_back(agenda.now());
        return answers_with;
    }
    Agenda& agenda;
    tlm_utils::simple_initiator_socket<Channel, 32, OnfiProtocol> socket{"socket"};
    std::vector<SimTime> answers;
    tlm::tlm_sync_enum answers_with = tlm::TLM_COMPLETED;
};

/// Programs and erases fail on one plane of the drive.
struct BrokenPlane final : ArrayFaults {
    bool program_fails(const ArrayWork& work) override { return work.page.plane == plane; }
    bool erase_fails(const ArrayWork& work) override { return work.page.plane == plane; }
    std::uint16_t wrong_bits(const ArrayWork&, std::uint32_t) override { return 0; }
    PlaneId plane{0};
};

/// The second package of the second channel: dies 6 and 7 of the drive, 2 and 3 of the channel.
struct Bench {
    NandConfig config = two_dies_a_package();
    Agenda agenda;
    SpareArea area{config.geometry};
    Channel channel{"channel", agenda};
    NandPackage package{"package", agenda, config, DieId{6}, area};
    Bench() {
        channel.socket.bind(package.bus_target);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
};

/// There can be one elaboration, so the tests share the package; each uses blocks of its own.
Bench& bench() {
    static Bench b;
    return b;
}

OnfiPayload& sequence(OnfiPayload& p, FlashOp op, std::uint16_t die, std::uint32_t block, std::uint32_t planes = 1) {
    static const Spare written[] = {Spare{1}, Spare{2}, Spare{3}, Spare{4}};
    p.onfi.op = op;
    p.onfi.die = die;
    p.onfi.count = static_cast<std::uint8_t>(planes);
    for (std::uint32_t i = 0; i < planes; ++i)
        p.onfi.target[i] = OnfiTarget{static_cast<std::uint8_t>(i), block, 0, 4096, const_cast<Spare*>(written)};
    p.onfi.bus_begin = bench().agenda.now();
    p.onfi.bus_end = p.onfi.bus_begin + 1us;
    return p;
}

std::string refusal(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase = tlm::BEGIN_REQ) {
    try {
        bench().channel.send(payload, phase);
    } catch (const Panic& p) {
        return p.what();
    }
    return "accepted";
}

// --- what it refuses -------------------------------------------------------------------------------------------------

TEST(NandPackage, RefusesWhatIsNoSequence) {
    tlm::tlm_generic_payload plain;
    EXPECT_THAT(refusal(plain), HasSubstr("package: not an ONFI request"));
    OnfiPayload p;
    for (const tlm::tlm_phase phase : {tlm::END_REQ, tlm::BEGIN_RESP, tlm::END_RESP})
        EXPECT_THAT(refusal(sequence(p, FlashOp::erase, 2, 0), phase), HasSubstr("not an ONFI request"))
            << unsigned{phase};
}

TEST(NandPackage, RefusesDiesOfOtherPackages) {
    OnfiPayload p;
    for (const std::uint16_t die : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{4}, std::uint16_t{0xFFFF}})
        EXPECT_THAT(refusal(sequence(p, FlashOp::erase, die, 0)),
                    HasSubstr("chip enable is low for die " + std::to_string(die) + " of another package"));
    EXPECT_FALSE(bench().package.die(0).busy());
    EXPECT_FALSE(bench().package.die(1).busy());
}

// --- what it does ----------------------------------------------------------------------------------------------------

TEST(NandPackage, ASequenceWorksOnItsDieAndIsAnsweredWhenReadyRises) {
    Bench& b = bench();
    const Ps wb = b.config.onfi.t_wb;
    for (const std::uint16_t lun : {std::uint16_t{0}, std::uint16_t{1}}) {
        b.channel.answers.clear();
        OnfiPayload program, read;
        b.channel.send(sequence(program, FlashOp::program, static_cast<std::uint16_t>(2 + lun), 1));
        EXPECT_EQ(b.package.die(0).busy(), lun == 0);
        EXPECT_EQ(b.package.die(1).busy(), lun == 1);
        const SimTime programmed = program.onfi.bus_end + wb + 600us;
        b.agenda.run();
        b.channel.send(sequence(read, FlashOp::read, static_cast<std::uint16_t>(2 + lun), 1));
        const SimTime loaded = read.onfi.bus_end + wb + 50us;
        b.agenda.run();
        Spare units[8] = {};
        sequence(read, FlashOp::read_out, static_cast<std::uint16_t>(2 + lun), 1);
        read.onfi.target[0].spare = units;
        b.channel.send(read);
        const SimTime out = read.onfi.bus_end;  // no R/B#: the last cycle
        b.agenda.run();
        EXPECT_THAT(b.channel.answers, ElementsAre(programmed, loaded, out));
        EXPECT_EQ(units[0], Spare{1});
        // Dies 6 and 7 of the drive: two planes each.
        EXPECT_EQ(b.area.next_page(b.config.geometry.block_id(PlaneId{2u * (6 + lun)}, 1)), 1u);
        EXPECT_EQ(b.area.next_page(b.config.geometry.block_id(PlaneId{2u * (6 + lun) + 1}, 1)), 0u);
    }
}

TEST(NandPackage, HasAsManyDiesAsTheConfigurationSays) {
    EXPECT_NO_THROW(bench().package.die(1));
    EXPECT_THROW(bench().package.die(2), std::out_of_range);
}

// Of several planes, each has its own result.
TEST(NandPackage, AFailureIsThatOfItsPlane) {
    Bench& b = bench();
    for (const std::uint32_t broken : {0u, 1u, 2u}) {  // 2: a plane of the other die
        BrokenPlane faults;
        faults.plane = PlaneId{2 * 7 + broken};
        if (broken == 2) faults.plane = PlaneId{2 * 6};
        b.package.inject(&faults);
        OnfiPayload erase, program;
        b.channel.send(sequence(erase, FlashOp::erase, 3, 2, 2));
        b.agenda.run();
        b.channel.send(sequence(program, FlashOp::program, 3, 2, 2));
        b.agenda.run();
        for (std::uint32_t plane = 0; plane < 8; ++plane) {  // those that are not addressed have no result
            EXPECT_EQ(erase.onfi.target[plane].status.result,
                      plane == broken && plane < 2 ? FlashResult::erase_failed : FlashResult::ok);
            EXPECT_EQ(program.onfi.target[plane].status.result,
                      plane == broken && plane < 2 ? FlashResult::program_failed : FlashResult::ok);
        }
        b.package.inject(nullptr);
        b.channel.send(sequence(erase, FlashOp::erase, 3, 2, 2));  // as it was
        b.agenda.run();
    }
}

TEST(NandPackage, RefusesAnAnswerThatLeavesTheResponseOpen) {
    Bench& b = bench();
    OnfiPayload p;
    for (const auto answer : {tlm::TLM_ACCEPTED, tlm::TLM_UPDATED}) {
        b.channel.answers_with = answer;
        b.channel.send(sequence(p, FlashOp::erase, 2, 3));
        EXPECT_THROW(b.agenda.run(), Panic);
    }
    b.channel.answers_with = tlm::TLM_COMPLETED;
}

}  // namespace
}  // namespace ssdtlm
