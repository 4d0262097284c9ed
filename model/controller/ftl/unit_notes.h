// SPDX-License-Identifier: Apache-2.0
// What the core asks of whoever notes the facts that the flash does not tell by itself: which units were deallocated or
// lost, and which superblocks have failed. For a unit without a copy the map holds a note (mapping/map_entry.h). Notes
// stand in pages; a page is needed as long as the map, or a failed superblock, points to it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

class BlockManager;
class Books;
class Findings;
class Ftl;
class OpenRoom;
class Snapshot;
struct FtlCounters;

/// Bytes of a note in a page of the flash.
inline constexpr std::uint32_t kNoteBytes = 16;

class UnitNotes {
public:
    virtual ~UnitNotes() = default;

    /// Takes one entry for all these units.
    virtual void take(Lpa first, std::uint32_t units, bool lost) = 0;
    /// Sets the map's entry of this unit to the entry taken last, which must name the unit: it has no copy. Returns the
    /// old map entry.
    virtual Ppa point_to(Lpa lpa, bool lost) = 0;
    /// A new copy of the unit has its place. The note is needed until that copy is programmed.
    virtual void written_over(Ppa note) = 0;
    /// That copy is programmed. Returns the superblock that this no longer keeps from being erased; kNoSuperblock:
    /// none.
    virtual SuperblockId let_go(Ppa note) = 0;
    /// The old copy or note stays until every page that is not in flash yet is there.
    virtual void hand_over(Ppa old) = 0;
    /// The superblock has failed. The note of it is written at once.
    virtual void failed(SuperblockId b) = 0;
    /// The drive has become read-only, so pages need not wait for collections any more.
    virtual void look_again() const = 0;
    /// GC has reached a page. Notes again what is still true of it. False: it is no page of notes that is needed.
    virtual bool renew_page(const PageAddress& a) = 0;

    /// Reads or writes what it remembers. Map and superblocks have been read before.
    virtual void state(Snapshot& s) = 0;

    // --- What must hold ---
    /// All numbers of pages are below.
    virtual std::uint32_t end_of_pages() const = 0;
    /// True: a note says that the superblock has failed.
    virtual bool says_failed(SuperblockId b) const = 0;
    /// Adds what is wrong. `pointed`: by page, the units for which the map points to it. Returns how many units of the
    /// flash hold notes that are needed.
    virtual std::uint64_t check(std::vector<std::uint32_t> pointed, Findings& found) const = 0;
};

/// All must outlive the notes.
struct NotesSetup {
    Ftl& ftl;
    Books& books;
    BlockManager& blocks;
    FtlCounters& counters;
    const OpenRoom& room;
};
/// It is defined beside the list of features (../features/features.cpp).
std::unique_ptr<UnitNotes> make_notes(const NotesSetup& setup);

}  // namespace ssdtlm
