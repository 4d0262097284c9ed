// SPDX-License-Identifier: Apache-2.0
// A function-level reset of the front end with its DMA engine, against a host that answers when the test says: no
// request begins after it, and its end waits for those that had begun.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <vector>

#include "controller/nvme/nvme_on_pcie.h"
#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;

/// Registers by an initiator, and memory that answers at once or, while `holds`, by answer().
struct PcieHost : sc_core::sc_module {
    explicit PcieHost(const sc_core::sc_module_name& n) : sc_core::sc_module(n), ram(1u << 20) {
        memory.register_nb_transport_fw(this, &PcieHost::forward);
        mmio.register_nb_transport_bw(this, &PcieHost::backward);
    }
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
        ++accesses;
        if (!holds) {
            move(p);
            return tlm::TLM_COMPLETED;
        }
        open.push_back(&p);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void move(tlm::tlm_generic_payload& p) {
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (p.get_address() >= ram.size()) return;  // an interrupt
        std::uint8_t* const at = ram.data() + p.get_address();
        if (p.is_write())
            std::memcpy(at, p.get_data_ptr(), p.get_data_length());
        else
            std::memcpy(p.get_data_ptr(), at, p.get_data_length());
    }
    void answer() {
        tlm::tlm_generic_payload& p = *open.front();
        open.erase(open.begin());
        move(p);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        EXPECT_EQ(memory->nb_transport_bw(p, phase, delay), tlm::TLM_COMPLETED);
    }
    std::uint64_t access(tlm::tlm_command command, std::uint32_t offset, std::uint64_t value, unsigned bytes) {
        tlm::tlm_generic_payload p;
        p.set_command(command);
        p.set_address(offset);
        p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        EXPECT_EQ(mmio->nb_transport_fw(p, phase, delay), tlm::TLM_COMPLETED);
        return value;
    }
    void write(std::uint32_t offset, std::uint64_t value, unsigned bytes = 4) {
        access(tlm::TLM_WRITE_COMMAND, offset, value, bytes);
    }
    std::uint64_t read(std::uint32_t offset, unsigned bytes = 4) {
        return access(tlm::TLM_READ_COMMAND, offset, 0, bytes);
    }
    void push(std::uint64_t queue, std::uint32_t slot, const Sqe& s) {
        std::memcpy(ram.data() + queue + slot * kSqeBytes, &s, sizeof s);
    }
    tlm_utils::simple_initiator_socket<PcieHost> mmio{"mmio"};
    tlm_utils::simple_target_socket<PcieHost> memory{"memory"};
    std::vector<std::uint8_t> ram;
    bool holds = false;
    std::uint64_t accesses = 0;
    std::vector<tlm::tlm_generic_payload*> open;
};

struct FunctionBench : sc_core::sc_module {
    static NvmeConfig small() {
        NvmeConfig c;
        c.max_queue_pairs = 2;
        c.ready_time = 10us;
        return c;
    }
    static DriveFacts facts() {
        DriveFacts d;
        d.drive_bytes = 1u << 30;
        return d;
    }
    explicit FunctionBench(const sc_core::sc_module_name& n) : sc_core::sc_module(n) {
        host.mmio.bind(front_end.mmio_target);
        front_end.dma_initiator.bind(host.memory);
        front_end.bind(firmware);
    }
    void enable() {
        host.write(kRegAqa, Aqa::of(8, 8));
        host.write(kRegAsq, 0x1000, 8);
        host.write(kRegAcq, 0x2000, 8);
        host.write(kRegCc, Cc::kTypical);
        agenda.run();
        ASSERT_EQ(host.read(kRegCsts), Csts::kReady);
        Sqe s;
        s.opc = kAdminCreateCq;
        s.prp1 = 0x4000;
        s.cdw10 = queue_cdw10(1, 64);
        s.cdw11 = create_cq_cdw11(1);
        host.push(0x1000, 0, s);
        s.opc = kAdminCreateSq;
        s.prp1 = 0x3000;
        s.cdw11 = create_sq_cdw11(1, 0);
        host.push(0x1000, 1, s);
        host.write(sq_tail_doorbell(0), 2);
        agenda.run();
    }
    void submit(std::uint32_t slots, std::uint8_t opcode) {
        for (std::uint32_t i = 0; i < slots; ++i) {
            Sqe s;
            s.opc = opcode;
            s.cid = static_cast<std::uint16_t>(i);
            s.nsid = 1;
            s.prp1 = 0x10000 + i * 4096;
            s.cdw12 = 4096 / small().lba_bytes - 1;
            host.push(0x3000, i, s);
        }
        host.write(sq_tail_doorbell(1), slots);
        agenda.run();
        ASSERT_EQ(firmware.waiting.size(), slots);
    }
    void moved(std::uint64_t number, DmaEnd end) {
        (end.failed ? failed : moves).push_back(number);
        NvmeCommand& c = *firmware.waiting[number];
        c.status = end.failed ? CommandStatus::transfer_error : CommandStatus::success;
        c.timeline->charge(Stage::host_transfer, agenda.now());
        front_end.completions().complete(c);
    }
    DmaThen then(std::uint64_t number) { return DmaThen::to<&FunctionBench::moved>(this, number); }

    Agenda agenda;
    CommandTracker tracker;
    test::FakeFirmware firmware;
    NvmeOnPcie front_end{agenda, tracker, small(), facts(), 8192};
    PcieHost host{"host"};
    std::vector<std::uint64_t> moves, failed;
    std::uint8_t data[16][4096] = {};
};

/// One netlist for each test: all must exist before elaboration ends.
class FunctionReset : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        for (const char* const name : {"bench0", "bench1"}) all().push_back(std::make_unique<FunctionBench>(name));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::vector<std::unique_ptr<FunctionBench>>& all() {
        static std::vector<std::unique_ptr<FunctionBench>> benches;
        return benches;
    }
    static FunctionBench& next() {
        static std::size_t used = 0;
        return *all().at(used++);
    }
    FunctionBench& b = next();
    PcieHost& host = b.host;
    NvmeOnPcie& front_end = b.front_end;
    test::FakeFirmware& firmware = b.firmware;
};

TEST_F(FunctionReset, EndsWhenNoRequestIsAtTheLinkAndBeginsNone) {
    b.enable();
    const std::uint32_t commands = 8;
    b.submit(commands, kIoRead);
    host.holds = true;
    HostPort& port = front_end.data();
    // Of the data of five commands the engine keeps all but one back; three have not got that far.
    for (std::uint32_t i = 0; i < 5; ++i) port.to_host(*firmware.waiting[i], 0, 4096, b.data[i], b.then(i), {}, {});
    ASSERT_EQ(host.open.size(), 1u);
    const std::uint64_t begun = host.accesses;
    bool done = false;
    front_end.function_level_reset([&] { done = true; });
    EXPECT_EQ(b.moves.size(), 4u) << "those that waited have gone nowhere";
    for (std::uint32_t i = 5; i < commands; ++i)
        port.to_host(*firmware.waiting[i], 0, 4096, b.data[i], b.then(i), {}, {});
    EXPECT_EQ(b.moves.size(), 7u);
    EXPECT_EQ(host.read(kRegAqa), 0u);
    EXPECT_EQ(host.read(kRegCsts), 0u);
    b.agenda.run();
    EXPECT_FALSE(done);
    host.answer();
    b.agenda.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(b.moves.size(), commands);
    EXPECT_EQ(host.accesses, begun) << "no data, no completion, no interrupt";
    EXPECT_EQ(front_end.controller.counters().unsafe_shutdowns, 0u);
    front_end.check_books();
    front_end.check_waiters();
    host.holds = false;
    firmware.waiting.clear();
    b.enable();
    b.submit(1, kIoRead);
    port.to_host(*firmware.waiting[0], 0, 4096, b.data[0], b.then(0), {}, {});
    b.agenda.run();
    EXPECT_GT(host.accesses, begun + 3) << "requests reach the host again";
    front_end.check_books();
}

TEST_F(FunctionReset, ADataReadThatHasNotBegunFails) {
    b.enable();
    b.submit(6, kIoWrite);
    host.holds = true;
    HostPort& port = front_end.data();
    for (std::uint32_t i = 0; i < 5; ++i) port.from_host(*firmware.waiting[i], 0, 4096, b.data[i], b.then(i), {});
    ASSERT_EQ(host.open.size(), 2u) << "the window of reads";
    bool done = false;
    front_end.function_level_reset([&] { done = true; });
    EXPECT_EQ(b.failed.size(), 3u);
    port.from_host(*firmware.waiting[5], 0, 4096, b.data[5], b.then(5), {});
    EXPECT_EQ(b.failed.size(), 4u);
    host.answer();
    b.agenda.run();
    EXPECT_FALSE(done);
    host.answer();
    b.agenda.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(b.moves.size(), 2u);
    front_end.check_books();
    front_end.check_waiters();
    host.holds = false;
    firmware.waiting.clear();
    b.enable();
    front_end.check_books();
}

}  // namespace
}  // namespace ssdtlm
