// SPDX-License-Identifier: Apache-2.0
// Checks that what comes from translation pages is what the map says. The Ftl holds what an entry says; it is not kept
// twice. Instead there is a bit for each unit of the host, set while its translation page on the flash differs from the
// Ftl. An entry that comes from the flash must not have the bit. Where contents are bytes, translation pages hold their
// entries, and what is read is compared. Where the power may go, what the flash has kept of them is compared too
// (translation_contents.h).
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/map/cached/cached_map_peers.h"

namespace ssdtlm {

class EntryCheck {
public:
    explicit EntryCheck(const Ftl& ftl) : ftl_(ftl), stale_((ftl.logical_units() + 63) / 64) {}

    /// The map has changed, and the flash does not say so yet.
    void changed(Lpa lpa) { stale_[idx(lpa) / 64] |= std::uint64_t{1} << (idx(lpa) % 64); }
    /// The flash will say what the map says now of `units` units from `first` on, as far as they exist.
    void written(std::uint64_t first, std::uint64_t units);
    /// True: the flash differs in at least one of these units.
    bool is_stale(std::uint64_t first, std::uint64_t units) const;
    /// Throws CheckFailed if the flash differs in one of them.
    void require_fresh(std::uint64_t first, std::uint64_t units) const {
        if (is_stale(first, units)) refuse(first);
    }
    /// Throws CheckFailed if one of them is mapped: their translation page was never written.
    void require_unmapped(std::uint64_t first, std::uint64_t units) const;

    /// The contents of a translation page, of the size of a mapping unit.
    UnitBytes bytes_of(std::uint32_t page) const;
    /// True: this read has brought entries, as bytes or as the flash has kept them, and the page was not written again
    /// since.
    bool has_entries(const TranslationRead& read) const;
    /// Throws CheckFailed if they differ from the map in this unit.
    void compare(const TranslationRead& read, Lpa lpa) const;
    /// As compare(), for all units that are not stale.
    void compare_page(const TranslationRead& read) const;
    void state(Snapshot& s) { s.fixed(stale_); }
    template <class Visit>
    void for_each_stale(Visit&& visit) const {
        for (std::size_t word = 0; word < stale_.size(); ++word)
            for (std::uint64_t bits = stale_[word]; bits != 0; bits &= bits - 1)
                visit(std::uint64_t{word} * 64 + static_cast<unsigned>(__builtin_ctzll(bits)));
    }

private:
    bool has_bytes(const TranslationRead& read) const;
    [[noreturn]] static void refuse(std::uint64_t unit);

    const Ftl& ftl_;
    std::vector<std::uint64_t> stale_;
};

}  // namespace ssdtlm
