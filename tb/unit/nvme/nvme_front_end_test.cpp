// SPDX-License-Identifier: Apache-2.0
// The front end as a SystemC module, driven through its BAR0 socket.
#include "controller/nvme/nvme_front_end.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "unit/nvme/fake_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;

struct Driver : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Driver> mmio;

    explicit Driver(const sc_core::sc_module_name& n) : sc_core::sc_module(n), mmio("mmio") {
        mmio.register_nb_transport_bw(this, &Driver::nb_transport_bw);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t offset, void* data, unsigned bytes) {
        tlm::tlm_generic_payload p;
        p.set_command(command);
        p.set_address(offset);
        p.set_data_ptr(static_cast<unsigned char*>(data));
        p.set_data_length(bytes);
        p.set_streaming_width(bytes);
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        EXPECT_EQ(mmio->nb_transport_fw(p, phase, delay), tlm::TLM_COMPLETED);
        EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
        return p.get_response_status();
    }
    void write(std::uint32_t offset, std::uint64_t value, unsigned bytes = 4) {
        EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, offset, &value, bytes), tlm::TLM_OK_RESPONSE);
    }
    std::uint64_t read(std::uint32_t offset, unsigned bytes = 4) {
        std::uint64_t value = 0;
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, offset, &value, bytes), tlm::TLM_OK_RESPONSE);
        return value;
    }
};

TEST(NvmeFrontEnd, BringUpQueuesAndOneRead) {
    Agenda agenda;
    test::FakeDma dma(agenda);
    test::FakeFirmware firmware;
    CommandTracker tracker;
    NvmeConfig config;
    config.ready_time = 1ms;
    DriveFacts device;
    device.drive_bytes = 1u << 30;
    device.volatile_write_cache = true;
    NvmeFrontEnd front_end("nvme", agenda, dma, tracker, config, device);
    Driver driver("driver");
    driver.mmio.bind(front_end.mmio_target);
    front_end.bind(firmware);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    EXPECT_EQ(driver.read(kRegVs), kVersion14);
    driver.write(kRegAqa, Aqa::of(32, 32));
    driver.write(kRegAsq, 0x1000, 8);
    driver.write(kRegAcq, 0x2000, 8);
    for (std::uint32_t v = 0; v < 2; ++v) {
        driver.write(msix_entry(v) + kMsixAddressLow, test::kMsiBase + 4 * v);
        driver.write(msix_entry(v) + kMsixData, 0x40 + v);
        driver.write(msix_entry(v) + kMsixControl, 0);
    }
    driver.write(kRegCc, Cc::kTypical);
    agenda.run();
    EXPECT_EQ(agenda.now(), SimTime{1ms});
    ASSERT_EQ(driver.read(kRegCsts), Csts::kReady);

    Sqe s;
    s.opc = kAdminCreateCq;
    s.prp1 = 0x4000;
    s.cdw10 = queue_cdw10(1, 16);
    s.cdw11 = create_cq_cdw11(1);
    dma.put(0x1000, s);
    s.opc = kAdminCreateSq;
    s.cid = 1;
    s.prp1 = 0x5000;
    s.cdw11 = create_sq_cdw11(1);
    dma.put(0x1040, s);
    driver.write(sq_tail_doorbell(0), 2);
    agenda.run();
    EXPECT_EQ(dma.get<Cqe>(0x2000).status_phase, 1);
    EXPECT_EQ(dma.get<Cqe>(0x2010).status_phase, 1);
    EXPECT_EQ(dma.get<Cqe>(0x2010).sqhd, 2);
    driver.write(cq_head_doorbell(0), 2);

    Sqe r;
    r.opc = kIoRead;
    r.cid = 7;
    r.nsid = 1;
    r.prp1 = 0x8000;
    r.cdw12 = 7;
    dma.put(0x5000, r);
    driver.write(sq_tail_doorbell(1), 1);
    agenda.run();
    ASSERT_EQ(firmware.waiting.size(), 1u);
    CompletionSink& sink = front_end.completions();
    sink.complete(*firmware.waiting.front());
    const auto e = dma.get<Cqe>(0x4000);
    EXPECT_EQ(e.cid, 7);
    EXPECT_EQ(e.sqid, 1);
    EXPECT_EQ(e.sqhd, 1);
    EXPECT_EQ(e.status_phase, 1);
    ASSERT_EQ(dma.messages.size(), 3u);  // two admin completions, one read
    EXPECT_EQ(dma.messages[2].address, test::kMsiBase + 4);
    EXPECT_EQ(dma.messages[2].data, 0x41u);
    front_end.check_books();
    EXPECT_NE(front_end.dump().find("SQ 1"), std::string::npos);

    std::uint8_t byte[16] = {};
    EXPECT_EQ(driver.access(tlm::TLM_READ_COMMAND, kBar0Bytes, byte, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(driver.access(tlm::TLM_READ_COMMAND, kRegVs, byte, 2), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(byte[0], 0);
    EXPECT_EQ(driver.access(tlm::TLM_WRITE_COMMAND, kRegCc, byte, 16), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(driver.read(kRegCc), Cc::kTypical);

    // The power goes: with a command in the firmware, and with a completion that may not have reached the host.
    r.cid = 8;
    dma.put(0x5040, r);
    driver.write(sq_tail_doorbell(1), 2);
    agenda.run();
    ASSERT_EQ(firmware.submitted, 2u);
    EXPECT_THROW(front_end.restart(2), Panic) << "the host cannot have two completions of one read";
    front_end.restart(0);
    EXPECT_EQ(front_end.counters().dropped, 1u);
    EXPECT_EQ(front_end.counters().dropped_completions, 1u);
    EXPECT_EQ(front_end.counters().power_cycles, 2u);
    EXPECT_EQ(front_end.counters().unsafe_shutdowns, 1u);
    EXPECT_EQ(front_end.counters().reads, 1u);
    EXPECT_EQ(driver.read(kRegCsts), 0u);
    EXPECT_EQ(driver.read(kRegCc), 0u);
    front_end.check_books();

    // And again after a shutdown, and without having been started.
    front_end.bind(firmware);
    driver.write(kRegAqa, Aqa::of(32, 32));
    driver.write(kRegAsq, 0x1000, 8);
    driver.write(kRegAcq, 0x2000, 8);
    driver.write(kRegCc, Cc::kTypical);
    agenda.run();
    ASSERT_EQ(driver.read(kRegCsts), Csts::kReady);
    driver.write(kRegCc, Cc::kTypical | Cc::kShnNormal);
    ASSERT_EQ(firmware.submitted, 3u);
    front_end.completions().complete(*firmware.waiting.back());  // its flush
    ASSERT_EQ(driver.read(kRegCsts), Csts::kReady | Csts::kShstComplete);
    for (const std::uint64_t unsafe : {1u, 2u}) {
        front_end.restart(0);
        EXPECT_EQ(front_end.counters().power_cycles, 2 + unsafe);
        EXPECT_EQ(front_end.counters().unsafe_shutdowns, unsafe);
        EXPECT_EQ(front_end.counters().dropped_completions, 1u);
        front_end.check_books();
    }
}

}  // namespace
}  // namespace ssdtlm

int sc_main(int, char*[]) {
    return 0;
}
