// SPDX-License-Identifier: Apache-2.0
// Registers, command lists and frames at random: the adapter neither fails nor hangs, and after a reset it carries out
// a command.
#include <gtest/gtest.h>

#include <random>

#include "unit/ahci/adapter_bench.h"

namespace ssdtlm {
namespace {

using namespace ahci;

class Fuzz {
public:
    explicit Fuzz(std::uint64_t seed) : draw_(seed) { data_ = b_.memory.allocate(1 << 20, 4096); }

    void run(unsigned steps) {
        b_.bring_up();
        for (unsigned i = 0; i < steps; ++i) {
            step();
            if (pick(4) == 0) advance();
            b_.adapter.check_waiters();
        }
        recover();
    }

private:
    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(draw_() % below); }
    std::uint32_t bits() { return static_cast<std::uint32_t>(pick(3) == 0 ? draw_() : 1u << pick(32)); }
    void advance() {
        for (unsigned n = pick(20); n != 0 && !b_.agenda.empty(); --n) b_.agenda.step();
        // Refusals are few: a device that refuses all frames has them for ever.
        if (!b_.frames.empty()) {
            b_.frames.pop_front();
            b_.adapter.port().frame_sent(pick(8) == 0 ? AhciPort::Sent::refused : AhciPort::Sent::taken);
        }
    }
    void step() {
        switch (pick(12)) {
            case 0:
                return b_.adapter.write(pick(kAbarBytes / 4) * 4, bits());
            case 1:
                return b_.port(kPxCmd, bits() | (pick(2) == 0 ? PxCmd::kSt | PxCmd::kFre : 0));
            case 2:
                b_.port(kPxSctl, pick(6));
                return;
            case 3:
                if (pick(2) == 0) return b_.adapter.port().phy_up(1 + pick(3));
                b_.frames.clear();
                return b_.adapter.port().phy_down();
            case 4: {  // a header of any contents
                const std::uint32_t slot = pick(32);
                for (std::uint32_t i = 0; i < 4; ++i)
                    b_.memory.store<std::uint32_t>(b_.list + slot * kHeaderBytes + 4 * i,
                                                   static_cast<std::uint32_t>(draw_()));
                return;
            }
            case 5:
            case 6: {
                const std::uint32_t slot = pick(32);
                std::vector<AdapterBench::Piece> pieces(pick(5));
                for (auto& p : pieces) p = {pick(40) == 0 ? 64 : data_ + pick(1 << 18) * 2, 2 + pick(5000) * 2};
                b_.queued(slot, pick(2) == 0, slot, pieces);
                if (pick(3) != 0) b_.port(kPxSact, 1u << slot);
                return b_.port(kPxCi, 1u << slot);
            }
            default:
                return frame();
        }
    }
    void frame() {
        if (b_.adapter.port().holds_frame()) return;  // the wire is held
        std::vector<std::uint8_t> fis;
        const auto take = [&fis](const auto& bytes) { fis.assign(bytes.begin(), bytes.end()); };
        switch (pick(8)) {
            case 0: {
                sata::DmaSetup f;
                f.tag = static_cast<std::uint8_t>(pick(40));
                f.to_host = pick(2) == 0;
                f.auto_activate = pick(2) == 0;
                f.interrupt = pick(8) == 0;
                f.buffer_offset = pick(3) == 0 ? 4 * pick(3000) : 0;
                f.transfer_bytes = 4 * pick(6000);
                take(f.bytes());
                break;
            }
            case 1:
                take(sata::dma_activate());
                break;
            case 2: {
                sata::SetDeviceBits f;
                f.status = pick(10) == 0 ? 0x41 : 0x40;
                f.active = bits();
                take(f.bytes());
                break;
            }
            case 3: {
                sata::PioSetup f;
                f.to_host = pick(4) != 0;
                f.status = 0x58;
                f.end_status = pick(2) == 0 ? 0x50 : 0xD0;
                f.transfer_bytes = 512;
                take(f.bytes());
                break;
            }
            case 4:
                for (std::uint32_t i = pick(30); i != 0; --i) fis.push_back(static_cast<std::uint8_t>(draw_()));
                break;
            case 5:
                fis.assign(4 + 4 * (1 + pick(2048)), 0x46);
                break;
            default: {
                sata::RegisterD2h f;
                f.status = static_cast<std::uint8_t>(pick(8) == 0 ? draw_() : 0x40);
                f.interrupt = pick(2) == 0;
                take(f.bytes());
            }
        }
        b_.adapter.port().receive(fis.data(), static_cast<std::uint32_t>(fis.size()));
    }
    void recover() {
        b_.port(kPxCmd, 0);
        b_.agenda.run();
        b_.frames.clear();
        b_.port(kPxSctl, 0);
        b_.port(kPxSctl, Phy::kDetReset);
        b_.agenda.run();
        ASSERT_EQ(b_.port(kPxCmd) & PxCmd::kCr, 0u);
        b_.port(kPxSctl, 0);
        b_.bring_up();
        b_.queued(9, true, 99, {{data_, 4096}});
        b_.issue_queued(1u << 9);
        ASSERT_EQ(sata::RegisterH2d::from(b_.sent().data()).lba, 99u);
        b_.released();
        sata::DmaSetup f;
        f.tag = 9;
        f.to_host = false;
        f.transfer_bytes = 4096;
        b_.comes(f.bytes());
        b_.comes(sata::dma_activate());
        ASSERT_EQ(b_.sent().size(), 4100u);
        b_.ends(1u << 9);
        ASSERT_EQ(b_.port(kPxSact), 0u);
        b_.settle();
    }

    std::mt19937_64 draw_;
    AdapterBench b_;
    std::uint64_t data_ = 0;
};

TEST(AhciFuzz, AnyRegistersListsAndFrames) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE(seed);
        Fuzz(seed).run(400);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace ssdtlm
