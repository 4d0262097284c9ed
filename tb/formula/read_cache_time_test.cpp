// SPDX-License-Identifier: Apache-2.0
// Reads one at a time beside a read cache, to the picosecond: from the flash, from the cache, after a write and a
// deallocation.
#include <gtest/gtest.h>

#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

void expect(const char* what, std::int64_t model, std::int64_t formula) {
    std::printf("[   FIGURE ] %s: formula %ld ps, model %ld ps\n", what, formula, model);
    EXPECT_EQ(model, formula) << what;
}

TEST(ReadCacheTime, HitsMissesAndWhatTakesAUnitOut) {
    SsdConfig c = table3_small();
    c.ftl.read_cache.bytes = 2 * 4096;
    // Long after the last command, so that the doorbell of its completion queue is not ahead on the wire.
    const std::int64_t miss = reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true));
    // No work of a core for the flash, none of the flash, and the data pass the DRAM once.
    const std::int64_t hit = miss - reference::cycles(c.firmware, c.firmware.flash_issue) -
                             reference::read_issue(c.nand) - c.nand.onfi.t_wb.count() - c.nand.t_read[0].count() -
                             reference::data_out(c.nand, 4096) - c.ecc.decode_time.count() -
                             reference::dram(c.dram, 2 * 4096) + reference::dram(c.dram, 4096);
    struct Expected {
        HostOp op;
        std::uint64_t unit;
        const char* what;
        std::int64_t time;
        std::uint32_t bytes = 4096;
    };
    const auto run = [&](const std::vector<Expected>& steps) {
        std::vector<OneByOne::Step> requests;
        for (const Expected& e : steps) requests.push_back({e.op, e.unit * 4096, e.bytes});
        const auto t = latencies_one_by_one(c, requests);
        ASSERT_EQ(t.size(), steps.size());
        for (std::size_t i = 0; i < t.size(); ++i)
            if (steps[i].what != nullptr) expect(steps[i].what, t[i], steps[i].time);
    };
    const std::vector<Expected> reads{{HostOp::read, 100, "first read", miss},
                                      {HostOp::read, 100, "second read", hit},
                                      {HostOp::read, 7000, "another unit", miss},
                                      {HostOp::read, 100, "the first again", hit},
                                      {HostOp::read, 9000, "no room: the other leaves", miss},
                                      {HostOp::read, 100, "still there", hit},
                                      {HostOp::read, 7000, "the one that left", miss}};
    run(reads);
    // What is deallocated gives its room back, and a read of half a unit takes none.
    run({{HostOp::read, 100, "first read", miss},
         {HostOp::read, 7000, "another unit", miss},
         {HostOp::trim, 7000, nullptr, 0},
         {HostOp::read, 9000, "a third one, in the room of what was deallocated", miss},
         {HostOp::read, 8000, nullptr, 0, 2048},
         {HostOp::read, 100, "the first again", hit},
         {HostOp::read, 8000, "the unit that was read in part", miss}});
    c.ftl.read_cache.replacement = ReadCacheReplacement::fifo;
    run({{HostOp::read, 100, "fifo: first read", miss},
         {HostOp::read, 7000, "another unit", miss},
         {HostOp::read, 100, "the first again", hit},
         {HostOp::read, 9000, "no room: the first leaves", miss},
         {HostOp::read, 7000, "still there", hit},
         {HostOp::read, 100, "the one that left", miss}});
    // What was written is in the flash 10 ms later: from then on it is read from there, or from the cache.
    const std::vector<Expected> written{
        {HostOp::read, 100, "first read", miss}, {HostOp::write, 100, nullptr, 0},
        {HostOp::write, 101, nullptr, 0},        {HostOp::write, 102, nullptr, 0},
        {HostOp::write, 103, nullptr, 0},        {HostOp::read, 100, "after a write: from flash", miss},
        {HostOp::read, 100, "once more", hit}};
    c.ftl.read_cache.bytes = 64 * 4096;
    run(written);
    c.ftl.read_cache.fill = ReadCacheFill::both;
    auto kept = written;
    kept[5] = {HostOp::read, 100, "after a write: it was kept", hit};
    run(kept);
    c.ftl.read_cache.fill = ReadCacheFill::writes;
    kept[0].what = nullptr;
    kept.push_back({HostOp::read, 9000, "what was only read", miss});
    kept.push_back({HostOp::read, 9000, "does not enter", miss});
    run(kept);
    // In the room of the write buffer, of a page for each plane, nearly all of which dirty units take. Three units are
    // left to what is read.
    c.ftl.read_cache = {0, ReadCacheReplacement::lru, ReadCacheFill::reads, ReadCacheSpace::buffer};
    c.ftl.buffer_order = BufferOrder::lru;
    c.ftl.flush_start_percent = 99;
    c.ftl.buffer_bytes = 256 * 4096;
    std::vector<Expected> shared{{HostOp::write, 2000, nullptr, 0, 253 * 4096}};
    const std::vector<Expected> read{{HostOp::read, 100, "shared: first read", miss},
                                     {HostOp::read, 7000, "another unit", miss},
                                     {HostOp::read, 2000, nullptr, 0},
                                     {HostOp::read, 9000, "a third one", miss},
                                     {HostOp::read, 100, "the first again", hit},
                                     {HostOp::read, 2001, "a dirty one", hit}};
    shared.insert(shared.end(), read.begin(), read.end());
    auto lru = shared, cflru = shared;
    // The coldest is dirty: a row of pages is programmed instead, and a second read finds room.
    lru.insert(lru.end(), {{HostOp::read, 8000, "lru, no clean unit leaves", miss},
                           {HostOp::read, 2100, "the coldest is dirty still", hit},
                           {HostOp::read, 8000, "it did not stay", miss},
                           {HostOp::read, 8000, "now there is room", hit},
                           {HostOp::read, 7000, "nobody left", hit},
                           {HostOp::read, 2002, "but the coldest of the dirty ones", miss}});
    run(lru);
    cflru.insert(cflru.end(), {{HostOp::read, 8000, "cflru, the coldest clean unit leaves", miss},
                               {HostOp::read, 8000, "it stayed", hit},
                               {HostOp::read, 2002, "the coldest dirty one too", hit},
                               {HostOp::read, 7000, "the one that left", miss}});
    c.ftl.read_cache.replacement = ReadCacheReplacement::cflru;
    c.ftl.read_cache.window_percent = 100;
    run(cflru);
}

}  // namespace
}  // namespace ssdtlm
