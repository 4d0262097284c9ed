// SPDX-License-Identifier: Apache-2.0
#include "unit/ftl/steady_state.h"

namespace ssdtlm {
namespace {

using namespace test;

TEST(Formulas, AgreeWithPublishedValues) {
    // Over-provisioning 0.3: FIFO 2.36 (Xiang and Kurkoski, arXiv 1110.4245).
    EXPECT_NEAR(fifo_formula(1.3, 1, 1), 2.36, 0.005);
    EXPECT_NEAR(fifo_formula(1.3, 1, 1), 1.3 / (1.3 + lambert_w0(-1.3 * std::exp(-1.3))), 1e-6);
    EXPECT_NEAR(greedy_formula(1.3, 1e6), fifo_formula(1.3, 1, 1), 1e-3);  // many pages per block: greedy = FIFO
    EXPECT_NEAR(fifo_formula(1.25, 0.5, 0.5), fifo_formula(1.25, 1, 1), 1e-9);
}

class SteadyState : public testing::TestWithParam<Point> {};
TEST_P(SteadyState, MatchesFormulaAndSimulator) {
    check_steady_state(GetParam());
}
INSTANTIATE_TEST_SUITE_P(, SteadyState,
                         testing::Values(Point{"greedy", 0.07, 1, 1, 7.6385, greedy_formula(1.07, 256), 4},
                                         Point{"greedy", 0.125, 1, 1, 4.6180, greedy_formula(1.125, 256), 4},
                                         Point{"greedy", 0.28, 1, 1, 2.4648, greedy_formula(1.28, 256), 4},
                                         Point{"greedy", 0.28, 0.8, 0.2, 2.6996, 0, 8},
                                         Point{"greedy", 0.125, 1, 1, 4.6180, greedy_formula(1.125, 256), 4, 2},
                                         Point{"greedy", 0.28, 1, 1, 2.4648, greedy_formula(1.28, 256), 4, 4}),
                         [](const auto& p) { return test::name_of(p.param); });

}  // namespace
}  // namespace ssdtlm
