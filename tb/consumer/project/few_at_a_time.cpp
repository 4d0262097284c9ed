// SPDX-License-Identifier: Apache-2.0
// A front end of one's own by its name, and the host that `run` and `sweep` put before it. The drive is a plain TLM-2.0
// target that takes a few requests at a time. A protocol of your own would stand in both places.
#include <memory>

#include "controller/raw/raw_front_end.h"
#include "sim/device/front_ends.h"
#include "sim/host/host_side.h"

namespace {

const ssdtlm::FrontEnds::Registered kFrontEnd{
    {"few_at_a_time",
     "a TLM-2.0 target with few requests in the firmware",
     {ssdtlm::policy_integer("requests", 1)
          .range("1", "64")
          .says("Requests that the firmware works on at a time")
          .from("assumed")},
     [](const ssdtlm::FrontEndSetup& s, const ssdtlm::PolicySettings& own) {
         const auto requests = static_cast<std::uint32_t>(own.number("requests"));
         return std::make_unique<ssdtlm::RawFrontEnd>(
             "front_end", s.agenda, ssdtlm::RawFrontEnd::Config{requests, s.config.nvme.lba_bytes}, s.drive);
     }}};

const ssdtlm::HostSides::Registered kHost{
    {"few_at_a_time",
     "a host whose commands are payloads",
     {},
     [](const ssdtlm::HostSetup& s, const ssdtlm::PolicySettings&) { return ssdtlm::make_raw_side(s); }}};

}  // namespace
