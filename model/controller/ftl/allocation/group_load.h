// SPDX-License-Identifier: Apache-2.0
// Pages of each group that have their place and are not programmed yet. The least loaded group is found by them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "controller/ftl/events.h"

namespace ssdtlm {

class GroupLoad final : public FtlListener {
public:
    explicit GroupLoad(const SuperblockShape& shape) : shape_(shape) {}
    /// Starts counting. Before that, by_group() is empty.
    void count(FtlEvents& events) {
        pages_.resize(shape_.groups());
        events.listen(*this, {FtlEvent::page_drawn, FtlEvent::page_ended});
    }
    const std::vector<std::uint32_t>& by_group() const { return pages_; }
    bool none() const {
        return std::all_of(pages_.begin(), pages_.end(), [](std::uint32_t n) { return n == 0; });
    }

private:
    void page_drawn(const PageAddress& a, SuperblockId, std::uint64_t) override {
        ++pages_[idx(shape_.group_of(a.plane))];
    }
    void page_ended(const PageAddress& a, PageEnd) override { --pages_[idx(shape_.group_of(a.plane))]; }

    const SuperblockShape& shape_;
    std::vector<std::uint32_t> pages_;
};

}  // namespace ssdtlm
