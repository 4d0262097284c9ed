// SPDX-License-Identifier: Apache-2.0
#include "windowed_greedy.h"

namespace ssdtlm::examples {
namespace {

const VictimPolicies::Registered kWindowedGreedy{{
    "windowed_greedy",
    "the least valid of the oldest blocks",
    {policy_integer("window", 4)
         .range("1", "65536")
         .says("Blocks that are looked at, from the oldest on")
         .from("assumed")},
    [](const VictimPolicySetup& setup, const PolicySettings& own) {
        return std::make_unique<WindowedGreedy>(setup, static_cast<std::uint32_t>(own.number("window")));
    }}};

}  // namespace
}  // namespace ssdtlm::examples
