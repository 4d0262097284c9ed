// SPDX-License-Identifier: Apache-2.0
// Rules between parameters: each broken once.
#include <gmock/gmock.h>

#include "adapter/rtl_schedulers.h"
#include "sim/config/config_show.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The only problem, with these assignments, begins like this.
void expect_one(const std::vector<std::string>& assignments, const std::string& beginning) {
    EXPECT_THAT(problems_with(assignments), ElementsAre(StartsWith(beginning)));
}

TEST(ConfigRules, CapacityNeedsOverProvisioning) {
    // 2 planes x (64 - (4 + 3)) blocks x 32 pages of 4 KiB.
    const int most = 2 * (64 - 7) * 32 * 4096;
    EXPECT_THAT(problems_with({"ftl.user_capacity=" + std::to_string(most) + "B"}), IsEmpty());
    const auto all = problems_with({"ftl.user_capacity=" + std::to_string(most + 4096) + "B"});
    ASSERT_EQ(all.size(), 1u);
    EXPECT_THAT(
        all[0],
        HasSubstr(
            "leaves too little over-provisioning in 16384KiB of flash; at most 14336KiB: each plane keeps 7 of its "
            "64 blocks (gc.soft_free_blocks + 3); lower it or gc.soft_free_blocks, or add flash"));
}

TEST(ConfigRules, PlaceIsThatOfTheValue) {
    EXPECT_THAT(
        problems_of(good_device() + "[nvme]\nlba_size = \"4KiB\"\n[nand]\nt_read = [\"1us\", \"2us\", \"3us\"]\n"),
        ElementsAre("d.toml:15:10: nand.t_read: 3 values for 2 page types; one value, or one for each of the "
                    "nand.bits_per_cell = 2 types"));
    EXPECT_THAT(problems_with({"nvme.lba_size=4KiB", "nand.geometry.unit_size=2KiB"}),
                ElementsAre("--set nand.geometry.unit_size=2KiB: nand.geometry.unit_size: 2KiB is not a multiple of "
                            "nvme.lba_size = 4KiB; whole logical blocks in a unit; change one of the two"));
    EXPECT_THAT(
        problems_with({"nvme.max_queue_pairs=4"}),
        ElementsAre(
            "default of host.queue_pairs: host.queue_pairs: 8 is more than nvme.max_queue_pairs = 4; at most 4; "
            "lower it, or raise nvme.max_queue_pairs"));
}

TEST(ConfigRules, MetadataNeedBytes) {
    expect_one({"nvme.metadata=true"},
               "--set nvme.metadata=true: nvme.metadata: true with run.data = \"signatures\": metadata and guards are "
               "made of real bytes; false, or run.data = \"bytes\"; set run.data");
    EXPECT_THAT(problems_with({"nvme.metadata=true", "run.data=bytes"}), IsEmpty());
    EXPECT_THAT(problems_with({"nvme.metadata=true", "frontend.kind=raw"}), IsEmpty());
}

TEST(ConfigRules, Geometry) {
    expect_one({"nand.geometry.page_size=6KiB"},
               "--set nand.geometry.page_size=6KiB: nand.geometry.page_size: 6KiB is not a multiple");
    expect_one({"nand.geometry.page_size=128KiB"},
               "default of nand.geometry.unit_size: nand.geometry.unit_size: 4KiB makes 32 units in a page of 128KiB; "
               "at most 16");
    expect_one(
        {"nand.geometry.ways=33", "nand.geometry.dies_per_chip=2"},
        "--set nand.geometry.ways=33: nand.geometry.ways: 33 ways of 2 dies are 66 dies on a channel; at most 64");
    expect_one({"nand.geometry.planes_per_die=9"},
               "--set nand.geometry.planes_per_die=9: nand.geometry.planes_per_die: 9 is out of range; 1..8");
    // 2 x 1000000 x 4096 = 8.2e9 units.
    expect_one({"nand.geometry.blocks_per_plane=1000000", "nand.geometry.pages_per_block=4096"},
               "--set nand.geometry.blocks_per_plane=1000000: nand.geometry.blocks_per_plane: 1000000 makes more "
               "mapping units");
    expect_one({"gc.soft_free_blocks=100"},
               "d.toml:10:20: nand.geometry.blocks_per_plane: 64 blocks are not enough for a reserve of 103 "
               "(gc.soft_free_blocks + 3); at least 104; raise it, or lower gc.soft_free_blocks");
}

TEST(ConfigRules, LargestUnitCountIsAllowed) {
    // 2^32 - 2^20 units: 2 channels x 524160 blocks x 4096 pages.
    EXPECT_THAT(problems_with({"nand.geometry.blocks_per_plane=524160", "nand.geometry.pages_per_block=4096"}),
                IsEmpty());
    expect_one(
        {"nand.geometry.blocks_per_plane=524161", "nand.geometry.pages_per_block=4096"},
        "--set nand.geometry.blocks_per_plane=524161: nand.geometry.blocks_per_plane: 524161 makes more mapping units");
}

TEST(ConfigRules, Collection) {
    expect_one({"gc.hard_free_blocks=4"},
               "d.toml:4:20: gc.soft_free_blocks: 4 is not above gc.hard_free_blocks = 4; more than 4");
    expect_one({"gc.hard_free_blocks=0"},
               "--set gc.hard_free_blocks=0: gc.hard_free_blocks: 0 is out of range; 1..65535");
    expect_one({"ftl.allocation=CWDD"}, "--set ftl.allocation=CWDD: ftl.allocation: is 'CWDD'; CDPW, ");
}

// One block kept free is enough for the host and collection; each other writer, and whatever leaves blocks that nobody
// goes on with, takes a second.
TEST(ConfigRules, OneBlockKeptFree) {
    EXPECT_THAT(problems_with({"gc.hard_free_blocks=1", "gc.soft_free_blocks=2"}), IsEmpty());
    EXPECT_THAT(problems_with({"gc.hard_free_blocks=1", "refresh.reads=1000", "gc.least_invalid=1%"}), IsEmpty());
    for (const char* other : {"ftl.mapping=dftl", "ftl.mapping=fast", "wear.most_spread=10", "ftl.spare_blocks=2",
                              "slc.blocks=2", "slc.dynamic_blocks=2", "ftl.checkpoint_interval=1MiB",
                              "ftl.checkpoint_at_shutdown=true", "gc.frontier=shared", "gc.charge_time=false"})
        EXPECT_THAT(problems_with({"gc.hard_free_blocks=1", other}),
                    ::testing::Contains(::testing::HasSubstr("gc.hard_free_blocks: 1; at least 2; raise it")))
            << other;
    expect_one({"gc.hard_free_blocks=1", "host.power_cut_at=[\"1ms\"]"},
               "--set gc.hard_free_blocks=1: gc.hard_free_blocks: 1 with host.power_cut_at; at least 2");
    expect_one({"gc.hard_free_blocks=1", "nand.faults.program_fail=0.1%"},
               "--set gc.hard_free_blocks=1: gc.hard_free_blocks: 1 with rates in [nand.faults]; at least 2");
    const auto used = [](const std::string& share, const std::string& mapping) {
        return problems_of("[ftl]\nuser_capacity = \"8MiB\"\nmapping = \"" + mapping +
                           "\"\n[nand.geometry]\nchannels = 2\nblocks_per_plane = 64\npages_per_block = 32\n" +
                           "[gc]\nhard_used = \"" + share + "\"\n");
    };
    EXPECT_THAT(used("98%", "dftl"),
                ElementsAre(HasSubstr("gc.hard_used: 98% leaves 1 of 64 blocks free; at least 2 blocks; lower it")));
    EXPECT_THAT(used("98%", "page"), IsEmpty());
    EXPECT_THAT(used("99%", "page"),
                ElementsAre(HasSubstr("gc.hard_used: 99% leaves 0 of 64 blocks free; at least 1 block; lower it")));
}

TEST(ConfigRules, SharesOfBlocksInUse) {
    const auto free = [](std::vector<std::string> assignments) {
        ConfigLoader loader;
        loader.add_text(
            "[ftl]\nuser_capacity = \"8MiB\"\n[buffer]\nsize = \"4MiB\"\n[nand.geometry]\nchannels = "
            "2\nblocks_per_plane = 256\npages_per_block = 32\n",
            "d.toml");
        for (const std::string& a : assignments) loader.add_assignment(a);
        const SsdConfig c = loader.finish().config;
        return std::pair(c.ftl.gc_soft_free_blocks, c.ftl.gc_hard_free_blocks);
    };
    EXPECT_EQ(free({"gc.soft_used=75%", "gc.hard_used=95%"}),
              std::pair(64u, 12u));  // FEMU: int((1 - 0.75) * 256), int((1 - 0.95) * 256)
    EXPECT_EQ(free({"gc.soft_used=75%", "gc.soft_free_blocks=64"}), std::pair(64u, 3u)) << "said twice, the same";
    expect_one({"gc.soft_used=90%"},
               "d.toml:4:20: gc.soft_free_blocks: 4, with gc.soft_used = 90%, which leaves 6 of 64 blocks free; one of "
               "the two");
    EXPECT_THAT(problems_with({"gc.soft_used=90%", "gc.soft_free_blocks=6"}), IsEmpty());
    expect_one({"gc.hard_used=99%", "gc.hard_free_blocks=0"},
               "--set gc.hard_free_blocks=0: gc.hard_free_blocks: 0 is out of range; 1..65535");
}

// Of 16 MiB of flash in units of 4 KiB: 16 MiB / (1 + share), rounded down to units.
TEST(ConfigRules, SpareAsAShare) {
    const auto user = [](const std::string& device, const std::vector<std::string>& more) {
        ConfigLoader loader;
        loader.add_text(device, "d.toml");
        for (const auto& a : more) loader.add_assignment(a);
        const ResolvedConfig r = loader.finish();
        EXPECT_EQ(r.where("ftl.user_capacity"),
                  r.config.over_provisioning == 0 ? "d.toml:2:17" : r.where("ftl.over_provisioning"));
        return std::pair(r.config.ftl.user_capacity_bytes, r.config.over_provisioning);
    };
    const auto leaves = [](double percent) {
        return static_cast<std::uint64_t>((16u << 20) / (1 + percent / 100) / 4096) * 4096;
    };
    std::string by_share = good_device();
    by_share.replace(by_share.find("user_capacity = \"12MiB\""), 23, "over_provisioning = \"28%\"");
    for (const double percent : {28.0, 33.3333, 50.0, 100.0, 250.0}) {
        const std::string share = "ftl.over_provisioning=" + std::to_string(percent) + "%";
        // It replaces what an earlier source says in either way.
        EXPECT_EQ(user(good_device(), {share}), std::pair(leaves(percent), percent / 100));
        EXPECT_EQ(user(by_share, {share}), std::pair(leaves(percent), percent / 100));
    }
    EXPECT_EQ(user(by_share, {}), std::pair(leaves(28), 0.28));
    EXPECT_EQ(user(good_device(), {"ftl.over_provisioning=0%"}).first, 12u << 20);
    ConfigLoader loader;
    loader.add_text(by_share, "d.toml");
    loader.add_assignment("ftl.user_capacity=8MiB");
    const SsdConfig later = loader.finish().config;
    EXPECT_EQ(std::pair(later.ftl.user_capacity_bytes, later.over_provisioning),
              std::pair(std::uint64_t{8} << 20, 0.0));
}

TEST(ConfigRules, SpareThatIsSaidTwiceOrIsTooLittle) {
    // What a message proposes is accepted: 16 MiB / 1.28 in units are 3200 of them.
    expect_one(
        {"ftl.over_provisioning=28%", "ftl.user_capacity=12MiB"},
        "--set ftl.user_capacity=12MiB: ftl.user_capacity: 12MiB, with ftl.over_provisioning = 28%, which leaves "
        "12.5MiB of the flash; 12.5MiB, or one of the two; leave one out");
    EXPECT_THAT(problems_with({"ftl.over_provisioning=28%", "ftl.user_capacity=12800KiB"}), IsEmpty());
    std::string both = good_device();
    both.insert(both.find("user_capacity"), "over_provisioning = \"30%\"\n");
    EXPECT_THAT(problems_of(both), ElementsAre(HasSubstr("d.toml:3:17: ftl.user_capacity: 12MiB, with "
                                                         "ftl.over_provisioning = 30%")));
    EXPECT_THAT(problems_of("[nand.geometry]\nchannels = 2\n"),
                ElementsAre(HasSubstr("ftl.user_capacity: is not set")));
    // 4 + 3 of 64 blocks are kept, and 57 / 64 of 16 MiB are 14.25 MiB.
    expect_one({"ftl.over_provisioning=12%"},
               "--set ftl.over_provisioning=12%: ftl.over_provisioning: 12% leaves too little over-provisioning in");
    const std::string said = problems_with({"ftl.over_provisioning=12%"}).front();
    const std::size_t at = said.find("at least ") + 9;
    const std::string least = said.substr(at, said.find('%', at) - at + 1);
    // A unit of 4 KiB less is as much: capacities are rounded down to units.
    EXPECT_NEAR(std::stod(least), 100 * (64.0 / 57 - 1), 0.04);
    EXPECT_THAT(problems_with({"ftl.over_provisioning=" + least}), IsEmpty());
    EXPECT_THAT(problems_with({"ftl.over_provisioning=" + std::to_string(std::stod(least) - 0.02) + "%"}),
                ElementsAre(HasSubstr("at least " + least)));
    expect_one({"ftl.over_provisioning=10001%"},
               "--set ftl.over_provisioning=10001%: ftl.over_provisioning: 10001% is out of range; 0%..10000%");
}

// A row of pages that is programmed, and one that waits; as large as the planes are many, unless somebody says a
// number.
TEST(ConfigRules, TheProgramsUnderWayFollowThePlanes) {
    const auto depth = [](std::vector<std::string> more) {
        ConfigLoader loader;
        loader.add_text(good_device(), "d.toml");
        for (const auto& a : more) loader.add_assignment(a);
        return loader.finish();
    };
    for (const std::uint32_t planes : {1u, 2u, 4u, 8u}) {
        const std::string geometry = "nand.geometry.planes_per_die=" + std::to_string(planes);
        const ResolvedConfig standard = depth({geometry});
        EXPECT_EQ(standard.config.ftl.flush_depth_per_die, 2 * planes);
        EXPECT_NE(show_toml(standard).find("flush_depth_per_die = " + std::to_string(2 * planes)), std::string::npos);
        EXPECT_EQ(depth({geometry, "buffer.flush_depth_per_die=3"}).config.ftl.flush_depth_per_die, 3u);
        EXPECT_EQ(depth({geometry, "buffer.flush_depth_per_die=0"}).config.ftl.flush_depth_per_die, 2 * planes);
    }
}

TEST(ConfigRules, TwoSteps) {
    EXPECT_THAT(problems_with({"nand.two_step=true"}), IsEmpty());
    expect_one({"nand.two_step=true", "nand.faults.program_fail=1%"},
               "--set nand.faults.program_fail=1%: nand.faults.program_fail: 1% with nand.two_step = true; 0%");
    expect_one({"nand.two_step=true", "nand.bits_per_cell=3"}, "nand.bits_per_cell: 3 with nand.two_step = true; 2");
    expect_one({"nand.two_step=true", "gc.pace=tokens"}, "gc.pace: \"tokens\" with nand.two_step = true; \"full\"");
}

TEST(ConfigRules, CollectionInNoTime) {
    EXPECT_THAT(problems_with({"gc.charge_time=false"}), IsEmpty());
    expect_one({"gc.charge_time=false", "nand.faults.program_fail=1%"},
               "--set gc.charge_time=false: gc.charge_time: false with rates in [nand.faults]; true");
    expect_one(
        {"gc.charge_time=false", "host.power_cut_at=[\"1ms\"]"},
        "--set host.power_cut_at=[\"1ms\"]: host.power_cut_at: a loss of power with gc.charge_time = false; none");
    expect_one({"gc.charge_time=false", "scheduler.merge_reads=true"},
               "--set scheduler.merge_reads=true: scheduler.merge_reads: true with gc.charge_time = false; false: the "
               "register of a plane");
    expect_one({"gc.charge_time=false", "gc.pace=tokens"}, "gc.pace: \"tokens\" with gc.charge_time = false; \"full\"");
    expect_one({"gc.charge_time=false", "ftl.mapping=block"},
               "ftl.mapping: \"block\" with gc.charge_time = false; \"page\" or \"dftl\"");
    expect_one({"gc.frontier=shared", "ftl.mapping=block"},
               "gc.frontier: \"shared\" with ftl.mapping = \"block\"; \"own\"");
}

// Where victims of which too little is invalid are left alone, the hard threshold is what can always be reached.
TEST(ConfigRules, CapacityAboveTheHardThreshold) {
    expect_one({"gc.soft_free_blocks=40"},
               "d.toml:2:17: ftl.user_capacity: 12MiB leaves too little over-provisioning in 16MiB of flash; at most "
               "5MiB: each plane keeps 43");
    EXPECT_THAT(problems_with({"gc.soft_free_blocks=40", "gc.least_invalid=12.5%"}), IsEmpty());
    expect_one({"gc.soft_free_blocks=40", "gc.hard_free_blocks=30", "gc.least_invalid=12.5%"},
               "d.toml:2:17: ftl.user_capacity: 12MiB leaves too little over-provisioning in 16MiB of flash");
}

TEST(ConfigRules, Link) {
    expect_one(
        {"link.max_payload=128B"},
        "default of link.completion_payload: link.completion_payload: 256B is more than link.max_payload = 128B");
    expect_one({"link.read_tags=300"},
               "--set link.read_tags=300: link.read_tags: 300 is more than generation 3 can have; at most 256");
    EXPECT_THAT(problems_with({"link.read_tags=300", "link.generation=4"}), IsEmpty());
    expect_one({"link.upstream_posted_headers=128"},
               "--set link.upstream_posted_headers=128: link.upstream_posted_headers: 128 is more than generation 3 "
               "can have; at most "
               "127 without scaled flow control");
    expect_one({"link.upstream_posted_data=15"},
               "--set link.upstream_posted_data=15: link.upstream_posted_data: 15 credits of 16 B are less than one "
               "payload of 256B");
}

TEST(ConfigRules, OnfiRate) {
    expect_one({"nand.onfi.interface=nv-ddr", "nand.onfi.rate=201MT/s"},
               "--set nand.onfi.rate=201MT/s: nand.onfi.rate: 201MT/s is more than nv-ddr can do; at most 200MT/s (");
    EXPECT_THAT(problems_with({"nand.onfi.interface=nv-ddr", "nand.onfi.rate=200MT/s"}), IsEmpty());
}

TEST(ConfigRules, SlcPrefixIsNoOtherCommand) {
    // ONFI 5.1: 30h confirms a read, D1h queues an erase; suspend and resume are Micron's.
    const std::string used = "0, 5, 6, 16, 17, 19, 21, 48, 50, 96, 97, 112, 120, 128, 129, 132, 208, 209, 210, 224";
    for (const std::string opcode : {"48", "209", "0", "132"})
        EXPECT_THAT(problems_with({"nand.slc.prefix=" + opcode}),
                    ElementsAre("--set nand.slc.prefix=" + opcode + ": nand.slc.prefix: " + opcode +
                                " is a command of another operation; none of " + used + "; A2h is 162"));
    for (const std::string opcode : {"162", "218", "1", "255"})
        EXPECT_THAT(problems_with({"nand.slc.prefix=" + opcode}), IsEmpty());
    expect_one({"nand.slc.prefix=256"}, "--set nand.slc.prefix=256: nand.slc.prefix: 256 is out of range; 0..255");
}

TEST(ConfigRules, QueuesAndTransfers) {
    expect_one({"host.queue_entries=2048", "nvme.max_queue_entries=1024"},
               "--set host.queue_entries=2048: host.queue_entries: 2048 is more than nvme.max_queue_entries = 1024");
    expect_one({"nvme.fetch_window=4"},
               "default of nvme.fetch_burst: nvme.fetch_burst: 8 is more than nvme.fetch_window = 4");
    expect_one({"host.buffer_offset=4KiB"}, "--set host.buffer_offset=4KiB: host.buffer_offset: 4KiB is out of range");
    expect_one(
        {"nvme.interrupt_coalescing_threshold=7"},
        "--set nvme.interrupt_coalescing_threshold=7: nvme.interrupt_coalescing_threshold: 7 has no effect while "
        "nvme.interrupt_coalescing_time is 0");
    expect_one({"nvme.max_transfer=5KiB"},
               "--set nvme.max_transfer=5KiB: nvme.max_transfer: 5KiB is not possible; 0B, 8KiB, ");
}

TEST(ConfigRules, Buffer) {
    expect_one(
        {"buffer.size=256KiB", "nand.geometry.ways=64", "nand.geometry.planes_per_die=4"},
        "--set buffer.size=256KiB: buffer.size: 256KiB is less than one page for each of the 512 planes; at least "
        "2MiB");
    expect_one({"buffer.mode=write_through", "buffer.flush_start=50%"},
               "--set buffer.flush_start=50%: buffer.flush_start: 50% with buffer.mode = \"write_through\"");
    EXPECT_THAT(problems_with({"buffer.flush_start=50%", "buffer.flush_stop=50%"}), IsEmpty());
    EXPECT_THAT(problems_with({"buffer.order=lru", "buffer.flush_start=90%", "buffer.flush_stop=0%"}), IsEmpty());
    expect_one({"buffer.flush_start=50%", "buffer.flush_stop=51%"},
               "buffer.flush_stop: 51%, above buffer.flush_start = 50%; at most buffer.flush_start, or 100%: the same; "
               "lower it, or raise buffer.flush_start");
    expect_one({"buffer.order=lru", "buffer.mode=write_through"},
               "buffer.order: \"lru\" with buffer.mode = \"write_through\"; another order");
    expect_one({"read_cache.replacement=cflru", "read_cache.size=1MiB"},
               "read_cache.replacement: \"cflru\" in a read cache of its own; read_cache.room = \"buffer\"");
    const std::string shared = "read_cache.room=buffer";
    expect_one({shared},
               "read_cache.room: \"buffer\" with another buffer.order than read_cache.replacement; one order for both");
    expect_one({shared, "read_cache.replacement=fifo", "buffer.order=lru"},
               "read_cache.room: \"buffer\" with another buffer.order than read_cache.replacement");
    expect_one({shared, "read_cache.replacement=fifo", "read_cache.size=4KiB"},
               "read_cache.size: 4096 bytes with read_cache.room = \"buffer\"; 0");
    for (const std::string replacement : {"lru", "cflru"})
        EXPECT_THAT(problems_with({shared, "read_cache.replacement=" + replacement, "buffer.order=lru",
                                   "read_cache.window=100%"}),
                    IsEmpty());
    EXPECT_THAT(problems_with({shared, "read_cache.replacement=fifo", "buffer.mode=write_through"}), IsEmpty());
    const std::string tenants = "host.tenants=by_job", quotas = "buffer.quotas=[50, 20]";
    EXPECT_THAT(problems_with({tenants, quotas, "read_cache.quotas=[99]", "read_cache.size=1MiB"}), IsEmpty());
    EXPECT_THAT(problems_with({tenants, quotas, "buffer.order=lru", "buffer.flush_start=50%"}), IsEmpty());
    expect_one({quotas}, "--set buffer.quotas=[50, 20]: buffer.quotas: 50, 20 with host.tenants = \"one\"");
    expect_one({"read_cache.quotas=[50]", "read_cache.size=1MiB"},
               "--set read_cache.quotas=[50]: read_cache.quotas: 50 with host.tenants = \"one\"");
    expect_one({tenants, "buffer.quotas=[50, 50]"},
               "buffer.quotas: 100% of 1024 units in all; less than 100%, and a unit at least for each part");
    expect_one({tenants, "read_cache.quotas=[1]", "read_cache.size=128KiB"},
               "read_cache.quotas: 1% of 32 units in all");
    expect_one({tenants, "read_cache.quotas=[1]"}, "read_cache.quotas: 1% of 0 units in all");
    std::string each;
    for (int tenant = 0; tenant < 64; ++tenant) each += tenant == 0 ? "1" : ", 1";
    EXPECT_THAT(problems_with({tenants, "host.queue_pairs=64", "buffer.quotas=[" + each + "]"}), IsEmpty());
    EXPECT_THAT(problems_with({tenants, "map.quotas=[50, 20]", "ftl.mapping=dftl"}), IsEmpty());
    expect_one({tenants, "map.quotas=[50, 20]"}, "map.quotas: with ftl.mapping = \"page\"");
    expect_one({"map.quotas=[50, 20]", "ftl.mapping=dftl"},
               "--set map.quotas=[50, 20]: map.quotas: 50, 20 with host.tenants = \"one\"");
    expect_one({tenants, "map.quotas=[50, 50]", "ftl.mapping=dftl"}, "map.quotas: 100% of ");
    expect_one({tenants, quotas, "buffer.merge_writes=false"}, "buffer.merge_writes: false with buffer.quotas");
    expect_one({tenants, quotas, "ftl.mapping=dftl", "buffer.order=by_translation_page"},
               "buffer.order: \"by_translation_page\" with buffer.quotas");
    expect_one({tenants, quotas, "ftl.mapping=block"}, "ftl.mapping: \"block\" with buffer.quotas");
    expect_one({tenants, quotas, shared, "read_cache.replacement=fifo"},
               "read_cache.room: \"buffer\" with buffer.quotas");
    expect_one({tenants, "read_cache.quotas=[5]", shared, "read_cache.replacement=fifo"},
               "read_cache.quotas: with read_cache.room = \"buffer\"");
    expect_one({tenants, "read_cache.quotas=[5]", "read_cache.size=1MiB", "precondition.state=random",
                "precondition.fill_caches=true"},
               "precondition.fill_caches: true with read_cache.quotas");
    expect_one({tenants, quotas, "precondition.state=random", "precondition.fill_caches=true"},
               "precondition.fill_caches: true with buffer.quotas");
    expect_one({"buffer.order=lru", "buffer.merge_writes=false"},
               "buffer.order: \"lru\" with buffer.merge_writes = false; another order");
}

TEST(ConfigRules, PowerCuts) {
    EXPECT_THAT(problems_with({"host.power_cut_at=[\"5ms\", \"3ms\"]", "host.power_off_time=1999us"}), IsEmpty());
    expect_one({"host.power_cut_at=[\"5ms\", \"3ms\"]", "host.power_off_time=2ms"},
               "--set host.power_cut_at=[\"5ms\", \"3ms\"]: host.power_cut_at: the losses of power at 3ms and 5ms are "
               "2ms apart; "
               "more than host.power_off_time = 2ms; put them further apart, or lower host.power_off_time");
    EXPECT_THAT(problems_with({"host.power_cut_at=[\"5ms\"]", "nand.faults.read_retry=1%"}), IsEmpty());
    EXPECT_THAT(problems_with({"buffer.mode=protected", "host.power_cut_at=[\"5ms\"]"}), IsEmpty());
    expect_one(
        {"buffer.mode=protected", "nand.faults.erase_fail=1%", "host.power_cut_at=[\"5ms\"]"},
        "--set buffer.mode=protected: buffer.mode: \"protected\" with host.power_cut_at and programs or erases "
        "that fail; write_back or write_through: with failing flash a drive may "
        "become read-only and give up what its buffer holds, although it counts as protected; set it to one of "
        "these, set nand.faults.program_fail, nand.faults.erase_fail and nand.faults.pe_limit to 0, or leave out "
        "host.power_cut_at");
    EXPECT_THAT(problems_with({"buffer.mode=protected", "nand.faults.pe_limit=10", "host.power_cut_at=[\"5ms\"]"}),
                ElementsAre(HasSubstr("\"protected\" with host.power_cut_at and programs or erases that fail")));
    EXPECT_THAT(problems_with({"slc.dynamic_blocks=4", "nand.bits_per_cell=2", "host.power_cut_at=[\"5ms\"]"}),
                IsEmpty());
    expect_one({"host.power_cut_at=[\"5ms\"]", "nand.t_read=100ms"},
               "--set host.power_cut_at=[\"5ms\"]: host.power_cut_at: the search for the map may take ");
}

TEST(ConfigRules, LogBlocksThatFail) {
    EXPECT_THAT(problems_with({"ftl.mapping=fast", "nand.faults.page_lost=1%", "nand.faults.read_retry=1%",
                               "nand.faults.program_fail=1%", "nand.faults.erase_fail=1%", "ftl.user_capacity=8MiB"}),
                IsEmpty());
}

TEST(ConfigRules, MapOnTheFlash) {
    const std::string dftl = "ftl.mapping=dftl";
    EXPECT_THAT(problems_with({dftl}), IsEmpty());
    expect_one({dftl, "nvme.max_transfer=128KiB", "map.cache=1KiB", "map.entry_size=16B"},
               "--set map.cache=1KiB: map.cache: 1KiB has room for 32 entries; a command of nvme.max_transfer = 128KiB "
               "needs 33 of them at a time, "
               "a row of pages 1; at least 1056");
    EXPECT_THAT(problems_with({dftl, "nvme.max_transfer=128KiB", "map.cache=1056B", "map.entry_size=16B"}), IsEmpty());
    expect_one({dftl, "nvme.max_transfer=128KiB", "map.cache=4KiB", "map.granularity=page"},
               "--set map.cache=4KiB: map.cache: 4KiB has room for 1 entries; a command of nvme.max_transfer = 128KiB "
               "needs 2 of them at a time");
    EXPECT_THAT(problems_with({dftl, "nvme.max_transfer=128KiB", "map.cache=8KiB", "map.granularity=page"}), IsEmpty());
    expect_one({dftl, "map.entry_size=6B"},
               "--set map.entry_size=6B: map.entry_size: 6B in a translation page of nand.geometry.unit_size = 4KiB; "
               "whole entries in a page, for example 8B");
    expect_one({dftl, "nvme.max_transfer=0B"},
               "--set nvme.max_transfer=0B: nvme.max_transfer: no limit, with ftl.mapping = \"dftl\"");
    expect_one({dftl, "map.power_protected=0.01%", "nand.geometry.page_size=16KiB"},
               "map.power_protected: 1 of 3 translation pages; at least 4 of them");
    expect_one({dftl, "map.gc_updates=found", "map.granularity=page", "map.cache=8MiB", "ftl.checkpoint_interval=1MiB",
                "ftl.user_capacity=8MiB"},
               "map.gc_updates: \"found\" with checkpoints of the map");
    expect_one({dftl, "map.gc_updates=found", "map.cache=8KiB", "map.granularity=page", "nvme.max_transfer=128KiB"},
               "map.gc_updates: \"found\" with a part of the map in the cache");
    EXPECT_THAT(problems_with({dftl, "map.gc_updates=found", "map.granularity=page", "map.cache=64MiB",
                               "map.power_protected=1%"}),
                IsEmpty());
    expect_one({"buffer.order=by_translation_page"},
               "buffer.order: \"by_translation_page\" with ftl.mapping = \"page\"");
    expect_one({dftl, "buffer.order=by_translation_page", "buffer.prefer_dirty=true"},
               "buffer.prefer_dirty: true without a share of dirty translation pages");
    expect_one({"ftl.mapping=block", "buffer.merge_writes=false"},
               "buffer.merge_writes: false with ftl.mapping = \"block\"");
    EXPECT_THAT(problems_with({dftl, "buffer.order=by_translation_page", "buffer.merge_writes=false"}), IsEmpty());
    EXPECT_THAT(problems_with({dftl, "host.power_cut_at=[\"5ms\"]"}), IsEmpty());
    EXPECT_THAT(problems_with({dftl, "nand.faults.page_lost=1%"}), IsEmpty());
    EXPECT_THAT(problems_with({dftl, "ftl.checkpoint_interval=1MiB", "ftl.checkpoint_at_shutdown=true",
                               "ftl.user_capacity=8MiB"}),
                IsEmpty());
    // One block more of each plane is open, and 2 x (64 - 8) x 32 units have room for themselves and their translation
    // pages.
    const int all = 2 * (64 - 8) * 32, most = (all - 1) * 1024 / 1025;
    EXPECT_THAT(problems_with({dftl, "ftl.user_capacity=" + std::to_string(most * 4096) + "B"}), IsEmpty());
    expect_one({dftl, "ftl.user_capacity=" + std::to_string((most + 1) * 4096) + "B"}, "--set ftl.user_capacity=");
}

TEST(ConfigRules, SchedulerInRtl) {
    if (rtl_schedulers().empty()) {
        expect_one({"scheduler.implementation=rtl"},
                   "--set scheduler.implementation=rtl: scheduler.implementation: 'rtl', but this program was built "
                   "without Verilator");
        return;
    }
    EXPECT_THAT(problems_with({"scheduler.implementation=rtl"}), IsEmpty());
    expect_one({"scheduler.implementation=rtl", "scheduler.rtl_module=mine"},
               "--set scheduler.rtl_module=mine: scheduler.rtl_module: no module 'mine' was built; one of "
               "transaction_scheduler");
}

TEST(ConfigRules, AllAtOnce) {
    EXPECT_EQ(problems_with({"gc.hard_free_blocks=9", "link.read_tags=300", "nvme.fetch_window=4",
                             "nand.onfi.rate=4GT/s", "ftl.user_capacity=16MiB"})
                  .size(),
              5u);
}

}  // namespace
}  // namespace ssdtlm
