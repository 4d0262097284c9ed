// SPDX-License-Identifier: Apache-2.0
#include "examples/aged_greedy.h"

namespace ssdtlm::examples {
namespace {

const VictimPolicies::Registered kAgedGreedy{{
    "aged_greedy",
    "the least valid of the blocks that are old enough",
    {policy_integer("age", 4096)
         .range("0", "1000000000")
         .says("Units that the host has written since a block was full")
         .from("assumed")},
    [](const VictimPolicySetup& setup, const PolicySettings& own) {
        return std::make_unique<AgedGreedy>(setup, static_cast<std::uint64_t>(own.number("age")));
    }}};

}  // namespace
}  // namespace ssdtlm::examples
