// SPDX-License-Identifier: Apache-2.0
// The policy `never` suspends nothing. The policy `for_reads` suspends programs and erases, each a limited number of
// times. It does so only if enough time of the operation is left, and if the operation has run for a while.
#include <algorithm>

#include "controller/scheduler/suspend_policies.h"

namespace ssdtlm {
namespace {

class ForReads final : public SuspendPolicy {
public:
    struct Settings {
        bool programs, erases;
        Ps least_left, least_run, longest;
        std::uint32_t limit;
    };
    explicit ForReads(const Settings& s) : settings_(s) {}
    SimTime when(const SuspendWork& work, SimTime now) const override {
        if (!(work.op == FlashOp::erase ? settings_.erases : settings_.programs) || work.suspends >= settings_.limit)
            return kNever;
        const SimTime at = std::max(now, work.begun + settings_.least_run);
        return work.ends - at < settings_.least_left ? kNever : at;
    }
    Ps longest(const SuspendWork&) const override { return settings_.longest; }

private:
    const Settings settings_;
};

const SuspendPolicies::Registered kNothing{
    {"never", "programs and erases run to their end", {}, [](const SuspendSetup&, const PolicySettings&) {
         return nullptr;
     }}};

const SuspendPolicies::Registered kForReads{
    {"for_reads",
     "programs and erases stop for host reads of their die, and go on after them",
     {policy_boolean("programs", true).says("Programs are suspended").from("current TLC parts can"),
      policy_boolean("erases", true).says("Erases are suspended").from("current TLC parts can"),
      policy_integer("limit", 16).range("1", "1000").says("Suspends of one operation, at most").from("assumed"),
      policy_quantity("least_run", Dimension::time, 100'000'000)
          .range("0s", "1s")
          .says("Time that an operation runs before it is suspended, and between two suspends")
          .from("assumed: the array makes way only while it runs"),
      policy_quantity("least_left", Dimension::time, 200'000'000)
          .range("0s", "1s")
          .says("An operation is not suspended when it has less left at that moment, by its usual time")
          .from("assumed: about what suspending and resuming cost"),
      policy_quantity("longest", Dimension::time, 2'000'000'000)
          .range("0s", "1s")
          .says("Longest time that an operation stays suspended while reads keep coming. It then goes on after the "
                "reads that are running")
          .from("assumed: some tens of reads")},
     [](const SuspendSetup&, const PolicySettings& p) {
         return std::make_unique<ForReads>(ForReads::Settings{
             p.flag("programs"), p.flag("erases"), Ps{p.number("least_left")}, Ps{p.number("least_run")},
             Ps{p.number("longest")}, static_cast<std::uint32_t>(p.number("limit"))});
     }}};

}  // namespace
}  // namespace ssdtlm
