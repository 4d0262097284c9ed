// SPDX-License-Identifier: Apache-2.0
// Random mixed traffic for a back end, and what must hold of all of it when it is over.
#pragma once

#include <gtest/gtest.h>

#include "common/random/random.h"
#include "flash_bench.h"

namespace ssdtlm {

inline constexpr std::uint32_t kReadBlocks = 2;  // filled before the run, only read
inline constexpr std::uint32_t kHostBlock = 2;   // programmed by the host class
inline constexpr std::uint32_t kGcBlock = 3;     // programmed by the gc class
inline constexpr std::uint32_t kEraseBlock = 4;  // only erased
inline constexpr std::uint32_t kPages = 160;

inline NandConfig traffic_config(std::uint32_t luns, std::uint32_t planes, bool independent) {
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
    c.geometry.bits_per_cell = 3;
    c.t_read = {45us, 65us, 55us};
    c.independent_plane_read = independent;
    return c;
}

class Traffic : public FlashBench {
public:
    Traffic(const std::string& name, const NandConfig& c, const SchedulerConfig& s, std::uint64_t seed,
            const OwnScheduler& own)
        : FlashBench(name, c, EccConfig{2us}, s, own), random_(seed), next_page_(geometry.planes()) {
        for (std::uint32_t d = 0; d < geometry.dies(); ++d)
            for (std::uint32_t p = 0; p < geometry.planes_per_die; ++p)
                for (std::uint32_t b = 0; b < kReadBlocks; ++b) fill(d, p, b, kPages);
    }
    void run(std::uint32_t operations, Ps longest_pause) {
        for (std::uint32_t i = 0; i < operations; ++i) {
            one();
            ++submitted_;
            const auto pause =
                static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(longest_pause.count())));
            if (random_.below(4) == 0) agenda.run_until(agenda.now() + Ps{pause});
        }
        agenda.run();
    }
    /// The same, and after every event nobody waits for nothing.
    void run_checked(std::uint32_t operations, Ps longest_pause) {
        for (std::uint32_t i = 0; i < operations; ++i) {
            one();
            ++submitted_;
            const SimTime until =
                now() + Ps{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(longest_pause.count())))};
            while (agenda.run_one(random_.below(4) == 0 ? until : now())) backend->check_waiters();
        }
        while (agenda.run_one(kNever)) backend->check_waiters();
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
                                          EXPECT_EQ(o.whole_die,
                                                    !nand.independent_plane_read || t->op != FlashOp::read);
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
            program(die, plane, host ? kHostBlock : kGcBlock, next++,
                    host ? FlashClass::host_write : FlashClass::gc_write);
        } else {
            erase(die, plane, kEraseBlock);
        }
    }

    Random random_;
    std::vector<std::array<std::uint32_t, 2>> next_page_;
    std::uint64_t submitted_ = 0;
};

}  // namespace ssdtlm
