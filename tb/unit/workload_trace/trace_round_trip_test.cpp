// SPDX-License-Identifier: Apache-2.0
// Requests written in each format's syntax come back as they were: time, range, operation, volume. The same files with
// random damage are read, or refused with a place at which the file has what the message quotes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "host_pcie/workload/trace/trace_format.h"
#include "host_pcie/workload/trace/trace_reader.h"

namespace ssdtlm {
namespace {

struct Request {
    std::int64_t ns;  ///< since the first
    HostOp op;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint32_t volume;
};

struct Writer {
    const char* format;
    std::int64_t tick_ns;
    std::uint64_t unit;  ///< bytes; offsets and sizes are multiples
    bool flush;
    std::string header;
    std::function<std::string(const Request&)> line;
    std::function<std::string(std::uint32_t)> volume;
    const char* columns = "";
};

template <class... T>
std::string text(const char* format, T... values) {
    char buffer[400];
    const int n = std::snprintf(buffer, sizeof(buffer), format, values...);
    return std::string(buffer, static_cast<std::size_t>(n));
}

using Long = long long;
using ULong = unsigned long long;
const char* word(HostOp op, const char* read, const char* write) {
    return op == HostOp::read ? read : write;
}
std::string number(std::uint32_t v) {
    return std::to_string(v);
}

std::vector<Writer> writers() {
    std::vector<Writer> w;
    const auto msr = [](const Request& r) {
        return text("%lld,usr,%u,%s,%llu,%llu,413", Long{128166372003061629} + r.ns / 100, r.volume,
                    word(r.op, "Read", "Write"), ULong{r.offset}, ULong{r.bytes});
    };
    const auto usr = [](std::uint32_t v) { return "usr," + number(v); };
    const std::string msr_header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    w.push_back({"msr", 100, 1, false, "", msr, usr});
    w.push_back({"msr", 100, 1, false, "\xEF\xBB\xBF" + msr_header, msr, usr});
    w.push_back({"msr", 100, 1, false, "",
                 [msr](const Request& r) {
                     const auto s = msr(r);
                     return s.substr(0, s.rfind(','));
                 },
                 usr});
    w.push_back({"msr", 100, 1, false, "",
                 [](const Request& r) {
                     return text("%lld,%u,%s,%llu,%llu,413", Long{128166372003061629} + r.ns / 100, r.volume,
                                 word(r.op, "Read", "Write"), ULong{r.offset}, ULong{r.bytes});
                 },
                 number});
    w.push_back({"msr", 100, 1, false, "\"Offset\",\"Size\",\"Type\",\"Disk Number\",\"Timestamp\"\n",
                 [](const Request& r) {
                     return text("\"%llu\",\"%llu\",\"%s\",\"%u\",\"%lld\"", ULong{r.offset}, ULong{r.bytes},
                                 word(r.op, "Read", "Write"), r.volume, Long{128166372003061629} + r.ns / 100);
                 },
                 number});
    w.push_back({"systor", 1'000, 1, false, "Timestamp,Response,IOType,LUN,Offset,Size\n",
                 [](const Request& r) {
                     const Long t = Long{1456135200'013118000} + r.ns;
                     return text("%lld.%09lld,0.001280000,%s,%u,%llu,%llu", t / 1'000'000'000, t % 1'000'000'000,
                                 word(r.op, "R", "W"), r.volume, ULong{r.offset}, ULong{r.bytes});
                 },
                 number});
    w.push_back({"tencent", 1'000'000'000, 512, false, "",
                 [](const Request& r) {
                     return text("%lld,%llu,%llu,%s,%u", Long{1538323200} + r.ns / 1'000'000'000, ULong{r.offset / 512},
                                 ULong{r.bytes / 512}, word(r.op, "0", "1"), r.volume);
                 },
                 number});
    w.push_back({"alibaba", 1'000, 1, false, "",
                 [](const Request& r) {
                     return text("%u,%s,%llu,%llu,%lld", r.volume, word(r.op, "R", "W"), ULong{r.offset},
                                 ULong{r.bytes}, Long{1577808144360767} + r.ns / 1'000);
                 },
                 number});
    w.push_back({"spc", 1'000, 512, false, "",
                 [](const Request& r) {
                     return text("%u,%llu,%llu,%s,%lld.%06lld", r.volume, ULong{r.offset / 512}, ULong{r.bytes},
                                 word(r.op, "r", "W"), Long{r.ns} / 1'000'000'000, Long{r.ns} / 1'000 % 1'000'000);
                 },
                 number});
    w.push_back({"fiu", 1, 512, false, "",
                 [](const Request& r) {
                     return text("%lld 2412 kjournald %llu %llu %s %u 0 531e779d9ec2b3b9f8d5b0fae1d8e0f3",
                                 Long{89966719862396} + r.ns, ULong{r.offset / 512}, ULong{r.bytes / 512},
                                 word(r.op, "R", "W"), r.volume);
                 },
                 [](std::uint32_t v) { return number(v) + ",0"; }});
    w.push_back({"mqsim", 1, 512, false, "",
                 [](const Request& r) {
                     return text("%lld %u %llu %llu %s", Long{r.ns}, r.volume, ULong{r.offset / 512},
                                 ULong{r.bytes / 512}, word(r.op, "1", "0"));
                 },
                 number});
    w.push_back({"blkparse", 1, 512, true, "",
                 [](const Request& r) {
                     const std::string data =
                         text("%s %llu + %llu", word(r.op, "R", "WS"), ULong{r.offset / 512}, ULong{r.bytes / 512});
                     return text("8,%u 1 7 %lld.%09lld 697 D %s [x]", r.volume, Long{r.ns} / 1'000'000'000,
                                 Long{r.ns} % 1'000'000'000, r.op == HostOp::flush ? "FN" : data.c_str());
                 },
                 [](std::uint32_t v) { return "8," + number(v); }});
    w.push_back({"iolog", 1'000, 1, true, "fio version 3 iolog\n",
                 [](const Request& r) {
                     return text("%lld file%u %s %llu %llu", Long{r.ns / 1'000}, r.volume,
                                 r.op == HostOp::flush ? "sync" : word(r.op, "read", "write"), ULong{r.offset},
                                 ULong{r.bytes});
                 },
                 [](std::uint32_t v) { return "file" + number(v); }});
    w.push_back(
        {"etw", 1'000, 1, true,
         "BeginHeader\n"
         "               DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,   IrpPtr,   ByteOffset,     "
         "IOSize, "
         "ElapsedTime,  DiskNum, IrpFlags, FileName\n"
         "              DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,   IrpPtr,   ByteOffset,     "
         "IOSize, "
         "ElapsedTime,  DiskNum, IrpFlags, FileName\n"
         "           DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,   IrpPtr\n"
         "              DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,   IrpPtr,  ElapsedTime,  DiskNum\n"
         "EndHeader\n",
         [](const Request& r) {
             const Long elapsed = 17 + Long{r.ns} % 300, t = 500'000 + r.ns / 1'000 + elapsed;
             if (r.op == HostOp::flush)
                 return text("DiskFlush, %lld, System ( 4), 8, 0xff, %lld, %u", t, elapsed, r.volume);
             return text("%12s, %lld, System ( 4), 8, 0xff, 0x%010llx, 0x%08llx, %lld, %u, 0x43, \"C:\\a, b\"",
                         word(r.op, "DiskRead", "DiskWrite"), t, ULong{r.offset}, ULong{r.bytes}, elapsed, r.volume);
         },
         number});
    w.push_back({"columns", 1, 4096, false, "",
                 [](const Request& r) {
                     return text("%s;;%lld.%06lld;%u;0x%llx;%llu;x", word(r.op, "get", "put"), Long{r.ns} / 1'000'000,
                                 Long{r.ns} % 1'000'000, r.volume, ULong{r.offset / 4096}, ULong{r.bytes / 4096});
                 },
                 number, "op:get/put;-;time:ms;volume;offset:4096;size:4096;..."});
    return w;
}

class RoundTrip : public ::testing::Test {
protected:
    void TearDown() override { std::remove(path_.c_str()); }

    std::vector<Request> requests(const Writer& w, std::size_t count) {
        std::vector<Request> list;
        std::int64_t ns = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const bool flush = w.flush && random_() % 9 == 0;
            const auto unit = std::max<std::uint64_t>(w.unit, 512);
            list.push_back({ns,
                            flush                ? HostOp::flush
                            : random_() % 2 == 0 ? HostOp::read
                                                 : HostOp::write,
                            flush ? 0 : random_() % (1u << 20) * unit, flush ? 0 : (1 + random_() % 256) * unit,
                            static_cast<std::uint32_t>(random_() % 3)});
            ns += static_cast<std::int64_t>(random_() % 5 == 0 ? 0 : random_() % 1'000'000'000) / w.tick_ns * w.tick_ns;
            if (w.tick_ns == 1'000'000'000) ns += static_cast<std::int64_t>(random_() % 2) * w.tick_ns;
        }
        return list;
    }
    std::string file(const Writer& w, const std::vector<Request>& list) {
        std::string s = w.header;
        for (const auto& r : list) s += w.line(r) + "\n";
        return s;
    }
    TraceOptions options(const Writer& w, const std::string& content) {
        std::remove(path_.c_str());  // rewriting a file in place would wait for the disk
        std::ofstream(path_, std::ios::binary) << content;
        TraceOptions o;
        o.path = path_;
        o.columns = w.columns;
        o.overlay_volumes = true;
        return o;
    }
    const std::string path_ = ::testing::TempDir() + "ssdtlm_round_trip.txt";
    std::mt19937_64 random_{20080301};
};

TEST_F(RoundTrip, EachFormat) {
    std::set<std::string> formats;
    for (const auto& w : writers()) {
        formats.insert(w.format);
        const auto list = requests(w, 500);
        const Trace t = read_trace(options(w, file(w, list)));
        EXPECT_EQ(t.format, w.format);
        EXPECT_EQ(t.stats[TraceNote::reordered].lines, 0u);
        ASSERT_EQ(t.records.size(), list.size()) << w.format;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto& r = t.records[i];
            ASSERT_EQ(r.t.count(), list[i].ns * 1'000) << w.format << " " << w.line(list[i]);
            ASSERT_EQ(r.op(), list[i].op) << w.line(list[i]);
            ASSERT_EQ(r.offset, list[i].offset) << w.line(list[i]);
            ASSERT_EQ(r.bytes, list[i].bytes) << w.line(list[i]);
            ASSERT_EQ(t.volumes[r.stream].name, w.volume(list[i].volume)) << w.line(list[i]);
        }
    }
    for (const auto& f : trace_formats()) EXPECT_EQ(formats.count(f.name), 1u) << f.name << " is not tried";
}

/// The lines of a file as LineSource counts them.
std::vector<std::string> lines_of(const std::string& content) {
    std::vector<std::string> lines{""};
    for (char c : content.substr(content.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0)) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    }
    return lines;
}

TEST_F(RoundTrip, DamageIsReadOrNamedWhereItIs) {
    std::map<std::string, int> outcomes;
    for (const auto& w : writers()) {
        for (int round = 0; round < 80; ++round) {
            std::string content = file(w, requests(w, 6));
            for (std::uint64_t edits = 1 + random_() % 3; edits > 0 && !content.empty(); --edits) {
                const std::size_t at = random_() % content.size();
                const char junk =
                    static_cast<char>(random_() % 3 == 0 ? random_() % 256 : " ,;\"-.0x9RW#\n"[random_() % 13]);
                switch (random_() % 5) {
                    case 0:
                        content.erase(at, 1 + random_() % 6);
                        break;
                    case 1:
                        content.insert(at, 1, junk);
                        break;
                    case 2:
                        content[at] = junk;
                        break;
                    case 3:
                        content.insert(at, content.substr(random_() % content.size(), 1 + random_() % 20));
                        break;
                    default:
                        content.insert(at, std::string(1 + random_() % 30, "9,\" "[random_() % 4]));
                        break;
                }
            }
            TraceOptions o = options(w, content);
            if (random_() % 2 == 0) o.format = w.format;
            try {
                const Trace t = read_trace(o);
                ++outcomes["read"];
                EXPECT_TRUE(std::is_sorted(t.records.begin(), t.records.end(),
                                           [](const auto& a, const auto& b) { return a.t < b.t; }));
            } catch (const UserError& e) {
                ++outcomes["refused"];
                ASSERT_FALSE(e.problems().empty());
                const auto lines = lines_of(content);
                for (const auto& p : e.problems()) {
                    ASSERT_FALSE(p.found.empty());
                    ASSERT_FALSE(p.allowed.empty() && p.repair.empty()) << p.text();
                    std::size_t line = 0, column = 0;
                    if (std::sscanf(p.where.c_str() + path_.size(), ":%zu:%zu", &line, &column) != 2) continue;
                    ++outcomes["place"];
                    if (p.found == "UTF-16 text") continue;
                    ASSERT_LE(line, lines.size()) << p.text();
                    const std::string& there = lines[line - 1];
                    const auto quote = p.found.find('\'');
                    if (quote == std::string::npos) {
                        EXPECT_THAT(p.found, ::testing::AnyOf("found end of line", "found empty field"));
                        EXPECT_LE(column, there.size() + 1) << p.text();
                        continue;
                    }
                    const std::string value = p.found.substr(quote + 1, p.found.size() - quote - 2);
                    EXPECT_EQ(value, printable(there.substr(column - 1, value.size()))) << p.text();
                }
            }
        }
    }
    for (const auto& [what, n] : outcomes) std::printf("%s: %d\n", what.c_str(), n);
    EXPECT_GT(outcomes["read"], 80);
    EXPECT_GT(outcomes["place"], 1000);
}

}  // namespace
}  // namespace ssdtlm
