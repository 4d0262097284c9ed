// SPDX-License-Identifier: Apache-2.0
// Whole files: detection, compression, order, broken lines, volumes, alignment and the device's end.
#include "host_pcie/workload/trace/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "host_pcie/workload/trace/trace_columns.h"

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;

class TraceReader : public ::testing::Test {
protected:
    std::string file(const std::string& text, const std::string& suffix = ".txt") {
        const std::string path = ::testing::TempDir() + "ssdtlm_trace_" + std::to_string(files_.size()) + "_" +
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name() + suffix;
        std::ofstream(path, std::ios::binary) << text;
        files_.push_back(path);
        return path;
    }
    void TearDown() override {
        for (const auto& f : files_) std::remove(f.c_str());
    }
    Trace read(const std::string& text, TraceOptions o = {}) {
        o.path = file(text);
        return read_trace(o);
    }
    std::vector<Problem> problems(const std::string& text, TraceOptions o = {}) {
        try {
            read(text, o);
        } catch (const UserError& e) {
            return e.problems();
        }
        ADD_FAILURE() << "no UserError";
        return {};
    }
    std::vector<std::string> files_;
};

TEST_F(TraceReader, DetectsEachFormat) {
    EXPECT_EQ(read("5,usr,0,Read,4096,512,1\n").format, "msr");
    EXPECT_EQ(read("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n5,usr,0,Read,0,512,1\n").format,
              "msr");
    EXPECT_EQ(read("5 0 8 8 1\n").format, "mqsim");
    EXPECT_EQ(read("5,R,0,512,9\n").format, "alibaba");
    EXPECT_EQ(read("8,0 0 1 0.5 1 Q R 8 + 8 [x]\n8,0 0 1 0.5 1 D R 8 + 8 [x]\n").format, "blkparse");
    TraceOptions skip;
    skip.skip_broken = true;
    EXPECT_EQ(read("broken\nbroken too\n5 0 8 8 1", skip).format, "mqsim");
    const auto p = problems("hello\nworld\n");
    ASSERT_EQ(p.size(), 1u);
    EXPECT_THAT(p[0].text(), HasSubstr("hello"));
    for (const auto& f : trace_formats()) EXPECT_THAT(p[0].allowed, HasSubstr(f.name));
    EXPECT_THAT(p[0].repair, HasSubstr("--trace-columns"));
}

TEST_F(TraceReader, AFormatIsFoundThoughNoLineCanBeRead) {
    // One column wrong in every line of the file; each in turn, in each format.
    const std::pair<const char*, std::string> samples[] = {
        {"msr", "128166372003061629,hm,1,Read,383496192,32768,413"},
        {"mqsim", "4851300 2 29362983 8 1"},
        {"alibaba", "419,W,8792731648,16384,1577808144360767"},
        {"systor", "1456135200.013118000,0.001280000,R,4,3221225472,16384"},
        {"tencent", "1538323200,6160448,8,1,2283"},
        {"spc", "0,20941264,8192,W,0.551706"},
        {"fiu", "89966719862396 2412 kjournald 904265560 8 W 6 0 531e77"},
        {"etw", "DiskRead, 1000, a ( 4), 812, 0xfffffa80, 0x004f3a2000, 0x00001000, 250, 3"},
        {"blkparse", "8,0 3 1 0.000000001 697 D R 223490 + 8 [x]"}};
    for (const auto& [format, line] : samples) {
        const std::string separators = line.find(',') < 24 && std::string(format) != "blkparse" ? "," : " ";
        for (std::size_t from = 0; from < line.size();) {
            const std::size_t end = std::min(line.find_first_of(separators, from), line.size());
            std::string damaged = line;
            damaged.replace(from, end - from, "?!");
            std::string text;
            for (int i = 0; i < 300; ++i) text += damaged + "\n";
            try {
                const Trace t = read(text);
                EXPECT_EQ(t.format, format) << damaged;  // the column means nothing
            } catch (const UserError& e) {
                ASSERT_EQ(e.problems().size(), 11u) << damaged << ": " << e.what();
                EXPECT_EQ(e.problems()[0].found, "found '?!'");
                EXPECT_THAT(e.problems()[0].where, ::testing::EndsWith(":1:" + std::to_string(from + 1)));
                EXPECT_THAT(e.problems()[10].found, ::testing::EndsWith(std::string("cannot be read as ") + format))
                    << damaged;
            }
            from = end + 1;
        }
    }
}

TEST_F(TraceReader, VariantsOfMsrAreToldApartByTheWholeBeginning) {
    std::string text = "003061629,hm,1,Read\n";  // as `tail -c` leaves the first line
    for (int i = 0; i < 9; ++i) text += std::to_string(128166372003061629 + i) + ",1,Write,512,512,77\n";
    EXPECT_THAT(problems(text).at(0).text(), HasSubstr(":1:"));
    TraceOptions o;
    o.skip_broken = true;
    const Trace t = read(text, o);
    EXPECT_EQ(t.stats.taken, 9u);
    EXPECT_EQ(t.volumes.at(0).name, "1");
}

TEST_F(TraceReader, OtherEncodingsAndArchivesAreNamed) {
    EXPECT_THAT(problems(std::string("\xFF\xFE") + "5" + std::string(1, '\0')).at(0).repair, HasSubstr("iconv"));
    std::string tar(1024, '\0');
    tar.replace(0, 5, "a.csv");
    tar.replace(257, 5, "ustar");
    EXPECT_THAT(problems(tar).at(0).found, HasSubstr("tar archive"));
}

TEST_F(TraceReader, ALineWithoutEndIsNotKept) {
    // 16 MiB of one line; that no more than the limit is kept shows in the system tests.
    const std::string path = file("", ".gz");
    gzFile z = gzopen(path.c_str(), "wb1");
    const std::string good = "5 0 8 8 1\n";
    gzwrite(z, good.data(), static_cast<unsigned>(good.size()));
    const std::string block(1 << 20, '7');
    for (int i = 0; i < 16; ++i) gzwrite(z, block.data(), static_cast<unsigned>(block.size()));
    gzclose(z);
    TraceOptions o;
    o.path = path;
    try {
        read_trace(o);
        ADD_FAILURE() << "no UserError";
    } catch (const UserError& e) {
        EXPECT_THAT(e.problems().at(0).where, ::testing::EndsWith(":2:65537"));
        EXPECT_THAT(e.problems().at(0).found, HasSubstr("more than 64 KiB"));
    }
    o.skip_broken = true;
    EXPECT_EQ(read_trace(o).records.size(), 1u);
}

TEST_F(TraceReader, Columns) {
    TraceOptions o;
    o.columns = "time:us op:0/1 offset:sectors size volume -";
    const Trace t = read("when what where much who why\n1.5 1 8 4096 a ?\n2 0 16 512 b ?\n", o);
    EXPECT_EQ(t.format, "columns");
    ASSERT_EQ(t.records.size(), 2u);
    EXPECT_EQ(t.stats[TraceNote::header].lines, 1u);
    EXPECT_EQ(t.records[0].op(), HostOp::write);
    EXPECT_EQ(t.records[0].offset, 8u * 512);
    EXPECT_EQ(t.records[0].bytes, 4096u);
    EXPECT_EQ(t.records[1].t, Ps{500'000});
    EXPECT_EQ(t.volumes[1].name, "b");
    const auto p = problems("1.5 1 8 4096 a ?\n2 2 16 512 b ?\n", o);
    EXPECT_THAT(p.at(0).where, HasSubstr(":2:3"));
    EXPECT_EQ(p.at(0).found, "found '2'");
}

TEST_F(TraceReader, SharedStampsAreSpreadOverTheirResolution) {
    // Whole seconds; 5 to 7 has a gap that is none of the resolution.
    const std::string text = "5,0,8,0,1\n5,8,8,0,1\n5,16,8,0,1\n5,24,8,0,1\n7,0,8,0,1\n7,8,8,1,1\n8,0,8,0,1\n";
    const auto times = [](const Trace& t) {
        std::vector<std::int64_t> ms;
        for (const auto& r : t.records) ms.push_back(r.t / Ps{1'000'000'000});
        return ms;
    };
    EXPECT_THAT(times(read(text)), ::testing::ElementsAre(0, 0, 0, 0, 2000, 2000, 3000));
    TraceOptions o;
    o.spread = true;
    const Trace t = read(text, o);
    EXPECT_EQ(t.format, "tencent");
    EXPECT_THAT(times(t), ::testing::ElementsAre(0, 250, 500, 750, 2000, 2500, 3000));
    EXPECT_EQ(t.stats[TraceNote::spread].lines, 4u);
    EXPECT_EQ(t.stats.equal_stamps, 0u);
    EXPECT_EQ(times(read("5,0,8,0,1\n5,8,8,0,1\n", o)).back(), 500) << "one stamp: the format's tick";
    o.columns = "time:s,offset:sectors,size:sectors,op:0/1,volume";
    EXPECT_THAT(times(read(text, o)), ::testing::ElementsAre(0, 250, 500, 750, 2000, 2500, 3000));
}

TEST_F(TraceReader, MistakesInColumnsAreAllReported) {
    std::vector<Problem> p;
    EXPECT_TRUE(parse_trace_columns("tiem:s,op,offset:0,volume:3,time,offset", p).columns.empty());
    std::vector<std::string> found;
    for (const auto& x : p) found.push_back(x.found);
    EXPECT_THAT(found, ::testing::ElementsAre("column 1 'tiem' has no meaning", "column 3 'offset': unit '0'",
                                              "column 4 'volume' takes no ':3'", "column 5 'time' needs a unit",
                                              "column 6 'offset' is there twice", "no column 'size'"));
    EXPECT_EQ(p[0].repair, "did you mean 'time'?");
    TraceOptions o;
    o.columns = "time:s,op";
    EXPECT_THAT(problems("1,R\n", o).at(0).found, "no column 'offset'");
}

TEST_F(TraceReader, UnknownFormatNameAndMissingFile) {
    TraceOptions o;
    o.format = "mqsin";
    EXPECT_THAT(problems("5 0 8 8 1\n", o).at(0).repair, HasSubstr("mqsim"));
    o.path = "/nonexistent/trace.csv";
    EXPECT_THROW(read_trace(o), UserError);
    o.format = "auto";
    EXPECT_THROW(read_trace(o), UserError);
}

TEST_F(TraceReader, GzipCrlfAndMissingLastNewlineMakeNoDifference) {
    const std::string plain = "100 0 8 8 1\n300 0 16 8 0\n200 0 24 8 0\n";
    const Trace a = read(plain);
    const Trace b = read("100 0 8 8 1\r\n300 0 16 8 0\r\n200 0 24 8 0");
    TraceOptions o;
    o.path = file("", ".gz");
    gzFile z = gzopen(o.path.c_str(), "wb");
    ASSERT_EQ(gzwrite(z, plain.data(), static_cast<unsigned>(plain.size())), static_cast<int>(plain.size()));
    gzclose(z);
    const Trace c = read_trace(o);
    for (const Trace* t : {&b, &c}) {
        ASSERT_EQ(t->records.size(), a.records.size());
        EXPECT_EQ(t->stats.lines, 3u);
        for (std::size_t i = 0; i < a.records.size(); ++i) {
            EXPECT_EQ(t->records[i].t, a.records[i].t);
            EXPECT_EQ(t->records[i].offset, a.records[i].offset);
        }
    }
}

TEST_F(TraceReader, DigestIsOfContentAndChoiceNotOfPathOrDevice) {
    const std::string text = "100 0 8 8 1\n300 1 16 8 0\n200 0 24 8 0\n";
    const std::string digest = read(text).digest;
    EXPECT_EQ(digest.size(), 16u);
    TraceOptions o;
    o.path = file("", ".gz");
    gzFile z = gzopen(o.path.c_str(), "wb");
    gzwrite(z, text.data(), static_cast<unsigned>(text.size()));
    gzclose(z);
    EXPECT_EQ(read_trace(o).digest, digest);
    TraceOptions other_device;
    other_device.lba_bytes = 4096;
    other_device.device_bytes = 1 << 20;
    EXPECT_EQ(read(text, other_device).digest, digest);
    // Every one of these replays something else.
    std::vector<std::string> digests{digest, read("100 0 8 8 1\n300 1 16 8 0\n200 0 24 8 1\n").digest,
                                     read("100 0 8 8 1\n").digest};
    const auto with = [&](auto change) {
        TraceOptions changed;
        change(changed);
        digests.push_back(read(text, changed).digest);
    };
    with([](TraceOptions& t) { t.volume = "1"; });
    with([](TraceOptions& t) { t.overlay_volumes = true; });
    with([](TraceOptions& t) { t.spread = true; });
    with([](TraceOptions& t) { t.beyond = BeyondDevice::fold; });
    with([](TraceOptions& t) { t.beyond = BeyondDevice::scale; });
    std::sort(digests.begin(), digests.end());
    EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
}

TEST_F(TraceReader, DigestOfAFileLongerThanTheBuffer) {
    std::string text;
    for (int i = 0; i < 60000; ++i) text += std::to_string(i) + " 0 " + std::to_string(i * 8) + " 8 1\n";
    ASSERT_GT(text.size(), std::size_t{1} << 20);
    std::string other = text;
    other[other.size() / 2] = other[other.size() / 2] == '8' ? '9' : '8';
    const std::string digest = read(text).digest;
    EXPECT_EQ(digest, read(text).digest);
    TraceOptions skip;
    skip.skip_broken = true;
    EXPECT_NE(read(text, skip).digest, read(other, skip).digest);
}

TEST_F(TraceReader, CutGzipIsRefused) {
    std::string text;
    for (int i = 0; i < 5000; ++i)
        text += std::to_string(i * 7919 % 10007) + " 0 " + std::to_string(i * 31 % 977) + " 8 1\n";
    const std::string whole = file("", ".gz");
    gzFile z = gzopen(whole.c_str(), "wb");
    gzwrite(z, text.data(), static_cast<unsigned>(text.size()));
    gzclose(z);
    std::ifstream in(whole, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    TraceOptions o;
    o.path = file(bytes.substr(0, bytes.size() / 2), ".cut.gz");
    EXPECT_THROW(read_trace(o), UserError);
}

TEST_F(TraceReader, TimeStartsAtTheEarliestRequestAndEqualStampsKeepFileOrder) {
    // FILETIMEs, 100 ns each; line 3 goes back to before line 1, line 5 to between.
    const std::uint64_t base = 128166372003061629;
    std::string text;
    const int ticks[] = {40, 90, 10, 90, 50, 90};
    for (int i = 0; i < 6; ++i)
        text += std::to_string(base + static_cast<std::uint64_t>(ticks[i])) + ",h,0,Read," + std::to_string(i * 4096) +
                ",4096,1\n";
    const Trace t = read(text);
    std::vector<std::int64_t> times;
    std::vector<std::uint64_t> order;
    for (const auto& r : t.records) {
        times.push_back(r.t.count());
        order.push_back(r.offset / 4096);
    }
    EXPECT_EQ(times, (std::vector<std::int64_t>{0, 3000000, 4000000, 8000000, 8000000, 8000000}));
    EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 0, 4, 1, 3, 5}));
    EXPECT_EQ(t.stats[TraceNote::reordered].lines, 2u);
    EXPECT_EQ(t.stats[TraceNote::reordered].first_line, 3u);
    EXPECT_EQ(t.stats.equal_stamps, 2u);
    EXPECT_EQ(t.stats.duration, Ps{8000000});
    EXPECT_THAT(t.stats.sentences(), ::testing::ElementsAre(HasSubstr("2 lines out of order")));
}

TEST_F(TraceReader, BrokenLinesAreRefusedWithTheFirstTen) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += i % 2 ? "100 0 8 eight 1\n" : "100 0 8 8 1\n";
    const auto p = problems(text);
    ASSERT_EQ(p.size(), 11u);
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_THAT(p[i].where, HasSubstr(":" + std::to_string(2 * i + 2) + ":9"));
        EXPECT_THAT(p[i].found, HasSubstr("eight"));
        EXPECT_THAT(p[i].allowed, HasSubstr("number of sectors"));
    }
    EXPECT_THAT(p[10].found, HasSubstr("15 lines of 30 lines"));
    EXPECT_THAT(p[10].repair, HasSubstr("skip"));
}

TEST_F(TraceReader, BrokenLinesCanBeSkippedAndAreCounted) {
    TraceOptions o;
    o.skip_broken = true;
    const Trace t = read("100 0 8 8 1\nbad\n\n200 0 8 8 0\n300 0\n", o);
    EXPECT_EQ(t.records.size(), 2u);
    EXPECT_EQ(t.stats[TraceNote::broken].lines, 2u);
    EXPECT_EQ(t.stats[TraceNote::broken].first_line, 2u);
    EXPECT_EQ(t.stats[TraceNote::blank].lines, 1u);
    EXPECT_EQ(t.stats.lines, 5u);
    EXPECT_EQ(t.stats.taken, 2u);
}

TEST_F(TraceReader, EveryLineIsAccountedForOnce) {
    TraceOptions o;
    o.skip_broken = true;
    o.volume = "8,0";
    const Trace t = read(
        "8,0 0 1 0.1 1 Q R 8 + 8 [x]\n8,0 0 2 0.2 1 D R 8 + 8 [x]\n8,16 0 2 0.2 1 D R 8 + 8 [x]\n"
        "8,0 0 3 0.3 1 D N 0 [y]\n8,0 0 4 0.4 1 D W 8 + 0 [y]\n8,0 0 5 0.5 1 D W 8 + x\n\n8,0 0 6 0.6 1 D FN [x]\n"
        "CPU0 (sda):\n rest\n",
        o);
    std::uint64_t left = t.stats.taken;
    for (auto n : {TraceNote::blank, TraceNote::header, TraceNote::trailer, TraceNote::other_action,
                   TraceNote::passthrough, TraceNote::other_volume, TraceNote::zero_length, TraceNote::broken})
        left += t.stats[n].lines;
    EXPECT_EQ(left, t.stats.lines);
    EXPECT_EQ(t.stats.taken, 2u);
    EXPECT_EQ(t.stats[TraceNote::other_volume].first_line, 3u);
    EXPECT_EQ(t.stats.records[static_cast<int>(HostOp::flush)], 1u);
}

TEST_F(TraceReader, UnalignedRangesAreRoundedOut) {
    TraceOptions o;
    o.lba_bytes = 4096;
    // [100, 200) -> [0, 4096); [4095, 4097) -> [0, 8192); [8192, 12288) stays
    const Trace t = read("1,R,100,100,1\n1,R,4095,2,2\n1,W,8192,4096,3\n", o);
    ASSERT_EQ(t.records.size(), 3u);
    EXPECT_EQ(t.records[0].offset, 0u);
    EXPECT_EQ(t.records[0].bytes, 4096u);
    EXPECT_EQ(t.records[1].offset, 0u);
    EXPECT_EQ(t.records[1].bytes, 8192u);
    EXPECT_EQ(t.records[2].offset, 8192u);
    EXPECT_EQ(t.stats[TraceNote::rounded].lines, 2u);
    EXPECT_EQ(t.stats[TraceNote::rounded].first_line, 1u);
}

TEST_F(TraceReader, BeyondTheDeviceIsAProblemThatNamesTheLine) {
    TraceOptions o;
    o.device_bytes = 1 << 20;
    const auto p = problems("1,R,0,4096,1\n1,R,1044481,4096,2\n1,R,1044480,4096,3\n", o);
    ASSERT_EQ(p.size(), 2u);
    EXPECT_THAT(p[0].where, HasSubstr(":2"));
    EXPECT_THAT(p[0].allowed, HasSubstr("1048576"));
    EXPECT_THAT(p[1].repair, HasSubstr("fold"));
}

TEST_F(TraceReader, FoldIsModuloAndStaysInside) {
    TraceOptions o;
    o.device_bytes = 1 << 20;
    o.beyond = BeyondDevice::fold;
    const Trace t = read("1,R,1052672,4096,1\n1,R,1044480,8192,2\n1,R,0,4096,3\n", o);
    EXPECT_EQ(t.records[0].offset, 1052672u - (1u << 20));
    EXPECT_EQ(t.records[1].offset, (1u << 20) - 8192u);  // moved back to end at the device's end
    EXPECT_EQ(t.records[2].offset, 0u);
    EXPECT_EQ(t.stats[TraceNote::folded].lines, 2u);
}

TEST_F(TraceReader, ScaleKeepsOrderAndSizes) {
    TraceOptions o;
    o.device_bytes = 1 << 20;
    o.beyond = BeyondDevice::scale;
    // Extent 4 MiB on 1 MiB: offsets shrink by 4.
    const Trace t = read("1,R,0,4096,1\n1,R,2097152,4096,2\n1,R,4190208,4096,3\n", o);
    EXPECT_EQ(t.records[0].offset, 0u);
    EXPECT_EQ(t.records[1].offset, 2097152u / 4);
    EXPECT_EQ(t.records[2].offset, std::min(4190208u / 4 / 512 * 512, (1u << 20) - 4096u));
    for (const auto& r : t.records) EXPECT_EQ(r.bytes, 4096u);
    EXPECT_EQ(t.stats[TraceNote::scaled].first_line, 2u);
    o.device_bytes = 1 << 23;  // fits: nothing moves
    EXPECT_EQ(read("1,R,0,4096,1\n1,R,2097152,4096,2\n", o).records[1].offset, 2097152u);
}

TEST_F(TraceReader, RequestLongerThanTheDeviceIsClipped) {
    TraceOptions o;
    o.device_bytes = 1 << 20;
    o.beyond = BeyondDevice::fold;
    const Trace t = read("1,W,512,4194304,1\n", o);
    ASSERT_EQ(t.records.size(), 1u);
    EXPECT_EQ(t.records[0].offset, 0u);
    EXPECT_EQ(t.records[0].bytes, 1u << 20);
    EXPECT_EQ(t.stats[TraceNote::clipped].lines, 1u);
}

TEST_F(TraceReader, LongTrimIsSeveralRecords) {
    const Trace t = read("8,0 0 1 0.5 1 D D 0 + 6291456 [mkfs]\n");  // 3 GiB
    ASSERT_EQ(t.records.size(), 3u);
    std::uint64_t next = 0;
    for (const auto& r : t.records) {
        EXPECT_EQ(r.offset, next);
        next += r.bytes;
    }
    EXPECT_EQ(next, 6291456ull * 512);
    EXPECT_EQ(t.stats[TraceNote::split].lines, 1u);
}

TEST_F(TraceReader, SeparateVolumesAreLaidOutOneAfterTheOther) {
    const std::string text = "7,R,0,4096,1\n9,R,0,4096,2\n7,W,8192,4096,3\n9,W,4096,4096,4\n";
    TraceOptions o;
    o.device_bytes = 1 << 20;
    Trace t = read(text, o);
    ASSERT_EQ(t.volumes.size(), 2u);
    EXPECT_EQ(t.volumes[0].name, "7");
    EXPECT_EQ(t.volumes[0].end, 12288u);
    EXPECT_EQ(t.volumes[1].base, 12288u);
    EXPECT_EQ(t.records[1].offset, 12288u);
    EXPECT_EQ(t.records[1].stream, 1u);
    o.overlay_volumes = true;
    t = read(text, o);
    EXPECT_EQ(t.records[1].offset, 0u);
    o.overlay_volumes = false;
    o.device_bytes = 16384;  // each volume fits, both together do not
    EXPECT_THAT(problems(text, o).at(0).text(), HasSubstr("20480 B"));
    o.beyond = BeyondDevice::fold;
    t = read(text, o);
    EXPECT_EQ(t.stats[TraceNote::folded].lines, 1u);
    for (const auto& r : t.records) EXPECT_LE(r.offset + r.bytes, o.device_bytes);
}

TEST_F(TraceReader, VolumeFilter) {
    TraceOptions o;
    o.volume = "usr,1";
    const std::string text = "1,usr,0,Read,0,512,1\n2,usr,1,Write,512,512,1\n3,usr,0,Read,0,512,1\n";
    const Trace t = read(text, o);
    ASSERT_EQ(t.records.size(), 1u);
    EXPECT_EQ(t.records[0].t, Ps{0});
    EXPECT_EQ(t.records[0].offset, 512u);  // no gap is left for the volume that was left out
    EXPECT_EQ(t.stats[TraceNote::other_volume].lines, 2u);
    o.volume = "usr,2";
    EXPECT_THAT(problems(text, o).at(0).allowed, HasSubstr("'usr,0' 'usr,1'"));
}

TEST_F(TraceReader, EmptyAndFullyFilteredFilesAreRefused) {
    TraceOptions o;
    o.format = "msr";
    EXPECT_THAT(problems("", o).at(0).found, HasSubstr("no request"));
    o.format = "blkparse";
    EXPECT_THAT(problems("8,0 0 1 0.5 1 Q R 8 + 8 [x]\n", o).at(0).repair, HasSubstr("Q"));
}

TEST_F(TraceReader, LongLinesAndStampsFarApart) {
    TraceOptions o;
    o.skip_broken = true;
    const Trace t = read("5 0 8 8 1\n" + std::string(1 << 20, 'x') + "\n6 0 8 8 1\n", o);
    EXPECT_EQ(t.records.size(), 2u);
    EXPECT_EQ(t.stats.lines, 3u);
    // 50 years and a minute in microseconds: the pause that does not fit is made shorter.
    const Trace far = read("0,R,0,512,0\n0,R,0,512,60000000\n0,R,0,512,1576800060000000\n");
    EXPECT_EQ(far.records.back().t, Ps{std::int64_t{100} * 86'400 * 1'000'000'000'000});
    EXPECT_EQ(far.records[1].t, Ps{60'000'000'000'000});
    EXPECT_THAT(far.stats.sentences().back(), HasSubstr("1 pause of 50y lasts"));
    EXPECT_THAT(far.stats.sentences().back(), HasSubstr("the earliest time is in line 1, the latest in line 3"));
}

TEST_F(TraceReader, PreflushBecomesAFlushBeforeTheWrite) {
    TraceOptions o;
    o.blkparse_action = 'Q';
    const Trace t = read("8,0 0 1 0.5 1 Q FWFS 8 + 8 [x]\n", o);
    ASSERT_EQ(t.records.size(), 2u);
    EXPECT_EQ(t.records[0].op(), HostOp::flush);
    EXPECT_EQ(t.records[1].op(), HostOp::write);
    EXPECT_EQ(t.records[1].fua, 1u);
}

TEST_F(TraceReader, ShippedSamplesReadWithoutBrokenLines) {
    const std::pair<const char*, const char*> samples[] = {
        {"msr.csv", "msr"},           {"msr.csv.gz", "msr"},    {"mqsim.trace", "mqsim"},   {"alibaba.csv", "alibaba"},
        {"blkparse.txt", "blkparse"}, {"systor.csv", "systor"}, {"tencent.csv", "tencent"}, {"spc.txt", "spc"},
        {"fiu.txt", "fiu"},           {"etw.txt", "etw"}};
    for (const auto& [name, format] : samples) {
        TraceOptions o;
        o.path = std::string(SSDTLM_TRACES) + "/" + name;
        o.lba_bytes = 4096;
        o.device_bytes = 1 << 30;
        const Trace t = read_trace(o);
        EXPECT_EQ(t.format, format);
        EXPECT_EQ(t.stats[TraceNote::broken].lines, 0u);
        EXPECT_GE(t.records.size(), 40u);
        EXPECT_TRUE(
            std::is_sorted(t.records.begin(), t.records.end(), [](const auto& a, const auto& b) { return a.t < b.t; }));
        EXPECT_GT(t.stats[TraceNote::rounded].lines, 0u) << name;
    }
}

}  // namespace
}  // namespace ssdtlm
