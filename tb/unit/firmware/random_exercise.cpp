// SPDX-License-Identifier: Apache-2.0
#include "random_exercise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/seeds.h"

namespace ssdtlm {
namespace {

void exercise(DeviceShape shape, const Mix& mix, std::uint64_t seed, SuperblockSpan span, bool bytes) {
    SCOPED_TRACE(std::string(span == SuperblockSpan::drive ? "superblock drive"
                             : span == SuperblockSpan::die ? "superblock die"
                                                           : "superblock plane") +
                 (bytes ? ", bytes" : ", signatures"));
    shape.bytes = bytes;
    shape.ftl.superblock = span;
    if (seed % 3 == 0) shape.ftl.placement = Placement::first_idle;
    if (seed % 3 != 0 && shape.ftl.slc.blocks == 0) {  // streams in superblocks of their own
        shape.ftl.stream_frontiers = 1 + static_cast<std::uint32_t>(seed % 3);
        shape.geometry.blocks_per_plane += 2 * shape.ftl.stream_frontiers;
    }
    if ((seed % 2 == 0 || seed % 8 == 1) && !mapping_of(shape.ftl, {})->places_by_blocks() &&
        span != SuperblockSpan::drive) {
        // P is an error where the planes of a die are written as one.
        if (seed % 2 == 0)
            shape.ftl.static_dimensions = span == SuperblockSpan::plane ? "CWP" : "CWD";
        else
            shape.ftl.nvm_sets = span == SuperblockSpan::die ? "C0"
                                 : shape.geometry.planes_per_die == 2
                                     ? "P0, P1"
                                     : "P0, P1-" + std::to_string(shape.geometry.planes_per_die - 1);
        shape.ftl.user_capacity_bytes = std::min(
            shape.ftl.user_capacity_bytes, most_logical_units(shape.ftl, shape.geometry) * shape.geometry.unit_bytes);
    }
    shape.seed = seed;
    DeviceUnderTest device(shape);
    RandomHost host(device, mix, seed);
    ASSERT_NO_THROW(host.run()) << device.firmware.dump();
    ASSERT_NO_THROW(device.shut_down()) << device.firmware.dump();
    ASSERT_NO_THROW(device.read_all()) << device.firmware.dump();
    EXPECT_EQ(device.oracle.unverified(), 0u);
    EXPECT_GT(device.firmware.gc().victims(), 10u);
    const FtlCounters& counters = device.ftl.counters();
    EXPECT_EQ(counters.slc_pages != 0, shape.ftl.slc.blocks != 0);
    EXPECT_GE(counters.slc_victims, shape.ftl.slc.blocks != 0 && shape.ftl.slc.fold_free_blocks != 0 ? 10u : 0u);
    if (shape.late_map) {
        EXPECT_GT(device.late_map->late, mix.commands / 10);
        EXPECT_EQ(device.firmware.wait_queues().waiting_for_map(), 0u);
    }
}

}  // namespace

void exercise(DeviceShape shape, Mix mix, std::uint64_t seed) {
    mix.commands /= 2;
    seed += seed_offset();
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const SuperblockSpan span : {SuperblockSpan::plane, SuperblockSpan::die})
        exercise(shape, mix, seed, span, false);
    exercise(shape, mix, seed, seed % 2 == 0 ? SuperblockSpan::plane : SuperblockSpan::die, true);
    shape.geometry.ways = 2;  // lines of two dies
    shape.ftl.user_capacity_bytes = 0;
    shape.ftl.user_capacity_bytes = most_logical_units(shape.ftl, shape.geometry) * shape.geometry.unit_bytes;
    mix.commands /= 2;
    exercise(shape, mix, seed, SuperblockSpan::drive, seed % 2 == 0);
}

}  // namespace ssdtlm
