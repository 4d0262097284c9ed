// SPDX-License-Identifier: Apache-2.0
// full: collection goes on as fast as flash and cores let it. yield: between two rows of pages it makes way as long as
// the device has a command of the host (J. Lee et al., "A semi-preemptive garbage collector for solid state drives",
// ISPASS 2011), until free blocks run out.
#include "controller/gc/paces.h"

namespace ssdtlm {
namespace {

class Yield final : public GcPace {
public:
    void begun(GroupId, std::uint32_t, std::uint32_t) override {}
    void host_wrote(GroupId, std::uint32_t, const GcLevel&) override {}
    bool may_move(GroupId, std::uint64_t, std::uint32_t commands) const override { return commands == 0; }
    bool holds_host(GroupId, std::uint64_t) const override { return false; }
};

const GcPaces::Registered kFull{
    {"full", "as fast as possible", {}, [](const GcPaceSetup&, const PolicySettings&) { return nullptr; }}};

const GcPaces::Registered kYield{
    {"yield",
     "between two rows of pages it waits while the device has a command of the host, until free "
     "blocks are at gc.hard_free_blocks (semi-preemptive; J. Lee et al., ISPASS 2011)",
     {},
     [](const GcPaceSetup&, const PolicySettings&) { return std::make_unique<Yield>(); }}};

}  // namespace
}  // namespace ssdtlm
