// SPDX-License-Identifier: Apache-2.0
// Checks an FTL that was read from a snapshot, for errors that no organ can see by itself. Ftl::verify_books() later
// compares the map with the flash. These checks cover what it takes for granted, and what would be missed only when the
// drive works.
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/ftl/image.h"
#include "controller/snapshot/ftl_state.h"

namespace ssdtlm {

namespace {
bool exists(const NandGeometry& g, const PageAddress& a) {
    return idx(a.plane) < g.planes() && a.block < g.blocks_per_plane && a.page < g.pages_per_block;
}
}  // namespace

void FtlState::check_read(const Ftl& ftl, const FtlImage& image, const Notes::Image& notes, Snapshot& s) {
    check_flash(ftl, image, s);
    check_journal(ftl, image, notes, s);
    check_turns(ftl, image, notes, s);
    std::vector<std::uint32_t> candidates(ftl.shape().superblocks(), VictimPolicy::kNoCandidate);
    for (std::uint32_t b = 0; b < candidates.size(); ++b)
        if (image.blocks[SuperblockId{b}].state == BlockState::sealed)
            candidates[b] = image.blocks[SuperblockId{b}].valid;
    s.require(image.policy.agrees(candidates), "the choice of victims has others than the sealed superblocks");
}

/// The flash must have no units that the drive does not have, and no pages with numbers that are yet to come.
void FtlState::check_flash(const Ftl& ftl, const FtlImage& image, Snapshot& s) {
    const NandGeometry& g = ftl.geometry();
    const std::uint64_t units = ftl.units();
    for (std::uint32_t n = 0; n < g.blocks(); ++n) {
        std::uint64_t number = 0;
        for (auto record = image.flash.records(BlockId{n}); !record.at_end(); record.next()) {
            s.require(record.record().number >= number && record.record().number <= image.last_number,
                      "a page of the flash that is yet to come");
            number = record.record().number;
            if (record.record().kind == PageKind::parity) continue;  // a sum, which is no unit
            const std::uint32_t first = (n * g.pages_per_block + record.page()) * g.units_per_page();
            for (std::uint32_t i = 0; i < g.units_per_page(); ++i) {
                const Spare spare = image.flash.at(Ppa{first + i});
                s.require(spare >= kTorn || idx(ftl.codec().lpa(spare)) < units,
                          "a unit of the flash that the drive does not have");
            }
        }
    }
}

void FtlState::check_journal(const Ftl& ftl, const FtlImage& image, const Notes::Image& notes, Snapshot& s) {
    std::vector<std::uint32_t> superseded(ftl.shape().superblocks());
    for (Journal::Id id = 1; id < notes.journal.ids(); ++id) {
        const Journal::Page& p = notes.journal.page(id);
        for (const SuperblockId b : p.needs) ++superseded[idx(b)];
        for (const JournalEntry& e : p.entries)
            s.require(e.number <= image.last_number &&
                          (e.note == JournalNote::failed || std::uint64_t{idx(e.first)} + e.units <= ftl.units()),
                      "an entry of the journal about units that there are not");
        if (p.state != Journal::State::durable) continue;
        s.require(exists(ftl.geometry(), p.at), "a page of the journal where there is none");
        superseded[idx(ftl.shape().superblock_of(ftl.geometry().block_of(p.at)))] += p.holds;
    }
    for (std::uint32_t b = 0; b < superseded.size(); ++b)
        s.require(image.blocks[SuperblockId{b}].superseded == superseded[b], "a superblock that is needed for nothing");
    for (const auto& [b, page] : notes.failed_in)
        s.require(b < superseded.size() && page < notes.journal.ids(), "a failed superblock that there is not");
    check_entries(ftl, image, notes, s);
}

/// What points to a page of the journal is in one of its entries: else the page could never be let go.
void FtlState::check_entries(const Ftl& ftl, const FtlImage& image, const Notes::Image& notes, Snapshot& s) {
    std::vector<std::uint32_t> named(notes.journal.ids());
    for (const auto& [b, page] : notes.failed_in) ++named[page];
    std::vector<bool> seen(ftl.units());
    for (Journal::Id id = 1; id < notes.journal.ids(); ++id)
        for (const JournalEntry& e : notes.journal.page(id).entries)
            for (std::uint32_t unit = idx(e.first); e.note != JournalNote::failed && unit < idx(e.first) + e.units;
                 ++unit) {
                if (seen[unit] || image.map.lookup(Lpa{unit}) != image.entries.note(id, e.lost())) continue;
                seen[unit] = true;
                ++named[id];
            }
    for (Journal::Id id = 1; id < notes.journal.ids(); ++id)
        s.require(!notes.journal.page(id).entries_known || notes.journal.page(id).live == named[id],
                  "a page of the journal for units that it does not name");
}

void FtlState::check_turns(const Ftl& ftl, const FtlImage& image, const Notes::Image& notes, Snapshot& s) {
    const std::uint32_t groups = ftl.shape().groups();
    for (std::uint32_t n = 0; n < groups; ++n) {
        const SuperblockId b = image.begun.of(GroupId{n});
        s.require(b == kNoSuperblock ||
                      (idx(b) / ftl.shape().blocks_per_group() == n && image.blocks[b].state == BlockState::victim),
                  "a victim that is none");
    }
    for (std::uint32_t n = 0; n < groups; ++n) {
        s.require(image.gc_stream.empty() || image.gc_stream[n] <= image.partitions.streams(),
                  "a stream that there is not");
    }
    s.require(notes.journal_group < groups, "a group that there is not");
    for (std::uint32_t partition = 0; partition < image.partitions.count(); ++partition)
        s.require(!image.partitions.any_held(partition), "a group that is held for nothing");
    for (std::uint32_t n = 0; n < groups; ++n)
        for (std::uint32_t stream = 0; stream <= image.partitions.streams(); ++stream)
            s.require(image.partitions.able(GroupId{n}, stream) == ftl.takes_host_pages(GroupId{n}, stream),
                      "a group that takes pages, and does not");
}

}  // namespace ssdtlm
