// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

using namespace nvme;

Sqe command(std::uint8_t operation, std::uint8_t type, std::uint16_t specific = 0, std::uint32_t cdw12 = 0,
            std::uint32_t dwords = 8) {
    Sqe s;
    s.cdw10 = dwords - 1;
    s.cdw11 = directive_cdw11(operation, type, specific);
    s.cdw12 = cdw12;
    return s;
}

Sqe enable(bool on) {
    return command(kDirectiveEnable, kDirectiveIdentify, 0, std::uint32_t{kDirectiveStreams} << 8 | (on ? 1u : 0u));
}

struct Received {
    std::uint16_t status = 0;
    std::uint32_t dw0 = 0;
    std::vector<std::uint8_t> data;
    std::uint16_t word(std::size_t at) const { return load<std::uint16_t>(data.data() + at); }
};
Received receive(Streams& streams, const Sqe& sqe) {
    Received r;
    r.status = streams.receive(sqe, r.dw0, r.data);
    return r;
}

TEST(Streams, AreDisabledUntilTheHostEnablesThem) {
    Streams s(4);
    EXPECT_FALSE(s.enabled());
    EXPECT_EQ(receive(s, command(kDirectiveParameters, kDirectiveStreams)).status, kStInvalidField);
    Received r = receive(s, command(kDirectiveParameters, kDirectiveIdentify, 0, 0, 1024));
    ASSERT_EQ(r.data.size(), 4096u);
    EXPECT_EQ(r.data[0], 3);   // Identify and Streams are supported
    EXPECT_EQ(r.data[32], 1);  // Identify is enabled
    EXPECT_EQ(s.send(enable(true)), kStSuccess);
    EXPECT_TRUE(s.enabled());
    EXPECT_EQ(receive(s, command(kDirectiveParameters, kDirectiveIdentify, 0, 0, 1024)).data[32], 3);
    s.number_of(7);
    EXPECT_EQ(s.send(enable(false)), kStSuccess);
    EXPECT_FALSE(s.enabled());
    EXPECT_EQ(s.open(), 0u);
    EXPECT_EQ(s.send(command(kDirectiveEnable, kDirectiveIdentify, 0, 1)), kStInvalidField)
        << "Identify cannot be disabled";
    EXPECT_EQ(s.send(command(9, kDirectiveStreams)), kStInvalidField);
    EXPECT_EQ(s.send(command(kStreamsReleaseResources, kDirectiveStreams)), kStInvalidField) << "they are disabled";
    EXPECT_EQ(s.send(enable(true)), kStSuccess);
    EXPECT_EQ(s.send(command(kStreamsReleaseResources, kDirectiveStreams)), kStSuccess);
    EXPECT_EQ(s.send(command(kStreamsReleaseResources, kDirectiveStreams + 1)), kStInvalidField) << "another directive";
}

TEST(Streams, TellWhatThereIsAndWhatIsOpen) {
    Streams s(4);
    s.send(enable(true));
    for (const int id : {10, 20, 30}) s.number_of(static_cast<std::uint16_t>(id));
    Received r = receive(s, command(kDirectiveParameters, kDirectiveStreams));
    ASSERT_EQ(r.data.size(), 32u);
    EXPECT_EQ(r.word(StreamsParameters::kMsl), 4);
    EXPECT_EQ(r.word(StreamsParameters::kNssa), 4);
    EXPECT_EQ(r.word(StreamsParameters::kNsso), 3);
    EXPECT_EQ(r.word(StreamsParameters::kNsa), 0);
    r = receive(s, command(kStreamsStatus, kDirectiveStreams));
    ASSERT_EQ(r.word(0), 3);
    EXPECT_EQ((std::set<std::uint16_t>{r.word(2), r.word(4), r.word(6)}), (std::set<std::uint16_t>{10, 20, 30}));
    s.send(command(kStreamsReleaseIdentifier, kDirectiveStreams, 20));
    EXPECT_EQ(s.open(), 2u);
    s.send(command(kStreamsReleaseResources, kDirectiveStreams));
    EXPECT_EQ(s.open(), 0u);

    r = receive(s, command(kStreamsAllocate, kDirectiveStreams, 0, 2));
    EXPECT_EQ(r.status, kStSuccess);
    EXPECT_EQ(r.dw0, 2u);
    EXPECT_TRUE(r.data.empty());
    EXPECT_EQ(receive(s, command(kStreamsAllocate, kDirectiveStreams, 0, 2)).status, kStStreamResource);
    for (const int id : {1, 2, 3}) s.number_of(static_cast<std::uint16_t>(id));
    EXPECT_EQ(s.open(), 2u);
    r = receive(s, command(kDirectiveParameters, kDirectiveStreams));
    EXPECT_EQ(r.word(StreamsParameters::kNssa), 2);
    EXPECT_EQ(r.word(StreamsParameters::kNsa), 2);
    EXPECT_EQ(r.word(StreamsParameters::kNso), 2);
    // A length beyond what there is to say is answered with zeros, an absurd one refused.
    EXPECT_EQ(receive(s, command(kStreamsStatus, kDirectiveStreams, 0, 0, 100)).data.size(), 400u);
    EXPECT_EQ(receive(s, command(kStreamsStatus, kDirectiveStreams, 0, 0, 0x10000000)).status, kStInvalidField);
}

/// Against the rule in plain containers: the number stays as long as the stream is open, and the one that has not been
/// written for longest makes room.
TEST(Streams, TheOneUnusedForLongestMakesRoom) {
    Random random(5);
    for (std::uint32_t most : {1u, 2u, 5u, 255u}) {
        Streams s(most);
        s.send(enable(true));
        std::deque<std::uint16_t> used;  // oldest first
        std::map<std::uint16_t, std::uint8_t> number;
        for (int step = 0; step < 20'000; ++step) {
            const auto id = static_cast<std::uint16_t>(1 + random.below(most * 2 + 1));
            const std::uint8_t got = s.number_of(id);
            ASSERT_GE(got, 1);
            ASSERT_LE(got, most);
            const auto known = std::find(used.begin(), used.end(), id);
            if (known != used.end()) {
                ASSERT_EQ(got, number[id]);
                used.erase(known);
            } else if (used.size() == most) {
                number.erase(used.front());
                used.pop_front();
            }
            used.push_back(id);
            number[id] = got;
            std::set<std::uint8_t> distinct;
            for (const auto& [i, n] : number) distinct.insert(n);
            ASSERT_EQ(distinct.size(), used.size());
            ASSERT_EQ(s.open(), used.size());
        }
    }
}

}  // namespace
}  // namespace ssdtlm
