// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/busy_meter.h"

#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

SimTime at(std::int64_t ps) {
    return SimTime{Ps{ps}};
}

TEST(BusyMeter, SplitsByKindAndCountsTheRunningPart) {
    BusyMeter m;
    m.start(BusyKind::host_read, at(100));
    m.stop(BusyKind::host_read, at(150));
    m.start(BusyKind::erase, at(200));
    EXPECT_EQ(m.totals(at(230)), (BusyMeter::Totals{50, 0, 0, 0, 30}));
    EXPECT_TRUE(m.busy());
    m.stop(BusyKind::erase, at(300));
    EXPECT_EQ(m.totals(at(900)), (BusyMeter::Totals{50, 0, 0, 0, 100}));
    EXPECT_FALSE(m.busy());
}

TEST(BusyMeter, OverlappingKindsSumToTheTimeAnythingRan) {
    BusyMeter m;
    m.start(BusyKind::gc, at(0));
    m.start(BusyKind::host_read, at(10));  // takes over from gc
    m.start(BusyKind::host_read, at(15));
    m.stop(BusyKind::host_read, at(30));
    m.stop(BusyKind::host_read, at(40));
    m.stop(BusyKind::gc, at(45));
    EXPECT_EQ(m.totals(at(50)), (BusyMeter::Totals{30, 0, 15, 0, 0}));
}

}  // namespace
}  // namespace ssdtlm
