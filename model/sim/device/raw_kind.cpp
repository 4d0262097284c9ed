// SPDX-License-Identifier: Apache-2.0
#include "controller/raw/raw_front_end.h"
#include "sim/device/front_ends.h"

namespace ssdtlm {
namespace {

RawFrontEnd::Config config_of(const FrontEndSetup& setup, const PolicySettings& settings) {
    return {static_cast<std::uint32_t>(settings.number("commands")), setup.config.nvme.lba_bytes};
}

const FrontEnds::Registered kRaw{
    {"raw",
     "a TLM-2.0 target for hosts with a protocol of their own, in programs that bring one",
     {policy_integer("commands", 256)
          .range("1", "65535")
          .says("Commands that the drive works on at a time. More wait, in order of arrival")
          .from("assumed")},
     [](const FrontEndSetup& s, const PolicySettings& settings) {
         return std::make_unique<RawFrontEnd>("front_end", s.agenda, config_of(s, settings), s.drive);
     }}};

}  // namespace
}  // namespace ssdtlm
