// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/host_segments.h"

#include <algorithm>

namespace ssdtlm {

HostSegments::List HostSegments::cut(const Command& c, std::uint64_t offset, std::uint64_t bytes) {
    many_.clear();
    const std::uint64_t page = c.host_page_bytes;
    const std::uint64_t at = (c.pages.front() & (page - 1)) + offset;  // from the start of the first host page
    std::size_t i = at / page;
    std::uint64_t within = at % page;
    while (bytes > 0) {
        const std::uint64_t n = std::min(page - within, bytes);
        const std::uint64_t address = (c.pages[i] & ~(page - 1)) + within;
        if (!many_.empty() && many_.back().address + many_.back().bytes == address)
            many_.back().bytes += static_cast<std::uint32_t>(n);
        else
            many_.push_back({address, static_cast<std::uint32_t>(n)});
        bytes -= n;
        within = 0;
        ++i;
    }
    return {many_.data(), static_cast<std::uint32_t>(many_.size())};
}

}  // namespace ssdtlm
