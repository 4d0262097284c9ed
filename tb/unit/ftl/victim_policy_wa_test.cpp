// SPDX-License-Identifier: Apache-2.0
#include "controller/precondition/precondition.h"
#include "unit/ftl/plain_simulation.h"
#include "unit/ftl/steady_state.h"

namespace ssdtlm {
namespace {

using namespace test;

class SteadyState : public testing::TestWithParam<Point> {};
TEST_P(SteadyState, MatchesFormulaAndSimulator) {
    check_steady_state(GetParam());
}
INSTANTIATE_TEST_SUITE_P(, SteadyState,
                         testing::Values(Point{"fifo", 0.125, 1, 1, 4.6971, fifo_formula(1.125, 1, 1), 4},
                                         Point{"fifo", 0.28, 0.9, 0.1, 3.2967, fifo_formula(1.28, 0.9, 0.1), 6},
                                         Point{"random", 0.28, 1, 1, 0, random_formula(1.28, 256), 4},
                                         Point{"d_choices", 0.28, 1, 1, 2.5208, 0, 4},
                                         Point{"cost_benefit", 0.28, 1, 1, 2.4686, 0, 4},
                                         Point{"cost_benefit", 0.28, 0.8, 0.2, 2.3034, 0, 6}),
                         [](const auto& p) { return test::name_of(p.param); });

/// The same policy twice: in the Ftl, and as a look at all blocks.
struct Twice {
    const char* policy;
    PolicyValues settings;
    PlainChoice choose;
};

std::size_t least_valid(const std::vector<const PlainBlock*>& full, std::size_t among) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < std::min(among, full.size()); ++i)
        if (full[i]->valid < full[best]->valid) best = i;
    return best;
}

/// Any of those that have at least so many invalid pages; of those with one, if none has.
std::size_t any_with(const std::vector<const PlainBlock*>& full, std::uint32_t invalid, Random& random) {
    std::vector<std::size_t> fit;
    for (std::size_t i = 0; i < full.size(); ++i)
        if (full[i]->valid + invalid <= full[i]->pages.size()) fit.push_back(i);
    return fit.empty() ? any_with(full, 1, random) : fit[random.below(fit.size())];
}

class BesideAPlainSimulation : public testing::TestWithParam<int> {};

TEST_P(BesideAPlainSimulation, TheSameWriteAmplification) {
    const Twice twice[] = {
        {"windowed_greedy",
         {{"window", std::int64_t{1}}},
         [](const auto& full, Random&) { return least_valid(full, 1); }},
        {"windowed_greedy",
         {{"window", std::int64_t{30}}},
         [](const auto& full, Random&) { return least_valid(full, 30); }},
        {"windowed_greedy",
         {{"window", std::int64_t{300}}},
         [](const auto& full, Random&) { return least_valid(full, 300); }},
        {"random",
         {{"least_invalid_pages", std::int64_t{0}}},
         [](const auto& full, Random& r) { return r.below(full.size()); }},
        {"random", {}, [](const auto& full, Random& r) { return any_with(full, 1, r); }},
        {"random",
         {{"least_invalid_pages", std::int64_t{16}}},
         [](const auto& full, Random& r) { return any_with(full, 16, r); }},
        {"random",
         {{"least_invalid_pages", std::int64_t{30}}},
         [](const auto& full, Random& r) { return any_with(full, 30, r); }},
    };
    const Twice& t = twice[GetParam()];
    constexpr std::uint32_t kBlocks = 1024, kPages = 64;
    for (const double over_provisioning : {0.07, 0.28}) {
        const auto logical = static_cast<std::uint32_t>(kBlocks * kPages / (1 + over_provisioning));
        const double plain = plain_write_amplification(kBlocks, kPages, logical, 4, 20, t.choose);
        NandGeometry g;
        g.blocks_per_plane = kBlocks + 1;  // one more is in reserve
        g.pages_per_block = kPages;
        FtlConfig c;
        c.user_capacity_bytes = std::uint64_t{logical} * g.unit_bytes;
        c.gc_policy = t.policy;
        c.gc_policies[t.policy] = t.settings;
        c.gc_hard_free_blocks = 2;
        c.gc_soft_free_blocks = 3;
        c.initial_state = InitialState::sequential;
        Device d(c, g);
        Preconditioner(d.ftl).run();
        Random random(5);
        std::vector<Lpa> unit;
        const auto overwrite = [&](double multiples) {
            for (double i = multiples * logical; i > 0; --i) {
                unit.assign(1, Lpa{static_cast<std::uint32_t>(random.below(logical))});
                while (!d.write(unit)) ASSERT_TRUE(d.collect(GroupId{0}));
            }
        };
        overwrite(4);
        const FtlCounters before = d.ftl.counters();
        overwrite(20);
        const double wa = (d.ftl.counters() - before).unit_write_amplification(1);
        std::printf("%s, over-provisioning %.2f: %.4f, plain simulation %.4f (%+.2f %%)\n", t.policy, over_provisioning,
                    wa, plain, 100 * (wa / plain - 1));
        EXPECT_NEAR(wa / plain, 1.0, 0.01);
        d.ftl.verify_books();
    }
}
INSTANTIATE_TEST_SUITE_P(, BesideAPlainSimulation, testing::Range(0, 7));

}  // namespace
}  // namespace ssdtlm
