// SPDX-License-Identifier: Apache-2.0
#include "examples/own_mappings.h"

namespace ssdtlm::examples {
namespace {

const Mappings::Registered kRegions{
    {"regions",
     "a flat table in DRAM, of which a core has one region at hand",
     {policy_integer("units", 1024).range("1", "1000000000").says("Mapping units of a region").from("assumed"),
      policy_quantity("wait", Dimension::time, 5'000'000)
          .range("1ns", "1ms")
          .says("Time until another region is at hand")
          .from("assumed")},
     [](const MappingSetup& setup, const PolicySettings& own) {
         return std::make_unique<Regions>(setup, static_cast<std::uint32_t>(own.number("units")),
                                          Ps{own.number("wait")});
     }}};

const Mappings::Registered kScatteredLogs{{"scattered_logs",
                                           "by blocks, with log blocks that take all pages in turn",
                                           {policy_integer("logs", 4)
                                                .range("1", "1000")
                                                .says("Log blocks of each plane, or of each superblock of a die")
                                                .from("assumed")},
                                           [](const MappingSetup& setup, const PolicySettings& own) {
                                               return std::make_unique<ScatteredLogs>(
                                                   setup, static_cast<std::uint32_t>(own.number("logs")));
                                           }}};

}  // namespace
}  // namespace ssdtlm::examples
