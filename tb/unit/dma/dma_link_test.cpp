// SPDX-License-Identifier: Apache-2.0
// Times of the DMA path: every expected time is a sum of wire times and latencies.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "unit/dma/dma_link_netlists.h"

namespace ssdtlm {
namespace {

TEST_F(DmaLink, WriteIsVisibleAfterWireTimeAndLatencyAndCostsOneEntry) {
    System& s = get("write");
    auto data = pattern(4096, 1);
    s.write(kBase, data, 9);
    ASSERT_EQ(s.done.size(), 1u);  // the wire is idle: handed over at once
    EXPECT_EQ(s.done[0].cookie, 9u);
    EXPECT_EQ(s.done[0].at, s.at_host(16 * (256 + 24)));
    s.agenda.run_until(s.done[0].at - Ps{1});
    EXPECT_EQ(*s.memory.at(kBase, 1), 0u);
    s.agenda.run();
    EXPECT_EQ(s.agenda.now(), s.done[0].at);
    EXPECT_EQ(std::memcmp(s.memory.at(kBase, 4096), data.data(), 4096), 0);
    EXPECT_EQ(s.agenda.executed(), 1u);
    EXPECT_EQ(s.dma.counters().bytes_written, 4096u);
    EXPECT_EQ(s.dma.outstanding(), 0u);
}

TEST_F(DmaLink, ReadOf64BytesTakesTheRoundTripAndTwoEntries) {
    System& s = get("read");
    auto expected = pattern(64, 2);
    s.memory.write(kBase, expected.data(), 64);
    std::vector<std::uint8_t> data(64);
    s.read(kBase, data, 5);
    EXPECT_TRUE(s.done.empty());
    s.agenda.run();
    ASSERT_EQ(s.done.size(), 1u);
    EXPECT_EQ(s.done[0].at, SimTime{} + s.wire(24) + s.round_trip() + s.wire(84));
    EXPECT_NEAR(to_seconds(s.done[0].at - SimTime{}), 577e-9, 1e-9);
    EXPECT_EQ(data, expected);
    EXPECT_EQ(s.agenda.executed(), 2u);
}

TEST_F(DmaLink, ReadOf4KiBOverlapsItsRequests) {
    System& s = get("read4k");
    auto expected = pattern(4096, 3);
    s.memory.write(kBase, expected.data(), 4096);
    std::vector<std::uint8_t> data(4096);
    s.read(kBase, data);
    s.agenda.run();
    ASSERT_EQ(s.done.size(), 1u);
    EXPECT_EQ(s.done[0].at, SimTime{} + s.wire(24) + s.round_trip() + s.wire(16 * (256 + 20)));
    EXPECT_EQ(data, expected);
    EXPECT_EQ(s.agenda.executed(), 2u);
    const auto& up = s.link.upstream().counters();
    EXPECT_EQ(up.tlps[static_cast<std::size_t>(TlpKind::mem_read)], 8u);
    EXPECT_EQ(up.wire_bytes(), 8u * 24);
    EXPECT_EQ(s.link.downstream().counters().wire_bytes(), 4416u);
}

TEST_F(DmaLink, TagsBoundASingleRead) {
    System& one = get("one_tag");
    std::vector<std::uint8_t> data(4096);
    one.read(kBase, data);
    one.agenda.run();
    EXPECT_EQ(one.done.at(0).at, SimTime{} + 8 * (one.round_trip() + one.wire(24) + one.wire(2 * 276)));
    EXPECT_NEAR(to_microseconds(one.done[0].at - SimTime{}), 5.57, 0.01);
    // Seven requests wait, each for the one before; the last one waits for nothing.
    EXPECT_EQ(one.link.dma().tag_stall(), 7 * (one.round_trip() + one.wire(24) + one.wire(2 * 276)));

    System& eight = get("eight_tags");
    eight.read(kBase, data);
    eight.agenda.run();
    const Ps expected = eight.round_trip() + eight.wire(24) + eight.wire(16 * 276);
    // Each burst of completions rounds up by less than 1 ps.
    EXPECT_NEAR(static_cast<double>((eight.done.at(0).at - SimTime{}).count()), static_cast<double>(expected.count()),
                8);
    EXPECT_NEAR(to_microseconds(expected), 1.68, 0.005);

    System& sqe = get("one_tag_sqe");
    std::vector<std::uint8_t> entries(64);
    constexpr int kFetches = 100;
    int left = kFetches;
    sqe.on_done = [&](std::uint64_t, SimTime) {
        if (--left > 0) sqe.read(kBase, entries);
    };
    sqe.read(kBase, entries);
    sqe.agenda.run();
    EXPECT_EQ(sqe.agenda.now(), SimTime{} + kFetches * (sqe.round_trip() + sqe.wire(24) + sqe.wire(84)));
    EXPECT_NEAR(kFetches / to_seconds(sqe.agenda.now() - SimTime{}), 1.73e6, 0.005e6);
}

// Many reads at once: the smaller of the wire rate and tags x MRRS per loop time.
TEST_F(DmaLink, BandwidthOfEndlessReadsFollowsTagsThenTheWire) {
    for (const std::uint32_t tags : {4u, 16u, 32u, 64u}) {
        System& s = get("tags" + std::to_string(tags));
        constexpr std::uint64_t kReads = 400;
        std::vector<std::uint8_t> data(16384);
        for (std::uint64_t i = 0; i < kReads; ++i) s.read(kBase + i * 16384, data, i);
        s.agenda.run();
        const double loop = to_seconds(s.round_trip() + s.wire(24) + s.wire(2 * 276));
        const double by_tags = tags * 512 / loop;
        const double by_wire = 32e9 / 8 * 128 / 130 * 4 * 256 / 276;
        const double rate = kReads * 16384.0 / to_seconds(s.agenda.now() - SimTime{});
        EXPECT_NEAR(rate, std::min(by_tags, by_wire), 0.005 * std::min(by_tags, by_wire)) << tags << " tags";
        ASSERT_EQ(s.done.size(), kReads);
        for (std::uint64_t i = 0; i < kReads; ++i) EXPECT_EQ(s.done[i].cookie, i);
    }
}

TEST_F(DmaLink, SmallCompletionsCostBandwidth) {
    System& s = get("cpl64");
    std::vector<std::uint8_t> data(4096);
    for (std::uint64_t i = 0; i < 300; ++i) s.read(kBase, data, i);
    s.agenda.run();
    const double expected = 8e9 / 8 * 128 / 130 * 4 * 64 / 84;  // 3.00 GB/s
    EXPECT_NEAR(300 * 4096 / to_seconds(s.agenda.now() - SimTime{}), expected, 0.005 * expected);
}

TEST_F(DmaLink, FewNonPostedCreditsSplitTheBurstOfRequests) {
    System& s = get("few_credits");
    auto expected = pattern(4096, 4);
    s.memory.write(kBase, expected.data(), 4096);
    std::vector<std::uint8_t> data(4096);
    s.read(kBase, data);
    s.agenda.run();
    ASSERT_EQ(s.done.size(), 1u);
    EXPECT_EQ(data, expected);
    EXPECT_GT(s.link.upstream().stalls(s.agenda.now()).reads, Ps{});
}

// Data, then CQE, then MSI-X stay in order when other writes wait; everything is first come, first served.
TEST_F(DmaLink, PostedWritesStayInOrder) {
    System& s = get("order");
    auto data = pattern(4096, 5);
    s.on_done = [&](std::uint64_t cookie, SimTime) {
        if (cookie >= 100) return;
        std::uint8_t cqe[16] = {
            static_cast<std::uint8_t>(cookie + 1)};  // gone when this returns: short writes are copied
        const HostSegment to{kBase + 1_MiB + cookie * 16, 16};
        s.dma.write_host(&to, 1, cqe, s.then(100 + cookie));
        const std::uint32_t message = static_cast<std::uint32_t>(cookie);
        const HostSegment msi{RootComplex::kMsiBase, 4};
        s.dma.write_host(&msi, 1, reinterpret_cast<const std::uint8_t*>(&message), {});
    };
    for (std::uint64_t i = 0; i < 3; ++i) s.write(kBase + i * 4096, data, i);
    s.agenda.run();
    ASSERT_EQ(s.host.interrupts.size(), 3u);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(s.host.interrupts[i].second, i);
        EXPECT_EQ(*s.memory.at(kBase + 1_MiB + i * 16, 1), i + 1);
    }
    // Write 0 takes the idle wire; its CQE and MSI-X follow it. Write 2 has arrived before write 1 has its CQE.
    const SimTime first = SimTime{} + s.wire(4480) + s.wire(40) + s.wire(24) + s.config.device_to_host_latency;
    EXPECT_EQ(s.host.interrupts[0].first, first);
    EXPECT_EQ(s.host.interrupts[1].first, first + 2 * s.wire(4480) + s.wire(40) + s.wire(24));
    EXPECT_EQ(s.host.interrupts[2].first, s.host.interrupts[1].first + s.wire(40) + s.wire(24));
    EXPECT_EQ(s.root.interrupts(), 3u);
}

TEST_F(DmaLink, MmioLatency) {
    System& s = get("mmio");
    tlm::tlm_generic_payload p, q;
    std::uint32_t value = 0x1234;
    s.host.access(p, tlm::TLM_WRITE_COMMAND, 0x1000, &value, 4);
    EXPECT_EQ(s.host.answers.size(), 1u);  // posted
    value = 0;                             // copied
    std::uint32_t read = 0;
    s.host.access(q, tlm::TLM_READ_COMMAND, 0x1000, &read, 4);
    s.agenda.run();
    EXPECT_EQ(s.device.arrivals.at(0), s.at_device(28));
    EXPECT_EQ(s.device.arrivals.at(1), s.at_device(28) + s.wire(24));
    EXPECT_EQ(read, 0x1234u);  // a read pushes the write before it
    EXPECT_EQ(s.host.answers.at(1), s.device.arrivals[1] + s.wire(24) + s.config.device_to_host_latency);
    EXPECT_EQ(s.agenda.executed(), 3u);
}

TEST_F(DmaLink, EveryFormOfTheBaseProtocolAtBothEnds) {
    System& s = get("mmio_forms");
    for (const auto ends : {Host::Ends::completes, Host::Ends::at_once, Host::Ends::later})
        for (const auto style :
             {Device::Style::at_once, Device::Style::short_form, Device::Style::long_form, Device::Style::annotated}) {
            s.host.ends = ends;
            s.device.style = style;
            s.device.think = style == Device::Style::at_once ? Ps{} : Ps{77'000};
            s.host.answers.clear();
            s.host.statuses.clear();
            const SimTime begin = s.agenda.now();
            tlm::tlm_generic_payload p[5];
            std::uint32_t v[5] = {};
            for (std::uint32_t i = 0; i < 5; ++i) {
                s.device.registers[4 * i] = i + 10;
                s.host.access(p[i], tlm::TLM_READ_COMMAND, 4 * i, &v[i], 4);
            }
            s.agenda.run();
            ASSERT_EQ(s.host.answers.size(), 5u);
            for (std::uint32_t i = 0; i < 5; ++i) {
                EXPECT_EQ(v[i], i + 10);
                EXPECT_EQ(s.host.statuses[i], tlm::TLM_OK_RESPONSE);
            }
            EXPECT_EQ(s.host.answers[0], begin + s.wire(24) + s.config.host_to_device_latency + s.device.think +
                                             s.wire(24) + s.config.device_to_host_latency);
            // An unsupported register access comes back as an error.
            tlm::tlm_generic_payload bad;
            std::uint8_t byte = 0;
            s.host.access(bad, tlm::TLM_READ_COMMAND, 0, &byte, 1);
            s.agenda.run();
            EXPECT_EQ(s.host.statuses.back(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        }
}

/// Doorbell, SQE fetch, 4 KiB of data, CQE and MSI-X of one read, device time zero.
void worked_example(System& s, double expected_ns) {
    auto data = pattern(4096, 6);
    std::vector<std::uint8_t> sqe(64);
    tlm::tlm_generic_payload doorbell;
    std::uint32_t tail = 1;
    s.host.access(doorbell, tlm::TLM_WRITE_COMMAND, 0x1000, &tail, 4);
    s.on_done = [&](std::uint64_t cookie, SimTime) {
        if (cookie == 0) s.write(kBase + 8192, data, 1);
        if (cookie != 1) return;
        const std::uint8_t cqe[16] = {};
        const HostSegment to{kBase + 4096, 16};
        s.dma.write_host(&to, 1, cqe, {});
        const std::uint8_t message[4] = {7};
        const HostSegment msi{RootComplex::kMsiBase, 4};
        s.dma.write_host(&msi, 1, message, {});
    };
    while (s.device.arrivals.empty()) s.agenda.step();
    s.read(kBase, sqe, 0);
    s.agenda.run();
    ASSERT_EQ(s.host.interrupts.size(), 1u);
    const Ps total = s.wire(28) + s.config.host_to_device_latency  // doorbell
                     + s.wire(24) + s.round_trip() + s.wire(84)    // SQE fetch
                     + s.wire(16 * 280) + s.wire(40) + s.wire(24) + s.config.device_to_host_latency;
    EXPECT_EQ(s.host.interrupts[0].first, SimTime{} + total);
    EXPECT_NEAR(to_seconds(total) * 1e9, expected_ns, 2);
    // 8 steps: doorbell 1, fetch 2, data, CQE, MSI-X 1 each.
    EXPECT_EQ(s.agenda.executed(), 6u);
    EXPECT_EQ(s.link.upstream().counters().wire_bytes(), 24u + 4480 + 40 + 24);
}

TEST_F(DmaLink, WorkedExampleOfA4KiBRead) {
    worked_example(get("example"), 2138);
    worked_example(get("example4"), 1545);
}

TEST_F(DmaLink, BandwidthOfEndlessWritesThroughTheWholePath) {
    for (const char* name : {"endless", "endless4"}) {
        System& s = get(name);
        auto data = pattern(4096, 7);
        constexpr std::uint64_t kWrites = 1000;
        for (std::uint64_t i = 0; i < kWrites; ++i) s.write(kBase + i * 4096, data, i);
        s.agenda.run();
        const Ps end = s.agenda.now() - SimTime{} - s.config.device_to_host_latency;
        const double expected = (s.config.generation == 3 ? 8e9 : 16e9) / 8 * 128 / 130 * 4 * 256 / 280;
        EXPECT_NEAR(kWrites * 4096 / to_seconds(end), expected, expected * 1e-5);
        EXPECT_LE(s.agenda.executed(), 2 * kWrites);  // a grant and a delivery each
        EXPECT_EQ(s.link.upstream().busy(s.agenda.now()), s.link.upstream().counters().busy);
    }
}

TEST_F(DmaLink, ScatteredSegmentsGatherAndContiguousOnesJoin) {
    System& s = get("segments");
    Random r(8);
    std::vector<std::vector<std::uint8_t>> buffers;
    std::vector<std::uint8_t> shadow(8_MiB);
    for (std::uint64_t n = 0; n < 200; ++n) {
        std::vector<HostSegment> list;
        // No two that are under way at a time go to one place: a short one may pass a long one.
        std::uint64_t bytes = 0, at = n % 3 * 2_MiB + (r.below(8) * 64 << 10);
        const std::uint64_t count = 1 + r.below(12);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto length = static_cast<std::uint32_t>(4 * (1 + r.below(2048)));
            list.push_back({kBase + at, length});
            at += length + (r.below(2) ? 0 : 4 * r.below(5000));
            bytes += length;
        }
        buffers.push_back(pattern(bytes, n));
        std::size_t from = 0;
        for (const auto& seg : list) {
            std::memcpy(&shadow[seg.address - kBase], &buffers.back()[from], seg.bytes);
            from += seg.bytes;
        }
        s.dma.write_host(list.data(), static_cast<std::uint32_t>(list.size()), buffers.back().data(), s.then(n));
        if (n % 3 == 0) {
            std::vector<std::uint8_t> back(bytes);
            s.agenda.run();
            s.dma.read_host(list.data(), static_cast<std::uint32_t>(list.size()), back.data(), s.then(1000 + n));
            s.agenda.run();
            ASSERT_EQ(back, buffers.back());
        }
    }
    s.agenda.run();
    std::vector<std::uint8_t> all(8_MiB);
    s.memory.read(kBase, all.data(), all.size());
    EXPECT_EQ(all, shadow);
    EXPECT_EQ(s.dma.outstanding(), 0u);
    EXPECT_EQ(s.done.size(), 200u + 67u);

    const std::uint64_t before = s.link.upstream().counters().tlps[static_cast<std::size_t>(TlpKind::mem_write)];
    auto page = pattern(4096, 9);
    const HostSegment halves[] = {{kBase + 100, 2000}, {kBase + 2100, 2096}};
    s.dma.write_host(halves, 2, page.data(), {});
    EXPECT_EQ(s.link.upstream().counters().tlps[static_cast<std::size_t>(TlpKind::mem_write)] - before, 17u);
    s.agenda.run();
}

// Two pages whose data come later, and a CQE of somebody else in the middle. The CQE of their own is posted when the
// second has its place, and follows it on the wire.
TEST_F(DmaLink, BulkWritesAreCutAndTheLastOneIsAnsweredForAll) {
    System& s = get("bulk");
    auto first = pattern(8192, 1), second = pattern(8192, 2), cqe = pattern(16, 3);
    const SimTime from = s.agenda.now() + Ps{1'000'000};
    const HostSegment to[] = {{kBase, 8192}, {kBase + 8192, 8192}, {kBase + 20000, 16}, {kBase + 20016, 16}};
    s.done.clear();
    s.on_done = [&](std::uint64_t cookie, SimTime) {
        if (cookie == 2) s.dma.write_host(&to[3], 1, cqe.data(), s.then(4));
    };
    s.dma.write_host(&to[0], 1, first.data(), s.then(1), {}, {from, false, true});
    s.dma.write_host(&to[1], 1, second.data(), s.then(2), {}, {from, true, true});
    const SimTime cut = from + Ps{1};
    s.agenda.run_until(cut);
    s.dma.write_host(&to[2], 1, cqe.data(), s.then(3));
    s.agenda.run();
    s.on_done = nullptr;
    const Ps up = s.config.device_to_host_latency;
    const SimTime first_end = from + s.wire(280) + s.wire(40) + s.wire(31 * 280);
    ASSERT_EQ(s.done.size(), 4u);
    EXPECT_EQ(s.done[0].cookie, 3u);
    EXPECT_EQ(s.done[0].at, from + s.wire(280) + s.wire(40) + up) << "behind one TLP";
    EXPECT_EQ(s.done[1].cookie, 1u);
    EXPECT_EQ(s.done[1].at, first_end + up);
    EXPECT_EQ(s.done[1].called, s.done[1].at) << "nobody waits for it";
    EXPECT_EQ(s.done[2].cookie, 2u);
    EXPECT_EQ(s.done[2].called, first_end + s.wire(31 * 280));
    EXPECT_EQ(s.done[2].at, first_end + s.wire(32 * 280) + up);
    EXPECT_EQ(s.done[3].cookie, 4u);
    EXPECT_EQ(s.done[3].at, first_end + s.wire(32 * 280) + s.wire(40) + up) << "right behind its data";
    std::vector<std::uint8_t> back(16384);
    s.memory.read(kBase, back.data(), back.size());
    EXPECT_TRUE(std::equal(first.begin(), first.end(), back.begin()) &&
                std::equal(second.begin(), second.end(), back.begin() + 8192));
}

TEST_F(DmaLink, UnsupportedRequestsReachTheClientOfAReadAndAreCountedForWrites) {
    System& s = get("failure");
    std::vector<std::uint8_t> data(4096);
    s.read(0x1000, data, 1);                        // below the memory
    s.read(kBase + s.memory.size() - 64, data, 2);  // half outside
    s.read(kBase, data, 3);
    s.write(0x2000, data, 4);
    s.agenda.run();
    EXPECT_EQ(s.failed, (std::vector<std::uint64_t>{1, 2}));
    ASSERT_EQ(s.done.size(), 2u);
    EXPECT_EQ(s.link.dma().posted_errors(), 1u);
    EXPECT_EQ(s.root.unsupported_requests(), 4u);  // one per burst of requests: 1, 8 + 1 MRd, and the write
    EXPECT_EQ(s.dma.counters().failed_reads, 2u);
    EXPECT_EQ(s.dma.outstanding(), 0u);
}

// A payload without LinkExtension gets the plain base protocol: the answer comes when the data has arrived.
TEST_F(DmaLink, PlainPayloadsAreAnsweredOnArrival) {
    System& s = get("plain");
    std::vector<std::uint8_t> block(1024);
    tlm::tlm_generic_payload p;
    s.host.access(p, tlm::TLM_WRITE_COMMAND, 0, block.data(), 1024);
    EXPECT_TRUE(s.host.answers.empty());
    s.agenda.run();
    ASSERT_EQ(s.host.answers.size(), 1u);
    EXPECT_EQ(s.host.answers[0], s.at_device(4 * 280));
    EXPECT_EQ(s.host.statuses[0], tlm::TLM_ADDRESS_ERROR_RESPONSE);  // the device has 4-byte registers only
    std::uint8_t enable = 0xFF;
    tlm::tlm_generic_payload q;
    q.set_command(tlm::TLM_READ_COMMAND);
    q.set_data_ptr(block.data());
    q.set_data_length(4);
    q.set_byte_enable_ptr(&enable);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    EXPECT_EQ(s.host.mmio_initiator->nb_transport_fw(q, phase, delay), tlm::TLM_COMPLETED);
    EXPECT_EQ(q.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_NE(s.link.dump().find("upstream: 0 bursts waiting"), std::string::npos);
    EXPECT_NE(s.dma.dump().find("0 requests outstanding"), std::string::npos);
}

// Every value at both ends of what is allowed, and the first beyond each.
TEST(CheckLink, EachLimitFromBothSides) {
    struct Limits {
        const char* name;
        std::uint32_t LinkConfig::*field;
        std::vector<std::uint32_t> allowed, refused;
    };
    const std::vector<Limits> all{
        {"generation", &LinkConfig::generation, {1, 6}, {0, 7}},
        {"lanes", &LinkConfig::lanes, {1, 2, 4, 8, 16}, {0, 3, 12, 32}},
        {"max_payload_bytes", &LinkConfig::max_payload_bytes, {256, 512, 4096}, {0, 64, 384, 8192}},
        {"max_read_request_bytes", &LinkConfig::max_read_request_bytes, {128, 256, 4096}, {0, 64, 384, 8192}},
        {"completion_payload_bytes", &LinkConfig::completion_payload_bytes, {64, 128, 256}, {32, 96, 512}},
        {"read_tags", &LinkConfig::read_tags, {1, 768}, {0, 769}},
        {"upstream_posted_data", &LinkConfig::upstream_posted_data, {0, 16, 17}, {1, 15}},
        {"downstream_posted_data", &LinkConfig::downstream_posted_data, {0, 16, 17}, {1, 15}}};
    const auto check = [](const LinkConfig& c, const std::string& name, bool allowed, double value) {
        const auto problems = check_link(c, "link");
        if (allowed) {
            EXPECT_TRUE(problems.empty()) << name << " = " << value << ": " << problems[0].text();
        } else {
            EXPECT_FALSE(problems.empty()) << name << " = " << value;
            bool named = false;
            for (const Problem& p : problems) named = named || p.text().find("link." + name + ": ") == 0;
            EXPECT_TRUE(named) << name << " = " << value;
        }
    };
    LinkConfig base;  // without the limits that hang together with the payload, but where they are the subject
    base.max_payload_bytes = 256;
    base.completion_payload_bytes = 256;
    base.upstream_posted_data = base.downstream_posted_data = 0;
    for (const Limits& l : all)
        for (const auto* values : {&l.allowed, &l.refused})
            for (const std::uint32_t v : *values) {
                LinkConfig c = base;
                c.*l.field = v;
                check(c, l.name, values == &l.allowed, v);
            }
    LinkConfig smallest = base;
    smallest.max_payload_bytes = smallest.completion_payload_bytes = 128;
    EXPECT_TRUE(check_link(smallest, "link").empty());
    for (const auto& [efficiency, allowed] : {std::pair{1e-6, true},
                                              {1.0, true},
                                              {9e-7, false},
                                              {0.0, false},
                                              {-1.0, false},
                                              {1.000001, false},
                                              {std::numeric_limits<double>::quiet_NaN(), false}}) {
        LinkConfig c = base;
        c.data_link_efficiency = efficiency;
        check(c, "data_link_efficiency", allowed, efficiency);
    }
}

TEST(CheckLink, NamesEveryProblem) {
    EXPECT_TRUE(check_link(LinkConfig{}, "link").empty());
    LinkConfig c;
    c.generation = 7;
    c.lanes = 3;
    c.completion_payload_bytes = 512;
    c.upstream_posted_data = 15;
    c.data_link_efficiency = 0;
    const auto problems = check_link(c, "ssd.toml: link");
    ASSERT_EQ(problems.size(), 5u);
    EXPECT_EQ(problems[0].text(), "ssd.toml: link.generation: 7; 1 to 6");
    EXPECT_NE(problems[2].text().find("at most max_payload_bytes = 256"), std::string::npos);
}

}  // namespace
}  // namespace ssdtlm
