// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "controller/dma/host_data.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// As PRP entries would say it: the address of each host page of the data, the first with its offset.
inline std::vector<std::uint64_t> pages_of(const HostData& data) {
    std::vector<std::uint64_t> pages;
    for (std::uint64_t at = 0; at < data.bytes(); at += nvme::kPageBytes - (pages.back() & nvme::kPageMask))
        pages.push_back(data.address_of(at));
    return pages;
}

}  // namespace ssdtlm
