// SPDX-License-Identifier: Apache-2.0
// The forward map of a page-mapped FTL: one entry of 4 bytes per logical unit, all of it in memory. There is no reverse
// map: the spare area of a flash page says whose unit it holds. The time that an access to the table takes in the
// device's DRAM is not modelled here.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "common/address/geometry.h"
#include "common/address/scattered_layout.h"
#include "common/address/sequential_layout.h"
#include "common/containers/sparse_array.h"

namespace ssdtlm {

class PageMap {
public:
    /// Creates a map in which all units are unmapped.
    PageMap(std::uint64_t logical_units, const NandGeometry& geometry)
        : entries_(logical_units, "forward map"), layout_(geometry) {}

    Ppa lookup(Lpa lpa) const { return Ppa{entries_[idx(lpa)] ^ idx(at_start(lpa))}; }
    [[gnu::always_inline]] void prefetch(Lpa lpa) const { entries_.prefetch(idx(lpa)); }
    /// Points `lpa` to `to` (kUnmapped: nowhere) and returns where it pointed before.
    Ppa exchange(Lpa lpa, Ppa to) {
        std::uint32_t& e = entries_.at_write(idx(lpa));
        const std::uint32_t start = idx(at_start(lpa));
        const Ppa old{e ^ start};
        e = idx(to) ^ start;
        return old;
    }
    /// Maps all units as the layout says, in no time and no memory. Precondition: all units unmapped since the start.
    void lay_out(const SequentialLayout& layout) { layout_ = layout; }
    void lay_out(std::shared_ptr<const ScatteredLayout> layout) { scattered_ = std::move(layout); }
    /// For a snapshot, which stores the layout separately: the changes since the layout.
    template <class Archive>
    void state(Archive& s) {
        s(entries_);
    }
    std::uint32_t laid_out() const { return layout_.units(); }
    /// Null: the layout is not scattered.
    const ScatteredLayout* scattered() const { return scattered_.get(); }

private:
    Ppa at_start(Lpa lpa) const {
        return __builtin_expect(scattered_ != nullptr, 0) ? scattered_->place_of(lpa) : layout_.place_of(lpa);
    }

    // XOR of the Ppa and the one at start (kUnmapped where nothing was laid out): memory is taken by what has changed.
    SparseArray<std::uint32_t> entries_;
    SequentialLayout layout_;
    std::shared_ptr<const ScatteredLayout> scattered_;  // in its place; null: none
};

}  // namespace ssdtlm
