// SPDX-License-Identifier: Apache-2.0
// The link as signals: values at each time equal those of a short talk written by hand.
#include "sim/wave/sata_wave.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "protocol/ata.h"
#include "protocol/sata.h"

namespace ssdtlm {
namespace {

/// The last value of each signal, and how often it changed.
struct Last final : WaveSink {
    void begin(SimTime, const std::vector<WaveSignal>& signals, const std::vector<std::uint64_t>& v) override {
        for (std::size_t i = 0; i < signals.size(); ++i) values[names[i] = signals[i].name] = {v[i]};
    }
    void change(SimTime, WaveId id, std::uint64_t v) override { values[names[id]].push_back(v); }
    void end(SimTime) override {}
    std::map<WaveId, std::string> names;
    std::map<std::string, std::vector<std::uint64_t>> values;
};

TEST(SataWave, ShowsFisEndTagAndBytes) {
    Last sink;
    WaveRecorder recorder(sink, {});
    SataWave wave(recorder, "ssd.sata_link");
    std::int64_t at = 0;
    const auto frame = [&](SataEnd from, const auto& fis, bool ok = true) {
        const SimTime begin = SimTime{} + Ps{at += 100};
        wave.frame_begins(begin, from, fis.data(), static_cast<std::uint32_t>(fis.size()), begin + 50ps);
        wave.frame_ends(begin + 50ps, ok);
    };
    wave.phy(SimTime{}, true);
    sata::RegisterH2d read;
    read.command = ata::kReadFpdmaQueued;
    read.count = 9 << 3;
    frame(SataEnd::host, read.bytes());
    frame(SataEnd::device, sata::RegisterD2h{}.bytes());
    sata::DmaSetup setup;
    setup.tag = 9;
    frame(SataEnd::device, setup.bytes());
    std::vector<std::uint8_t> data(4 + 512, 0);
    data[0] = 0x46;
    frame(SataEnd::device, data, false);
    frame(SataEnd::device, sata::SetDeviceBits{}.bytes());
    sata::RegisterH2d flush;
    flush.command = ata::kFlushCacheExt;
    frame(SataEnd::host, flush.bytes());
    frame(SataEnd::device, data);
    wave.phy(SimTime{} + Ps{at + 60}, false);
    recorder.finish(SimTime{} + 1us);

    using Values = std::vector<std::uint64_t>;
    EXPECT_EQ(sink.values["fis"], (Values{0, 1, 0, 2, 0, 3, 0, 5, 0, 7, 0, 1, 0, 5, 0}));
    EXPECT_EQ(sink.values["from"], (Values{0, 1, 0, 2, 0, 2, 0, 2, 0, 2, 0, 1, 0, 2, 0}));
    EXPECT_EQ(sink.values["tag"], (Values{32, 9, 32, 9, 32, 9, 32}));  // H2D, DMA Setup, Data
    EXPECT_EQ(sink.values["fis_bytes"], (Values{0, 20, 0, 20, 0, 28, 0, 516, 0, 8, 0, 20, 0, 516, 0}));
    EXPECT_EQ(sink.values["frames_lost"], (Values{0, 1}));
    EXPECT_EQ(sink.values["phy_up"].back(), 0u);
}

}  // namespace
}  // namespace ssdtlm
