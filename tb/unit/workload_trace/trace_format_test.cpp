// SPDX-License-Identifier: Apache-2.0
// One line at a time: what each format's columns mean, and which column is blamed when a line is broken.
#include "host_pcie/workload/trace_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<TraceFormat> make(const std::string& name, char action = 'D') {
    TraceFormatOptions o;
    o.blkparse_action = action;
    for (const auto& f : trace_formats())
        if (name == f.name) return f.make(o);
    return nullptr;
}

struct Parsed {
    LineKind kind;
    TraceLine line;
    LineFault fault;
};
Parsed parse(TraceFormat& format, std::string_view text) {
    Parsed p{};
    p.kind = format.parse(text, p.line, p.fault);
    return p;
}
Parsed parse(const std::string& name, std::string_view text, char action = 'D') {
    auto format = make(name, action);
    Parsed p = parse(*format, text);
    p.line.volume = {};  // may point into the format
    return p;
}

TEST(Msr, ColumnsAndUnits) {
    auto f = make("msr");
    const auto p = parse(*f, "128166372003061629,hm,1,Read,383496192,32768,413");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 128166372003061629);
    EXPECT_EQ(f->tick_ps(), 100'000);
    EXPECT_EQ(p.line.op, HostOp::read);
    EXPECT_EQ(p.line.offset, 383496192u);
    EXPECT_EQ(p.line.bytes, 32768u);
    EXPECT_EQ(p.line.volume, "hm,1");
    EXPECT_EQ(parse("msr", "1,hm,1,Write,0,512,0").line.op, HostOp::write);
    EXPECT_EQ(parse("msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime").kind, LineKind::header);
    EXPECT_EQ(parse("msr", "").kind, LineKind::blank);
    EXPECT_EQ(parse("msr", "# note").kind, LineKind::blank);
}

TEST(Msr, BrokenLinesNameTheColumn) {
    auto p = parse("msr", "128166372003061629,hm,1,Raed,383496192,32768,413");
    EXPECT_EQ(p.kind, LineKind::broken);
    EXPECT_EQ(p.fault.column, 25u);  // 18 digits + ",hm,1," and 1-based
    EXPECT_THAT(p.fault.found, HasSubstr("Raed"));
    EXPECT_THAT(p.fault.expected, HasSubstr("Read or Write"));
    p = parse("msr", "1,hm,1,Read,-5,512,0");
    EXPECT_EQ(p.fault.column, 13u);
    EXPECT_THAT(p.fault.expected, HasSubstr("offset in bytes"));
    p = parse("msr", "1,hm,1,Read,0");
    EXPECT_EQ(p.kind, LineKind::broken);
    EXPECT_EQ(p.fault.found, "end of line");
    EXPECT_EQ(parse("msr", "1,hm,1,Read,0,512,0,9").kind, LineKind::broken);
    EXPECT_EQ(parse("msr", "1,hm,1,Read,0,,0").fault.found, "empty field");
    EXPECT_EQ(parse("msr", "1,hm,1,Read,0,512,").kind, LineKind::broken);
    EXPECT_EQ(parse("msr", "1,hm,1,Read,99999999999999999999,512,1").kind, LineKind::broken);
    EXPECT_EQ(parse("msr", "1,hm,1,Read,72057594037927937,512,1").kind, LineKind::broken);  // 2^56 + 1
    EXPECT_EQ(parse("msr", "1.5,hm,1,Read,0,512,1").kind, LineKind::broken);
}

TEST(Mqsim, ZeroIsWriteAndUnitsAreSectors) {
    auto f = make("mqsim");
    auto p = parse(*f, "4851300 2 29362983 8 1");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks * f->tick_ps(), 4851300'000);
    EXPECT_EQ(p.line.op, HostOp::read);
    EXPECT_EQ(p.line.offset, 29362983ull * 512);
    EXPECT_EQ(p.line.bytes, 8u * 512);
    EXPECT_EQ(p.line.volume, "2");
    EXPECT_FALSE(f->volumes_are_separate());
    EXPECT_EQ(parse("mqsim", "  0\t0 0  1 0 ").line.op, HostOp::write);
    EXPECT_EQ(parse("mqsim", "0 0 0 1 2").kind, LineKind::broken);
    EXPECT_EQ(parse("mqsim", "0 0 0 1").kind, LineKind::broken);
}

TEST(Alibaba, ColumnsAndUnits) {
    auto f = make("alibaba");
    const auto p = parse(*f, "419,W,8792731648,16384,1577808144360767");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.volume, "419");
    EXPECT_EQ(p.line.op, HostOp::write);
    EXPECT_EQ(p.line.offset, 8792731648u);
    EXPECT_EQ(p.line.bytes, 16384u);
    EXPECT_EQ(p.line.ticks, 1577808144360767);
    EXPECT_EQ(f->tick_ps(), 1'000'000);
    EXPECT_EQ(parse("alibaba", "device_id,opcode,offset,length,timestamp").kind, LineKind::header);
    EXPECT_EQ(parse("alibaba", "419,D,0,4096,1").kind, LineKind::broken);
}

TEST(Blkparse, TakesTheChosenAction) {
    const char* d = "  8,0    3       11     0.009507758   697  D   W 223490 + 8 [kjournald]";
    auto p = parse("blkparse", d);
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 9507758);
    EXPECT_EQ(p.line.op, HostOp::write);
    EXPECT_EQ(p.line.offset, 223490u * 512);
    EXPECT_EQ(p.line.bytes, 8u * 512);
    EXPECT_EQ(parse("blkparse", d, 'Q').kind, LineKind::other_action);
    EXPECT_EQ(parse("blkparse", "8,0 3 1 12.5 697 D R 1 + 8 [Web Content]").line.ticks, 12'500'000'000);
    EXPECT_EQ(parse("blkparse", "8,0 3 1 0.0 697 C W 223490 + 8 [0]").kind, LineKind::other_action);
    EXPECT_EQ(parse("blkparse", "8,0 3 1 0.0 697 m N cfq697 insert_request").kind, LineKind::other_action);
    EXPECT_EQ(parse("blkparse", "8,0 3 1 0.0 697 A W 1 + 8 <- (8,3) 0").kind, LineKind::other_action);
}

TEST(Blkparse, Rwbs) {
    const auto row = [](const char* rest) { return parse("blkparse", std::string("8,0 0 1 0.0 1 D ") + rest); };
    EXPECT_EQ(row("RA 8 + 8 [x]").line.op, HostOp::read);
    EXPECT_EQ(row("RM 8 + 8 [x]").line.op, HostOp::read);
    EXPECT_EQ(row("DS 8 + 800000 [x]").line.op, HostOp::trim);
    EXPECT_EQ(row("DS 8 + 800000 [x]").line.bytes, 800000u * 512);
    EXPECT_TRUE(row("WFS 8 + 8 [x]").line.fua);
    EXPECT_FALSE(row("WS 8 + 8 [x]").line.fua);
    auto p = row("FWFS 8 + 8 [x]");
    EXPECT_EQ(p.line.op, HostOp::write);
    EXPECT_TRUE(p.line.preflush);
    EXPECT_TRUE(p.line.fua);
    for (const char* flush : {"FN [x]", "F [x]", "FF [x]", "FWS [kworker/0:1]", "FN 0 [x]"}) {
        p = row(flush);
        EXPECT_EQ(p.kind, LineKind::record) << flush;
        EXPECT_EQ(p.line.op, HostOp::flush) << flush;
        EXPECT_EQ(p.line.bytes, 0u) << flush;
        EXPECT_FALSE(p.line.preflush) << flush;
    }
    EXPECT_EQ(row("N 0 [smartctl]").kind, LineKind::passthrough);
    EXPECT_EQ(row("X 8 + 8 [x]").kind, LineKind::broken);
    EXPECT_EQ(row("W [x]").kind, LineKind::broken);
    EXPECT_EQ(row("W 8 8 [x]").kind, LineKind::broken);
    EXPECT_EQ(row("W 8 + many [x]").kind, LineKind::broken);
}

TEST(Blkparse, SummaryIsIgnoredWhateverItSays) {
    auto f = make("blkparse");
    EXPECT_EQ(parse(*f, "8,0 0 1 0.0 1 D R 8 + 8 [x]").kind, LineKind::record);
    EXPECT_EQ(parse(*f, "garbage").kind, LineKind::broken);
    EXPECT_EQ(parse(*f, "CPU0 (sda):").kind, LineKind::trailer);
    EXPECT_EQ(parse(*f, " Reads Queued:           1,        4KiB").kind, LineKind::trailer);
    EXPECT_EQ(parse(*f, "garbage").kind, LineKind::trailer);
}

TEST(Formats, EachBrokenPrefixOfALineIsBrokenOrIgnoredNeverARecord) {
    const std::pair<const char*, std::string> samples[] = {{"msr", "128166372003061629,hm,1,Read,383496192,32768,413"},
                                                           {"mqsim", "4851300 2 29362983 8 1"},
                                                           {"alibaba", "419,W,8792731648,16384,1577808144360767"},
                                                           {"blkparse", "8,0 3 1 0.000000001 697 D R 223490 + 8 [x]"}};
    for (const auto& [name, line] : samples) {
        // Cut before the last column: whatever remains must not pass for a request.
        const auto last = line.find_last_of(std::string(name) == "blkparse" ? "+" : ", ");
        for (std::size_t n = 1; n <= last; ++n) {
            const auto p = parse(name, line.substr(0, n));
            EXPECT_NE(p.kind, LineKind::record) << name << ": " << line.substr(0, n);
            if (p.kind == LineKind::broken) {
                EXPECT_GE(p.fault.column, 1u);
                EXPECT_LE(p.fault.column, n + 1);
                EXPECT_FALSE(p.fault.expected.empty());
            }
        }
    }
}

}  // namespace
}  // namespace ssdtlm
