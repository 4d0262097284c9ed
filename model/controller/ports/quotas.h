// SPDX-License-Identifier: Apache-2.0
// Shares of a cache that tenants have for themselves.
#pragma once

#include <cstdint>
#include <vector>

namespace ssdtlm {

/// The first tenants have a part each, of 1 % at least; all others have the rest together.
class Quotas {
public:
    /// One part: shared by all.
    Quotas() = default;
    /// `percents` of `units` for tenants 1, 2, ...; empty: shared. A unit at least for each.
    Quotas(std::uint64_t units, const std::vector<std::uint32_t>& percents) {
        if (percents.empty()) return;
        std::uint64_t left = units;
        for (const std::uint32_t percent : percents) {
            const std::uint64_t part = units * percent / 100;
            units_.push_back(part != 0 ? part : 1);
            left -= units_.back() < left ? units_.back() : left;
        }
        units_.push_back(left != 0 ? left : 1);
    }
    bool shared() const { return units_.empty(); }
    std::uint32_t parts() const { return shared() ? 1 : static_cast<std::uint32_t>(units_.size()); }
    std::uint32_t part_of(std::uint16_t tenant) const {
        if (__builtin_expect(shared(), 1)) return 0;
        return tenant != 0 && tenant < units_.size() ? tenant - 1u : parts() - 1;
    }
    /// Not of a cache that is shared.
    std::uint64_t units(std::uint32_t part) const { return units_[part]; }

private:
    std::vector<std::uint64_t> units_;  // by part
};

}  // namespace ssdtlm
