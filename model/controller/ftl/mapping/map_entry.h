// SPDX-License-Identifier: Apache-2.0
// What the forward map holds for a unit: the place of its copy on the flash, nothing, or a note. A note names the page
// of the journal that says that the unit was deallocated or lost. In an entry of 4 bytes the notes are the numbers
// above those of the flash's units: even ones deallocated, odd ones lost.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"

namespace ssdtlm {

/// The number of a page of notes (unit_notes.h).
using NotePage = std::uint32_t;
/// Stands in place of a page: the unit's newest program has failed and will be repeated.
inline constexpr NotePage kDetachedNote = 0;

class MapEntries {
public:
    /// `units`: number of units of the flash.
    explicit MapEntries(std::uint64_t units) : units_(static_cast<std::uint32_t>(units)) {}

    bool is_copy(Ppa entry) const { return idx(entry) < units_; }
    bool is_note(Ppa entry) const { return !is_copy(entry) && entry != kUnmapped; }
    // The contents of a note.
    bool says_lost(Ppa note) const { return ((idx(note) - units_) & 1) != 0; }
    NotePage page_of(Ppa note) const { return (idx(note) - units_) / 2; }
    Ppa note(NotePage page, bool lost) const { return Ppa{units_ + 2 * page + (lost ? 1u : 0u)}; }
    /// True: the unit has no copy, and the journal says so or need not say so.
    bool is_deallocated(Ppa entry) const {
        return entry == kUnmapped || (is_note(entry) && !says_lost(entry) && page_of(entry) != kDetachedNote);
    }
    /// What others than the books see of an entry: a place, kLost or kUnmapped.
    Ppa seen(Ppa entry) const {
        return __builtin_expect(is_copy(entry), 1) ? entry : is_note(entry) && says_lost(entry) ? kLost : kUnmapped;
    }

private:
    std::uint32_t units_;
};

}  // namespace ssdtlm
