// SPDX-License-Identifier: Apache-2.0
// Ftl::verify_books compares the tables of the FTL with the flash contents.
#include <string>
#include <utility>
#include <vector>

#include "controller/ftl/findings.h"
#include "controller/ftl/ftl.h"

namespace ssdtlm {

void Ftl::verify_books() const {
    Findings found;
    // Each mapped unit points to a valid flash unit that holds it, so no two point to the same one.
    std::uint64_t mapped = 0, lost = 0, own = 0;
    std::vector<std::uint32_t> pointed(notes_->end_of_pages());
    for (std::uint64_t l = 0; l < units(); ++l) {
        const Lpa lpa{static_cast<std::uint32_t>(l)};
        const Ppa p = books_.entry(lpa);
        if (p == kUnmapped) continue;
        if (!books_.entries().is_copy(p)) {
            if (books_.entries().page_of(p) >= pointed.size())
                found.require(false, "a page of the journal that does not exist, logical unit", l,
                              books_.entries().page_of(p), pointed.size());
            else
                ++pointed[books_.entries().page_of(p)];
            lost += books_.entries().says_lost(p);
            mapped += books_.entries().says_lost(p);
            continue;
        }
        ++(is_own(lpa) ? own : mapped);
        if (!books_.is_valid(p)) {
            found.require(false, "logical unit mapped to a unit that is not valid,", l, idx(p), l);
            continue;
        }
        const PageAddress a = geometry_.page_of(p);
        const BlockId b = geometry_.block_of(a);
        if (a.page >= spare_.next_page(b)) {  // its program is under way: nothing to see yet
            found.require(blocks_[shape_.superblock_of(b)].programs != 0,
                          "mapped to a page that nobody programs, logical unit", l, a.page, spare_.next_page(b));
            continue;
        }
        const Spare s = spare_.at(p);
        found.require(s != kErased && s != kPadding && codec_.lpa(s) == lpa, "flash holds another unit, logical unit",
                      l, idx(codec_.lpa(s)), l);
    }
    found.require(mapped == books_.mapped_units(), "mapped units, device", 0, books_.mapped_units(), mapped);
    found.require(lost == books_.lost_units(), "lost units, device", 0, books_.lost_units(), lost);
    const std::uint64_t of_notes = notes_->check(std::move(pointed), found);
    // Valid counts, and with them the number of valid units of the device.
    std::uint64_t valid = 0;
    std::vector<std::uint32_t> free_blocks(shape_.groups());
    for (std::uint32_t n = 0; n < shape_.superblocks(); ++n) {
        const SuperblockId b{n};
        const BlockRecord& r = blocks_[b];
        std::uint32_t bits = 0, programmed = 0;
        for (std::uint32_t i = 0; i < shape_.planes(); ++i) {
            const BlockId block = shape_.block(b, i);
            const std::uint32_t first = idx(block) * geometry_.units_per_block();
            bits += books_.count_valid(first, first + geometry_.units_per_block());
            programmed += spare_.next_page(block);
            // Every planes()-th of the pages handed out is this plane's. Where GC goes on behind torn pages
            // (reopen_roomiest()) planes may be ahead.
            const std::uint32_t most = (r.write_pointer + shape_.planes() - 1 - i) / shape_.planes();
            if (r.state != BlockState::victim && r.state != BlockState::set_apart && !r.cut)
                found.require(spare_.next_page(block) <= most, "pages programmed out of step in block", idx(block),
                              spare_.next_page(block), most);
        }
        valid += bits;
        found.require(bits == r.valid, "valid units of superblock", n, r.valid, bits);
        const HostPartition* const p = owner(b);
        const std::uint32_t pages = p != nullptr ? p->pages() : shape_.pages();
        const GroupId group = shape_.group_of(b);
        switch (r.state) {
            case BlockState::free:
            case BlockState::own_free:
                free_blocks[idx(group)] += p == nullptr;
                found.require(r.valid + r.write_pointer + r.programs == 0, "use of free superblock", n, r.write_pointer,
                              0);
                break;
            case BlockState::open_host:
            case BlockState::open_gc:
            case BlockState::open_cold:
            case BlockState::open_map:
            case BlockState::own_open:
                if (const SuperblockId open = p != nullptr
                                                  ? p->open_block(group)
                                                  : blocks_.open_block(group, r.state, host_stream_of(r.stream));
                    open != b)
                    found.require(false, "open superblock of group", idx(group), idx(open), n);
                found.require(r.write_pointer < pages, "pages handed out of open superblock", n, r.write_pointer,
                              pages - 1);
                found.require(programmed + r.programs >= r.write_pointer, "pages in open superblock", n, programmed,
                              r.write_pointer);
                break;
            case BlockState::full:
                found.require(r.write_pointer == pages && r.programs != 0, "programs in full superblock", n, r.programs,
                              1);
                break;
            case BlockState::sealed:
            case BlockState::own_sealed:
            case BlockState::placed:
                found.require((programmed == pages || r.cut) && r.programs == 0, "pages in sealed superblock", n,
                              programmed, pages);
                break;
            case BlockState::failed:
                found.require(r.cut || programmed + r.programs >= r.write_pointer, "pages in failed superblock", n,
                              programmed, r.write_pointer);
                found.require(notes_->says_failed(b), "entry of the journal about failed superblock", n, 0, 1);
                break;
            case BlockState::retired:
                found.require(r.valid + r.programs == 0, "use of retired superblock", n, r.valid, 0);
                found.require(notes_->says_failed(b) ||
                                  shape_.any_block(SuperblockId{n},
                                                   [this](BlockId block) { return spare_.is_marked_bad(block); }),
                              "entry of the journal about retired superblock", n, 0, 1);
                break;
            case BlockState::spare:
                found.require(r.valid + r.write_pointer + programmed == 0, "use of spare superblock", n, programmed, 0);
                break;
            case BlockState::set_apart:
                found.require(r.valid + r.write_pointer + r.programs == 0, "use of set apart superblock", n,
                              r.write_pointer, 0);
                break;
            case BlockState::victim:  // the flash may be erased already
                found.require(r.programs == 0, "programs in victim superblock", n, r.programs, 0);
                break;
        }
    }
    for (std::uint32_t n = 0; n < shape_.superblocks() && blocks_.erases_counted(); ++n) {
        const BlockState state = blocks_[SuperblockId{n}].state;
        if (state == BlockState::victim || state == BlockState::retired || state == BlockState::failed ||
            state == BlockState::set_apart)
            continue;
        const std::uint32_t erases = spare_.erase_count(shape_.block(SuperblockId{n}, 0));
        found.require(blocks_.erases(SuperblockId{n}) == erases, "erases of superblock", n,
                      blocks_.erases(SuperblockId{n}), erases);
    }
    const std::uint64_t of_host = valid - of_notes - own;
    found.require(of_host + lost == mapped, "valid and lost units, device", 0, of_host + lost, mapped);
    for (std::uint32_t g = 0; g < shape_.groups(); ++g)
        found.require(free_blocks[g] == blocks_.free_blocks(GroupId{g}), "free superblocks of group", g,
                      blocks_.free_blocks(GroupId{g}), free_blocks[g]);
    const std::vector<std::uint32_t>& under_way = load_.by_group();
    std::vector<std::uint32_t> programs(under_way.size());
    for (std::uint32_t n = 0; n < shape_.superblocks() && !programs.empty(); ++n)
        programs[idx(shape_.group_of(SuperblockId{n}))] += blocks_[SuperblockId{n}].programs;
    for (std::uint32_t g = 0; g < programs.size(); ++g)
        found.require(under_way[g] == programs[g], "programs under way in group", g, under_way[g], programs[g]);
    for (const auto& feature : features_)
        if (const std::string wrong = feature->check(); !wrong.empty()) found.add(wrong);
    if (placement_ != nullptr)
        if (const std::string wrong = placement_->check(); !wrong.empty()) found.add(wrong);
    found.throw_if_any();
}

std::uint32_t Ftl::count(GroupId group, BlockState state) const {
    std::uint32_t n = 0;
    const std::uint32_t first = idx(group) * shape_.blocks_per_group();
    for (std::uint32_t b = first; b < first + shape_.blocks_per_group(); ++b)
        n += blocks_[SuperblockId{b}].state == state;
    return n;
}

}  // namespace ssdtlm
