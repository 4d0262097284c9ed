// SPDX-License-Identifier: Apache-2.0
// commands_first: short commands first, so that their array time overlaps what follows; then data out; then programs.
#include "controller/scheduler/bus_orders.h"

namespace ssdtlm {
namespace {

class CommandsFirst final : public BusOrder {
public:
    explicit CommandsFirst(const BusOrderSetup& setup) : program_turns_(setup.program_turns) {}
    BusPick next(const BusWork& work, BusChoice may) const override {
        return with_programs(work, may, program_turns_,
                             may.commands   ? BusTurn::commands
                             : may.data_out ? BusTurn::data_out
                                            : BusTurn::none);
    }

private:
    const std::uint32_t program_turns_;
};

const BusOrders::Registered kCommandsFirst{
    {"commands_first",
     "short commands, then data out, then programs",
     {},
     [](const BusOrderSetup& setup, const PolicySettings&) { return std::make_unique<CommandsFirst>(setup); }}};

}  // namespace
}  // namespace ssdtlm
