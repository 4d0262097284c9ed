// SPDX-License-Identifier: Apache-2.0
// firmware_random_test, with write buffers and read caches of every kind.
#include <gtest/gtest.h>

#include <vector>

#include "random_exercise.h"

namespace ssdtlm {
namespace {

TEST(FirmwareRandom, BufferOfAFewUnits) {
    for (const std::uint64_t units : {1, 2, 3, 5, 8}) {
        DeviceShape d = tiny_device();
        d.ftl.buffer_bytes = units * 4096;
        Mix m;
        m.commands = 10000;
        exercise(d, m, units);
    }
}

TEST(FirmwareRandom, ReadCache) {
    const ReadCacheFill fills[] = {ReadCacheFill::reads, ReadCacheFill::writes, ReadCacheFill::both};
    std::uint64_t seed = 1;
    for (const ReadCacheFill fill : fills)
        for (const std::uint64_t units : {1, 40, 2000}) {
            DeviceShape d = tiny_device();
            d.ftl.read_cache = {units * 4096, seed % 2 == 0 ? ReadCacheReplacement::lru : ReadCacheReplacement::fifo,
                                fill};
            Mix m;
            m.read = 55;
            m.write = 30;
            m.whole = 80;
            m.commands = 12000;
            d.ftl.buffer_bytes = 24 * 4096;
            if (units == 40) d.late_map = LateMap::Shape{};
            exercise(d, m, seed++);
        }
}

TEST(FirmwareRandom, ReadCacheInTheRoomOfTheBuffer) {
    const ReadCacheFill fills[] = {ReadCacheFill::reads, ReadCacheFill::writes, ReadCacheFill::both};
    const ReadCacheReplacement replacements[] = {ReadCacheReplacement::lru, ReadCacheReplacement::fifo,
                                                 ReadCacheReplacement::cflru};
    std::uint64_t seed = 1;
    for (const ReadCacheFill fill : fills)
        for (const ReadCacheReplacement replacement : replacements)
            for (const std::uint32_t start : {0u, 80u}) {
                DeviceShape d = tiny_device();
                d.ftl.read_cache = {0, replacement, fill, ReadCacheSpace::buffer,
                                    seed % 5 == 0 ? 0u : static_cast<std::uint32_t>(20 * (seed % 5))};
                d.ftl.buffer_order =
                    replacement == ReadCacheReplacement::fifo ? BufferOrder::arrival : BufferOrder::lru;
                d.ftl.flush_start_percent = start;
                d.ftl.flush_stop_percent = start != 0 && seed % 3 == 0 ? 10 : 100;
                d.ftl.buffer_bytes = (seed % 4 == 3 ? 12 : 64) * 4096;
                if (seed % 6 == 4) d.late_map = LateMap::Shape{};
                if (seed % 6 == 5 && replacement == ReadCacheReplacement::fifo)
                    d.ftl.buffer_mode = BufferMode::write_through;
                if (d.ftl.buffer_mode == BufferMode::write_through)
                    d.ftl.flush_start_percent = 0, d.ftl.flush_stop_percent = 100;
                Mix m;
                m.read = 55;
                m.write = 30;
                m.whole = 80;
                m.commands = 8000;
                exercise(d, m, seed++);
            }
}

TEST(FirmwareRandom, PartsForTenants) {
    std::uint64_t seed = 1;
    for (const std::vector<std::uint32_t>& quotas : {std::vector<std::uint32_t>{50}, {20, 70}, {25, 25, 25, 15}})
        for (const BufferOrder order : {BufferOrder::arrival, BufferOrder::lru})
            for (const std::uint32_t start : {0u, 80u}) {
                DeviceShape d = tiny_device();
                d.ftl.buffer_quotas = quotas;
                d.ftl.buffer_order = order;
                d.ftl.flush_start_percent = start;
                d.ftl.flush_stop_percent = start != 0 && seed % 3 == 0 ? 10 : 100;
                d.ftl.buffer_bytes = (seed % 4 == 3 ? 12 : 100) * 4096;
                if (seed % 3 == 1)
                    d.ftl.read_cache = {
                        40 * 4096, ReadCacheReplacement::lru, ReadCacheFill::both, ReadCacheSpace::own, 0, quotas};
                if (seed % 6 == 4) d.late_map = LateMap::Shape{};
                if (seed % 6 == 5 && order == BufferOrder::arrival) d.ftl.buffer_mode = BufferMode::write_through;
                if (d.ftl.buffer_mode == BufferMode::write_through)
                    d.ftl.flush_start_percent = 0, d.ftl.flush_stop_percent = 100;
                Mix m;
                m.commands = 8000;
                m.units = seed % 4 == 0 ? 30 : 4;
                exercise(d, m, seed++);
            }
}

TEST(FirmwareRandom, WriteThrough) {
    DeviceShape d = tiny_device();
    d.ftl.buffer_mode = BufferMode::write_through;
    exercise(d, Mix{}, 1);
    d.ftl.buffer_bytes = 4 * 4096;
    exercise(d, Mix{}, 2);
}

TEST(FirmwareRandom, BufferThatIsEmptiedLate) {
    for (const std::uint32_t percent : {50u, 100u}) {
        DeviceShape d = tiny_device();
        d.ftl.flush_start_percent = percent;
        exercise(d, Mix{}, percent);
    }
}

TEST(FirmwareRandom, WhatWasNotWrittenForLongestLeavesBetweenTheWatermarks) {
    std::uint64_t seed = 1;
    for (const std::uint32_t start : {0u, 30u, 90u, 100u})
        for (const std::uint32_t stop : {0u, 25u, 100u}) {
            if (stop > start && stop != 100) continue;
            DeviceShape d = seed % 3 == 0 ? tiny_device(65536, 4096) : tiny_device();
            d.ftl.flush_start_percent = start;
            d.ftl.flush_stop_percent = stop;
            d.ftl.buffer_order = seed % 4 != 0 ? BufferOrder::lru : BufferOrder::arrival;
            if (seed % 4 == 3) d.ftl.buffer_bytes = 12 * 4096;
            if (seed % 5 == 2) d.late_map = LateMap::Shape{};
            Mix m;
            m.commands = 8000;
            exercise(d, m, seed++);
        }
}

}  // namespace
}  // namespace ssdtlm
