// SPDX-License-Identifier: Apache-2.0
// An order on the bus that prefers one tenant: of the pages that wait in the dies' registers, that tenant's leave
// first. All else as data_first.
#include "controller/scheduler/bus_orders.h"

namespace ssdtlm::examples {
namespace {

class TenantFirst final : public BusOrder {
public:
    TenantFirst(const BusOrderSetup& setup, std::uint16_t tenant)
        : program_turns_(setup.program_turns), tenant_(tenant) {}
    BusPick next(const BusWork& work, BusChoice may) const override {
        FlashTransaction* data = work.data;
        while (data != nullptr && data->whose.tenant != tenant_) data = data->next;
        const BusPick others = may.data_out   ? BusPick{BusTurn::data_out, data}
                               : may.commands ? BusTurn::commands
                                              : BusTurn::none;
        return with_programs(work, may, program_turns_, others);
    }

private:
    const std::uint32_t program_turns_;
    const std::uint16_t tenant_;
};

const BusOrders::Registered kTenantFirst{
    {"tenant_first",
     "the data of one tenant, then as data_first",
     {policy_integer("tenant", 1).range("1", "64").says("The tenant that is preferred").from("assumed")},
     [](const BusOrderSetup& setup, const PolicySettings& own) {
         return std::make_unique<TenantFirst>(setup, static_cast<std::uint16_t>(own.number("tenant")));
     }}};

}  // namespace
}  // namespace ssdtlm::examples
