// SPDX-License-Identifier: Apache-2.0
// Preconditioning until write amplification is steady, against the formula and against the same drive many rounds
// later.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <vector>

#include "controller/precondition/precondition.h"
#include "unit/ftl/ftl_fixture.h"
#include "unit/ftl/steady_state.h"

namespace ssdtlm {
namespace {

using test::Device;

double mean_of_last(const OverwriteRounds& r, std::size_t n) {
    return std::accumulate(r.rounds().end() - static_cast<std::ptrdiff_t>(n), r.rounds().end(), 0.0) /
           static_cast<double>(n);
}

// Greedy, 4 groups of 512 blocks of 256 pages, unit = page. The drive begins sequentially written.
TEST(UntilSteady, ComesToTheWriteAmplificationOfTheFormula) {
    for (const double over_provisioning : {0.07, 0.125, 0.28, 0.5}) {
        NandGeometry g;
        g.channels = 4;
        g.blocks_per_plane = 512;
        g.pages_per_block = 256;
        g.page_bytes = 4096;
        FtlConfig f;
        f.gc_hard_free_blocks = 2;
        f.gc_soft_free_blocks = 3;
        // Two blocks of a plane are kept free, and the one that GC writes is half empty on average: no room for data.
        f.user_capacity_bytes =
            static_cast<std::uint64_t>((512 - 2.5) * 4 * 256 / (1 + over_provisioning)) * g.unit_bytes;
        f.initial_state = InitialState::random;
        f.until = OverwriteUntil::steady;
        Device d(f, g, 5);
        const OverwriteRounds r = Preconditioner(d.ftl).run();
        ASSERT_TRUE(r.is_steady());
        d.ftl.verify_books();
        f.until = OverwriteUntil::amount;
        f.overwrite = 10;
        Device later(f, g, 5);
        const OverwriteRounds far = Preconditioner(later.ftl).run();
        ASSERT_EQ(far.rounds().size(), 100u);
        // Until it stopped, it was the same drive.
        for (std::size_t i = 0; i < r.rounds().size(); ++i) EXPECT_DOUBLE_EQ(r.rounds()[i], far.rounds()[i]) << i;
        const double formula = test::greedy_formula(1 + over_provisioning, 256), wa = r.last().mean,
                     much_later = mean_of_last(far, 20);
        std::printf(
            "%4.1f %%: steady after %zu rounds (%zu to free blocks), WA of the last five %.4f (excursion %.1f %%, "
            "drift %.1f %%); of rounds 80 to 100 %.4f (%+.2f %%); formula %.4f "
            "(%+.2f %%)\n",
            100 * over_provisioning, r.rounds().size(), r.without_collection(), wa, 100 * r.last().excursion,
            100 * r.last().drift, much_later, 100 * (wa / much_later - 1), formula, 100 * (wa / formula - 1));
        EXPECT_GT(r.rounds().size(), Steadiness::kWindow);
        EXPECT_NEAR(wa / formula, 1, 0.03);
        EXPECT_NEAR(wa / much_later, 1, 0.02);
        EXPECT_NEAR(much_later / formula, 1, 0.01);
    }
}

}  // namespace
}  // namespace ssdtlm
