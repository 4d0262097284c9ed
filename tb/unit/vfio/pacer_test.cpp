// SPDX-License-Identifier: Apache-2.0
// Simulated time by the wall, and the guest's clock: what the page says at any time of the wall.
#include "host_vfio/pacer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "common/report/error.h"

namespace ssdtlm::vfio {
namespace {

constexpr SimTime at(std::int64_t ns) {
    return SimTime{Ps{ns * 1000}};
}

struct Clock {
    std::string path = testing::TempDir() + "pacer_test_" + std::to_string(::getpid());
    ClockPage page() const {
        ClockPage p{};
        const Fd fd(::open(path.c_str(), O_RDONLY));
        EXPECT_EQ(::pread(fd.get(), &p, sizeof p, 0), static_cast<ssize_t>(sizeof p));
        EXPECT_EQ(p.seq % 2, 0u);
        EXPECT_EQ(p.version, 1u);
        return p;
    }
    static std::int64_t guest(const ClockPage& p, std::int64_t wall) {
        return p.base_ns + static_cast<std::int64_t>(static_cast<double>(wall - p.wall0_ns) * p.rate);
    }
    ~Clock() { ::unlink(path.c_str()); }
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

TEST(Pacer, TheGuestsClockStandsWhileTheModelIsBehindAndNeverGoesBack) {
    Clock c;
    {
        Pacer p(Pacer::Mode::wall, 0.5, c.path);
        const std::int64_t begin = wall_now();
        EXPECT_EQ(c.page().rate, 0.0) << "before a client has come";
        p.start(at(7000), begin);
        const std::int64_t guest0 = Clock::guest(c.page(), begin);
        EXPECT_EQ(c.page().rate, 0.5);
        p.look(at(7000 + 50'000), begin + 100'000);
        EXPECT_EQ(Clock::guest(c.page(), begin + 100'000), guest0 + 50'000);
        // At 200 us of the wall the model has got to 60 us: 40 us behind.
        p.look(at(7000 + 60'000), begin + 200'000);
        EXPECT_EQ(c.page().rate, 0.0);
        EXPECT_EQ(Clock::guest(c.page(), begin + 900'000), guest0 + 100'000) << "it stands where it was";
        EXPECT_EQ(p.model_at(begin + 900'000), at(7000 + 100'000));
        p.look(at(7000 + 90'000), begin + 900'000);
        EXPECT_EQ(c.page().rate, 0.0);
        p.look(at(7000 + 100'000), begin + 1'000'000);
        EXPECT_EQ(c.page().rate, 0.5);
        EXPECT_EQ(Clock::guest(c.page(), begin + 1'200'000), guest0 + 200'000);
        EXPECT_EQ(p.stood_ns(), 800'000);
    }
    EXPECT_EQ(c.page().rate, 0.5) << "whoever goes on behind us has a clock that goes";
}

TEST(Pacer, AClockThatCannotBeWrittenIsRefused) {
    EXPECT_THROW(Pacer(Pacer::Mode::wall, 1, "/nowhere/clock"), UserError);
}

}  // namespace
}  // namespace ssdtlm::vfio
