// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "controller/nvme/nvme_on_pcie.h"
#include "sim/device/front_ends.h"

namespace ssdtlm {
namespace {

// Data reads leave an eighth of the link's tags, at least two, to SQE fetches and PRP lists. assumed.
std::uint64_t read_window(const LinkConfig& link) {
    const std::uint64_t spare = std::max<std::uint64_t>(2, link.read_tags / 8);
    return (link.read_tags > spare ? link.read_tags - spare : 1) * std::uint64_t{link.max_read_request_bytes};
}

const FrontEnds::Registered kNvme{
    {"nvme", "an NVMe controller at PCIe", {}, [](const FrontEndSetup& s, const PolicySettings&) {
         return std::make_unique<NvmeOnPcie>(s.agenda, s.stages, s.config.nvme, s.drive, read_window(s.config.link),
                                             s.data != DataMode::bytes);
     }}};

}  // namespace
}  // namespace ssdtlm
