// SPDX-License-Identifier: Apache-2.0
// What the host wrote to each NVM Set, and what was programmed there: units that were mapped, and pages of any class.
// Checkpoints of the map belong to no set. Without sets nothing is counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "controller/ftl/allocation/nvm_sets.h"
#include "controller/ftl/events.h"

namespace ssdtlm {

struct SetCounts {
    std::uint64_t host_units = 0;
    std::uint64_t pages = 0;
};

class SetTraffic final : public FtlListener {
public:
    SetTraffic(NvmSets sets, std::uint64_t logical_units)
        : sets_(std::move(sets)), begins_(sets_.ranges(logical_units)), counts_(sets_.count()) {}

    bool any() const { return !counts_.empty(); }
    void unit_superseded(Lpa lpa) override {
        const auto behind = std::upper_bound(begins_.begin(), begins_.end(), std::uint64_t{idx(lpa)});
        ++counts_[static_cast<std::size_t>(behind - begins_.begin()) - 1].host_units;
    }
    void page_ended(const PageAddress& a, PageEnd end) override {
        if (end != PageEnd::dropped) ++counts_[sets_.of(a.plane)].pages;
    }

    /// Counts by set.
    const std::vector<SetCounts>& counts() const { return counts_; }
    void go_on_from(const std::vector<SetCounts>& earlier) { counts_ = earlier; }

private:
    NvmSets sets_;
    std::vector<std::uint64_t> begins_;
    std::vector<SetCounts> counts_;
};

}  // namespace ssdtlm
