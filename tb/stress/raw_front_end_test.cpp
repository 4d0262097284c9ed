// SPDX-License-Identifier: Apache-2.0
// The front end "raw" under a host that is none of the model's: a million commands, all data compared, stages that add
// up, losses of power.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "raw_host.h"
#include "support/devices.h"
#include "support/forked.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

using namespace std::chrono_literals;

SsdConfig raw_device(std::uint64_t seed) {
    SsdConfig c = grid(2, 2, 2);
    c.front_end.kind = "raw";
    c.nvme.lba_bytes = RawHost::kBlock;
    c.nand.geometry.blocks_per_plane = 40;
    c.nand.geometry.pages_per_block = 16;
    c.nand.geometry.unit_bytes = RawHost::kBlock;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 60 / RawHost::kBlock * RawHost::kBlock;
    c.ftl.buffer_bytes = 256_KiB;
    c.ftl.fill = 0;
    c.run.data = DataMode::bytes;
    c.run.seed = seed;
    c.run.outlives_power = true;
    return c;
}

/// A drive, its agenda and one host.
struct Netlist {
    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process{"agenda", agenda, false};
    Device device{"device", agenda, config, config.run};
    RawHost host;

    Netlist(const SsdConfig& c, const RawHost::Plan& plan) : config(c), host("host", agenda, process, device, plan) {
        if (c.run.check_waiters)
            process.add_after_each([](void* self) { static_cast<Netlist*>(self)->device.controller.check_waiters(); },
                                   this);
    }
    nlohmann::json run() {
        host.start();
        process.run();
        FrontEnd& front_end = *device.controller.front_end;
        if (!host.finished()) throw std::runtime_error("the host did not come to its end\n" + device.controller.dump());
        front_end.check_books();
        device.controller.ftl->verify_books();
        const RawHost::Counts& n = host.counts();
        if (front_end.counts().ended != n.ended) throw std::runtime_error("answers");
        if (!front_end.is_shut_down()) throw std::runtime_error("not shut down");
        if (front_end.counts().unsafe_shutdowns != n.cuts) throw std::runtime_error("losses of power");
        return {{"ended", n.ended},
                {"compared", n.blocks_compared},
                {"cuts", n.cuts},
                {"given_up", n.given_up},
                {"waiting", n.most_waiting},
                {"victims", device.controller.firmware->gc().victims() + device.controller.earlier().victims},
                {"end", agenda.now().time_since_epoch().count()}};
    }
};

nlohmann::json run(const SsdConfig& c, const RawHost::Plan& plan) {
    return nlohmann::json::parse(in_child([&] { return Netlist(c, plan).run().dump(); }));
}

// 1,000,000 commands at night. Sums of stages are checked for each, bytes of each block that is read.
TEST(RawFrontEndStress, AMillionCommands) {
    constexpr std::uint64_t kSeeds = 20, kCommands = 50'000;
    std::uint64_t ended = 0, compared = 0, cuts = 0, given_up = 0, victims = 0;
    for (std::uint64_t seed = 1; seed <= share_of(kSeeds); ++seed) {
        SsdConfig c = raw_device(seed + seed_offset());
        if (seed % 3 == 0) c.ftl.buffer_mode = BufferMode::write_through;
        const auto n = run(c, {kCommands, seed % 2 == 0 ? 64u : 16u, c.run.seed, Ps{300ms}});
        EXPECT_GT(n["cuts"].get<std::uint64_t>(), 3u) << "seed " << seed;
        ended += n["ended"].get<std::uint64_t>();
        compared += n["compared"].get<std::uint64_t>();
        cuts += n["cuts"].get<std::uint64_t>();
        given_up += n["given_up"].get<std::uint64_t>();
        victims += n["victims"].get<std::uint64_t>();
    }
    EXPECT_GE(ended + given_up, share_of(kSeeds) * kCommands);
    EXPECT_GT(compared, ended / 2);
    EXPECT_GT(victims, 100 * share_of(kSeeds));
    std::printf(
        "[   FIGURE ] %llu commands, %llu blocks compared, %llu losses of power that took %llu commands, %llu "
        "victims\n",
        static_cast<unsigned long long>(ended), static_cast<unsigned long long>(compared),
        static_cast<unsigned long long>(cuts), static_cast<unsigned long long>(given_up),
        static_cast<unsigned long long>(victims));
}

// More requests than the drive takes wait at it, in order, and nothing is lost. The same run twice is the same.
TEST(RawFrontEndStress, FewCommandsAtATime) {
    SsdConfig c = raw_device(3);
    c.front_end.policies["raw"]["commands"] = Value{std::int64_t{4}};
    c.run.check_waiters = true;
    const RawHost::Plan plan{5'000, 32, 3, {}};
    const auto few = run(c, plan), again = run(c, plan);
    EXPECT_EQ(few["waiting"].get<std::uint64_t>(), 32u);
    EXPECT_EQ(few, again);
    c.front_end.policies["raw"]["commands"] = Value{std::int64_t{32}};
    const auto many = run(c, plan);
    EXPECT_LT(many["end"].get<std::int64_t>(), few["end"].get<std::int64_t>())
        << "four at a time keep the planes of four dies less busy";
}

// Each request that is refused, with the response that TLM has for it; and a front end that is asked for by another
// type.
TEST(RawFrontEndStress, Refusals) {
    in_child([] {
        struct Bystander final : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
            tlm::tlm_initiator_socket<> socket{"socket"};
            explicit Bystander(const sc_core::sc_module_name& n) : sc_module(n) { socket.bind(*this); }
            tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
                return tlm::TLM_COMPLETED;
            }
            void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
        };
        const SsdConfig c = raw_device(1);
        Agenda agenda;
        AgendaProcess process("agenda", agenda, false);
        Device device("device", agenda, c, c.run);
        Bystander host("host");
        auto& drive = device.controller.front_end_as<RawFrontEnd>();
        host.socket.bind(drive.target);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        std::vector<std::uint8_t> data(4 * RawHost::kBlock);
        std::uint8_t enable = 0xFF;
        const auto answer = [&](tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes,
                                RawExtension::Op op, std::uint8_t* at, bool enables = false,
                                std::uint32_t width = 1u << 30) {
            tlm::tlm_generic_payload p;
            RawExtension more;
            more.op = op;
            p.set_command(command);
            p.set_address(address);
            p.set_data_ptr(at);
            p.set_data_length(bytes);
            p.set_streaming_width(width);
            if (enables) {
                p.set_byte_enable_ptr(&enable);
                p.set_byte_enable_length(1);
            }
            p.set_extension(&more);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time none;
            const auto status = host.socket->nb_transport_fw(p, phase, none);
            p.clear_extension(&more);
            if (status != tlm::TLM_COMPLETED) throw std::runtime_error("taken");
            return p.get_response_status();
        };
        using Op = RawExtension::Op;
        const auto expect = [](tlm::tlm_response_status found, tlm::tlm_response_status right, const char* what) {
            if (found != right) throw std::runtime_error(std::string(what) + ": response " + std::to_string(found));
        };
        constexpr auto kB = RawHost::kBlock;
        const std::uint64_t end = drive.bytes();
        expect(answer(tlm::TLM_READ_COMMAND, end, kB, Op::transfer, data.data()), tlm::TLM_ADDRESS_ERROR_RESPONSE,
               "behind the end");
        expect(answer(tlm::TLM_WRITE_COMMAND, end - kB, 2 * kB, Op::transfer, data.data()),
               tlm::TLM_ADDRESS_ERROR_RESPONSE, "over the end");
        expect(answer(tlm::TLM_IGNORE_COMMAND, end - kB, 2 * kB, Op::trim, nullptr), tlm::TLM_ADDRESS_ERROR_RESPONSE,
               "trim over the end");
        expect(answer(tlm::TLM_READ_COMMAND, 512, kB, Op::transfer, data.data()), tlm::TLM_BURST_ERROR_RESPONSE,
               "no block's address");
        expect(answer(tlm::TLM_READ_COMMAND, 0, kB - 1, Op::transfer, data.data()), tlm::TLM_BURST_ERROR_RESPONSE,
               "no whole block");
        expect(answer(tlm::TLM_READ_COMMAND, 0, 0, Op::transfer, data.data()), tlm::TLM_BURST_ERROR_RESPONSE,
               "nothing");
        expect(answer(tlm::TLM_READ_COMMAND, 0, kB, Op::transfer, nullptr), tlm::TLM_BURST_ERROR_RESPONSE, "no data");
        expect(answer(tlm::TLM_WRITE_COMMAND, 0, 2 * kB, Op::transfer, data.data(), false, kB),
               tlm::TLM_BURST_ERROR_RESPONSE, "streaming");
        expect(answer(tlm::TLM_WRITE_COMMAND, 0, kB, Op::transfer, data.data(), true),
               tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "byte enables");
        expect(answer(tlm::TLM_IGNORE_COMMAND, 0, kB, Op::transfer, data.data()), tlm::TLM_COMMAND_ERROR_RESPONSE,
               "no command");
        expect(answer(tlm::TLM_READ_COMMAND, 0, kB, Op::trim, data.data()), tlm::TLM_COMMAND_ERROR_RESPONSE,
               "a trim that reads");
        drive.check_books();
        try {
            device.nvme();
            throw std::runtime_error("an NVMe front end");
        } catch (const CheckFailed& e) {
            if (std::string(e.what()).find("frontend.kind is 'raw'") == std::string::npos) throw;
        }
        return std::string();
    });
}

}  // namespace
}  // namespace ssdtlm
