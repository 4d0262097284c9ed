// SPDX-License-Identifier: Apache-2.0
// Each rule of the protocol checker: a sequence that keeps it, and the frame that breaks it.
#include "host_sata/link/sata_checker.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "protocol/ata.h"

namespace ssdtlm {
namespace {

using namespace sata;

struct Talk {
    template <class Bytes>
    Talk& put(SataEnd from, const Bytes& fis) {
        checker.frame(SimTime{} + Ps{++at}, from, fis.data(), static_cast<std::uint32_t>(fis.size()));
        return *this;
    }
    Talk& host(const RegisterH2d& r) { return put(SataEnd::host, r.bytes()); }
    Talk& queued(bool write, unsigned tag, unsigned sectors = 8) {
        RegisterH2d r;
        r.command = write ? ata::kWriteFpdmaQueued : ata::kReadFpdmaQueued;
        r.features = static_cast<std::uint16_t>(sectors);
        r.count = static_cast<std::uint16_t>(tag << 3);
        return host(r);
    }
    Talk& command(std::uint8_t opcode) {
        RegisterH2d r;
        r.command = opcode;
        return host(r);
    }
    Talk& control(std::uint8_t value) {
        RegisterH2d r;
        r.command_update = false;
        r.control = value;
        return host(r);
    }
    Talk& answer(std::uint8_t status = 0x50) {
        RegisterD2h r;
        r.status = status;
        return put(SataEnd::device, r.bytes());
    }
    Talk& setup(unsigned tag, bool to_host, unsigned bytes = 4096, unsigned offset = 0, bool activates = false) {
        DmaSetup s;
        s.tag = static_cast<std::uint8_t>(tag);
        s.to_host = to_host;
        s.transfer_bytes = bytes;
        s.buffer_offset = offset;
        s.auto_activate = activates;
        return put(SataEnd::device, s.bytes());
    }
    Talk& activate() { return put(SataEnd::device, dma_activate()); }
    Talk& data(bool to_host, unsigned bytes) {
        std::vector<std::uint8_t> fis(4 + bytes, 0);
        fis[0] = 0x46;
        return put(to_host ? SataEnd::device : SataEnd::host, fis);
    }
    Talk& pio(unsigned bytes, std::uint8_t end_status = 0x50) {
        PioSetup s;
        s.transfer_bytes = static_cast<std::uint16_t>(bytes);
        s.end_status = end_status;
        return put(SataEnd::device, s.bytes());
    }
    Talk& bits(std::uint32_t active, std::uint8_t status = 0x50) {
        SetDeviceBits b;
        b.active = active;
        b.status = status;
        return put(SataEnd::device, b.bytes());
    }
    /// With tags 1 (read) and 2 (write) of 4 KiB released.
    Talk& ready() { return answer().queued(false, 1).answer().queued(true, 2).answer(); }

    SataChecker checker;
    std::int64_t at = 0;
};

TEST(SataChecker, TakesWhatIsRight) {
    Talk t;
    t.ready().setup(1, true).data(true, 4096).setup(2, false).activate().data(false, 4096).bits(6);
    t.queued(true, 3, 20).answer().setup(3, false, 10240, 0, true).data(false, 8192);
    t.queued(false, 4).activate().data(false, 2048).answer().bits(8);  // a command inside a data phase
    t.bits(0, 0x51).command(ata::kReadLogExt).bits(~0u).pio(512).data(true, 512);
    t.command(ata::kReadDmaExt).data(true, 8192).data(true, 100).answer();
    t.command(ata::kWriteDmaExt).activate().data(false, 8192).answer();
    t.command(ata::kIdentifyDevice).pio(512, 0xD0).data(true, 512).pio(512).data(true, 512);
    t.queued(false, 5)
        .control(4)
        .control(0)
        .answer()
        .queued(false, 5)
        .answer(0x51)
        .command(ata::kFlushCache)
        .answer(0x51);
    t.checker.reset();
    t.answer().queued(false, 31).answer();
    EXPECT_EQ(t.checker.outstanding(), 1u << 31);
}

TEST(SataChecker, DataThatArriveBrokenEndTheirPhase) {
    Talk t;
    t.ready().setup(2, false).activate().queued(false, 3);
    t.checker.data_lost();
    t.answer();  // releases tag 3 before the error is told
    t.bits(0, 0x71).command(ata::kReadLogExt).bits(~0u).pio(512);
    t.checker.data_lost();
    t.answer(0x51).command(ata::kReadLogExt).pio(512).data(true, 512);
    EXPECT_EQ(t.checker.outstanding(), 0u);
    EXPECT_THROW(t.data(true, 512), CheckFailed);
}

TEST(SataChecker, NamesEachBreach) {
    const struct {
        const char* what;
        std::function<void(Talk&)> talk;
    } cases[] = {
        {"before the signature", [](Talk& t) { t.queued(false, 1); }},
        {"busy with another one", [](Talk& t) { t.answer().queued(false, 1).queued(false, 2); }},
        {"busy with another one", [](Talk& t) { t.answer().command(ata::kFlushCache).command(ata::kFlushCache); }},
        {"is used again", [](Talk& t) { t.ready().queued(false, 1); }},
        {"while tags are outstanding", [](Talk& t) { t.ready().command(ata::kFlushCache); }},
        {"answers no command", [](Talk& t) { t.ready().answer(); }},
        {"leaves the drive busy", [](Talk& t) { t.answer().queued(false, 1).answer(0xD0); }},
        {"inside a data phase", [](Talk& t) { t.ready().setup(1, true).queued(false, 3).answer(); }},
        {"for a tag that is not outstanding", [](Talk& t) { t.ready().setup(3, true); }},
        {"for a tag that is not outstanding", [](Talk& t) { t.ready().queued(false, 3).setup(3, true); }},
        {"in the wrong direction", [](Talk& t) { t.ready().setup(1, false); }},
        {"inside a data phase", [](Talk& t) { t.ready().setup(1, true).setup(2, false); }},
        {"where the data have ended", [](Talk& t) { t.ready().setup(1, true, 4096, 512); }},
        {"an odd number", [](Talk& t) { t.ready().setup(1, true, 4095); }},
        {"auto-activate in a read", [](Talk& t) { t.ready().setup(1, true, 4096, 0, true); }},
        {"outside a write", [](Talk& t) { t.ready().activate(); }},
        {"outside a write", [](Talk& t) { t.ready().setup(1, true).activate(); }},
        {"before the Data of the one before", [](Talk& t) { t.ready().setup(2, false).activate().activate(); }},
        {"has not asked for", [](Talk& t) { t.ready().setup(2, false).data(false, 4096); }},
        {"has not asked for", [](Talk& t) { t.ready().data(false, 4096); }},
        {"Data without a command", [](Talk& t) { t.answer().data(true, 512); }},
        {"Data in the wrong direction", [](Talk& t) { t.ready().setup(2, false).activate().data(true, 4096); }},
        {"more data than", [](Talk& t) { t.ready().setup(1, true).data(true, 8192); }},
        {"ends before its DMA Setup", [](Talk& t) { t.ready().setup(1, true).data(true, 2048); }},
        {"more than 8,192 bytes", [](Talk& t) { t.ready().setup(1, true).data(true, 8196); }},
        {"of which data are missing", [](Talk& t) { t.ready().bits(2); }},
        {"tag that is not outstanding", [](Talk& t) { t.ready().bits(1); }},
        {"tag that is not outstanding", [](Talk& t) { t.ready().bits(0); }},
        {"inside the tag's data phase", [](Talk& t) { t.ready().setup(1, true).bits(2); }},
        {"error of no queued command", [](Talk& t) { t.answer().bits(0, 0x51); }},
        {"before the error was read", [](Talk& t) { t.ready().bits(0, 0x51).bits(2); }},
        {"before the error was read", [](Talk& t) { t.ready().bits(0, 0x51).command(ata::kFlushCache).bits(~0u); }},
        {"accepted before the error", [](Talk& t) { t.ready().bits(0, 0x51).queued(false, 1).answer(); }},
        {"without a command for it", [](Talk& t) { t.answer().pio(512); }},
        {"of another length", [](Talk& t) { t.answer().command(ata::kIdentifyDevice).pio(512).data(true, 1024); }},
        {"before the Data of a PIO Setup", [](Talk& t) { t.answer().command(ata::kIdentifyDevice).pio(512).answer(); }},
        {"only a drive sends", [](Talk& t) { t.put(SataEnd::host, dma_activate()); }},
        {"only a host sends", [](Talk& t) { t.put(SataEnd::device, RegisterH2d{}.bytes()); }},
        {"not known",
         [](Talk& t) {
             t.put(SataEnd::device, std::vector<std::uint8_t>{0x11, 0, 0, 0});
         }},
        {"before the signature", [](Talk& t) { t.ready().control(4).control(0).queued(false, 1); }},
    };
    for (const auto& c : cases) {
        Talk t;
        try {
            c.talk(t);
            ADD_FAILURE() << "nothing was said of: " << c.what;
        } catch (const CheckFailed& e) {
            EXPECT_NE(std::string(e.what()).find(c.what), std::string::npos) << c.what << "\n" << e.what();
        }
    }
}

}  // namespace
}  // namespace ssdtlm
