// SPDX-License-Identifier: Apache-2.0
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

}  // namespace
}  // namespace ssdtlm
