// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/block_manager.h"

#include <string>

namespace ssdtlm {

BlockManager::BlockManager(const SuperblockShape& shape, std::uint32_t hard_free_blocks, std::uint32_t spare_blocks,
                           bool by_wear, std::uint32_t set_apart, std::uint32_t streams, bool one_frontier)
    : shape_(shape),
      hard_free_blocks_(hard_free_blocks),
      by_wear_(by_wear),
      spare_blocks_(spare_blocks),
      set_apart_(set_apart),
      streams_(streams),
      one_frontier_(one_frontier),
      blocks_(shape.superblocks()),
      erases_(shape.superblocks()),
      groups_(shape.groups()),
      named_(std::size_t{shape.groups()} * streams, kNoSuperblock),
      named_gc_(named_) {
    SSDTLM_CHECK(spare_blocks + set_apart < shape.blocks_per_group(), "all blocks are spare or set apart");
    std::uint32_t b = 0;
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        groups_[g].spares = groups_[g].spares_at_first = spare_blocks;
        groups_[g].reserve = hard_free_blocks;
        const std::uint32_t end = b + shape.blocks_per_group();
        for (; b < end - set_apart - spare_blocks; ++b) push_free(GroupId{g}, SuperblockId{b});
        for (; b < end - set_apart; ++b) blocks_[b].state = BlockState::spare;
        for (; b < end; ++b) {
            blocks_[b].state = BlockState::set_apart;
            blocks_[b].stream = kSetApartStream;
        }
    }
}

void BlockManager::push_free(GroupId group, SuperblockId b) {
    Group& g = groups_[idx(group)];
    blocks_[idx(b)].next_free = kNoSuperblock;
    (g.free_last == kNoSuperblock ? g.free_first : blocks_[idx(g.free_last)].next_free) = b;
    g.free_last = b;
    ++g.free_count;
}

SuperblockId BlockManager::open(GroupId group, BlockState state) {
    Group& g = groups_[idx(group)];
    if (g.free_count == 0)
        panic("BlockManager",
              "group " + std::to_string(idx(group)) + " has no free block left for a page " +
                  (state == BlockState::open_host  ? std::string("of the host")
                   : state == BlockState::open_map ? std::string("of the map")
                                                   : "moved by GC: more victims at once than the hard threshold (" +
                                                         std::to_string(hard_free_blocks_) + ")"));
    const SuperblockId before =
        !by_wear_ ? kNoSuperblock : before_by_wear(g, state == BlockState::open_gc || state == BlockState::open_cold);
    const SuperblockId b = take_behind(g, before);
    blocks_[idx(b)].state = state;
    blocks_[idx(b)].stream = state == BlockState::open_host   ? kHostStream
                             : state == BlockState::open_gc   ? kGcStream
                             : state == BlockState::open_cold ? kColdStream
                                                              : kMapStream;
    return b;
}

/// Takes the free superblock behind `before` out of the list; kNoSuperblock: takes the first.
SuperblockId BlockManager::take_behind(Group& g, SuperblockId before) {
    SuperblockId& to_b = before == kNoSuperblock ? g.free_first : blocks_[idx(before)].next_free;
    const SuperblockId b = to_b;
    to_b = std::exchange(blocks_[idx(b)].next_free, kNoSuperblock);
    if (g.free_last == b) g.free_last = before;
    --g.free_count;
    return b;
}

/// Finds the free superblock with the most or fewest erases; of equals the one that is free longest. Returns the one in
/// front of it in the list; kNoSuperblock: it is the first.
SuperblockId BlockManager::before_by_wear(const Group& g, bool most) const {
    SuperblockId before = kNoSuperblock, best_before = kNoSuperblock;
    std::uint32_t best = erases(g.free_first);
    for (SuperblockId b = g.free_first; b != kNoSuperblock; before = b, b = blocks_[idx(b)].next_free) {
        const std::uint32_t e = erases(b);
        if (most ? e <= best : e >= best) continue;
        best = e;
        best_before = before;
    }
    return best_before;
}

void BlockManager::make_victim(SuperblockId b) {
    BlockRecord& r = blocks_[idx(b)];
    if (r.state == BlockState::failed && r.programs == 0) {
        failed_.erase(std::find(failed_.begin(), failed_.end(), b));
        any_failed_ = !failed_.empty();
    } else if (r.state != BlockState::sealed && r.state != BlockState::placed) {
        refuse(b, "chosen as victim");
    }
    r.state = BlockState::victim;
}

void BlockManager::close_gc(GroupId group) {
    Group& g = groups_[idx(group)];
    const SuperblockId b =
        std::exchange(one_frontier_ && g.open_gc == kNoSuperblock ? g.open_host : g.open_gc, kNoSuperblock);
    BlockRecord& r = blocks_[idx(b)];
    if (r.programs != 0) refuse(b, "closed");
    r.state = BlockState::sealed;
    r.cut = true;
    r.write_pointer = shape_.pages();
}

bool BlockManager::close(GroupId group, BlockState kind, std::uint32_t stream) {
    const SuperblockId b = std::exchange(
        kind == BlockState::open_host ? opened_host(group, stream) : opened_gc(group, stream), kNoSuperblock);
    BlockRecord& r = blocks_[idx(b)];
    r.cut = true;
    r.write_pointer = shape_.pages();
    r.state = r.programs == 0 ? BlockState::sealed : BlockState::full;
    return r.programs == 0;
}

void BlockManager::reopen_for_gc(SuperblockId b, std::uint32_t write_pointer) {
    BlockRecord& r = blocks_[idx(b)];
    Group& g = groups_[idx(shape_.group_of(b))];
    if (r.state != BlockState::sealed || !r.cut || g.open_gc != kNoSuperblock || write_pointer >= shape_.pages())
        refuse(b, "opened again");
    r.state = BlockState::open_gc;
    r.stream = one_frontier_ ? kHostStream : kGcStream;
    r.write_pointer = write_pointer;
    g.open_gc = b;
}

void BlockManager::erased(SuperblockId b) {
    emptied(b);
    blocks_[idx(b)].state = BlockState::free;
    push_free(shape_.group_of(b), b);
}

void BlockManager::emptied(SuperblockId b) {
    BlockRecord& r = blocks_[idx(b)];
    if (r.state != BlockState::victim || r.bad || r.valid != 0 || reads(b) != 0 || r.programs != 0 || r.superseded != 0)
        refuse(b, "erased");
    r.write_pointer = 0;
    r.cut = false;
    ++erases_[idx(b)];
}

bool BlockManager::fail(SuperblockId b) {
    BlockRecord& r = blocks_[idx(b)];
    if (r.state == BlockState::failed) return false;
    Group& g = groups_[idx(shape_.group_of(b))];
    if (r.state == BlockState::open_host)
        opened_host(shape_.group_of(b), host_stream_of(r.stream)) = kNoSuperblock;
    else if (r.state == BlockState::open_gc)
        opened_gc(shape_.group_of(b), host_stream_of(r.stream)) = kNoSuperblock;
    else if (r.state == BlockState::open_cold)
        g.open_cold = kNoSuperblock;
    else if (r.state == BlockState::open_map)
        g.open_map = kNoSuperblock;
    else if (r.state != BlockState::full && r.state != BlockState::own_open)
        refuse(b, "has a failed program");
    r.state = BlockState::failed;
    r.bad = true;
    g.reserve += keeps_reserve_;
    failed_.push_back(b);
    any_failed_ = true;
    return true;
}

SuperblockId BlockManager::failed_of(GroupId group, bool of_gc) const {
    for (const SuperblockId b : failed_)
        if (shape_.group_of(b) == group && blocks_[idx(b)].programs == 0 &&
            (!of_gc || blocks_[idx(b)].stream == kGcStream))
            return b;
    return kNoSuperblock;
}

void BlockManager::retire(SuperblockId b) {
    BlockRecord& r = blocks_[idx(b)];
    if (r.state != BlockState::victim || r.valid != 0 || r.programs != 0) refuse(b, "retired");
    if (r.bad && keeps_reserve_) --groups_[idx(shape_.group_of(b))].reserve;
    r.bad = true;
    r.state = BlockState::retired;
}

bool BlockManager::add_spare(GroupId group, BlockState as) {
    Group& g = groups_[idx(group)];
    if (g.spares == 0) {
        // GC counts on a free one now.
        if (g.surplus == 0 || g.free_count == 0) return false;
        --g.surplus;
        return true;
    }
    std::uint32_t b = (idx(group) + 1) * shape_.blocks_per_group() - set_apart_ - spare_blocks_;
    while (blocks_[b].state != BlockState::spare) ++b;
    --g.spares;
    blocks_[b].state = as;
    if (as == BlockState::free) push_free(group, SuperblockId{b});
    return true;
}

bool BlockManager::leave_out(SuperblockId b) {
    Group& g = groups_[idx(shape_.group_of(b))];
    BlockRecord& r = blocks_[idx(b)];
    const BlockState was = std::exchange(r.state, BlockState::retired);
    r.bad = true;
    if (was == BlockState::own_free) return true;  // its partition is smaller
    if (was == BlockState::spare) {
        g.spares = --g.spares_at_first;
        return true;
    }
    if (was == BlockState::free) {
        SuperblockId before = kNoSuperblock;
        for (SuperblockId s = g.free_first; s != b; s = blocks_[idx(s)].next_free) before = s;
        take_behind(g, before);
    } else if (was != BlockState::set_apart) {
        refuse(b, "left out");
    }
    if (!add_spare(shape_.group_of(b), was)) return false;
    --g.spares_at_first;
    return true;
}

std::uint32_t BlockManager::spares_left() const {
    std::uint32_t fewest = 100;
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
        if (const std::uint32_t at_first = groups_[g].spares_at_first; at_first != 0)
            fewest = std::min(fewest, spares(GroupId{g}) * 100 / at_first);
    return fewest;
}

bool BlockManager::restart(const std::vector<bool>& used, const std::vector<bool>& failed) {
    const std::uint32_t needed = shape_.blocks_per_group() - set_apart_ - spare_blocks_;
    bool enough = true;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        const GroupId group{i};
        Group& g = groups_[i];
        g.free_first = g.free_last = kNoSuperblock;
        g.free_count = g.spares = 0;
        std::uint32_t in_use = 0;
        for (std::uint32_t b = i * shape_.blocks_per_group(); b < (i + 1) * shape_.blocks_per_group(); ++b) {
            BlockRecord& r = blocks_[b];
            if (r.state == BlockState::set_apart || r.state == BlockState::retired) continue;
            if (failed[b]) {
                r.state = BlockState::failed;
                r.bad = r.cut = true;
                r.write_pointer = shape_.pages();
                g.reserve += keeps_reserve_;
                failed_.push_back(SuperblockId{b});
                continue;
            }
            if (r.state == BlockState::own_free) continue;
            if (!used[b] && r.state == BlockState::spare) {
                ++g.spares;
                continue;
            }
            ++in_use;
            r.state = BlockState::sealed;
            r.write_pointer = shape_.pages();
            if (used[b]) continue;
            r.state = BlockState::free;
            r.write_pointer = 0;
            push_free(group, SuperblockId{b});
        }
        while (in_use < needed && g.spares != 0 && add_spare(group)) ++in_use;
        g.surplus = in_use > needed ? in_use - needed : 0;
        enough = enough && in_use >= needed;
    }
    any_failed_ = !failed_.empty();
    return enough;
}

void BlockManager::restore(const std::vector<std::vector<SuperblockId>>& free) {
    const std::uint32_t needed = shape_.blocks_per_group() - set_apart_ - spare_blocks_;
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
        Group& g = groups_[i];
        g = Group{};
        g.reserve = hard_free_blocks_;
        g.spares_at_first = spare_blocks_;
        std::uint32_t in_use = 0;
        for (std::uint32_t n = i * shape_.blocks_per_group(); n < (i + 1) * shape_.blocks_per_group(); ++n) {
            const SuperblockId b{n};
            blocks_[n].next_free = kNoSuperblock;
            switch (blocks_[n].state) {
                case BlockState::set_apart:
                case BlockState::own_free:
                case BlockState::retired:
                    continue;
                case BlockState::own_open:
                case BlockState::own_sealed:
                    in_use += n % shape_.blocks_per_group() < shape_.blocks_per_group() - set_apart_;
                    continue;  // dynamic ones are the group's
                case BlockState::spare:
                    ++g.spares;
                    continue;
                case BlockState::failed:
                    ++g.reserve;
                    failed_.push_back(b);
                    continue;
                case BlockState::open_host:
                    opened_host(GroupId{i}, host_stream_of(blocks_[n].stream)) = b;
                    break;
                case BlockState::open_gc:
                    opened_gc(GroupId{i}, host_stream_of(blocks_[n].stream)) = b;
                    break;
                case BlockState::open_cold:
                    g.open_cold = b;
                    break;
                case BlockState::open_map:
                    g.open_map = b;
                    break;
                case BlockState::full:
                    refuse(b, "found by a start");
                case BlockState::free:
                case BlockState::sealed:
                case BlockState::placed:
                case BlockState::victim:
                    break;
            }
            ++in_use;
        }
        for (const SuperblockId b : free[i]) push_free(GroupId{i}, b);
        g.surplus = in_use > needed ? in_use - needed : 0;
    }
    any_failed_ = !failed_.empty();
}

void BlockManager::retire_empty() {
    const std::vector<SuperblockId> failed = failed_;
    for (const SuperblockId b : failed) {
        if (blocks_[idx(b)].valid != 0) continue;
        make_victim(b);
        retire(b);
    }
}

void BlockManager::fill_host(GroupId group, std::uint64_t pages) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(
        g.open_host == kNoSuperblock && g.free_count >= g.reserve + (pages + shape_.pages() - 1) / shape_.pages(),
        "group cannot take so many host pages");
    for (; pages >= shape_.pages(); pages -= shape_.pages()) fill_free(group);
    if (pages == 0) return;
    g.open_host = open(group, BlockState::open_host);
    blocks_[idx(g.open_host)].write_pointer = static_cast<std::uint32_t>(pages);
}

SuperblockId BlockManager::fill_free(GroupId group) {
    const SuperblockId b = open(group, BlockState::open_host);
    blocks_[idx(b)].write_pointer = shape_.pages();
    blocks_[idx(b)].state = BlockState::sealed;
    return b;
}

void BlockManager::state(Snapshot& s) {
    SSDTLM_CHECK(!reads_.any(), "a snapshot while blocks are being read");
    for (BlockRecord& r : blocks_) {
        SSDTLM_CHECK(r.programs == 0, "a snapshot while pages are being programmed");
        s(r.valid, r.write_pointer, r.superseded, r.next_free, r.state, r.bad, r.stream, r.cut);
    }
    for (Group& g : groups_)
        s(g.free_first, g.free_last, g.open_host, g.open_gc, g.open_cold, g.open_map, g.free_count, g.reserve, g.spares,
          g.spares_at_first, g.surplus);
    s.fixed(named_);
    s.fixed(named_gc_);
    s(any_failed_, keeps_reserve_, failed_, erases_counted_);
    s.fixed(erases_);
    if (s.reads()) check_read(s);
}

/// What everybody takes for granted who goes by these tables. What they say of the flash, Ftl::verify_books() looks at.
void BlockManager::check_read(Snapshot& s) const {
    for (const BlockRecord& r : blocks_) {
        s.require(r.state <= BlockState::placed && r.valid <= shape_.units() && r.write_pointer <= shape_.pages(),
                  "a superblock that cannot be");
        const std::uint32_t named = r.stream < kNamedHostStreams ? 0 : host_stream_of(r.stream);
        s.require(r.stream <= kLastOwnStream || (r.stream >= kNamedHostStreams && named <= streams_),
                  "a superblock of a stream that there is not");
    }
    const auto open_is = [&](SuperblockId b, std::uint32_t group, BlockState state) {
        s.require(b == kNoSuperblock || (idx(b) / shape_.blocks_per_group() == group && blocks_[idx(b)].state == state),
                  "an open superblock that is not open");
    };
    for (std::uint32_t n = 0; n < groups_.size(); ++n) {
        const Group& g = groups_[n];
        SuperblockId last = kNoSuperblock, b = g.free_first;
        for (std::uint32_t left = g.free_count; left != 0; --left, last = b, b = blocks_[idx(b)].next_free)
            s.require(idx(b) / shape_.blocks_per_group() == n && blocks_[idx(b)].state == BlockState::free,
                      "a list of free superblocks with others in it");
        s.require(b == kNoSuperblock && last == g.free_last, "a list of free superblocks that does not end");
        open_is(g.open_host, n, BlockState::open_host);
        open_is(g.open_gc, n, BlockState::open_gc);
        open_is(g.open_cold, n, BlockState::open_cold);
        open_is(g.open_map, n, BlockState::open_map);
        for (std::uint32_t i = 0; i < streams_; ++i) {
            open_is(named_[n * streams_ + i], n, BlockState::open_host);
            open_is(named_gc_[n * streams_ + i], n, BlockState::open_gc);
        }
        const auto in_state = [&](BlockState state) {
            const auto first = blocks_.begin() + n * shape_.blocks_per_group();
            return static_cast<std::uint32_t>(std::count_if(
                first, first + shape_.blocks_per_group(), [state](const BlockRecord& r) { return r.state == state; }));
        };
        s.require(g.spares == in_state(BlockState::spare) && g.spares_at_first <= shape_.blocks_per_group() &&
                      g.surplus <= shape_.blocks_per_group(),
                  "spare superblocks that are not there");
        s.require(g.reserve <= shape_.blocks_per_group() &&
                      (keeps_reserve_ ? g.reserve >= hard_free_blocks_ : g.reserve == 0),
                  "a reserve of superblocks that there is not");
    }
    std::vector<bool> seen(blocks_.size());
    for (const SuperblockId b : failed_) {
        s.require(idx(b) < blocks_.size() && blocks_[idx(b)].state == BlockState::failed && !seen[idx(b)],
                  "a failed superblock that has not failed");
        seen[idx(b)] = true;
    }
    s.require(any_failed_ == !failed_.empty(), "failed superblocks that are not there");
}

void BlockManager::refuse(SuperblockId b, const char* what) const {
    const BlockRecord& r = blocks_[idx(b)];
    panic("BlockManager", "superblock " + std::to_string(idx(b)) + " " + what + " while it is " + name_of(r.state) +
                              " with " + std::to_string(r.valid) + " valid units, " + std::to_string(r.programs) +
                              " programs and " + std::to_string(reads(b)) + " reads in flight");
}

}  // namespace ssdtlm
