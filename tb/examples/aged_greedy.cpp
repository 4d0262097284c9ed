// SPDX-License-Identifier: Apache-2.0
#include "examples/aged_greedy.h"

namespace ssdtlm::examples {
namespace {

const VictimPolicies::Registered kAgedGreedy{
    {"aged_greedy",
     "the least valid of the blocks that are old enough",
     {policy_integers("ages", {4096})
          .range("0", "1000000000")
          .says("Units that the host has written since a block was full: for the emptiest blocks first, for the "
                "fullest last")
          .from("assumed"),
      policy_text("log", "")
          .says("File that gets a line for each victim since the power came: when, which, valid units. Empty: none")
          .from("-")},
     [](const VictimPolicySetup& setup, const PolicySettings& own) {
         if (own.numbers("ages").empty())
             throw UserError(Problem{"gc.aged_greedy.ages", "is an empty list", "at least one age", "set [4096]"});
         return std::make_unique<AgedGreedy>(setup, own.numbers("ages"), own.text("log"));
     }}};

}  // namespace
}  // namespace ssdtlm::examples
