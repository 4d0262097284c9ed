// SPDX-License-Identifier: Apache-2.0
// Preconditioning with a host's commands: what they leave on the flash is what they leave with time, block by block,
// and a drive that goes on from there holds what it must.
#include <gtest/gtest.h>

#include <map>

#include "controller/functional/workload_play.h"
#include "controller/precondition/precondition.h"
#include "dftl_device.h"
#include "random_host.h"
#include "support/memory_snapshot.h"
#include "support/seeds.h"

namespace ssdtlm {
namespace {

NandConfig nand_of(const DeviceShape& d) {
    NandConfig n;
    n.geometry = d.geometry;
    return n;
}

/// Reads, writes, trims and flushes, or whole writes only: what one command begins in two dies goes on side by side
/// there, in an order that is one of time. each at most so many units, and not always whole ones.
std::vector<FunctionalCommand> commands_of(const DeviceShape& d, std::uint64_t units, std::uint32_t most,
                                           std::uint32_t count, std::uint64_t seed, bool only_writes) {
    Random random(seed, 3);
    const std::uint32_t per_unit = d.geometry.unit_bytes / d.lba_bytes;
    std::vector<FunctionalCommand> all(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        FunctionalCommand& c = all[i];
        c.tag = i;
        const std::uint64_t kind = only_writes ? 0 : random.below(100),
                            span = random.percent(50) ? units : std::min<std::uint64_t>(units, 24);
        c.op = kind < 70 ? IoOp::write : kind < 85 ? IoOp::read : kind < 97 ? IoOp::deallocate : IoOp::flush;
        if (c.op == IoOp::flush) continue;
        const std::uint64_t n = std::min<std::uint64_t>(1 + random.below(most), span),
                            first = random.below(span - n + 1);
        c.slba = first * per_unit;
        c.blocks = static_cast<std::uint32_t>(n) * per_unit;
        if (c.op == IoOp::write && random.percent(20) && c.blocks > 1 && !only_writes) {
            c.slba += 1;
            c.blocks -= 1;
        }
        c.fua = c.op == IoOp::write && random.percent(10) && !only_writes;
        if (c.op == IoOp::write && d.ftl.stream_frontiers != 0)
            c.stream = static_cast<std::uint8_t>(random.below(d.ftl.stream_frontiers + 2));
    }
    return all;
}

class ListedHost final : public FunctionalHost {
public:
    ListedHost(const std::vector<FunctionalCommand>& list, std::uint32_t depth) : list_(list), depth_(depth) {}
    State next(FunctionalCommand& c) override {
        if (next_ == list_.size()) return State::done;
        if (next_ - ended_ == depth_) return State::blocked;
        c = list_[next_++];
        return State::ready;
    }
    void ended(std::uint64_t tag) override {
        ++ended_;
        EXPECT_LT(tag, list_.size());
        EXPECT_TRUE(tags.insert({tag, true}).second);
    }
    std::map<std::uint64_t, bool> tags;

private:
    const std::vector<FunctionalCommand>& list_;
    const std::uint32_t depth_;
    std::size_t next_ = 0, ended_ = 0;
};

/// A drive whose cores and DRAM take their time, too.
class TimedDrive : private CompletionSink {
public:
    explicit TimedDrive(const DeviceShape& d)
        : spare(d.geometry),
          ftl(d.ftl, d.geometry, spare, d.seed),
          flash_(agenda_, spare, nand_of(d)),
          transfers_(agenda_, d.geometry.unit_bytes, d.lba_bytes),
          dram_(agenda_, DramConfig{}),
          lba_bytes_(d.lba_bytes) {
        Preconditioner(ftl).run();
        firmware.emplace(d.firmware, d.ftl, d.geometry, d.lba_bytes,
                         Firmware::Peers{agenda_, ftl, flash_, transfers_, dram_});
        firmware->bind(*this);
        ftl.on_media_change([this] { firmware->media_changed(); });
        command_.timeline = &timeline_;
    }
    /// The next one when nothing is left to happen.
    void run(const FunctionalCommand& c) {
        command_.op = c.op;
        command_.fua = c.fua;
        command_.slba = c.slba;
        command_.blocks = c.blocks;
        command_.bytes = std::uint64_t{c.blocks} * lba_bytes_;
        command_.whose.stream = c.stream;
        command_.ranges.assign(c.op == IoOp::deallocate, LbaRange{c.slba, c.blocks});
        timeline_.begin(agenda_.now());
        timeline_.set_number(++number_);
        firmware->submit(command_);
        agenda_.run();
        ASSERT_EQ(ended_, number_) << firmware->dump();
    }
    /// As WorkloadPlay does.
    void come_to_rest(bool map_too) {
        FunctionalCommand flush;
        flush.op = IoOp::flush;
        command_.ends_work = true;
        run(flush);
        if (map_too && firmware->cached_map() != nullptr) {
            bool written = false;
            firmware->cached_map()->write_all([&] { written = true; });
            agenda_.run();
            ASSERT_TRUE(written);
        }
        firmware->stop_gc();
        agenda_.run();
        ASSERT_TRUE(firmware->idle()) << firmware->dump();
    }

private:
    void complete(Command& c) override {
        ASSERT_EQ(c.status, CommandStatus::success);
        ++ended_;
    }
    Agenda agenda_;

public:
    SpareArea spare;
    Ftl ftl;

private:
    FunctionalFlash flash_;
    FunctionalTransfers transfers_;
    SerialDram dram_;
    const std::uint32_t lba_bytes_;
    Command command_;
    Timeline timeline_;
    std::uint64_t number_ = 0, ended_ = 0;

public:
    std::optional<Firmware> firmware;
};

/// All that they remember.
std::string difference(Ftl& a, SpareArea& a_flash, Firmware& a_firmware, Ftl& b, SpareArea& b_flash,
                       Firmware& b_firmware) {
    MemorySnapshot of_a, of_b;
    FtlState::exchange(a, a_flash, of_a);
    a_firmware.state(of_a);
    FtlState::exchange(b, b_flash, of_b);
    b_firmware.state(of_b);
    return MemorySnapshot::difference(of_a, of_b);
}

/// Block by block, whose units are where; not in which order pages of different dies took their numbers.
void expect_same_blocks(const Ftl& a, const SpareArea& a_flash, const Ftl& b, const SpareArea& b_flash) {
    ASSERT_EQ(a.mapped_units(), b.mapped_units());
    for (std::uint32_t u = 0; u < a.logical_units(); ++u) ASSERT_EQ(a.lookup(Lpa{u}), b.lookup(Lpa{u})) << "unit " << u;
    for (std::uint32_t n = 0; n < a.shape().superblocks(); ++n) {
        const BlockRecord &x = a.superblock(SuperblockId{n}), &y = b.superblock(SuperblockId{n});
        ASSERT_EQ(x.state, y.state) << n;
        ASSERT_EQ(x.valid, y.valid) << n;
        ASSERT_EQ(x.write_pointer, y.write_pointer) << n;
        ASSERT_EQ(x.stream, y.stream) << n;
        ASSERT_EQ(a.erases(SuperblockId{n}), b.erases(SuperblockId{n})) << n;
    }
    for (std::uint32_t i = 0; i < a.geometry().units(); ++i)
        ASSERT_EQ(a_flash.at(Ppa{i}), b_flash.at(Ppa{i})) << "place " << i;
}

struct Setting {
    std::string name;
    DeviceShape device;
    std::uint32_t most = 4;  ///< units of a command: at most a row of pages
    bool only_writes = false;
};

void expect_same(const Setting& setting, std::uint32_t count, std::uint64_t seed) {
    SCOPED_TRACE(setting.name + ", seed " + std::to_string(seed));
    DeviceShape d = setting.device;
    d.seed = seed;
    d.ftl.precondition_load = PreconditionLoad::light;
    SpareArea spare(d.geometry);
    Ftl ftl(d.ftl, d.geometry, spare, d.seed);
    Preconditioner(ftl).run();
    const std::vector<FunctionalCommand> list =
        commands_of(d, ftl.logical_units(), setting.most, count, seed, setting.only_writes);
    WorkloadPlay play(d.ftl, nand_of(d), d.lba_bytes, ftl, spare);
    ListedHost host(list, 8);
    const WorkloadBooks& books = play.run(host);
    EXPECT_EQ(host.tags.size(), list.size());
    EXPECT_GT(ftl.counters().victims + ftl.counters().full_merges + ftl.counters().partial_merges +
                  ftl.counters().switch_merges,
              20u);
    EXPECT_GT(books.units_written, count / 2);
    ftl.verify_books();

    TimedDrive timed(d);
    for (const FunctionalCommand& c : list) {
        if (c.op == IoOp::read && books.reads_passed_over != 0) continue;
        timed.run(c);
        if (::testing::Test::HasFatalFailure()) return;
    }
    timed.come_to_rest(!d.ftl.caches_filled);
    if (d.geometry.dies() == 1)
        EXPECT_EQ(difference(ftl, spare, play.drive().firmware(), timed.ftl, timed.spare, *timed.firmware), "");
    else
        expect_same_blocks(ftl, spare, timed.ftl, timed.spare);
}

DeviceShape full(DeviceShape d) {
    d.ftl.user_capacity_bytes = 0;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

std::vector<Setting> settings() {
    std::vector<Setting> all;
    const auto add = [&all](const char* name, DeviceShape d) -> Setting& {
        return all.emplace_back(Setting{name, full(std::move(d))});
    };
    add("page mapping", tiny_device());
    DeviceShape d = tiny_device();
    d.geometry.channels = 2;
    add("two dies", d).only_writes = true;
    d.ftl.static_dimensions = "C";
    add("static dimensions", d).only_writes = true;
    d = tiny_device();
    d.ftl.superblock = SuperblockSpan::plane;
    add("each plane by itself", d).most = 2;
    d = tiny_device();
    d.ftl.initial_state = InitialState::random;
    add("behind random overwrites", d);
    d = tiny_device();
    d.ftl.stream_frontiers = 2;
    d.geometry.blocks_per_plane += 4;
    add("streams", d).only_writes = true;
    d = tiny_device();
    d.ftl.read_cache = {40 * 4096, ReadCacheReplacement::lru, ReadCacheFill::both};
    d.ftl.caches_filled = true;
    d.ftl.precondition_workload = "the list";
    add("read cache", d).only_writes = true;
    d = tiny_device();
    d.ftl.buffer_mode = BufferMode::power_protected;
    add("a protected buffer", d).only_writes = true;
    d = tiny_device();
    d.ftl.refresh_reads = 200;
    add("refresh", d).only_writes = true;
    d = with_slc_cache(tiny_device(), 4, 1);
    d.geometry.bits_per_cell = 3;
    add("SLC cache", d).only_writes = true;
    d = tiny_device();
    d.ftl.slc.dynamic_blocks = 4;
    d.geometry.bits_per_cell = 2;
    d.geometry.blocks_per_plane = 32;
    add("dynamic SLC cache", d).only_writes = true;
    d = tiny_device();
    d.ftl.mapping = "fast";
    d.ftl.fast.random_log_blocks = 3;
    add("log blocks", d).only_writes = true;
    d.ftl.mapping = "block";
    add("block mapping", d).only_writes = true;
    for (const std::string& policy : VictimPolicies::instance().names()) {
        d = tiny_device();
        d.ftl.gc_policy = policy;
        add(policy.c_str(), d);
    }
    for (const bool filled : {false, true}) {
        d = dftl_device(40, MapGranularity::entry);
        d.ftl.caches_filled = filled;
        d.ftl.precondition_workload = "the list";
        all.push_back({filled ? "dftl, a dirty map" : "dftl", d});
    }
    all.push_back({"dftl by page", dftl_device(6, MapGranularity::page)});
    return all;
}

// With dftl, translation pages are read and written beside what a command begins, in an order that is one of time; so
// is what commands that are no whole writes begin with some of the others.
TEST(FunctionalDrive, LeavesTheFlashAsTheSameCommandsDoWithTime) {
    for (const Setting& setting : settings())
        for (std::uint64_t seed = 1; seed <= 2 && setting.device.ftl.mapping != "dftl"; ++seed)
            expect_same(setting, 3000, seed);
}

/// Commands of all kinds, as many at once as come, and a host that goes on where they end, checks all it reads and
/// closes the books.
void go_on(Setting setting, bool filled, bool bytes, std::uint64_t seed) {
    SCOPED_TRACE(setting.name + (filled ? ", caches filled" : "") + (bytes ? ", bytes" : "") + ", seed " +
                 std::to_string(seed));
    DeviceShape& d = setting.device;
    d.seed = seed;
    d.bytes = bytes;
    d.ftl.refresh_reads = 0;  // nobody counts reads here
    d.ftl.precondition_workload = "the list";
    d.ftl.caches_filled = filled;
    d.ftl.precondition_load = seed % 3 == 0 ? PreconditionLoad::light : PreconditionLoad::full;
    if (seed % 2 == 0 && d.ftl.initial_state != InitialState::random) d.ftl.initial_state = InitialState::fresh;
    std::optional<WorkloadPlay> play;
    std::uint32_t buffered = 0, pages = 0;
    d.before_firmware = [&](Ftl& ftl, SpareArea& spare) {
        const std::vector<FunctionalCommand> list = commands_of(d, ftl.logical_units(), 12, 4000, seed, false);
        play.emplace(d.ftl, nand_of(d), d.lba_bytes, ftl, spare);
        ListedHost host(list, 16);
        play->run(host);
        EXPECT_EQ(host.tags.size(), list.size());
        ftl.verify_books();
        pages = ftl.own_units();
    };
    d.with_firmware = [&](Firmware& firmware) {
        play->hand_over(firmware);
        std::optional<BlockBytes> contents;
        if (bytes) contents.emplace(seed, d.lba_bytes);
        firmware.put_back(play->caches(), contents);
        buffered = firmware.buffer().used();
        std::uint32_t dirty = 0;
        for (std::uint32_t page = 0; firmware.cached_map() != nullptr && page < pages; ++page)
            dirty += firmware.cached_map()->table().dirty_in(page);
        if (firmware.cached_map() != nullptr) {
            EXPECT_EQ(dirty != 0, filled) << dirty;
        }
        play.reset();
    };
    DeviceUnderTest device(d);
    ASSERT_NO_THROW(device.drain()) << device.firmware.dump();
    EXPECT_TRUE(filled || buffered == 0) << buffered;
    EXPECT_LE(buffered, device.firmware.buffer().capacity());
    // Under load hardly anything has been collected before it had to be.
    for (std::uint32_t g = 0; g < device.ftl.shape().groups() && d.ftl.precondition_load == PreconditionLoad::full &&
                              setting.name == "page mapping" && !filled;
         ++g)
        EXPECT_LE(device.ftl.free_blocks(GroupId{g}), d.ftl.gc_soft_free_blocks + 1);
    Mix mix;
    mix.commands = 3000;
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
    RandomHost host(device, mix, seed);
    ASSERT_NO_THROW(host.run()) << device.firmware.dump();
    ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
}

TEST(FunctionalDrive, AHostGoesOnWhereTheWorkloadEnds) {
    std::uint64_t seed = seed_offset();
    for (const Setting& setting : settings())
        for (const bool filled : {false, true})
            for (const bool bytes : {false, true}) {
                ++seed;
                go_on(setting, filled, bytes, seed);
                if (::testing::Test::HasFatalFailure()) return;
            }
}

TEST(FunctionalDrive, AFullBufferIsLeftFullAndAReadCacheWithWhatWasRead) {
    DeviceShape d = full(tiny_device());
    d.ftl.precondition_workload = "the list";
    d.ftl.caches_filled = true;
    d.ftl.read_cache = {20 * 4096, ReadCacheReplacement::lru, ReadCacheFill::reads};
    constexpr std::uint32_t depth = 4;
    const auto play = [&d](std::vector<FunctionalCommand> list) {
        SpareArea spare(d.geometry);
        Ftl ftl(d.ftl, d.geometry, spare, d.seed);
        Preconditioner(ftl).run();
        WorkloadPlay p(d.ftl, nand_of(d), d.lba_bytes, ftl, spare);
        ListedHost host(list, depth);
        EXPECT_EQ(p.run(host).reads_passed_over, 0u);
        return p.caches();
    };
    std::vector<FunctionalCommand> list(most_logical_units(d.ftl, d.geometry));
    for (std::uint32_t i = 0; i < list.size(); ++i) list[i] = {IoOp::write, false, 0, std::uint64_t{i} * 8, 8, i};
    // All of it but for what is being programmed and the room of commands whose data have not come, in the order in
    // which it came.
    const CacheContents written = play(list);
    const std::size_t capacity = d.ftl.buffer_bytes / 4096,
                      programs = d.ftl.flush_depth(d.geometry) * d.geometry.units_per_page();
    EXPECT_GE(written.buffered.size(), capacity - programs - depth);
    EXPECT_LE(written.buffered.size(), capacity);
    for (std::size_t i = 1; i < written.buffered.size(); ++i)
        EXPECT_EQ(idx(written.buffered[i].lpa), idx(written.buffered[i - 1].lpa) + 1);
    EXPECT_TRUE(written.cached.empty());
    // Units that are in the buffer no more; the one that was read last leaves last. The reads before have to have
    // ended.
    for (std::uint32_t i = 0; i < 30; ++i)
        list.push_back({IoOp::read, false, 0, std::uint64_t{2 * i} * 8, 8, list.size()});
    for (std::uint32_t i = 0; i < 5; ++i) list.push_back({IoOp::flush, false, 0, 0, 0, list.size()});
    const CacheContents read = play(list);
    ASSERT_EQ(read.cached.size(), 20u);
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(read.cached[i], Lpa{2 * (i + 10)});
}

// Garbage collection lags behind a host that does not wait, and not behind one that does.
TEST(FunctionalDrive, UnderFullLoadFewBlocksAreFree) {
    for (const PreconditionLoad load : {PreconditionLoad::full, PreconditionLoad::light}) {
        DeviceShape d = full(tiny_device());
        d.ftl.gc_soft_free_blocks = 6;
        d.ftl.precondition_load = load;
        d.ftl.user_capacity_bytes = d.ftl.user_capacity_bytes / 4 * 3;
        SpareArea spare(d.geometry);
        Ftl ftl(d.ftl, d.geometry, spare, d.seed);
        Preconditioner(ftl).run();
        std::vector<FunctionalCommand> list(8 * ftl.logical_units());
        Random random(1);
        for (std::uint32_t i = 0; i < list.size(); ++i)
            list[i] = {IoOp::write, false, 0, random.below(ftl.logical_units()) * 8, 8, i};
        WorkloadPlay play(d.ftl, nand_of(d), d.lba_bytes, ftl, spare);
        ListedHost host(list, 32);
        play.run(host);
        if (load == PreconditionLoad::full)
            EXPECT_LE(ftl.free_blocks(GroupId{0}), d.ftl.gc_soft_free_blocks);
        else
            EXPECT_GT(ftl.free_blocks(GroupId{0}), d.ftl.gc_soft_free_blocks);
    }
}

}  // namespace
}  // namespace ssdtlm
