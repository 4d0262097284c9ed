// SPDX-License-Identifier: Apache-2.0
// The firmware's organs one by one: who is resumed when, what the map holds, what a step costs, which memory is meant.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "controller/cpu/core_pool.h"
#include "controller/dma/dma_transfers.h"
#include "controller/ftl/ftl_check.h"
#include "controller/map/resident/resident_map.h"
#include "controller/wait_queues/wait_queues.h"

namespace ssdtlm {
namespace {

/// Answers when told to.
class ScriptedMap final : public MapPort {
public:
    bool translate(const MapExtent& extent, MapUse, Ppa* places, const MapThen& then) override {
        if (at_once) {
            for (std::uint32_t i = 0; i < extent.units; ++i) places[i] = Ppa{idx(extent.first) + i};
            return true;
        }
        asked.push_back({extent, then});
        return false;
    }
    void let_go(PlaneId, BlockId, std::uint32_t) override {}
    void unmap(const MapExtent&) override {}
    void lose(Lpa) override {}

    struct Question {
        MapExtent extent;
        MapThen then;
    };
    bool at_once = true;
    std::vector<Question> asked;
};

/// Waits for everything and writes down who was resumed.
struct Log {
    bool flush(std::uint64_t what) { return resumed("flush", what); }
    bool page(std::uint64_t what) { return resumed("page", what); }
    bool room(std::uint64_t what) { return resumed("room", what); }
    void durable(std::uint32_t command) { text += "durable" + std::to_string(command) + " "; }
    void work() {
        text += "work ";
        if (settle_in_work != 0 && settle_in_work-- != 0) wait_queues->settle();
    }
    void answered(std::uint32_t command, const Ppa* places) {
        text += "map" + std::to_string(command) + "@" + std::to_string(idx(places[0])) + " ";
    }
    bool resumed(const char* who, std::uint64_t what) {
        text += who + std::to_string(what) + (able[who] ? " " : "? ");
        return able[who];
    }
    std::string take() { return std::exchange(text, {}); }

    std::map<std::string, bool> able{{"flush", true}, {"page", true}, {"room", true}};
    std::string text;
    WaitQueues* wait_queues = nullptr;
    int settle_in_work = 0;
};

struct WaitQueuesBench {
    WaitQueuesBench() : wait_queues(agenda, map) {
        log.wait_queues = &wait_queues;
        wait_queues.on_durable(ThenOf<void, std::uint32_t>::to<&Log::durable>(&log));
        wait_queues.on_settled(Then::to<&Log::work>(&log));
    }
    void all_wait() {
        wait_queues.wait(WaitQueues::For::room, Attempt::to<&Log::room>(&log, 1));
        wait_queues.wait(WaitQueues::For::room, Attempt::to<&Log::room>(&log, 2));
        wait_queues.wait(WaitQueues::For::page, Attempt::to<&Log::page>(&log, 3));
        wait_queues.wait(WaitQueues::For::page, Attempt::to<&Log::page>(&log, 4));
        wait_queues.wait(WaitQueues::For::flush, Attempt::to<&Log::flush>(&log, 5));
        wait_queues.wait(WaitQueues::For::flush, Attempt::to<&Log::flush>(&log, 6));
        wait_queues.release(7);
    }
    Agenda agenda;
    ScriptedMap map;
    WaitQueues wait_queues;
    Log log;
};

TEST(WaitQueues, ResumesInOneOrder) {
    WaitQueuesBench b;
    b.all_wait();
    b.wait_queues.pages_changed();
    EXPECT_EQ(b.log.take(), "durable7 flush5 flush6 page3 page4 room1 room2 work ");
    b.wait_queues.pages_changed();
    EXPECT_EQ(b.log.take(), "work ");
}

TEST(WaitQueues, PagesAreAskedForOnlyWhenTheyChanged) {
    WaitQueuesBench b;
    b.all_wait();
    b.wait_queues.settle();
    EXPECT_EQ(b.log.take(), "durable7 flush5 flush6 room1 room2 work ");
    EXPECT_EQ(b.wait_queues.count(WaitQueues::For::page), 2u);
}

TEST(WaitQueues, WhoCannotGoOnStaysFirst) {
    WaitQueuesBench b;
    b.all_wait();
    b.log.able = {{"flush", false}, {"page", false}, {"room", false}};
    b.wait_queues.pages_changed();
    EXPECT_EQ(b.log.take(), "durable7 flush5? page3? room1? work ");
    b.log.able["room"] = true;
    b.wait_queues.settle();
    EXPECT_EQ(b.log.take(), "flush5? room1 room2 work ");
    EXPECT_TRUE(b.wait_queues.anybody(WaitQueues::For::flush));
    EXPECT_FALSE(b.wait_queues.anybody(WaitQueues::For::room));
}

// What settles within settle() is done after it, once more, and not inside.
TEST(WaitQueues, SettleWithinSettleBeginsAgain) {
    WaitQueuesBench b;
    b.log.able["room"] = false;
    b.wait_queues.wait(WaitQueues::For::room, Attempt::to<&Log::room>(&b.log, 1));
    b.log.settle_in_work = 2;
    b.wait_queues.settle();
    EXPECT_EQ(b.log.take(), "room1? work room1? work room1? work ");
}

TEST(WaitQueues, WhoWaitsForNothingIsFound) {
    WaitQueuesBench b;
    EXPECT_NO_THROW(b.wait_queues.check_waiters({}));
    b.all_wait();
    EXPECT_THROW(b.wait_queues.check_waiters({true, true, true}), CheckFailed);  // 7 was not told
    b.log.able = {{"flush", false}, {"page", false}, {"room", false}};
    b.wait_queues.settle();
    EXPECT_NO_THROW(b.wait_queues.check_waiters({true, false, false}));
    EXPECT_THROW(b.wait_queues.check_waiters({false, true, true}), CheckFailed);  // pages
    b.log.able["page"] = true;
    b.wait_queues.pages_changed();
    EXPECT_NO_THROW(b.wait_queues.check_waiters({false, false, true}));
    EXPECT_THROW(b.wait_queues.check_waiters({false, true, false}), CheckFailed);  // flushes
    b.log.able["flush"] = true;
    b.wait_queues.settle();
    EXPECT_NO_THROW(b.wait_queues.check_waiters({false, true, false}));
    EXPECT_THROW(b.wait_queues.check_waiters({false, false, false}), CheckFailed);  // room
}

TEST(WaitQueues, ALateAnswerOfTheMapIsChargedToItsCommand) {
    WaitQueuesBench b;
    Command commands[3];
    Timeline timelines[3];
    Ppa places[2];
    for (std::uint32_t i = 0; i < 3; ++i) {
        commands[i].index = i;
        commands[i].timeline = &timelines[i];
        timelines[i].begin(b.agenda.now());
    }
    EXPECT_TRUE(
        b.wait_queues.ask_map(commands[0], {Lpa{5}, 2}, MapUse::read, places, MapThen::to<&Log::answered>(&b.log, 0)));
    EXPECT_EQ(places[1], Ppa{6});
    b.map.at_once = false;
    EXPECT_FALSE(
        b.wait_queues.ask_map(commands[1], {Lpa{8}, 1}, MapUse::read, places, MapThen::to<&Log::answered>(&b.log, 1)));
    EXPECT_FALSE(
        b.wait_queues.ask_map(commands[2], {Lpa{9}, 1}, MapUse::read, places, MapThen::to<&Log::answered>(&b.log, 2)));
    EXPECT_EQ(b.wait_queues.waiting_for_map(), 2u);
    EXPECT_THROW(
        b.wait_queues.ask_map(commands[1], {Lpa{8}, 1}, MapUse::read, places, MapThen::to<&Log::answered>(&b.log, 1)),
        Panic);
    b.agenda.run_until(SimTime{Ps{700}});
    const Ppa answer{42};
    b.map.asked[1].then(&answer);
    EXPECT_EQ(b.log.take(), "map2@42 ");
    EXPECT_EQ(timelines[2].of(Stage::mapping), Ps{700});
    EXPECT_EQ(timelines[2].last(), b.agenda.now());
    EXPECT_EQ(timelines[1].of(Stage::mapping), Ps{0});
    EXPECT_EQ(b.wait_queues.waiting_for_map(), 1u);
    EXPECT_THROW(b.map.asked[1].then(&answer), Panic);  // nobody waits for a second one
}

/// 2 planes of 24 blocks of 4 pages of 2 units, half of the logical units mapped in random order.
struct MapBench : EraseGate {
    MapBench() : spare(shape()), ftl(config(), shape(), spare, 1), map(ftl) {
        map.bind(*this);
        Random random(3, 1);
        std::vector<std::uint32_t> order(ftl.logical_units());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        for (std::size_t i = 0; i + 1 < order.size() / 2; i += 2) {
            PageAddress page;
            EXPECT_TRUE(ftl.allocate_host_page(page));
            for (std::uint32_t s = 0; s < 2; ++s) ftl.map_unit(Lpa{order[i + s]}, shape().ppa_of(page, s));
            ftl.host_page_programmed(page);
        }
    }
    static NandGeometry shape() {
        NandGeometry g;
        g.planes_per_die = 2;
        g.blocks_per_plane = 24;
        g.pages_per_block = 4;
        g.page_bytes = 8192;
        return g;
    }
    static FtlConfig config() {
        FtlConfig c;
        c.superblock = SuperblockSpan::plane;
        c.initial_state = InitialState::fresh;
        c.gc_soft_free_blocks = 4;
        c.gc_hard_free_blocks = 2;
        c.user_capacity_bytes = most_logical_units(c, shape()) * 4096;
        return c;
    }
    void read_finished(PlaneId plane, BlockId block) override {
        EXPECT_EQ(shape().plane_of(block), plane);
        ++told;
    }
    SpareArea spare;
    Ftl ftl;
    ResidentMap map;
    std::uint64_t told = 0;
};

// A block is held as often as the answer names a unit in it, and may be erased when as many were let go.
TEST(ResidentMap, AnAnswerHoldsTheBlocksThatItNames) {
    MapBench b;
    Random random(1, 1);
    std::vector<Ppa> places(64);
    for (int round = 0; round < 500; ++round) {
        const auto units = static_cast<std::uint32_t>(1 + random.below(40));
        const auto first = static_cast<std::uint32_t>(random.below(b.ftl.logical_units() - units + 1));
        ASSERT_TRUE(b.map.translate({Lpa{first}, units}, MapUse::read, places.data(), {}));
        std::map<std::uint32_t, std::uint32_t> named;
        for (std::uint32_t i = 0; i < units; ++i) {
            ASSERT_EQ(places[i], b.ftl.lookup(Lpa{first + i}));
            if (places[i] != kUnmapped) ++named[idx(MapBench::shape().block_of(places[i]))];
        }
        b.told = 0;
        std::uint64_t expected = 0;
        for (const auto& [block, count] : named) {
            const SuperblockId held = b.ftl.shape().superblock_of(BlockId{block});
            const PlaneId plane = MapBench::shape().plane_of(BlockId{block});
            ASSERT_FALSE(b.ftl.erase_allowed(held));
            if (count > 1) b.map.let_go(plane, BlockId{block}, count - 1);
            ASSERT_FALSE(b.ftl.erase_allowed(held));
            b.map.let_go(plane, BlockId{block}, 1);
            ASSERT_TRUE(b.ftl.erase_allowed(held));
            ASSERT_THROW(b.map.let_go(plane, BlockId{block}, 1), Panic);
            expected += count > 1 ? 2 : 1;
        }
        ASSERT_EQ(b.told, expected);
    }
}

TEST(ResidentMap, RemovalHoldsNothingAndUnmaps) {
    MapBench b;
    std::uint32_t mapped = 0;
    for (std::uint32_t i = 4; i < 24; ++i) mapped += b.ftl.lookup(Lpa{i}) != kUnmapped;
    const std::uint64_t before = b.ftl.mapped_units();
    ASSERT_GT(mapped, 0u);
    EXPECT_TRUE(b.map.translate({Lpa{4}, 20}, MapUse::remove, nullptr, {}));
    b.map.unmap({Lpa{4}, 20});
    EXPECT_EQ(b.ftl.mapped_units(), before - mapped);
    for (std::uint32_t i = 4; i < 24; ++i) EXPECT_EQ(b.ftl.lookup(Lpa{i}), kUnmapped);
}

TEST(CorePool, AStepWaitsForItsCoreAndHardwareDoesNot) {
    FirmwareConfig config;
    config.cores = 3;
    config.clock_hz = 1'000'000'000;  // 1 ns a cycle
    Agenda agenda;
    CorePool cores(agenda, config);
    const SimTime now = agenda.now();
    EXPECT_EQ(cores.reserve(1, 100, CoreStep::read_command, 1).end, now + Ps{100'000});
    EXPECT_EQ(cores.reserve(4, 50, CoreStep::read_command, 4).start, now + Ps{100'000});  // 4 mod 3
    EXPECT_EQ(cores.reserve(2, 50, CoreStep::read_command, 2).start, now);
    const auto hardware = cores.reserve(1, 0, CoreStep::flush, CorePort::kNoCommand);
    EXPECT_EQ(hardware.start, now);
    EXPECT_EQ(hardware.end, now);
    EXPECT_EQ(cores.busy(1), Ps{150'000});
    EXPECT_EQ(cores.free_at(2), now + Ps{50'000});
    EXPECT_EQ(cores.busy(0), Ps{0});
}

// The addresses of a part of the data, byte by byte from the pages, against the segments.
TEST(HostSegments, CoverThePartOfTheDataInOrder) {
    Random random(5, 1);
    HostSegments segments;
    for (int round = 0; round < 2000; ++round) {
        AddressedCommand c;
        const std::uint64_t offset = random.below(1024) * 4;
        const auto pages = static_cast<std::uint32_t>(1 + random.below(6));
        std::vector<std::uint64_t> addresses;
        std::uint64_t page = random.below(100);
        for (std::uint32_t p = 0; p < pages; ++p) {
            page = random.percent(50) ? page + 1 : random.below(100);  // neighbours are joined
            addresses.push_back(page * 4096 + (p == 0 ? offset : 0));
            c.data.add(addresses.back(), p == 0 ? 4096 - offset : 4096);
        }
        c.bytes = pages * 4096ull - offset;
        const std::uint64_t from = random.below(c.bytes), bytes = 1 + random.below(c.bytes - from);
        std::vector<std::uint64_t> expected;
        for (std::uint64_t i = from; i < from + bytes; ++i) {
            const std::uint64_t at = offset + i;
            expected.push_back(at < 4096 ? addresses[0] + i : addresses[at / 4096] + at % 4096);
        }
        ASSERT_EQ(c.data.bytes(), c.bytes);
        ASSERT_EQ(c.data.address_of(from), expected.front());
        const HostSegments::List list = segments.of(c.data, from, bytes);
        std::vector<std::uint64_t> covered;
        for (std::uint32_t s = 0; s < list.count; ++s) {
            for (std::uint32_t i = 0; i < list.first[s].bytes; ++i) covered.push_back(list.first[s].address + i);
            if (s != 0) {
                ASSERT_NE(list.first[s - 1].address + list.first[s - 1].bytes, list.first[s].address);
            }
        }
        ASSERT_EQ(covered, expected);
    }
}

}  // namespace
}  // namespace ssdtlm
