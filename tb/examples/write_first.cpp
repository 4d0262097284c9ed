// SPDX-License-Identifier: Apache-2.0
#include "examples/write_first.h"

#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm::examples {
namespace {

const SchedulerPolicies::Registered kWriteFirst{
    {"write_first",
     "programs of host data first, then the oldest",
     {},
     [](const SchedulerSetup& s, const PolicySettings&) { return std::make_unique<WriteFirst>(s.config, s.shape); }}};

}  // namespace
}  // namespace ssdtlm::examples
