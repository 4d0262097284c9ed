// SPDX-License-Identifier: Apache-2.0
// The forward map of a page-mapped FTL: one entry of 4 bytes per logical unit, all of it in memory. There is no reverse
// map: the spare area of a flash page says whose unit it holds. The time that an access to the table takes in the
// device's DRAM is not modelled here.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "controller/ftl/mapping/zeroed_array.h"

namespace ssdtlm {

class PageMap {
public:
    explicit PageMap(std::uint64_t logical_units) : entries_(logical_units, "forward map") {}

    Ppa lookup(Lpa lpa) const { return Ppa{~entries_[idx(lpa)]}; }
    void prefetch(Lpa lpa) const { entries_.prefetch(idx(lpa)); }
    /// Points `lpa` to `to` (kUnmapped: nowhere) and returns where it pointed before.
    Ppa exchange(Lpa lpa, Ppa to) {
        std::uint32_t& e = entries_[idx(lpa)];
        const Ppa old{~e};
        e = ~idx(to);
        return old;
    }
    /// `count` consecutive logical units to consecutive physical ones; they were unmapped.
    void fill(std::uint64_t first_lpa, Ppa first, std::uint32_t count) {
        std::uint32_t* e = entries_.data() + first_lpa;
        for (std::uint32_t i = 0; i < count; ++i) e[i] = ~(idx(first) + i);
    }

private:
    ZeroedArray<std::uint32_t> entries_;  // complement of the Ppa: untouched memory means unmapped
};

}  // namespace ssdtlm
