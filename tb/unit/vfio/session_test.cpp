// SPDX-License-Identifier: Apache-2.0
// Each command of the protocol, well and badly formed, and the errno or the drop that answers it.
#include "host_vfio/session.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace ssdtlm::vfio {
namespace {

struct VfioSession : testing::Test, SessionDevice {
    static PciFacts facts() {
        PciFacts f;
        f.bar_bytes = 0x4000;
        f.vectors = 4;
        return f;
    }
    Session session{facts(), *this, [this](const Bytes& b) { sent.push_back(b); }};
    std::vector<Bytes> sent;
    std::vector<std::uint64_t> reads;
    std::vector<std::pair<std::uint32_t, Bytes>> writes;
    int resets = 0;

    void read_bar(std::uint32_t, std::uint32_t, std::uint64_t read) override { reads.push_back(read); }
    void write_bar(std::uint32_t offset, const std::uint8_t* from, std::uint32_t n) override {
        writes.push_back({offset, Bytes(from, from + n)});
    }
    void reset() override { ++resets; }

    bool say(Command c, const Bytes& payload = {}, std::uint32_t flags = 0, std::vector<Fd> fds = {}) {
        Message m;
        m.header = {42, static_cast<std::uint16_t>(c), static_cast<std::uint32_t>(16 + payload.size()), flags, 0};
        m.payload = payload;
        m.fds = std::move(fds);
        return session.take(m);
    }
    /// errno of the one answer there is, 0, or -1: there is none.
    int answer() {
        if (sent.size() != 1) return -1;
        Header h;
        std::memcpy(&h, sent[0].data(), sizeof h);
        last = Bytes(sent[0].begin() + sizeof h, sent[0].end());
        sent.clear();
        EXPECT_EQ(h.id, 42);
        return (h.flags & kError) != 0 ? static_cast<int>(h.error) : 0;
    }
    template <class T>
    static Bytes of(const T& value) {
        Bytes b;
        append(b, value);
        return b;
    }
    template <class T>
    int ask(Command c, const T& value, std::vector<Fd> fds = {}) {
        EXPECT_TRUE(say(c, of(value), 0, std::move(fds)));
        return answer();
    }
    void agree() {
        ASSERT_TRUE(say(Command::version, of(Version{})));
        ASSERT_EQ(answer(), 0);
    }
    Bytes last;
};

TEST_F(VfioSession, NothingGoesBeforeTheVersion) {
    EXPECT_FALSE(say(Command::device_get_info, of(DeviceInfo{16, 0, 0, 0})));
    EXPECT_EQ(answer(), EINVAL);
    EXPECT_FALSE(say(Command::version, of(Version{1, 0}))) << "another major version";
    EXPECT_EQ(answer(), EINVAL);
    agree();
    EXPECT_EQ(ask(Command::version, Version{}), EINVAL) << "a second time";
}

TEST_F(VfioSession, SaysWhatTheDeviceIs) {
    agree();
    ASSERT_EQ(ask(Command::device_get_info, DeviceInfo{16, 0, 0, 0}), 0);
    const auto device = whole<DeviceInfo>(last);
    ASSERT_TRUE(device);
    EXPECT_EQ(device->flags, kDeviceReset | kDevicePci);
    EXPECT_EQ(device->regions, 9u);
    EXPECT_EQ(device->irqs, 5u);
    for (std::uint32_t region = 0; region < 9; ++region) {
        ASSERT_EQ(ask(Command::device_get_region_info, RegionInfo{32, 0, region, 0, 0, 0}), 0);
        const auto info = whole<RegionInfo>(last);
        ASSERT_TRUE(info);
        EXPECT_EQ(info->size, region == 0 ? 0x4000u : region == 7 ? 4096u : 0u);
        EXPECT_EQ(info->flags, region == 0 || region == 7 ? 3u : 0u);
    }
    EXPECT_EQ(ask(Command::device_get_region_info, RegionInfo{32, 0, 9, 0, 0, 0}), EINVAL);
    const std::uint32_t counts[] = {1, 0, 4, 1, 1};
    for (std::uint32_t irq = 0; irq < 5; ++irq) {
        ASSERT_EQ(ask(Command::device_get_irq_info, IrqInfo{16, 0, irq, 0}), 0);
        EXPECT_EQ(whole<IrqInfo>(last)->count, counts[irq]);
    }
    EXPECT_EQ(ask(Command::device_get_irq_info, IrqInfo{16, 0, 5, 0}), EINVAL);
    EXPECT_EQ(ask(Command::device_get_info, Version{}), EINVAL) << "too short";
    EXPECT_EQ(ask(Command::device_feature, DeviceInfo{}), ENOTSUP);
    EXPECT_EQ(ask(Command::region_write_multi, DeviceInfo{}), ENOTSUP);
    EXPECT_EQ(ask(static_cast<Command>(4711), DeviceInfo{}), EINVAL);
}

TEST_F(VfioSession, RegistersAreReadWhenTheDeviceAnswers) {
    agree();
    ASSERT_TRUE(say(Command::region_read, of(RegionAccess{0x1C, 0, 4})));
    ASSERT_TRUE(say(Command::region_read, of(RegionAccess{0, 0, 8})));
    EXPECT_TRUE(sent.empty());
    ASSERT_EQ(reads.size(), 2u);
    const std::uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    session.bar_read(reads[1], data);
    EXPECT_EQ(answer(), 0);
    EXPECT_EQ(Bytes(last.begin() + 16, last.end()), Bytes(data, data + 8));
    session.bar_read(reads[1], data);
    EXPECT_TRUE(sent.empty()) << "once";
    session.end();
    session.bar_read(reads[0], data);
    EXPECT_TRUE(sent.empty()) << "of a client that has gone";
    ASSERT_TRUE(say(Command::version, of(Version{})));
}

TEST_F(VfioSession, AccessesOutsideARegionAreRefused) {
    agree();
    for (const RegionAccess a : {RegionAccess{0x3FFD, 0, 4},
                                 {0x4000, 0, 4},
                                 {~0ull, 0, 4},
                                 {0, 0, 0},
                                 {0, 1, 4},
                                 {4096, 7, 1},
                                 {0, 99, 4},
                                 {0, 0, 0xFFFFFFFF}})
        EXPECT_EQ(ask(Command::region_read, a), EINVAL) << a.offset << " " << a.region << " " << a.count;
    Bytes write = of(RegionAccess{0x1000, 0, 4});
    EXPECT_TRUE(say(Command::region_write, write)) << "without its data";
    EXPECT_EQ(answer(), EINVAL);
    write.resize(20, 7);
    EXPECT_TRUE(say(Command::region_write, write));
    EXPECT_EQ(answer(), 0);
    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(writes[0].second, Bytes(4, 7));
    EXPECT_TRUE(say(Command::region_write, write, kNoReply));
    EXPECT_EQ(answer(), -1) << "posted";
    EXPECT_EQ(writes.size(), 2u);
}

TEST_F(VfioSession, ResetsAreAnsweredWhenTheyHaveEnded) {
    agree();
    ASSERT_TRUE(say(Command::device_reset));
    EXPECT_EQ(resets, 1);
    EXPECT_TRUE(session.busy());
    EXPECT_EQ(answer(), -1);
    session.reset_done();
    EXPECT_FALSE(session.busy());
    EXPECT_EQ(answer(), 0);
    Bytes payload = of(RegionAccess{0x88, 7, 1});
    payload.push_back(0xE0);  // Max_Payload_Size
    ASSERT_TRUE(say(Command::region_write, payload));
    EXPECT_EQ(answer(), 0);
    Bytes flr = of(RegionAccess{0x88 + 1, 7, 1});
    flr.push_back(0x80);
    ASSERT_TRUE(say(Command::region_write, flr));
    EXPECT_EQ(answer(), 0) << "the write itself has ended";
    EXPECT_EQ(resets, 2);
    EXPECT_TRUE(session.busy());
    std::uint8_t kept = 0;
    session.config_space.read(0x88, &kept, 1);
    EXPECT_EQ(kept & 0xE0, 0xE0) << "kept by a reset of the function";
    session.reset_done();
    EXPECT_TRUE(sent.empty());
}

std::uint64_t count(const Fd& fd) {
    std::uint64_t n = 0;
    return ::read(fd.get(), &n, sizeof n) == sizeof n ? n : 0;
}
std::vector<Fd> some(const Fd& a) {
    std::vector<Fd> v;
    v.emplace_back(::dup(a.get()));
    return v;
}

TEST_F(VfioSession, MessagesWriteTheEventfdOfTheirVector) {
    agree();
    const Fd event(::eventfd(0, EFD_NONBLOCK));
    ASSERT_EQ(ask(Command::device_set_irqs, IrqSet{20, kSetFd | kSetTrigger, kMsix, 2, 1}, some(event)), 0);
    EXPECT_FALSE(session.irqs.message(1));
    EXPECT_TRUE(session.irqs.message(2));
    EXPECT_TRUE(session.irqs.message(2));
    EXPECT_EQ(count(event), 2u);
    EXPECT_FALSE(session.irqs.message(1'000'000));
    EXPECT_EQ(ask(Command::device_set_irqs, IrqSet{20, kSetNone | kSetTrigger, kMsix, 0, 0}), 0);
    EXPECT_FALSE(session.irqs.message(2)) << "taken down";
    for (const IrqSet bad :
         {IrqSet{20, kSetFd | kSetTrigger, kMsix, 4, 1}, IrqSet{20, kSetFd | kSetTrigger, kMsix, 0, 2},
          IrqSet{20, kSetFd | kSetTrigger, kMsix, 0xFFFFFFFF, 2}, IrqSet{20, kSetFd, kMsix, 0, 1},
          IrqSet{20, kSetFd | kSetNone | kSetTrigger, kMsix, 0, 1}, IrqSet{20, kSetFd | kSetTrigger, 5, 0, 1},
          IrqSet{20, kSetBool | kSetTrigger, kMsix, 0, 2}, IrqSet{20, kSetNone | kSetMask, kMsix, 0, 1},
          IrqSet{8, kSetFd | kSetTrigger, kMsix, 0, 1}})
        EXPECT_EQ(ask(Command::device_set_irqs, bad, some(event)), EINVAL) << bad.flags << " " << bad.start;
}

TEST_F(VfioSession, ThePinIsMaskedByItselfUntilItIsUnmasked) {
    agree();
    const Fd event(::eventfd(0, EFD_NONBLOCK));
    ASSERT_EQ(ask(Command::device_set_irqs, IrqSet{20, kSetFd | kSetTrigger, kIntx, 0, 1}, some(event)), 0);
    session.irqs.set_pin(true);
    session.irqs.set_pin(true);
    EXPECT_EQ(count(event), 1u);
    const IrqSet unmask{20, kSetNone | kSetUnmask, kIntx, 0, 1};
    ASSERT_EQ(ask(Command::device_set_irqs, unmask), 0);
    EXPECT_EQ(count(event), 1u) << "still asserted";
    session.irqs.set_pin(false);
    ASSERT_EQ(ask(Command::device_set_irqs, unmask), 0);
    EXPECT_EQ(count(event), 0u);
}

TEST_F(VfioSession, AnEventfdThatIsFullOrGoneDoesNotStopUs) {
    agree();
    const Fd full(::eventfd(0, 0));  // blocks
    const std::uint64_t most = ~0ull - 1;
    ASSERT_EQ(::write(full.get(), &most, sizeof most), 8);
    ASSERT_EQ(ask(Command::device_set_irqs, IrqSet{20, kSetFd | kSetTrigger, kMsix, 0, 1}, some(full)), 0);
    EXPECT_FALSE(session.irqs.message(0));
}

TEST_F(VfioSession, MemoryThatOnlyTheClientReachesIsAskedForByMessages) {
    agree();
    std::uint8_t data[16] = {};
    const Bytes asked = session.dma_command(7, false, 0xFE601000, nullptr, 16);
    EXPECT_EQ(asked.size(), 32u);
    Message reply;
    reply.header = {7, 11, 48, kReply, 0};
    reply.payload = of(DmaAccess{0xFE601000, 16});
    EXPECT_FALSE(Session::take_dma_reply(reply, false, 0xFE601000, data, 16)) << "without its data";
    reply.payload.resize(32, 9);
    EXPECT_TRUE(Session::take_dma_reply(reply, false, 0xFE601000, data, 16));
    EXPECT_EQ(data[15], 9);
    EXPECT_FALSE(Session::take_dma_reply(reply, false, 0xFE602000, data, 16)) << "another address";
    reply.header.flags |= kError;
    EXPECT_FALSE(Session::take_dma_reply(reply, false, 0xFE601000, data, 16));
}

}  // namespace
}  // namespace ssdtlm::vfio
