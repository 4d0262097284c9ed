// SPDX-License-Identifier: Apache-2.0
// A client that says anything: messages made of nothing, and sensible ones with some of their bytes changed. None of
// them may end the server, keep it busy, or reach memory that is not mapped; sanitizers say so of the last.
// SSDTLM_VFIO_MESSAGES says how many.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "common/random/random.h"
#include "host_vfio/guest_queues.h"
#include "host_vfio/session.h"

namespace ssdtlm::vfio {
namespace {

std::uint64_t messages() {
    const char* const text = std::getenv("SSDTLM_VFIO_MESSAGES");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 2000;
}

class AnyClient : SessionDevice {
public:
    explicit AnyClient(std::uint64_t seed) : random_(seed, 1) {}

    void run(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            Message m = make();
            const bool answered = m.wants_reply() && !m.is_reply();
            const std::size_t before = sent;
            const bool kept = session_.take(m);
            // What is not answered at once is a read of a register, or a reset.
            EXPECT_LE(sent - before, 1u);
            if (kept && answered && sent == before) EXPECT_TRUE(!reads_.empty() || resetting_);
            finish();
            if (!kept) session_.end();
            if (random_.below(20) == 0) dma();
            ++(kept ? taken : dropped);
        }
    }
    std::uint64_t sent = 0, taken = 0, dropped = 0, refused = 0;
    const Session::Counters& counters() const { return session_.counters(); }

private:
    static PciFacts facts() {
        PciFacts f;
        f.bar_bytes = 0x4000;
        f.vectors = 9;
        return f;
    }
    void read_bar(std::uint32_t offset, std::uint32_t bytes, std::uint64_t read) override {
        EXPECT_LE(std::uint64_t{offset} + bytes, 0x4000u);
        reads_.push_back(read);
    }
    void write_bar(std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes) override {
        EXPECT_LE(std::uint64_t{offset} + bytes, 0x4000u);
        for (std::uint32_t i = 0; i + 4 <= bytes; i += 4) {
            std::uint32_t value = 0;
            std::memcpy(&value, from + i, 4);
            const std::uint32_t at = offset + i;
            if (at < 0x1000)
                queues_.register_written(at, value);
            else if (at % 8 == 0)
                queues_.rung(static_cast<std::uint16_t>((at - 0x1000) / 8), value & 0xFFFF);
            else
                queues_.head_moved(static_cast<std::uint16_t>((at - 0x1000) / 8), value & 0xFFFF);
        }
    }
    void reset() override { resetting_ = true; }

    void finish() {
        const std::vector<std::uint8_t> data(0x4000);
        for (const std::uint64_t read : std::exchange(reads_, {})) session_.bar_read(read, data.data());
        if (std::exchange(resetting_, false)) session_.reset_done();
        EXPECT_FALSE(session_.busy());
    }
    /// What a drive would do then.
    void dma() {
        std::vector<std::uint8_t> data(1 + random_.below(8192));
        const std::uint64_t address = address_of();
        if (random_.below(2) == 0)
            session_.regions.read(address, data.data(), data.size());
        else
            session_.regions.write(address, data.data(), data.size());
        queues_.written(address, data.data(), static_cast<std::uint32_t>(data.size()));
        session_.irqs.message(static_cast<std::uint32_t>(random_.below(12)));
        session_.irqs.set_pin(random_.below(2) == 0);
    }
    std::uint64_t address_of() {
        switch (random_.below(4)) {
            case 0:
                return random_.below(64) * 4096;
            case 1:
                return random_.below(1u << 20);
            case 2:
                return ~random_.below(1u << 14);
            default:
                return random_.below(~0ull);
        }
    }
    std::uint32_t number() {
        switch (random_.below(4)) {
            case 0:
                return static_cast<std::uint32_t>(random_.below(12));
            case 1:
                return static_cast<std::uint32_t>(random_.below(0x5000));
            case 2:
                return ~static_cast<std::uint32_t>(random_.below(16));
            default:
                return static_cast<std::uint32_t>(random_.below(1ull << 32));
        }
    }
    std::uint64_t size_of() { return random_.below(3) == 0 ? address_of() : (1 + random_.below(16)) * 4096; }

    Message make() {
        static constexpr std::uint16_t kCommands[] = {1, 2, 2,  2,  3,  4,  5,  6,  7,  8, 8,
                                                      9, 9, 10, 10, 10, 11, 12, 13, 15, 16};
        Message m;
        m.header.id = static_cast<std::uint16_t>(random_.below(65536));
        m.header.command = random_.below(20) == 0 ? static_cast<std::uint16_t>(number())
                                                  : kCommands[random_.below(std::size(kCommands))];
        m.header.flags = random_.below(4) == 0 ? kNoReply : random_.below(50) == 0 ? kReply : 0;
        if (!session_.agreed() && random_.below(4) != 0) m.header.command = 1;
        sensible(m);
        if (random_.below(3) == 0)
            for (std::uint64_t n = random_.below(4); n-- != 0 && !m.payload.empty();)
                m.payload[random_.below(m.payload.size())] = static_cast<std::uint8_t>(random_.below(256));
        if (random_.below(8) == 0) m.payload.resize(random_.below(64));
        for (std::uint64_t n = random_.below(10) == 0 ? random_.below(9)
                                                      : m.header.command == 2 || m.header.command == 8;
             n-- != 0;)
            m.fds.push_back(any_fd());
        return m;
    }
    void sensible(Message& m) {
        switch (m.header.command) {
            case 1:
                append(m.payload, Version{});
                if (random_.below(2) == 0)
                    for (const char c : std::string(R"({"capabilities":{"max_msg_fds":8}})"))
                        m.payload.push_back(static_cast<std::uint8_t>(c));
                if (m.payload.size() > 4) m.payload.push_back(0);
                break;
            case 2:
                append(m.payload, DmaMap{32, static_cast<std::uint32_t>(random_.below(4)), random_.below(4) * 4096,
                                         address_of() & ~4095ull, size_of()});
                break;
            case 3:
                append(m.payload, DmaUnmap{24, 0, address_of() & ~4095ull, size_of()});
                break;
            case 4:
                append(m.payload, DeviceInfo{16, 0, 0, 0});
                break;
            case 5:
                append(m.payload, RegionInfo{32, 0, number(), 0, 0, 0});
                break;
            case 7:
                append(m.payload, IrqInfo{16, 0, number(), 0});
                break;
            case 8:
                append(m.payload, IrqSet{20, 1u << random_.below(3) | 8u << random_.below(3),
                                         static_cast<std::uint32_t>(random_.below(6)), number(), number() & 15});
                break;
            case 9:
            case 10: {
                const RegionAccess a{number(), static_cast<std::uint32_t>(random_.below(3) == 0 ? 7 : random_.below(2)),
                                     random_.below(2) == 0 ? 4 : number() & 0x1FFF};
                append(m.payload, a);
                if (m.header.command == 10)
                    for (std::uint32_t i = 0; i < std::min(a.count, 0x2000u); ++i)
                        m.payload.push_back(static_cast<std::uint8_t>(random_.below(256)));
                break;
            }
            default:
                break;
        }
    }
    Fd any_fd() {
        switch (random_.below(4)) {
            case 0:
                return Fd(::eventfd(0, EFD_NONBLOCK));
            case 1:
                return Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
            default: {
                Fd fd(::memfd_create("m", random_.below(2) == 0 ? MFD_ALLOW_SEALING : 0));
                const auto pages = static_cast<off_t>(random_.below(20));
                if (::ftruncate(fd.get(), pages * 4096) != 0) fd.close();
                return fd;
            }
        }
    }

    Random random_;
    Session session_{facts(), *this, [this](const Bytes&) { ++sent; }};
    GuestQueues queues_{[this](std::uint64_t address, void* to, std::uint32_t bytes) {
        return session_.regions.read(address, to, bytes) == DmaRegions::Where::here;
    }};
    std::vector<std::uint64_t> reads_;
    bool resetting_ = false;
};

TEST(VfioFuzz, AClientThatSaysAnything) {
    const std::uint64_t count = messages();
    AnyClient client(20261128);
    client.run(count);
    // The mix has to reach both sides of the checks.
    EXPECT_GT(client.taken, count / 2);
    EXPECT_GT(client.dropped, 0u);
    EXPECT_GT(client.counters().refused, count / 20);
    EXPECT_GT(client.counters().writes, count / 50);
    std::printf("[   FIGURE ] %llu messages taken, %llu clients dropped, %llu refused\n",
                static_cast<unsigned long long>(client.taken), static_cast<unsigned long long>(client.dropped),
                static_cast<unsigned long long>(client.counters().refused));
}

}  // namespace
}  // namespace ssdtlm::vfio
