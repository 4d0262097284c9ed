// SPDX-License-Identifier: Apache-2.0
#include "common/wave/vcd_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "common/report/error.h"
#include "common/wave/wave_recorder.h"
#include "unit/wave/vcd_parser.h"

namespace ssdtlm {
namespace {

namespace fs = std::filesystem;

class VcdWriterTest : public ::testing::Test {
protected:
    VcdWriterTest() : folder_(fs::temp_directory_path() / ("ssdtlm_vcd_" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~VcdWriterTest() override { fs::remove_all(folder_); }
    std::string text(const std::string& name) const {
        std::ifstream in(folder_ / name, std::ios::binary);
        std::ostringstream out;
        out << in.rdbuf();
        return out.str();
    }
    const fs::path folder_;
};

SimTime at(std::int64_t ps) {
    return SimTime{Ps{ps}};
}

TEST_F(VcdWriterTest, WritesScopesKindsAndValues) {
    {
        VcdWriter writer(folder_ / "a.vcd");
        WaveRecorder recorder(writer, {});
        const WaveEnum states{"state", {{"idle", ""}, {"read", ""}, {"program", ""}}};
        const WaveId bit = recorder.add({"ssd.die_0", "rb_n", WaveKind::bit, 1, 1, nullptr});
        const WaveId word = recorder.add({"ssd", "word", WaveKind::vector, 64, 0, nullptr});
        const WaveId state = recorder.add({"ssd.die_0", "state", WaveKind::enumeration, states.width(), 0, &states});
        const WaveId count = recorder.add({"ssd.q", "level", WaveKind::integer, 32, 7, nullptr});
        recorder.change(bit, at(10), 0);
        recorder.change(state, at(10), 2);
        recorder.change(word, at(11), ~std::uint64_t{0});
        recorder.step(count, at(12), -3);
        recorder.change(bit, at(20), 1);
        recorder.finish(at(30));
    }
    const Vcd vcd = Vcd::parse(text("a.vcd"));
    using Changes = std::vector<std::pair<std::int64_t, std::uint64_t>>;
    EXPECT_EQ(vcd.first, 0);
    EXPECT_EQ(vcd.last, 30);
    EXPECT_EQ(vcd.signals.size(), 4u);
    EXPECT_EQ(vcd.signals.at("ssd.die_0.rb_n").changes, (Changes{{0, 1}, {10, 0}, {20, 1}}));
    EXPECT_EQ(vcd.signals.at("ssd.die_0.state").changes, (Changes{{0, 0}, {10, 2}}));
    EXPECT_EQ(vcd.signals.at("ssd.die_0.state").width, 2u);
    EXPECT_EQ(vcd.signals.at("ssd.word").changes, (Changes{{0, 0}, {11, ~std::uint64_t{0}}}));
    EXPECT_EQ(vcd.signals.at("ssd.q.level").changes, (Changes{{0, 7}, {12, 4}}));
    EXPECT_EQ(vcd.signals.at("ssd.q.level").type, "integer");
}

TEST_F(VcdWriterTest, ManySignalsHaveDistinctCodes) {
    constexpr int kSignals = 94 * 95 + 200;  // codes of one, two and three characters
    {
        VcdWriter writer(folder_ / "many.vcd");
        WaveRecorder recorder(writer, {});
        for (int i = 0; i < kSignals; ++i)
            recorder.add({"top", "s" + std::to_string(i), WaveKind::vector, 20, 0, nullptr});
        for (int i = 0; i < kSignals; ++i)
            recorder.change(static_cast<WaveId>(i), at(5), static_cast<std::uint64_t>(i));
        recorder.finish(at(6));
    }
    const Vcd vcd = Vcd::parse(text("many.vcd"));
    for (int i = 0; i < kSignals; ++i)
        ASSERT_EQ(vcd.signals.at("top.s" + std::to_string(i)).at(5), static_cast<std::uint64_t>(i));
}

// Batches leave no trace in the file.
TEST_F(VcdWriterTest, SameBytesHoweverItIsFed) {
    constexpr int kSignals = 20;
    constexpr int kChanges = 200'000;
    const auto feed = [&](const std::string& name, int settle_every) {
        VcdWriter writer(folder_ / name);
        WaveRecorder recorder(writer, {});
        for (int i = 0; i < kSignals; ++i)
            recorder.add({"top", "s" + std::to_string(i), WaveKind::vector, 8, 0, nullptr});
        std::mt19937 random(1);
        std::int64_t now = 0;
        for (int i = 0; i < kChanges; ++i) {
            now += random() % 3;
            const auto end = now + 1 + static_cast<std::int64_t>(random() % 50);
            const auto id = static_cast<WaveId>(random() % kSignals);
            recorder.change(id, at(now), random() % 4);
            recorder.change(id, at(end), 4 + id);
            if (i % settle_every == 0) recorder.settle(at(now));
        }
        recorder.finish(at(now + 100));
        EXPECT_GT(writer.bytes(), 0u);
    };
    feed("a.vcd", 1);
    feed("b.vcd", 10'000);
    const std::string a = text("a.vcd");
    EXPECT_GT(a.size(), 1'000'000u);
    EXPECT_EQ(a, text("b.vcd"));
    Vcd::parse(a);
}

TEST_F(VcdWriterTest, SaysWhyItCannotWrite) {
    EXPECT_THROW(VcdWriter(folder_ / "no" / "such" / "folder.vcd"), UserError);
    if (!fs::exists("/dev/full")) GTEST_SKIP();
    fs::create_symlink("/dev/full", folder_ / "full.vcd.part");
    VcdWriter writer(folder_ / "full.vcd");
    WaveRecorder recorder(writer, {});
    recorder.add({"top", "s", WaveKind::bit, 1, 0, nullptr});
    EXPECT_THROW(recorder.finish(at(1)), UserError);
}

TEST(VcdParser, RefusesWhatIsNotStrict) {
    const std::string head =
        "$version x $end\n$timescale 1 ps $end\n$scope module a $end\n$var wire 1 ! b $end\n$upscope $end\n"
        "$enddefinitions $end\n#0\n$dumpvars\n0!\n$end\n";
    EXPECT_NO_THROW(Vcd::parse(head + "#1\n1!\n"));
    for (const char* wrong :
         {"#1\n0!\n", "#0\n1!\n", "#1\n1\"\n", "#1\nb1 !\n", "#1\n1!\n0!\n", "#2\n1!\n#1\n", "x!\n", "#1\n1!"})
        EXPECT_THROW(Vcd::parse(head + wrong), std::exception) << wrong;
}

}  // namespace
}  // namespace ssdtlm
