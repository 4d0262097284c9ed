// SPDX-License-Identifier: Apache-2.0
// Splits a cache between tenants.
#pragma once

#include <cstdint>
#include <vector>

namespace ssdtlm {

/// The first tenants have a part each, of at least one unit. All other tenants share the rest.
class Quotas {
public:
    /// One part that all tenants share.
    Quotas() = default;
    /// Gives tenants 1, 2, ... these percentages of `units`, and each at least one unit. Without percentages all
    /// tenants share one part.
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
    /// Size of a part in units. Precondition: the tenants do not share one part.
    std::uint64_t units(std::uint32_t part) const { return units_[part]; }

private:
    std::vector<std::uint64_t> units_;  // by part
};

}  // namespace ssdtlm
