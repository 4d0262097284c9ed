// SPDX-License-Identifier: Apache-2.0
// The rows of timeseries.csv against a list of everything that happened, for random traffic with random idle times.
#include "sim/results/time_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

constexpr Ps kInterval{10'000'000'000};  // 10 ms

using Row = std::map<std::string, std::string>;

std::vector<Row> parse(const std::string& csv) {
    std::istringstream in(csv);
    const auto cells = [](const std::string& line) {
        std::vector<std::string> out;
        std::istringstream row(line + ",");
        for (std::string cell; std::getline(row, cell, ',');) out.push_back(cell);
        return out;
    };
    std::string line;
    std::getline(in, line);
    const auto names = cells(line);
    std::vector<Row> rows;
    while (std::getline(in, line)) {
        const auto values = cells(line);
        EXPECT_EQ(values.size(), names.size()) << line;
        for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
            if (i == 0) rows.emplace_back();
            rows.back()[names[i]] = values[i];
        }
    }
    return rows;
}

/// Exact: milliseconds with at most nine decimals.
std::int64_t ps_of(const std::string& ms) {
    const auto dot = ms.find('.');
    std::string digits = dot == std::string::npos ? ms : ms.substr(0, dot) + ms.substr(dot + 1);
    digits.append(9 - (dot == std::string::npos ? 0 : ms.size() - dot - 1), '0');
    return std::stoll(digits);
}

struct Happening {
    std::int64_t at = 0;
    std::int64_t read_ps = 0, write_ps = 0, longest_read_ps = 0, longest_write_ps = 0;
    std::uint64_t read_bytes = 0, write_bytes = 0, trims = 0, host_units = 0, flash_units = 0, nand_bytes = 0;
    bool measured = false;
};

struct Bench {
    Agenda agenda;
    LatencyStats latency;
    NandGeometry geometry = test::small_geometry();
    test::Device device{test::small_config(geometry, 0.6), geometry};
    std::ostringstream csv;
    TimeSeries series{agenda, kInterval, latency, device.ftl, csv};
    Random random{7};
    std::vector<Happening> happened;
    PageAddress pending{};
    bool programming = false;

    /// Returns its latency.
    std::int64_t complete(HostOp op, std::uint32_t bytes, bool measured) {
        HostRequest r;
        r.op = op;
        r.bytes = bytes;
        const Ps taken{1 + static_cast<std::int64_t>(random.below(100'000'000))};
        const SimTime issued = agenda.now() - taken;
        Timeline t;
        t.begin(issued);
        t.charge(Stage::array, agenda.now());
        latency.on_complete(r, issued, issued, agenda.now(), t, measured);
        return taken.count();
    }
    /// A completion, a page given out and mapped, or the end of its program: apart, as in the firmware.
    void happen(std::uint64_t kind) {
        Happening h;
        h.at = agenda.now().time_since_epoch().count();
        h.measured = random.percent(80);
        if (kind == 0) {
            h.read_ps = complete(HostOp::read, 4096, h.measured);
            h.read_bytes = 4096;
        } else if (kind == 1) {
            h.write_ps = complete(HostOp::write, 12288, h.measured);
            h.write_bytes = 12288;
        } else if (kind == 2) {
            complete(HostOp::trim, 4096, h.measured);
            h.trims = 1;
        } else if (programming) {
            device.ftl.host_page_programmed(pending);
            programming = false;
            h.nand_bytes = geometry.page_bytes;
        } else if (device.ftl.allocate_host_page(pending)) {
            programming = true;
            h.host_units = 1 + random.below(geometry.units_per_page());
            h.flash_units = geometry.units_per_page();
            for (std::uint32_t s = 0; s < h.host_units; ++s)
                device.ftl.map_unit(Lpa{static_cast<std::uint32_t>(random.below(500))}, geometry.ppa_of(pending, s));
        } else {
            return;
        }
        happened.push_back(h);
    }
    void post(std::int64_t at, std::uint64_t kind) {
        agenda.post(SimTime{Ps{at}}, Then::to<&Bench::happen>(this, kind));
    }
    void start() { series.start(); }
    void stop() { series.stop(); }
};

TEST(TimeSeries, RowsSayWhatHappenedWhen) {
    Bench b;
    constexpr std::int64_t kStart = 123'456'789;
    b.agenda.post(SimTime{Ps{kStart}}, Then::to<&Bench::start>(&b));
    std::int64_t t = kStart + 1;
    for (int i = 0; i < 3000; ++i) {
        // Bursts within an interval, neighbouring intervals, and gaps of up to a million of them.
        const std::uint64_t kind = b.random.below(10);
        t += static_cast<std::int64_t>(kind < 6   ? b.random.below(3'000'000'000)
                                       : kind < 9 ? b.random.below(40'000'000'000)
                                                  : b.random.below(10'000'000'000'000'000 / 100));
        b.post(t, b.random.below(4));
    }
    b.agenda.post(SimTime{Ps{t + 1}}, Then::to<&Bench::stop>(&b));
    b.agenda.run();
    const auto rows = parse(b.csv.str());
    ASSERT_GT(rows.size(), 100u);

    std::size_t next = 0;
    std::int64_t end = 0;
    bool idle_before = false;
    std::size_t idle_rows = 0;
    for (const Row& row : rows) {
        const std::int64_t start = ps_of(row.at("start_ms"));
        const std::int64_t length = ps_of(row.at("interval_ms"));
        ASSERT_EQ(start, end) << "rows follow each other";
        ASSERT_GT(length, 0);
        end = start + length;
        Happening sum;
        std::uint64_t reads = 0, writes = 0, events = 0;
        std::vector<std::int64_t> measured_reads, measured_writes;
        // What is posted for the end of an interval before its tick belongs to it.
        for (; next < b.happened.size() && b.happened[next].at - kStart <= end; ++next, ++events) {
            const Happening& h = b.happened[next];
            reads += h.read_bytes != 0;
            writes += h.write_bytes != 0;
            if (h.measured && h.read_bytes != 0) measured_reads.push_back(h.read_ps);
            if (h.measured && h.write_bytes != 0) measured_writes.push_back(h.write_ps);
            sum.read_bytes += h.read_bytes;
            sum.write_bytes += h.write_bytes;
            sum.trims += h.trims;
            sum.read_ps += h.read_ps;
            sum.write_ps += h.write_ps;
            sum.longest_read_ps = std::max(sum.longest_read_ps, h.read_ps);
            sum.longest_write_ps = std::max(sum.longest_write_ps, h.write_ps);
            sum.host_units += h.host_units;
            sum.flash_units += h.flash_units;
            sum.nand_bytes += h.nand_bytes;
        }
        const bool idle = events == 0;
        ASSERT_FALSE(idle && idle_before) << "idle intervals are one row";
        idle_before = idle;
        idle_rows += idle;
        if (!idle) {
            ASSERT_LE(length, kInterval.count());
        }
        const auto number = [&row](const char* column) { return std::stoull(row.at(column)); };
        ASSERT_EQ(number("read_ios"), reads);
        ASSERT_EQ(number("write_ios"), writes);
        ASSERT_EQ(number("trim_ios"), sum.trims);
        ASSERT_EQ(number("read_bytes"), sum.read_bytes);
        ASSERT_EQ(number("write_bytes"), sum.write_bytes);
        ASSERT_EQ(number("host_units"), sum.host_units);
        ASSERT_EQ(number("flash_units"), sum.flash_units);
        ASSERT_EQ(number("nand_bytes"), sum.nand_bytes);
        const auto check_latency = [&row](const std::string& op, std::uint64_t ios, std::int64_t ps,
                                          std::int64_t longest) {
            if (ios == 0) {
                ASSERT_EQ(row.at(op + "_mean_us") + row.at(op + "_max_us"), "");
                return;
            }
            ASSERT_NEAR(std::stod(row.at(op + "_mean_us")), static_cast<double>(ps) * 1e-6 / static_cast<double>(ios),
                        0.00051);
            ASSERT_NEAR(std::stod(row.at(op + "_max_us")), static_cast<double>(longest) * 1e-6, 0.00051);
        };
        check_latency("read", reads, sum.read_ps, sum.longest_read_ps);
        check_latency("write", writes, sum.write_ps, sum.longest_write_ps);
        const auto check_p99 = [&row](const char* column, std::vector<std::int64_t>& ps) {
            if (ps.empty()) {
                ASSERT_EQ(row.at(column), "");
                return;
            }
            std::sort(ps.begin(), ps.end());
            const double exact = static_cast<double>(ps[(ps.size() * 99 + 99) / 100 - 1]) * 1e-6;
            ASSERT_NEAR(std::stod(row.at(column)), exact, 0.008 * exact + 0.0011) << "half a bucket";
        };
        check_p99("read_p99_us", measured_reads);
        check_p99("write_p99_us", measured_writes);
        ASSERT_EQ(row.at("slc_free_blocks") + row.at("map_hits") + row.at("map_misses"), "");
        const double seconds = static_cast<double>(length) * 1e-12;
        ASSERT_NEAR(std::stod(row.at("read_iops")), static_cast<double>(reads) / seconds, 0.051);
        ASSERT_NEAR(std::stod(row.at("write_MBps")), static_cast<double>(sum.write_bytes) / seconds * 1e-6, 0.00051);
        if (sum.write_bytes == 0) {
            ASSERT_EQ(row.at("waf"), "");
        } else {
            ASSERT_NEAR(std::stod(row.at("waf")),
                        static_cast<double>(sum.nand_bytes) / static_cast<double>(sum.write_bytes), 5.1e-5);
        }
    }
    EXPECT_EQ(next, b.happened.size());
    EXPECT_EQ(end, t + 1 - kStart);
    EXPECT_GT(idle_rows, 100u);
    const auto intervals = static_cast<std::uint64_t>(end / kInterval.count());
    std::printf("[   FIGURE ] %zu happenings over %lu intervals: %zu rows, %zu bytes, %lu agenda entries\n",
                b.happened.size(), intervals, rows.size(), b.csv.str().size(), b.agenda.executed());
    EXPECT_GT(intervals, 1'000'000u);
    EXPECT_LE(b.agenda.executed(), 2 * 3000u + 2 + 3000u) << "idle intervals are not visited";
}

// The phase of a row is that of what ended in it: files laid out before a ramp before the run.
TEST(TimeSeries, PhasesOfRows) {
    Bench b;
    const auto at = [&](std::int64_t ms, bool layout, bool measured) {
        struct Entry {
            Bench* bench;
            bool layout, measured;
            void happen() {
                HostRequest r;
                r.op = HostOp::write;
                r.bytes = 4096;
                r.preparation = layout;
                Timeline t;
                t.begin(bench->agenda.now());
                bench->latency.on_complete(r, bench->agenda.now(), bench->agenda.now(), bench->agenda.now(), t,
                                           measured);
            }
        };
        static std::vector<std::unique_ptr<Entry>> entries;
        entries.push_back(std::make_unique<Entry>(Entry{&b, layout, measured}));
        b.agenda.post(SimTime{Ps{ms * 1'000'000'000}}, Then::to<&Entry::happen>(entries.back().get()));
    };
    b.agenda.post(SimTime{}, Then::to<&Bench::start>(&b));
    at(5, true, false);   // 0 to 10 ms: layout
    at(12, true, false);  // layout and ramp in one row
    at(18, false, false);
    at(25, false, false);  // ramp
    at(31, false, false);  // ramp and run
    at(38, false, true);
    at(45, false, true);  // run
    b.agenda.post(SimTime{Ps{60'000'000'000}}, Then::to<&Bench::stop>(&b));
    b.agenda.run();
    std::vector<std::string> phases;
    for (const Row& row : parse(b.csv.str())) phases.push_back(row.at("phase"));
    EXPECT_EQ(phases, (std::vector<std::string>{"layout", "layout", "ramp", "ramp", "run", "run"}));
}

TEST(TimeSeries, NothingAtAllIsOneRow) {
    Bench b;
    b.series.start();
    b.agenda.post(SimTime{Ps{1}} + 3600 * std::chrono::seconds(1), Then::to<&Bench::stop>(&b));
    b.agenda.run();
    b.series.stop();
    const auto rows = parse(b.csv.str());
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].at("start_ms"), "0");
    EXPECT_EQ(rows[0].at("interval_ms"), "3600000.000000001");
    EXPECT_EQ(rows[0].at("free_blocks"), std::to_string(b.geometry.blocks_per_plane * b.geometry.planes()));
}

TEST(TimeSeries, BlocksThatNobodyKnowsAreNoNumber) {
    Bench b;
    bool known = true;
    b.series.ask_for_blocks([&known] { return known; });
    for (const int half : {1, 3, 5}) b.post(kInterval.count() / 2 * half, 0);
    b.start();
    b.agenda.run_until(SimTime{kInterval});
    known = false;  // the power goes
    b.agenda.run_until(SimTime{kInterval * 2});
    known = true;
    b.agenda.run_until(SimTime{kInterval * 3});
    b.stop();
    const std::string all = std::to_string(b.geometry.blocks_per_plane * b.geometry.planes());
    std::vector<std::string> free;
    for (const Row& row : parse(b.csv.str())) free.push_back(row.at("free_blocks"));
    EXPECT_EQ(free, (std::vector<std::string>{all, "", all}));
}

TEST(TimeSeries, KeepsNoAgendaAlive) {
    Bench b;
    b.series.start();
    b.agenda.run();
    EXPECT_EQ(b.agenda.executed(), 0u);
}

}  // namespace
}  // namespace ssdtlm
