// SPDX-License-Identifier: Apache-2.0
// Data in both directions at depth, on many links: every request ends, with its bytes, and after every entry of the
// agenda nobody waits for nothing.
#include <algorithm>

#include "unit/dma/dma_link_netlists.h"

namespace ssdtlm {
namespace {

constexpr Ps kGrid = 16ns;

/// A client that keeps `depth` requests of random size and direction going, each on memory of its own.
class Mix {
public:
    Mix(System& system, std::uint64_t seed, std::uint32_t depth, std::uint64_t grain, std::uint64_t most_bytes,
        std::uint32_t requests)
        : system_(system), random_(seed, 7), grain_(grain), most_bytes_(most_bytes), left_(requests), slots_(depth) {
        system_.on_done = [this](std::uint64_t cookie, SimTime visible) {
            ended(static_cast<std::uint32_t>(cookie), visible);
        };
        for (std::uint32_t i = 0; i < depth; ++i) begin(i);
    }
    std::uint64_t ended() const { return ended_; }
    /// Writes are checked when all is visible.
    void check_writes() const {
        for (const auto& [address, data] : written_) {
            std::vector<std::uint8_t> there(data.size());
            system_.memory.read(address, there.data(), there.size());
            EXPECT_EQ(there, data);
        }
    }

private:
    struct Slot {
        bool write = false;
        std::vector<std::uint8_t> data, expected;
        std::vector<HostSegment> segments;
    };
    void begin(std::uint32_t i) {
        if (left_ == 0) return;
        --left_;
        Slot& s = slots_[i];
        s.write = random_.percent(50);
        // Every so often a command's SQE, CQE or MSI-X in between: control traffic passes waiting data.
        const std::uint64_t bytes =
            random_.percent(5) ? 64 : grain_ * (1 + random_.below(std::max<std::uint64_t>(1, most_bytes_ / grain_)));
        s.data = pattern(bytes, random_.next());
        s.expected.clear();
        s.segments.clear();
        const std::uint64_t base = kBase + next_;
        next_ = (next_ + div_ceil(bytes, 4096) * 8192) % (512_MiB);
        for (std::uint64_t at = 0; at < bytes; at += 4096) {  // pages, some of them contiguous
            const std::uint64_t gap = random_.percent(50) ? 4096 : 0;
            const std::uint64_t address = s.segments.empty() ? base : s.segments.back().address + 4096 + gap;
            s.segments.push_back({address, static_cast<std::uint32_t>(std::min<std::uint64_t>(4096, bytes - at))});
        }
        const auto count = static_cast<std::uint32_t>(s.segments.size());
        if (s.write) {
            std::uint64_t at = 0;
            for (const HostSegment& g : s.segments) {
                written_[g.address] = {s.data.begin() + static_cast<std::ptrdiff_t>(at),
                                       s.data.begin() + static_cast<std::ptrdiff_t>(at + g.bytes)};
                at += g.bytes;
            }
            system_.dma.write_host(s.segments.data(), count, s.data.data(), system_.then(i));
        } else {
            for (const HostSegment& g : s.segments) {
                written_.erase(g.address);
                const auto bytes_there = pattern(g.bytes, g.address);
                system_.memory.write(g.address, bytes_there.data(), g.bytes);
                s.expected.insert(s.expected.end(), bytes_there.begin(), bytes_there.end());
            }
            system_.dma.read_host(s.segments.data(), count, s.data.data(), system_.then(i));
        }
    }
    void ended(std::uint32_t i, SimTime visible) {
        ++ended_;
        if (slots_[i].write) {  // its buffer must stay until the last TLP is visible
            system_.agenda.post(visible + kGrid, Then::to<&Mix::begin_later>(this, i));
        } else {
            EXPECT_EQ(slots_[i].data, slots_[i].expected);
            begin(i);  // within the response, as a CQE follows the data that a write has brought
        }
    }
    void begin_later(std::uint64_t i) { begin(static_cast<std::uint32_t>(i)); }

    System& system_;
    Random random_;
    const std::uint64_t grain_;
    const std::uint64_t most_bytes_;
    std::uint32_t left_;
    std::uint64_t ended_ = 0;
    std::uint64_t next_ = 0;
    std::vector<Slot> slots_;
    std::map<std::uint64_t, std::vector<std::uint8_t>> written_;
};

LinkConfig random_link(Random& r) {
    const auto one_of = [&r](std::initializer_list<std::uint32_t> all) { return all.begin()[r.below(all.size())]; };
    LinkConfig c = ideal(one_of({1, 1, 2, 3, 4}));
    c.lanes = one_of({1, 2, 4, 8});
    c.max_payload_bytes = one_of({128, 256, 512});
    c.max_read_request_bytes = one_of({128, 512, 4096});
    c.completion_payload_bytes = std::min(c.max_payload_bytes, one_of({64, 128, 256}));
    c.read_tags = one_of({1, 8, 32, 32, 256});
    c.upstream_nonposted_headers = one_of({0, 1, 3, 32});
    c.upstream_posted_headers = one_of({0, 0, 4, 64});
    c.upstream_posted_data = one_of({0, c.max_payload_bytes / 16, 256});
    // At the rates of generations 1 and 2 a dword takes a whole number of nanoseconds. With latencies that are
    // multiples of it, things of both directions happen at the same instant again and again, in either order.
    c.device_to_host_latency = kGrid * one_of({1, 2, 10});
    c.host_to_device_latency = kGrid * one_of({1, 3, 10});
    c.root_complex_latency = kGrid * one_of({1, 5, 10});
    c.credit_return_latency = kGrid * one_of({0, 1, 10});
    return c;
}

constexpr std::uint32_t kLinks = 40;

class BothDirections : public ::testing::Test {
protected:
    // All netlists must exist before elaboration ends.
    static void SetUpTestSuite() {
        Random r(1, 8);
        for (std::uint32_t i = 0; i < kLinks; ++i) {
            const LinkConfig link = random_link(r);
            // Reads that wait for the window go to the link within the response of the one before.
            const std::uint64_t window =
                std::uint64_t{link.read_tags} * link.max_read_request_bytes * (r.percent(80) ? 7 : 16) / 8;
            systems().push_back(std::make_unique<System>("both" + std::to_string(i), link, window));
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::vector<std::unique_ptr<System>>& systems() {
        static std::vector<std::unique_ptr<System>> all;
        return all;
    }
};

TEST_F(BothDirections, EveryRequestEndsAndNobodyWaitsForNothing) {
    std::uint64_t requests = 0;
    Random r(2, 8);
    for (std::uint32_t i = 0; i < kLinks; ++i) {
        System& s = *systems()[i];
        const auto depth = static_cast<std::uint32_t>(2 + r.below(62));
        const std::uint32_t count = 600;
        Mix mix(s, i, depth, i % 2 == 0 ? 4096 : 512, 4096ull << r.below(6), count);  // up to 512 B .. 128 KiB
        while (!s.agenda.empty()) {
            s.agenda.step();
            ASSERT_NO_THROW(s.link.check_waiters()) << "link " << i;
            ASSERT_NO_THROW(s.dma.check_waiters()) << "link " << i;
        }
        EXPECT_EQ(mix.ended(), count) << "link " << i << "\n" << s.dma.dump() << s.link.dump();
        EXPECT_EQ(s.dma.outstanding(), 0u);
        EXPECT_TRUE(s.failed.empty());
        mix.check_writes();
        requests += mix.ended();
        s.on_done = nullptr;
    }
    std::printf("%lu requests in both directions on %u links\n", static_cast<unsigned long>(requests), kLinks);
}

}  // namespace
}  // namespace ssdtlm
