// SPDX-License-Identifier: Apache-2.0
// Modules of other makes on the model's bare sockets, calling at times of their own, while nothing of the model
// happens: each access takes what the formula says, to the picosecond, and as long when the time before a call is
// annotated instead of waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/agenda_process.h"
#include "examples/foreign_host.h"
#include "formula/reference.h"
#include "host_pcie/link/pcie_link.h"
#include "nand/onfi/onfi_payload.h"
#include "sim/device/ssd_controller.h"
#include "support/devices.h"
#include "support/foreign_modules.h"
#include "support/forked.h"

namespace ssdtlm::examples {
namespace {

using foreign::Answerer;
using foreign::Caller;
using foreign::Pace;
using sc_core::sc_time;

sc_time picoseconds(std::uint64_t ps) {
    return sc_time::from_value(ps);
}
std::string text_of(const sc_time& t) {
    return std::to_string(t.value());
}

void aim(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address, void* data,
         std::uint32_t bytes) {
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<unsigned char*>(data));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/// What a line says that does not agree; otherwise only the times, for comparison with another run.
struct Report {
    std::string times, wrong;
    std::uint64_t accesses = 0;
    void check(const char* what, const sc_time& took, std::int64_t expected) {
        ++accesses;
        times += text_of(took) + "\n";
        if (static_cast<std::int64_t>(took.value()) == expected) return;
        if (wrong.size() < 400)
            wrong += std::string(what) + " took " + text_of(took) + " ps, by the formula " + std::to_string(expected) +
                     " ps\n";
    }
    std::string text() const { return wrong.empty() ? times : wrong; }
};

// --- the link --------------------------------------------------------------------------------------------------------

/// Initiators and targets of another make at all four sockets of the link; one access at a time.
struct AroundTheLink : sc_core::sc_module {
    Agenda agenda;
    AgendaProcess process{"agenda", agenda, false};
    LinkConfig config;
    PcieLink link{"link", agenda, config};
    Random random;
    sc_time served_at, think;
    Answerer<>::Serve serve = [this](tlm::tlm_generic_payload& p) {
        served_at = sc_core::sc_time_stamp();
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        return think;
    };
    Answerer<> registers, memory;
    Caller cpu, dma;
    Report report;

    AroundTheLink(const sc_core::sc_module_name& name, Pace pace, std::uint64_t seed, std::uint64_t way)
        : sc_module(name),
          random(seed, 1),
          registers("registers", pace, way, false, serve),
          memory("memory", pace, way + 1, false, serve),
          cpu("cpu", pace, way + 2),
          dma("dma", pace, way + 3) {
        cpu.socket.bind(link.host_target);
        link.device_initiator.bind(registers.socket);
        dma.socket.bind(link.device_target);
        link.host_initiator.bind(memory.socket);
        SC_HAS_PROCESS(AroundTheLink);
        SC_THREAD(run);
    }
    void run() {
        using reference::header, reference::wire;
        const std::int64_t down = config.host_to_device_latency.count(), up = config.device_to_host_latency.count();
        std::vector<unsigned char> data(256);
        for (int i = 0; i < 400; ++i) {
            const sc_time gap = picoseconds(3'000'000 + random.below(90'000'000));
            think = picoseconds(1 + random.below(400'000));
            const auto m = static_cast<std::int64_t>(think.value());
            const bool blocking = random.below(3) == 0;
            tlm::tlm_generic_payload p;
            switch (random.below(4)) {
                case 0: {  // a posted write leaves at once, and arrives later
                    aim(p, tlm::TLM_WRITE_COMMAND, 0x1008, data.data(), 4);
                    report.check("MMIO write", cpu.access(p, gap, blocking), 0);
                    wait(2, sc_core::SC_US);
                    report.check("its way", served_at - cpu.called_at, wire(config, 4 + header(true)) + down);
                    break;
                }
                case 1: {
                    aim(p, tlm::TLM_READ_COMMAND, 0x1C, data.data(), 4);
                    report.check("MMIO read", cpu.access(p, gap, blocking),
                                 wire(config, header(true)) + down + m + wire(config, 4 + header(false)) + up);
                    break;
                }
                case 2: {  // too long to be copied: answered when it has arrived and the memory has answered
                    aim(p, tlm::TLM_WRITE_COMMAND, 0x10000, data.data(), 256);
                    report.check("DMA write", dma.access(p, gap, blocking), wire(config, 256 + header(false)) + up + m);
                    break;
                }
                default: {
                    aim(p, tlm::TLM_READ_COMMAND, 0x10000, data.data(), 64);
                    report.check("DMA read", dma.access(p, gap, blocking),
                                 wire(config, header(false)) + up + config.root_complex_latency.count() + m +
                                     wire(config, 64 + header(false)) + down);
                }
            }
        }
        sc_core::sc_stop();
    }
};

std::string around_the_link(Pace pace, std::uint64_t seed, std::uint64_t way,
                            const sc_time& slice = sc_core::SC_ZERO_TIME) {
    return in_child([&] {
        AroundTheLink netlist("around", pace, seed, way);
        if (slice == sc_core::SC_ZERO_TIME) sc_core::sc_start();
        while (slice != sc_core::SC_ZERO_TIME && sc_core::sc_get_status() != sc_core::SC_STOPPED)
            sc_core::sc_start(slice);
        netlist.process.rethrow_error();
        netlist.link.check_waiters();
        return netlist.report.text();
    });
}

void count_lines(const char* what, const std::string& times) {
    std::printf("[   FIGURE ] %s: %zu times by formula, to the picosecond\n", what,
                static_cast<std::size_t>(std::count(times.begin(), times.end(), '\n')));
}

TEST(ForeignTimes, AccessesOverTheLink) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const std::string waited = around_the_link(Pace::waits, seed, 1);
        EXPECT_EQ(waited.find("took"), std::string::npos) << waited;
        if (seed == 1) count_lines("accesses over the link", waited);
        EXPECT_EQ(around_the_link(Pace::waits, seed, 1, sc_time(777'777, sc_core::SC_PS)), waited) << "in slices";
        EXPECT_EQ(around_the_link(Pace::annotates, seed, 1), waited) << "annotated";
        for (std::uint64_t way = 2; way < 8; ++way)
            EXPECT_EQ(around_the_link(Pace::mixes, seed, way), waited) << "mix " << way;
    }
}

// --- the device ------------------------------------------------------------------------------------------------------

constexpr std::uint32_t kUnit = 4096;
constexpr std::uint64_t kDoorbell = 0x1008;  // of the I/O submission queue

/// The flash behind one channel: every array operation has its own odd time.
struct Flash : Answerer<OnfiProtocol> {
    Flash(const char* name, Pace pace, std::uint64_t way, std::uint32_t channel, Ps& read, SpareArea& contents)
        : Answerer(name, pace, way, true, [this, channel, &read, &contents](tlm::tlm_generic_payload& p) {
              const auto& onfi = *p.get_extension<OnfiExtension>();
              const NandGeometry& g = contents.geometry();
              for (std::uint32_t i = 0; i < onfi.count; ++i) {
                  const OnfiTarget& t = onfi.target[i];
                  const std::uint32_t die = channel * g.dies_per_channel() + onfi.die;
                  const PageAddress page{PlaneId{die * g.planes_per_die + t.plane}, t.block, t.page};
                  if (onfi.op == FlashOp::read_out) contents.read_page(page, t.spare, t.bytes);
              }
              if (onfi.op == FlashOp::read)
                  read = Ps{50'000'001 + 2 * static_cast<std::int64_t>(random.below(20'000'000))};
              p.set_response_status(tlm::TLM_OK_RESPONSE);
              const SimTime end = onfi.bus_end + (onfi.op == FlashOp::read ? read : Ps{});
              return to_sc_time(end) - sc_core::sc_time_stamp();
          }) {}
    Random random{3, 1};
};

/// Reads units one by one, with nothing going on before each.
struct Reader final : ForeignHost {
    using ForeignHost::ForeignHost;
    std::uint64_t units = 0;
    std::function<void()> begins, ends;
    void work() override {
        Random random(5, 1);
        for (int i = 0; i < 60; ++i) {
            begins();
            Bytes data(kUnit);
            EXPECT_EQ(read_blocks(random.below(units) * (kUnit / block_bytes), data), 0u);
            ends();
        }
    }
};

/// The model's controller alone: host, host memory and flash are of another make.
struct AroundTheController : sc_core::sc_module {
    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process{"agenda", agenda, false};
    SpareArea contents{config.nand.geometry};
    SsdController controller{"controller", agenda, config, config.run, contents};
    Reader host{"host"};
    tlm_utils::simple_target_socket<AroundTheController> from_host{"from_host"};
    tlm_utils::simple_initiator_socket<AroundTheController> to_memory{"to_memory"};
    Random random{9, 1};
    bool blocking_registers;
    Caller cpu;
    Answerer<> memory;
    Ps array_read{};
    std::vector<std::unique_ptr<Flash>> flash;

    // Of the command under way.
    sc_time rung, fetch, data_at, data, cqe_at;
    Report report;

    AroundTheController(const sc_core::sc_module_name& name, const SsdConfig& c, Pace pace, std::uint64_t way)
        : sc_module(name),
          config(c),
          blocking_registers(way % 3 == 2),
          cpu("cpu", pace, way),
          memory("memory", pace, way + 1, false, [this](tlm::tlm_generic_payload& p) { return serve(p); }) {
        host.registers.bind(from_host);
        from_host.register_b_transport(this, &AroundTheController::pass_on);
        cpu.socket.bind(controller.front_end_as<NvmeOnPcie>().mmio_target);
        controller.front_end_as<NvmeOnPcie>().dma_initiator.bind(memory.socket);
        to_memory.bind(host.memory);
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
            flash.push_back(std::make_unique<Flash>(("flash_" + std::to_string(ch)).c_str(), pace, way + 2 + ch, ch,
                                                    array_read, contents));
            controller.channel(ch).bind(flash.back()->socket);
        }
        host.units = controller.ftl->mapped_units();
        host.begins = [this] { cqe_at = sc_core::SC_ZERO_TIME; };
        host.ends = [this] { judge(); };
    }
    /// A register access of the host's: after an odd time.
    void pass_on(tlm::tlm_generic_payload& p, sc_time&) {
        const sc_time took = cpu.access(p, picoseconds(1 + random.below(30'000'000)), blocking_registers);
        if (took.value() != 0) report.check("a register access", took, 0);
        if (p.get_address() == kDoorbell && p.is_write()) rung = cpu.called_at;
    }
    sc_time serve(tlm::tlm_generic_payload& p) {
        sc_time time = picoseconds(random.below(500'000));
        to_memory->b_transport(p, time);
        if (p.is_read()) {
            fetch = time;
        } else if (p.get_data_length() == kUnit) {
            data_at = sc_core::sc_time_stamp();
            data = time;
        } else {
            cqe_at = sc_core::sc_time_stamp();
        }
        return time;
    }
    void judge() {
        const auto ps = [](const sc_time& t) { return static_cast<std::int64_t>(t.value()); };
        const std::int64_t firmware =
            reference::cycles(config.firmware, config.firmware.read_command + config.firmware.map_lookup) +
            reference::cycles(config.firmware, config.firmware.flash_issue);
        const std::int64_t flash_time = reference::read_issue(config.nand) + array_read.count() +
                                        reference::data_out(config.nand, kUnit) + config.ecc.decode_time.count();
        const std::int64_t to_data = ps(fetch) + firmware + flash_time + reference::dram(config.dram, 2 * kUnit);
        report.check("doorbell to data", data_at - rung, to_data);
        report.check("doorbell to CQE", cqe_at - rung, to_data + ps(data));
    }
};

std::string around_the_controller(Pace pace, std::uint64_t way) {
    SsdConfig c = grid(2, 2);
    c.run.data = DataMode::bytes;
    c.nand.geometry.blocks_per_plane = 32;
    c.nand.geometry.pages_per_block = 16;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 55 / kUnit * kUnit;
    c.ftl.buffer_bytes = 64_KiB;
    return in_child([&] {
        AroundTheController netlist("around", c, pace, way);
        sc_core::sc_start();
        netlist.process.rethrow_error();
        netlist.controller.check_waiters();
        if (netlist.report.accesses < 120) return "took: only " + std::to_string(netlist.report.accesses) + " times";
        return netlist.report.text();
    });
}

TEST(ForeignTimes, ReadsOfADeviceAmongForeignModules) {
    const std::string waited = around_the_controller(Pace::waits, 1);
    EXPECT_EQ(waited.find("took"), std::string::npos) << waited;
    count_lines("reads of a controller among foreign modules", waited);
    EXPECT_EQ(around_the_controller(Pace::waits, 2), waited) << "b_transport to the registers";
    EXPECT_EQ(around_the_controller(Pace::annotates, 1), waited) << "annotated";
    EXPECT_EQ(around_the_controller(Pace::annotates, 2), waited) << "annotated, b_transport to the registers";
    for (std::uint64_t way = 3; way < 12; ++way)
        EXPECT_EQ(around_the_controller(Pace::mixes, way), waited) << "mix " << way;
}

}  // namespace
}  // namespace ssdtlm::examples
