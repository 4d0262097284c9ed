// SPDX-License-Identifier: Apache-2.0
// Random mixed traffic through the whole back end in several shapes: everything completes, reads return what the page
// holds, every timeline tiles, no resource is busy for longer than time passed, and a read that starts at once does what it
// would do if it were queued.
#include "flash_bench.h"

#include <gtest/gtest.h>

#include <deque>

#include "common/random/random.h"

int sc_main(int, char**) { return 0; }

namespace ssdtlm {
namespace {

constexpr std::uint32_t kReadBlocks = 2;   // filled before the run, only read
constexpr std::uint32_t kHostBlock = 2;    // programmed by the host class
constexpr std::uint32_t kGcBlock = 3;      // programmed by the gc class
constexpr std::uint32_t kEraseBlock = 4;   // only erased
constexpr std::uint32_t kPages = 160;

NandConfig config(std::uint32_t luns, std::uint32_t planes, bool independent) {
    NandConfig c;
    c.geometry.channels = 2;
    c.geometry.ways = 2;
    c.geometry.dies_per_chip = luns;
    c.geometry.planes_per_die = planes;
    c.geometry.blocks_per_plane = 5;
    c.geometry.pages_per_block = kPages;
    c.geometry.page_bytes = 8192;
    c.geometry.spare_bytes = 512;
    c.onfi.megatransfers = 533;
    c.bits_per_cell = 3;
    c.t_read = {45us, 65us, 55us};
    c.independent_plane_read = independent;
    return c;
}

class Traffic : public FlashBench {
public:
    Traffic(const std::string& name, const NandConfig& c, const SchedulerConfig& s, std::uint64_t seed, const OwnScheduler& own)
        : FlashBench(name, c, EccConfig{2us}, s, own), random_(seed), next_page_(geometry.planes()) {
        for (std::uint32_t d = 0; d < geometry.dies(); ++d)
            for (std::uint32_t p = 0; p < geometry.planes_per_die; ++p)
                for (std::uint32_t b = 0; b < kReadBlocks; ++b) fill(d, p, b, kPages);
    }
    void run(std::uint32_t operations, Ps longest_pause) {
        for (std::uint32_t i = 0; i < operations; ++i) {
            one();
            ++submitted_;
            const auto pause = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(longest_pause.count())));
            if (random_.below(4) == 0) agenda.run_until(agenda.now() + Ps{pause});
        }
        agenda.run();
    }
    void check() {
        EXPECT_EQ(done.size(), submitted_);
        EXPECT_TRUE(backend->idle());
        std::array<std::uint64_t, kFlashClassCount> pages{};
        for (const FlashTransaction* t : done) {
            ++pages[static_cast<std::size_t>(t->cls)];
            ASSERT_EQ(t->timeline.sum(), t->timeline.last() - t->queued_at);
            ASSERT_GT(t->timeline.of(Stage::array), Ps{0});
            std::uint32_t operations = 0;
            t->timeline.for_each_step([](Stage, SimTime, SimTime) {},
                                      [&](const FlashOperation& o) {
                                          ++operations;
                                          EXPECT_EQ(o.number, t->number);
                                          EXPECT_EQ(o.plane, idx(t->address.plane));
                                          EXPECT_EQ(o.whole_die, !nand.independent_plane_read || t->op != FlashOp::read);
                                      });
            ASSERT_EQ(operations, 1u);
            if (t->op != FlashOp::read) continue;
            for (std::uint32_t s = 0; s < geometry.units_per_page(); ++s) {
                ASSERT_EQ(t->spare[s], area.at(geometry.ppa_of(t->address, s)));
                ASSERT_NE(t->spare[s], kErased);
            }
        }
        for (std::size_t c = 0; c < kFlashClassCount; ++c)
            EXPECT_EQ(backend->channel(0).counters().pages[c] + backend->channel(1).counters().pages[c], pages[c]);
        const std::int64_t elapsed = now().time_since_epoch().count();
        for (std::uint32_t d = 0; d < geometry.dies(); ++d) {
            std::int64_t busy = 0;
            for (const std::int64_t ps : backend->die_busy(DieId{d})) busy += ps;
            EXPECT_LE(busy, elapsed);
        }
        for (std::uint32_t c = 0; c < 2; ++c) {
            EXPECT_LE(backend->channel(c).counters().bus_busy().count(), elapsed);
            if (geometry.planes_per_die > 1) {
                EXPECT_GT(backend->channel(c).counters().multi_plane, 0u);
            }
        }
    }

private:
    void one() {
        const auto die = static_cast<std::uint32_t>(random_.below(geometry.dies()));
        const auto plane = static_cast<std::uint32_t>(random_.below(geometry.planes_per_die));
        const auto block = static_cast<std::uint32_t>(random_.below(kReadBlocks));
        const auto page = static_cast<std::uint32_t>(random_.below(kPages));
        const auto bytes = 512 * static_cast<std::uint32_t>(1 + random_.below(geometry.page_bytes / 512));
        const std::uint64_t kind = random_.below(100);
        if (kind < 50) {
            read(die, plane, block, page, bytes);
        } else if (kind < 60) {
            read(die, plane, block, page, bytes, FlashClass::mapping_read);
        } else if (kind < 70) {
            read(die, plane, block, page, geometry.page_bytes, FlashClass::gc_read);
        } else if (kind < 95) {
            const bool host = random_.percent(60);
            auto& next = next_page_[die * geometry.planes_per_die + plane][host ? 0 : 1];
            if (next == kPages) return one();
            program(die, plane, host ? kHostBlock : kGcBlock, next++, host ? FlashClass::host_write : FlashClass::gc_write);
        } else {
            erase(die, plane, kEraseBlock);
        }
    }

    Random random_;
    std::vector<std::array<std::uint32_t, 2>> next_page_;
    std::uint64_t submitted_ = 0;
};

/// A policy whose reads start at once where they can, or are queued first in any case.
class Watched final : public SchedulerPort {
public:
    Watched(std::unique_ptr<SchedulerPort> policy, bool at_once, std::uint32_t& started)
        : policy_(std::move(policy)), at_once_(at_once), started_(started) {}
    void push(const SchedulerRequest& request) override { policy_->push(request); }
    bool grant_at_once(const SchedulerRequest& request) override {
        const bool granted = at_once_ && policy_->grant_at_once(request);
        started_ += granted;
        return granted;
    }
    GrantAnswer grant(const GrantQuery& query, Grant& out) override { return policy_->grant(query, out); }
    std::uint32_t queued(std::uint16_t channel) const override { return policy_->queued(channel); }

private:
    const std::unique_ptr<SchedulerPort> policy_;
    const bool at_once_;
    std::uint32_t& started_;
};

void expect_equal(const Traffic& one, const Traffic& other) {
    ASSERT_EQ(one.done.size(), other.done.size());
    for (std::size_t i = 0; i < one.done.size(); ++i) {
        ASSERT_EQ(one.done[i]->cookie, other.done[i]->cookie) << i;
        ASSERT_EQ(one.done[i]->timeline.last(), other.done[i]->timeline.last()) << i;
    }
}

TEST(FlashStress, MixedTrafficInAllShapes) {
    struct Pair {
        std::uint32_t started = 0, never = 0;
        std::unique_ptr<Traffic> at_once, queued;
    };
    std::deque<Pair> all;
    for (const std::string& policy : SchedulerPolicies::instance().names())
        for (const std::uint32_t luns : {1u, 2u})
            for (const bool independent : {false, true})
                for (const std::uint32_t planes : {1u, 4u}) {
                    SchedulerConfig s;
                    s.policy = policy;
                    s.starvation_limit = 16;
                    s.bus_program_turns = 1 + static_cast<std::uint32_t>(all.size() % 5);  // few: what passes a waiting program counts
                    const NandConfig nand = config(luns, planes, independent);
                    const SchedulerShape shape{nand.geometry.channels, nand.geometry.dies_per_channel(), independent};
                    const std::string name = std::to_string(all.size());
                    const std::uint64_t seed = all.size() + 1;
                    Pair& pair = all.emplace_back();
                    pair.at_once = std::make_unique<Traffic>("t" + name, nand, s, seed, [&](Agenda&) {
                        return std::make_unique<Watched>(make_scheduler_policy(s, shape), true, pair.started);
                    });
                    pair.queued = std::make_unique<Traffic>("q" + name, nand, s, seed, [&](Agenda&) {
                        return std::make_unique<Watched>(make_scheduler_policy(s, shape), false, pair.never);
                    });
                }
    FlashBench::elaborate();
    for (Pair& pair : all) {
        SCOPED_TRACE(pair.at_once->backend->name());
        for (Traffic* const traffic : {pair.at_once.get(), pair.queued.get()}) {
            traffic->run(1'200, 200us);
            traffic->run(1'200, 1ms);
            traffic->run(300, 8ms);  // mostly idle
            traffic->check();
        }
        expect_equal(*pair.at_once, *pair.queued);
        EXPECT_GT(pair.started, 50u);
        EXPECT_EQ(pair.never, 0u);
    }
}

}  // namespace
}  // namespace ssdtlm
