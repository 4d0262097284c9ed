// SPDX-License-Identifier: Apache-2.0
// One line at a time: what each format's columns mean, and which column is blamed when a line is broken.
#include "host_pcie/workload/trace/trace_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ssdtlm {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<TraceFormat> make(const std::string& name, char action = 'D') {
    TraceFormatOptions o;
    o.blkparse_action = action;
    for (const auto& f : trace_formats())
        if (name == f.name) return std::move(f.make(o).front());
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

TEST(Systor, ColumnsAndUnits) {
    auto f = make("systor");
    auto p = parse(*f, "1456135200.013118000,0.001280000,R,4,3221225472,16384");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 1456135200'013118000);
    EXPECT_EQ(f->tick_ps(), 1'000);
    EXPECT_EQ(p.line.op, HostOp::read);
    EXPECT_EQ(p.line.volume, "4");
    EXPECT_EQ(p.line.offset, 3221225472u);
    EXPECT_EQ(p.line.bytes, 16384u);
    EXPECT_EQ(parse("systor", "1.5,,W,0,0,512").line.op, HostOp::write);
    EXPECT_EQ(parse("systor", "1.5,,,0,0,512").kind, LineKind::no_operation);
    EXPECT_EQ(parse("systor", "Timestamp,Response,IOType,LUN,Offset,Size").kind, LineKind::header);
    EXPECT_EQ(parse("systor", "1.5,0.1,X,0,0,512").fault.column, 9u);
    EXPECT_EQ(parse("systor", "1.5,0.1,R,0,x,512").fault.found, "'x'");
    EXPECT_EQ(parse("systor", "1.,0.1,R,0,0,512").kind, LineKind::broken);
    EXPECT_EQ(parse("systor", "9999999999999.5,0.1,R,0,0,512").kind, LineKind::broken);
}

TEST(Tencent, ColumnsAndUnits) {
    auto f = make("tencent");
    const auto p = parse(*f, "1538323200,6160448,8,1,2283");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 1538323200);
    EXPECT_EQ(f->tick_ps(), 1'000'000'000'000);
    EXPECT_EQ(p.line.op, HostOp::write);
    EXPECT_EQ(p.line.offset, 6160448ull * 512);
    EXPECT_EQ(p.line.bytes, 8u * 512);
    EXPECT_EQ(p.line.volume, "2283");
    EXPECT_EQ(parse("tencent", "1538323200,6160448,8,0,2283").line.op, HostOp::read);
    EXPECT_EQ(parse("tencent", "1538323200.5,6160448,8,0,2283").kind, LineKind::broken);
    EXPECT_EQ(parse("tencent", "1,0,8,2,1").kind, LineKind::broken);
}

TEST(Spc, ColumnsAndUnits) {
    auto f = make("spc");
    const auto p = parse(*f, "0,20941264,8192,W,0.551706");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks * f->tick_ps(), 551706ll * 1'000'000);
    EXPECT_EQ(p.line.op, HostOp::write);
    EXPECT_EQ(p.line.offset, 20941264ull * 512);
    EXPECT_EQ(p.line.bytes, 8192u);
    EXPECT_EQ(p.line.volume, "0");
    EXPECT_EQ(parse("spc", "1, 55, 512, r, 7, 0.5, any thing").line.op, HostOp::read);
    EXPECT_EQ(parse("spc", "1,55,512,r").fault.found, "end of line");
}

TEST(Fiu, ColumnsAndUnits) {
    auto f = make("fiu");
    const auto p = parse(*f, "89966719862396 2412 kjournald 904265560 8 W 6 0 531e779d9ec2b3b9f8d5b0fae1d8e0f3");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 89966719862396);
    EXPECT_EQ(f->tick_ps(), 1'000);
    EXPECT_EQ(p.line.op, HostOp::write);
    EXPECT_EQ(p.line.offset, 904265560ull * 512);
    EXPECT_EQ(p.line.bytes, 8u * 512);
    EXPECT_EQ(p.line.volume, "6,0");
    EXPECT_EQ(parse("fiu", "1 2 x 3 8 R 6 0 a b c d").line.op, HostOp::read);
    EXPECT_EQ(parse("fiu", "1 2 x 3 8 Q 6 0 a").fault.column, 11u);
}

TEST(Etw, IssueIsTheAnswerLessTheElapsedTime) {
    auto f = make("etw");
    auto p = parse(
        *f, "   DiskRead,   1000250,  System (   4),   812,  0xfffffa80, 0x004f3a2000, 0x00001000,   250,  3,  0x43");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 1'000'000);
    EXPECT_EQ(f->tick_ps(), 1'000'000);
    EXPECT_EQ(p.line.op, HostOp::read);
    EXPECT_EQ(p.line.offset, 0x4f3a2000u);
    EXPECT_EQ(p.line.bytes, 4096u);
    EXPECT_EQ(p.line.volume, "3");
    EXPECT_EQ(parse("etw", "DiskWrite, 5, a ( 1), 2, 0x1, 0x0, 0x200, 9, 0").line.ticks, 0);
    p = parse("etw", "DiskFlush, 50, a ( 1), 2, 0x1, 20, 7");
    EXPECT_EQ(p.line.op, HostOp::flush);
    EXPECT_EQ(p.line.ticks, 30);
    EXPECT_EQ(parse("etw", "DiskReadInit, 5, a ( 1), 2, 0x1").kind, LineKind::other_action);
    EXPECT_EQ(parse("etw", "FileIoRead, 5, whatever").kind, LineKind::broken) << "nothing says that these are events";
    EXPECT_EQ(parse(*f, "FileIoRead, 5, whatever").kind, LineKind::other_action);
    EXPECT_EQ(parse("etw", "DiskRaed, 5, a ( 1), 2, 0x1, 0x0, 0x200, 9, 0").kind, LineKind::broken);
    EXPECT_EQ(parse("etw", "DiskRead, 5, a ( 1), 2, 0x1, 0xz, 0x200, 9, 0").fault.found, "'0xz'");
}

TEST(Etw, TheHeaderGivesTheOrder) {
    auto f = make("etw");
    EXPECT_EQ(parse(*f, "BeginHeader").kind, LineKind::header);
    EXPECT_EQ(parse(*f, "  DiskWrite,  DiskNum, ByteOffset, IOSize, TimeStamp, ElapsedTime").kind, LineKind::header);
    EXPECT_EQ(parse(*f, "  T-Start,  TimeStamp").kind, LineKind::header);
    EXPECT_EQ(parse(*f, "  DiskRead,  DiskNum, ByteOffset, TimeStamp, ElapsedTime").fault.expected,
              "expected a column IOSize in the header of DiskRead");
    EXPECT_EQ(parse(*f, "EndHeader").kind, LineKind::header);
    const auto p = parse(*f, "DiskWrite, 4, 0x1000, 0x200, 70, 60");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.volume, "4");
    EXPECT_EQ(p.line.offset, 4096u);
    EXPECT_EQ(p.line.ticks, 10);
}

TEST(Msr, Quoted) {
    auto f = make("msr");
    auto p = parse(*f, R"("128166372003061629","hm","1","Read","383496192" ,"32768","413")");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.volume, "hm,1");
    EXPECT_EQ(p.line.offset, 383496192u);
    EXPECT_EQ(parse(*f, R"("5","h","1","Raed","0","512","1")").fault.column, 14u);
    EXPECT_EQ(parse(*f, R"("5,"h","1","Read","0","512","1")").kind, LineKind::broken);
    EXPECT_EQ(parse(*f, R"(5,"a,b",1,Read,0,512,1)").line.volume, "a,b,1");
}

TEST(Msr, AHeaderPutsTheColumnsInItsOrder) {
    auto f = make("msr");
    EXPECT_EQ(parse(*f, "Size,Offset,Type,Disk Number,Queue,TIMESTAMP").kind, LineKind::header);
    const auto p = parse(*f, "512,4096,Write,3,,77");
    ASSERT_EQ(p.kind, LineKind::record) << p.fault.expected;
    EXPECT_EQ(p.line.ticks, 77);
    EXPECT_EQ(p.line.offset, 4096u);
    EXPECT_EQ(p.line.bytes, 512u);
    EXPECT_EQ(p.line.volume, "3");
    EXPECT_EQ(parse("msr", "Time,Host,Disk,Offset,Size").kind, LineKind::broken) << "no operation is named";
}

TEST(Formats, EachBrokenPrefixOfALineIsBrokenOrIgnoredNeverARecord) {
    const std::pair<const char*, std::string> samples[] = {
        {"msr", "128166372003061629,hm,1,Read,383496192,32768,413"},
        {"mqsim", "4851300 2 29362983 8 1"},
        {"alibaba", "419,W,8792731648,16384,1577808144360767"},
        {"systor", "1456135200.013118000,0.001280000,R,4,3221225472,16384"},
        {"tencent", "1538323200,6160448,8,1,2283"},
        {"spc", "0,20941264,8192,W,0.551706"},
        {"fiu", "89966719862396 2412 kjournald 904265560 8 W 6 0"},
        {"etw", "DiskRead, 1000, a ( 4), 812, 0xfffffa80, 0x004f3a2000, 0x00001000, 250, 3"},
        {"blkparse", "8,0 3 1 0.000000001 697 D R 223490 + 8 [x]"}};
    for (const auto& [name, line] : samples) {
        // Cut before the last column: whatever remains must not pass for a request.
        const auto last = line.find_last_of(std::string(name) == "blkparse" ? "+" : ", ");
        auto format = make(name);
        ASSERT_EQ(parse(*format, line).kind, LineKind::record) << name;
        for (std::size_t n = 1; n <= last; ++n) {
            const auto p = parse(*format, line.substr(0, n));
            EXPECT_NE(p.kind, LineKind::record) << name << ": " << line.substr(0, n);
            if (p.kind == LineKind::broken) {
                EXPECT_GE(p.fault.column, 1u);
                EXPECT_LE(p.fault.column, n + 1);
                EXPECT_FALSE(p.fault.expected.empty());
            }
        }
    }
}

TEST(Iolog, Version3HasTimes) {
    auto f = make("iolog");
    EXPECT_EQ(f->tick_ps(), 1'000'000);
    EXPECT_EQ(parse(*f, "0 /dev/nvme0n1 add").kind, LineKind::broken) << "the version comes first";
    EXPECT_EQ(parse(*f, "fio version 3 iolog").kind, LineKind::header);
    EXPECT_EQ(parse(*f, "0 /dev/nvme0n1 add").kind, LineKind::other_action);
    EXPECT_EQ(parse(*f, "0 /dev/nvme0n1 open").kind, LineKind::other_action);
    auto p = parse(*f, "250 /dev/nvme0n1 read 4096 8192");
    ASSERT_EQ(p.kind, LineKind::record);
    EXPECT_EQ(p.line.ticks, 250);
    EXPECT_EQ(p.line.op, HostOp::read);
    EXPECT_EQ(p.line.offset, 4096u);
    EXPECT_EQ(p.line.bytes, 8192u);
    EXPECT_EQ(p.line.volume, "/dev/nvme0n1");
    EXPECT_EQ(parse(*f, "400 /dev/nvme0n1 trim 65536 65536").line.op, HostOp::trim);
    EXPECT_EQ(parse(*f, "900 /dev/nvme0n1 datasync 0 0").line.op, HostOp::flush);
    p = parse(*f, "900 /dev/nvme0n1 wait 500 0");
    EXPECT_EQ(p.kind, LineKind::broken) << "version 3 has times instead";
    EXPECT_THAT(p.fault.expected, HasSubstr("datasync"));
    EXPECT_EQ(parse(*f, "900 /dev/nvme0n1 write 8192").kind, LineKind::broken);
}

TEST(Iolog, Version2Waits) {
    auto f = make("iolog");
    EXPECT_EQ(parse(*f, "fio version 2 iolog").kind, LineKind::header);
    EXPECT_EQ(parse(*f, "f add").kind, LineKind::other_action);
    EXPECT_EQ(parse(*f, "f write 0 4096").line.ticks, 0);
    EXPECT_EQ(parse(*f, "f wait 300 0").kind, LineKind::other_action);
    EXPECT_EQ(parse(*f, "f wait 99 0").kind, LineKind::other_action);  // too short for fio
    EXPECT_EQ(parse(*f, "f write 4096 4096").line.ticks, 300);
    EXPECT_EQ(parse(*f, "f wait 200 0").kind, LineKind::other_action);
    EXPECT_EQ(parse(*f, "f sync 0 0").line.ticks, 500);
}

}  // namespace
}  // namespace ssdtlm
