// SPDX-License-Identifier: Apache-2.0
// Which units are safe on flash that is programmed in two steps, worked out beside the model: those of upper pages, and
// of lower ones whose upper page has been programmed since.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "controller/ports/flash.h"

namespace ssdtlm {

class SafePages {
public:
    explicit SafePages(const NandGeometry& geometry) : geometry_(geometry) {
        // L0 L1 U0 L2 U1 ... U(n-2) U(n-1), written down.
        const std::uint32_t lines = geometry.pages_per_block / 2;
        order_.push_back({0, false});
        for (std::uint32_t line = 0; line + 1 < lines; ++line) {
            order_.push_back({line + 1, false});
            order_.push_back({line, true});
        }
        order_.push_back({lines - 1, true});
    }
    /// Of a page that has been programmed: `is_safe` for each that is so now, itself or the one below it.
    void programmed(const FlashTransaction& t, const std::function<void(const FlashTransaction&)>& is_safe) {
        const auto [line, upper] = order_.at(t.address.page);
        const std::pair<std::uint32_t, std::uint32_t> at{idx(geometry_.block_of(t.address)), line};
        if (!upper) {
            waiting_[at] = t;
            return;
        }
        if (const auto below = waiting_.find(at); below != waiting_.end()) {
            is_safe(below->second);
            waiting_.erase(below);
        }
        is_safe(t);
    }

private:
    struct Place {
        std::uint32_t line;
        bool upper;
    };
    NandGeometry geometry_;
    std::vector<Place> order_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, FlashTransaction> waiting_;  // by block and word line
};

}  // namespace ssdtlm
