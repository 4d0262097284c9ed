// SPDX-License-Identifier: Apache-2.0
#include "examples/worn_cells.h"

namespace ssdtlm::examples {
namespace {

const FaultModels::Registered kWornCells{
    {"worn_cells",
     "wrong bits by erases and age, fewer with each retry",
     {policy_integer("per_kilocycle", 20)
          .range("0", "65535")
          .says("Wrong bits of a code word for each 1,000 erases of its block")
          .from("assumed"),
      policy_integer("per_year", 40)
          .range("0", "65535")
          .says("Wrong bits of a code word for each year since its block was begun")
          .from("assumed"),
      policy_quantity("age_at_start", Dimension::age, 0)
          .range("0s", "100y")
          .says("Age of what the drive holds at the start")
          .from("assumed: fresh")},
     [](const FaultSetup&, const PolicySettings& own) {
         return std::make_unique<WornCells>(WornCells::Law{own.number("per_kilocycle"), own.number("per_year"),
                                                           Age::nanoseconds(own.number("age_at_start"))});
     }}};

}  // namespace
}  // namespace ssdtlm::examples
