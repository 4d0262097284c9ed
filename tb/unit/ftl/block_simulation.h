// SPDX-License-Identifier: Apache-2.0
// Block mapping by itself, for one group of planes: which page goes where and what is copied for it, written without
// the model's tables and without its code. Counts only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <set>
#include <vector>

namespace ssdtlm::test {

class BlockSimulation {
public:
    struct Counts {
        std::uint64_t direct = 0, switches = 0, merges = 0, pages = 0, units = 0, erased = 0;

        friend bool operator==(const Counts& a, const Counts& b) {
            return a.direct == b.direct && a.switches == b.switches && a.merges == b.merges && a.pages == b.pages &&
                   a.units == b.units && a.erased == b.erased;
        }
        friend std::ostream& operator<<(std::ostream& o, const Counts& n) {
            return o << "direct " << n.direct << ", switch " << n.switches << ", merges " << n.merges << ", pages "
                     << n.pages << ", units " << n.units << ", erased " << n.erased;
        }
    };
    /// `units`: of the group.
    BlockSimulation(int units, int units_per_page, int pages_per_block)
        : units_(units),
          per_page_(units_per_page),
          pages_(pages_per_block),
          holds_(static_cast<std::size_t>(units)),
          has_data_(static_cast<std::size_t>(units / units_per_page / pages_per_block + 1)) {}

    /// These units of one page.
    void write(const std::set<int>& units) {
        const int page = *units.begin() / per_page_, block = page / pages_, at = page % pages_;
        if (open_ && (block != block_ || at < next_)) {
            int last = -1;
            for (int p = 0; p < pages_of(block_); ++p)
                if (mapped_in(block_ * pages_ + p) != 0) last = p;
            while (next_ <= last) copy_next();
            complete();
        }
        if (!open_) {
            open_ = true;
            block_ = block;
            next_ = 0;
            copied_ = false;
        }
        while (next_ < at) copy_next();
        std::uint64_t rest = mapped_in(page);
        for (const int u : units) rest -= holds_[static_cast<std::size_t>(u)];
        n_.units += rest;
        copied_ = copied_ || rest != 0;
        for (const int u : units) holds_[static_cast<std::size_t>(u)] = true;
        if (++next_ == pages_of(block_)) complete();
    }
    void trim(int unit) { holds_[static_cast<std::size_t>(unit)] = false; }
    const Counts& counts() const { return n_; }

private:
    int pages_of(int block) const { return std::min(pages_, (units_ + per_page_ - 1) / per_page_ - block * pages_); }
    std::uint64_t mapped_in(int page) const {
        std::uint64_t n = 0;
        for (int u = page * per_page_; u < std::min(units_, (page + 1) * per_page_); ++u)
            n += holds_[static_cast<std::size_t>(u)];
        return n;
    }
    void copy_next() {
        n_.units += mapped_in(block_ * pages_ + next_++);
        ++n_.pages;
        copied_ = true;
    }
    void complete() {
        const bool replaces = has_data_[static_cast<std::size_t>(block_)];
        has_data_[static_cast<std::size_t>(block_)] = true;
        ++(copied_ ? n_.merges : replaces ? n_.switches : n_.direct);
        n_.erased += replaces;
        open_ = false;
    }

    const int units_, per_page_, pages_;
    std::vector<bool> holds_;     // by unit: it was written
    std::vector<bool> has_data_;  // by logical block
    bool open_ = false, copied_ = false;
    int block_ = 0, next_ = 0;  // of the replacement block
    Counts n_;
};

}  // namespace ssdtlm::test
