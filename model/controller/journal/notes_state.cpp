// SPDX-License-Identifier: Apache-2.0
// The notes in a saved drive, and checks for errors in what was read that the journal cannot see by itself.
#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ftl/ftl.h"
#include "controller/journal/notes.h"

namespace ssdtlm {

void Notes::state(Snapshot& s) {
    s.section("journal");
    journal_.state(s);
    s(group_);
    s.map(failed_in_);
    if (s.reads()) check_read(s);
}

void Notes::check_read(Snapshot& s) {
    const NandGeometry& g = geometry();
    std::vector<std::uint32_t> superseded(shape().superblocks());
    for (Journal::Id id = 1; id < journal_.ids(); ++id) {
        const Journal::Page& p = journal_.page(id);
        for (const SuperblockId b : p.needs) ++superseded[idx(b)];
        for (const JournalEntry& e : p.entries)
            s.require(e.number <= in_.books.image().last_number &&
                          (e.note == JournalNote::failed || std::uint64_t{idx(e.first)} + e.units <= in_.ftl.units()),
                      "an entry of the journal about units that there are not");
        if (p.state != Journal::State::durable) continue;
        s.require(idx(p.at.plane) < g.planes() && p.at.block < g.blocks_per_plane && p.at.page < g.pages_per_block,
                  "a page of the journal where there is none");
        superseded[idx(shape().superblock_of(g.block_of(p.at)))] += p.holds;
    }
    for (std::uint32_t b = 0; b < superseded.size(); ++b)
        s.require(in_.blocks[SuperblockId{b}].superseded == superseded[b], "a superblock that is needed for nothing");
    for (const auto& [b, page] : failed_in_)
        s.require(b < superseded.size() && page < journal_.ids(), "a failed superblock that there is not");
    s.require(group_ < shape().groups(), "a group that there is not");
    check_live(s);
}

/// What points to a page of the journal is in one of its entries: else the page could never be let go.
void Notes::check_live(Snapshot& s) const {
    std::vector<std::uint32_t> named(journal_.ids());
    for (const auto& [b, page] : failed_in_) ++named[page];
    std::vector<bool> seen(in_.ftl.units());
    for (Journal::Id id = 1; id < journal_.ids(); ++id)
        for (const JournalEntry& e : journal_.page(id).entries)
            for (std::uint32_t unit = idx(e.first); e.note != JournalNote::failed && unit < idx(e.first) + e.units;
                 ++unit) {
                if (seen[unit] || in_.books.entry(Lpa{unit}) != in_.books.entries().note(id, e.lost())) continue;
                seen[unit] = true;
                ++named[id];
            }
    for (Journal::Id id = 1; id < journal_.ids(); ++id)
        s.require(!journal_.page(id).entries_known || journal_.page(id).live == named[id],
                  "a page of the journal for units that it does not name");
}

}  // namespace ssdtlm
