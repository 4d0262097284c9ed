// SPDX-License-Identifier: Apache-2.0
// Of an FTL that was read from a snapshot: what no organ can see by itself. That the map and the flash say the same,
// Ftl::verify_books() looks at later; here is what it takes for granted, and what would be missed only when the drive
// works.
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/ftl/state/ftl_state.h"

namespace ssdtlm {

namespace {
bool exists(const NandGeometry& g, const PageAddress& a) {
    return idx(a.plane) < g.planes() && a.block < g.blocks_per_plane && a.page < g.pages_per_block;
}
}  // namespace

void FtlState::check_read(const Ftl& ftl, Snapshot& s) {
    check_flash(ftl, s);
    check_journal(ftl, s);
    check_turns(ftl, s);
    std::vector<std::uint32_t> candidates(ftl.shape_.superblocks(), VictimPolicy::kNoCandidate);
    for (std::uint32_t b = 0; b < candidates.size(); ++b)
        if (ftl.blocks_[SuperblockId{b}].state == BlockState::sealed)
            candidates[b] = ftl.blocks_[SuperblockId{b}].valid;
    s.require(ftl.policy_->agrees(candidates), "the choice of victims has others than the sealed superblocks");
}

/// Units of others than the drive's, and pages that are yet to come.
void FtlState::check_flash(const Ftl& ftl, Snapshot& s) {
    const NandGeometry& g = ftl.geometry_;
    const std::uint64_t units = ftl.logical_units_ + ftl.translation_pages_;
    for (std::uint32_t n = 0; n < g.blocks(); ++n) {
        std::uint64_t number = 0;
        for (auto record = ftl.spare_.records(BlockId{n}); !record.at_end(); record.next()) {
            s.require(record.record().number >= number && record.record().number <= ftl.last_number_,
                      "a page of the flash that is yet to come");
            number = record.record().number;
            if (record.record().kind == PageKind::parity) continue;  // a sum, which is no unit
            const std::uint32_t first = (n * g.pages_per_block + record.page()) * g.units_per_page();
            for (std::uint32_t i = 0; i < g.units_per_page(); ++i) {
                const Spare spare = ftl.spare_.at(Ppa{first + i});
                s.require(spare >= kTorn || idx(ftl.codec_.lpa(spare)) < units,
                          "a unit of the flash that the drive does not have");
            }
        }
    }
}

void FtlState::check_journal(const Ftl& ftl, Snapshot& s) {
    std::vector<std::uint32_t> superseded(ftl.shape_.superblocks());
    for (Journal::Id id = 1; id < ftl.journal_.ids(); ++id) {
        const Journal::Page& p = ftl.journal_.page(id);
        for (const SuperblockId b : p.needs) ++superseded[idx(b)];
        for (const JournalEntry& e : p.entries)
            s.require(e.number <= ftl.last_number_ &&
                          (e.note == JournalNote::failed ||
                           std::uint64_t{idx(e.first)} + e.units <= ftl.logical_units_ + ftl.translation_pages_),
                      "an entry of the journal about units that there are not");
        if (p.state != Journal::State::durable) continue;
        s.require(exists(ftl.geometry_, p.at), "a page of the journal where there is none");
        superseded[idx(ftl.shape_.superblock_of(ftl.geometry_.block_of(p.at)))] += p.holds;
    }
    for (std::uint32_t b = 0; b < superseded.size(); ++b)
        s.require(ftl.blocks_[SuperblockId{b}].superseded == superseded[b], "a superblock that is needed for nothing");
    for (const auto& [b, page] : ftl.failed_in_)
        s.require(b < superseded.size() && page < ftl.journal_.ids(), "a failed superblock that there is not");
    check_entries(ftl, s);
}

/// What points to a page of the journal is in one of its entries: else the page could never be let go.
void FtlState::check_entries(const Ftl& ftl, Snapshot& s) {
    std::vector<std::uint32_t> named(ftl.journal_.ids());
    for (const auto& [b, page] : ftl.failed_in_) ++named[page];
    std::vector<bool> seen(ftl.logical_units_ + ftl.translation_pages_);
    for (Journal::Id id = 1; id < ftl.journal_.ids(); ++id)
        for (const JournalEntry& e : ftl.journal_.page(id).entries)
            for (std::uint32_t unit = idx(e.first); e.note != JournalNote::failed && unit < idx(e.first) + e.units;
                 ++unit) {
                if (seen[unit] || ftl.map_.lookup(Lpa{unit}) != ftl.note_in(id, e.lost())) continue;
                seen[unit] = true;
                ++named[id];
            }
    for (Journal::Id id = 1; id < ftl.journal_.ids(); ++id)
        s.require(!ftl.journal_.page(id).entries_known || ftl.journal_.page(id).live == named[id],
                  "a page of the journal for units that it does not name");
}

void FtlState::check_turns(const Ftl& ftl, Snapshot& s) {
    const std::uint32_t groups = ftl.shape_.groups();
    for (std::uint32_t n = 0; n < groups; ++n) {
        const SuperblockId b = ftl.begun_.of(GroupId{n});
        s.require(b == kNoSuperblock ||
                      (idx(b) / ftl.shape_.blocks_per_group() == n && ftl.blocks_[b].state == BlockState::victim),
                  "a victim that is none");
    }
    for (std::uint32_t n = 0; n < groups; ++n) {
        s.require(ftl.gc_stream_.empty() || ftl.gc_stream_[n] <= ftl.lanes_.streams(), "a stream that there is not");
    }
    s.require(ftl.journal_group_ < groups, "a group that there is not");
    for (std::uint32_t lane = 0; lane < ftl.lanes_.count(); ++lane)
        s.require(!ftl.lanes_.any_held(lane), "a group that is held for nothing");
    for (std::uint32_t n = 0; n < groups; ++n)
        for (std::uint32_t stream = 0; stream <= ftl.lanes_.streams(); ++stream)
            s.require(ftl.lanes_.able(GroupId{n}, stream) == ftl.takes_host_pages(GroupId{n}, stream),
                      "a group that takes pages, and does not");
}

}  // namespace ssdtlm
