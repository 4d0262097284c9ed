// SPDX-License-Identifier: Apache-2.0
// data_first: data that a host waits for leave as soon as they can; commands of other dies wait for them.
#include "controller/scheduler/bus_orders.h"

namespace ssdtlm {
namespace {

class DataFirst final : public BusOrder {
public:
    explicit DataFirst(const BusOrderSetup& setup) : program_turns_(setup.program_turns) {}
    BusPick next(const BusWork& work, BusChoice may) const override {
        return with_programs(work, may, program_turns_,
                             may.data_out   ? BusTurn::data_out
                             : may.commands ? BusTurn::commands
                                            : BusTurn::none);
    }

private:
    const std::uint32_t program_turns_;
};

const BusOrders::Registered kDataFirst{
    {"data_first",
     "data out, then short commands, then programs",
     {},
     [](const BusOrderSetup& setup, const PolicySettings&) { return std::make_unique<DataFirst>(setup); }}};

}  // namespace
}  // namespace ssdtlm
