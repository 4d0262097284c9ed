// SPDX-License-Identifier: Apache-2.0
// Simulated time by the wall, and the guest's clock: what the page says at any time of the wall.
#include "host_vfio/pacer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/report/error.h"
#include "host_vfio/timely_irq.h"

namespace ssdtlm::vfio {
namespace {

constexpr SimTime at(std::int64_t ns) {
    return SimTime{Ps{ns * 1000}};
}

/// The page as a guest has it.
struct Clock {
    std::string path = testing::TempDir() + "pacer_test_" + std::to_string(::getpid());
    guest_clock::Page* map() {
        const Fd fd(::open(path.c_str(), O_RDWR));
        void* at = ::mmap(nullptr, guest_clock::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
        EXPECT_NE(at, MAP_FAILED);
        page = static_cast<guest_clock::Page*>(at);
        EXPECT_EQ(page->version, guest_clock::kVersion);
        return page;
    }
    std::int64_t guest(std::int64_t wall) const {
        guest_clock::Line line;
        EXPECT_TRUE(guest_clock::read(*page, line));
        return line.guest(guest_clock::gone(*page, wall));
    }
    ~Clock() {
        if (page != nullptr) ::munmap(page, guest_clock::kPageBytes);
        ::unlink(path.c_str());
    }
    guest_clock::Page* page = nullptr;
};

TEST(Pacer, GoesWithTheWallAtItsRate) {
    Pacer p(Pacer::Mode::wall, 0.25, "");
    EXPECT_FALSE(p.started());
    p.start(at(1000), 50'000);
    EXPECT_EQ(p.model_at(50'000), at(1000));
    EXPECT_EQ(p.model_at(54'000), at(2000));
    EXPECT_EQ(p.wall_at(at(3000), 54'000), 58'000);
}

TEST(Pacer, SaysHowFarBehindTheModelWas) {
    Pacer p(Pacer::Mode::wall, 1, "");
    p.start(at(0), 0);
    p.look(at(100), 100);
    p.look(at(150), 200);  // 50 behind, for 100
    p.look(at(400), 400);  // and none for 200
    EXPECT_EQ(p.most_behind_ns(), 50);
    EXPECT_DOUBLE_EQ(p.mean_behind_ns(), 50.0 * 100 / 400);
}

TEST(Pacer, AFreeModelIsNeverBehind) {
    Pacer p(Pacer::Mode::free, 1, "");
    p.start(at(0), 0);
    p.look(at(0), 1'000'000);
    EXPECT_EQ(p.most_behind_ns(), 0);
    EXPECT_EQ(p.wall_at(at(1'000'000), 5), 5);
}

TEST(Pacer, TheGuestsClockGoesNoFurtherThanTheModelAllows) {
    Clock c;
    {
        Pacer p(Pacer::Mode::wall, 0.5, c.path, "socket");
        const std::int64_t begin = wall_now();
        c.map();
        EXPECT_STREQ(c.page->socket, "socket");
        EXPECT_EQ(c.guest(begin + 1000), c.guest(begin)) << "before a client has come";
        p.start(at(7000), begin);
        const std::int64_t guest0 = c.guest(begin);
        EXPECT_EQ(c.guest(begin + 100'000), guest0 + 50'000);
        p.allow(at(7000 + 60'000), begin + 100'000);
        EXPECT_EQ(c.guest(begin + 120'000), guest0 + 60'000);
        EXPECT_EQ(c.guest(begin + 900'000), guest0 + 60'000) << "it stands there";
        EXPECT_EQ(p.model_at(begin + 900'000), at(7000 + 60'000));
        p.allow(at(7000 + 70'000), begin + 900'000);
        EXPECT_EQ(c.guest(begin + 910'000), guest0 + 65'000) << "what it stood is not made up for";
        EXPECT_EQ(p.wall_at(at(7000 + 70'000), begin + 910'000), begin + 920'000);
        EXPECT_EQ(p.stood_ns(), 780'000);
        // A nearer limit does not take back what the guest has seen.
        p.allow(at(7000 + 10'000), begin + 910'000);
        EXPECT_EQ(c.guest(begin + 910'000), guest0 + 65'000);
        p.hold(begin + 910'000);
        EXPECT_EQ(c.guest(begin + 990'000), guest0 + 65'000);
        p.stop(begin + 990'000);
        EXPECT_EQ(c.guest(begin + 1'000'000), guest0 + 70'000) << "a guest goes on without a drive";
    }
}

TEST(Pacer, AMessageHasTheTimeOfItsSending) {
    Clock c;
    Pacer p(Pacer::Mode::wall, 0.5, c.path);
    const std::int64_t begin = wall_now();
    c.map();
    p.start(at(0), begin);
    const std::int64_t guest0 = c.guest(begin);
    // As the guest does: it reads its clock, and sends.
    c.page->latest_ns = guest0 + 10'000;
    c.page->sent = 40;
    EXPECT_TRUE(p.message_under_way());
    EXPECT_EQ(p.model_at(begin + 500'000), at(10'000));
    p.allow(at(30'000), begin + 500'000);
    EXPECT_EQ(p.model_at(begin + 900'000), at(10'000));
    p.taken(40, begin + 900'000);
    EXPECT_FALSE(p.message_under_way());
    EXPECT_EQ(c.guest(begin + 990'000), guest0 + 10'000) << "no further before the model has said how far";
    p.allow(at(30'000), begin + 900'000);
    EXPECT_EQ(c.guest(begin + 920'000), guest0 + 20'000);
}

/// Threads of the guest that have been woken and do not run stop it, but not for ever.
TEST(Pacer, WallTimeThatTheGuestHasStoodDoesNotCount) {
    Clock c;
    Pacer p(Pacer::Mode::wall, 0.5, c.path);
    const std::int64_t begin = wall_now();
    c.map();
    p.start(at(0), begin);
    const std::int64_t guest0 = c.guest(begin);
    c.page->stand = -1 - (begin + 100'000);
    EXPECT_EQ(c.guest(begin + 300'000), guest0 + 50'000);
    EXPECT_EQ(p.model_at(begin + 300'000), at(50'000));
    EXPECT_EQ(c.guest(begin + 100'000 + guest_clock::kLongestStand + 2000), guest0 + 51'000);
    c.page->lost_ns = 200'000;
    c.page->stand = 200'000;
    EXPECT_EQ(c.guest(begin + 320'000), guest0 + 60'000);
    EXPECT_EQ(p.wall_at(at(70'000), begin + 320'000), begin + 340'000);
}

/// The clock stands while the guest has not read the message, and no longer than it takes.
TEST(Pacer, AnInterruptComesAtItsTimeAndStopsTheClockUntilItIsRead) {
    Clock c;
    Pacer p(Pacer::Mode::wall, 0.5, c.path);
    c.map();
    Irqs irqs(1);
    const int event = ::eventfd(0, EFD_NONBLOCK);
    std::vector<Fd> fds;
    fds.emplace_back(::dup(event));
    ASSERT_EQ(irqs.set(IrqSet{sizeof(IrqSet), kSetFd | kSetTrigger, kMsix, 0, 1}, nullptr, 0, fds), 0);
    const std::int64_t begin = wall_now();
    p.start(at(0), begin);
    const std::int64_t guest0 = c.guest(begin);
    std::int64_t came = 0, left = 0;
    std::thread guest([&] {
        pollfd of{event, POLLIN, 0};
        ::poll(&of, 1, 10'000);
        came = c.guest(wall_now());
        ::usleep(5000);
        left = c.guest(wall_now());
        std::uint64_t count = 0;
        EXPECT_EQ(::read(event, &count, sizeof count), static_cast<ssize_t>(sizeof count));
    });
    tell(irqs, 0, at(1'000'000), p);
    guest.join();
    ::close(event);
    EXPECT_GE(came, guest0 + 1'000'000);
    EXPECT_EQ(left, came);
    EXPECT_TRUE(irqs.is_read(0));
    EXPECT_GT(c.guest(wall_now() + 1'000'000), left) << "it goes on";
}

TEST(Pacer, AClockThatCannotBeWrittenIsRefused) {
    EXPECT_THROW(Pacer(Pacer::Mode::wall, 1, "/nowhere/clock"), UserError);
}

}  // namespace
}  // namespace ssdtlm::vfio
