// SPDX-License-Identifier: Apache-2.0
// Reads one at a time below a map on the flash, to the picosecond: the entry at hand, its translation page to be read,
// and a dirty one to be written back first, as entries and as whole pages.
#include <gtest/gtest.h>

#include "controller/ftl/ftl_check.h"
#include "formula/one_by_one.h"
#include "formula/reference.h"
#include "support/devices.h"

namespace ssdtlm {
namespace {

struct Step {
    HostOp op;
    std::uint32_t page;      ///< translation page whose unit is read or written
    std::uint32_t unit = 0;  ///< in it
};

std::vector<std::int64_t> latencies(const SsdConfig& c, const std::vector<Step>& steps) {
    const std::uint64_t entries = c.nand.geometry.unit_bytes / c.ftl.map.entry_bytes;
    std::vector<OneByOne::Step> requests;
    for (const Step& s : steps) requests.push_back({s.op, (s.page * entries + s.unit) * 4096});
    return latencies_one_by_one(c, requests);
}

SsdConfig device(MapGranularity granularity, std::uint32_t slots) {
    SsdConfig c = table3_small();
    c.ftl.mapping = "dftl";
    c.ftl.map.granularity = granularity;
    c.ftl.map.cache_bytes =
        std::uint64_t{slots} * (granularity == MapGranularity::page ? 4096 : 2 * c.ftl.map.entry_bytes);
    c.ftl.user_capacity_bytes = most_logical_units(c.ftl, c.nand.geometry) / 1024 * 1024 * 4096;
    return c;
}

/// Long after the last command, so that the doorbell of its completion queue is not ahead on the wire.
std::int64_t at_hand(const SsdConfig& c) {
    return reference::unloaded_read(c, 4096) - reference::wire(c.link, 4 + reference::header(true));
}

/// Of a translation page into the DRAM.
std::int64_t page_read(const SsdConfig& c) {
    return reference::cycles(c.firmware, c.firmware.flash_issue) + reference::read_issue(c.nand) +
           c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() + reference::data_out(c.nand, 4096) +
           reference::dram(c.dram, 4096);
}

void expect(const char* what, std::int64_t model, std::int64_t formula) {
    std::printf("[   FIGURE ] %s: formula %ld ps, model %ld ps\n", what, formula, model);
    EXPECT_EQ(model, formula) << what;
}

TEST(CachedMapTime, WholeTranslationPages) {
    const SsdConfig c = device(MapGranularity::page, 4);
    // The four writes are one row, and take the four slots.
    const auto t = latencies(c, {{HostOp::read, 100},
                                 {HostOp::read, 100, 9},
                                 {HostOp::write, 300},
                                 {HostOp::write, 304},
                                 {HostOp::write, 308},
                                 {HostOp::write, 312},
                                 {HostOp::read, 514},
                                 {HostOp::read, 505},
                                 {HostOp::read, 506},
                                 {HostOp::read, 507},
                                 {HostOp::read, 508},
                                 {HostOp::read, 508, 7}});
    ASSERT_EQ(t.size(), 12u);
    const std::int64_t hit = at_hand(c), miss = hit + page_read(c);
    // Two translation pages share a flash page; the room is there when it is on its way.
    const std::int64_t dirty = miss + reference::cycles(c.firmware, c.firmware.flash_issue + 2 * c.firmware.map_update);
    expect("first read of a translation page", t[0], miss);
    expect("second, its entry is at hand", t[1], hit);
    expect("a dirty page leaves, with another", t[6], dirty);
    expect("which leaves next and is clean", t[7], miss);
    expect("a dirty page leaves", t[8], dirty);
    expect("a clean page leaves", t[9], miss);
    expect("a page that was only read leaves", t[10], miss);
    expect("at hand", t[11], hit);
}

// What the write buffer has costs no question to the map: a unit that waits for others to fill a row, with its entry
// gone.
TEST(CachedMapTime, TheBufferIsAskedFirst) {
    const SsdConfig c = device(MapGranularity::page, 4);
    const auto t = latencies(c, {{HostOp::write, 300},
                                 {HostOp::read, 100},
                                 {HostOp::read, 101},
                                 {HostOp::read, 102},
                                 {HostOp::read, 103},
                                 {HostOp::read, 300},
                                 {HostOp::read, 300, 1}});
    const std::int64_t flash = reference::cycles(c.firmware, c.firmware.flash_issue) + reference::read_issue(c.nand) +
                               c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() + reference::data_out(c.nand, 4096) +
                               c.ecc.decode_time.count();
    expect("in the write buffer", t[5],
           at_hand(c) - flash - reference::dram(c.dram, 2 * 4096) + reference::dram(c.dram, 4096));
    expect("its neighbour", t[6], at_hand(c) + page_read(c));
}

TEST(CachedMapTime, SingleEntries) {
    const SsdConfig c = device(MapGranularity::entry, 257);
    std::vector<Step> steps{{HostOp::read, 100}, {HostOp::read, 100, 9}, {HostOp::read, 100, 9}};
    for (std::uint32_t i = 0; i < 257; ++i) steps.push_back({HostOp::write, 300 + i, i});
    for (std::uint32_t i = 0; i < 3; ++i) steps.push_back({HostOp::write, 600 + i, i});  // what is left of a row
    const std::size_t first = steps.size();
    for (std::uint32_t i = 0; i < 12; ++i) steps.push_back({HostOp::read, 804 + i, i});
    const auto t = latencies(c, steps);
    ASSERT_EQ(t.size(), steps.size());
    const std::int64_t hit = at_hand(c), miss = hit + page_read(c);
    expect("first read of a translation page", t[0], miss);
    expect("another entry of it", t[1], miss);
    expect("the same entry", t[2], hit);
    // Two translation pages are written back together: as they were laid out they share a flash page, so that their
    // reads follow each other on one die, tRHW from data out to the next command. The second one's entry is clean when
    // its turn comes.
    const std::int64_t second = page_read(c) + c.nand.onfi.t_rhw.count() -
                                reference::cycles(c.firmware, c.firmware.flash_issue) - reference::dram(c.dram, 4096);
    const std::int64_t dirty = miss + page_read(c) + second +
                               reference::cycles(c.firmware, c.firmware.flash_issue + 2 * c.firmware.map_update);
    // The 256th and 257th write take the places of the two entries that were read. The last three make dirty ones
    // leave: the first and the third of them are written back with another, so the one that leaves for the first read
    // is clean.
    for (std::size_t i = 0; i + first < t.size(); ++i)
        expect(i % 2 == 0 ? "a clean entry leaves" : "a dirty entry leaves, with another", t[first + i],
               i % 2 == 0 ? miss : dirty);
}

}  // namespace
}  // namespace ssdtlm
