// SPDX-License-Identifier: Apache-2.0
#include "controller/map/blocks/hybrid_map.h"

#include <algorithm>
#include <utility>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

HybridMap::HybridMap(const PlacementSetup& setup, std::uint32_t random_logs)
    : BlockPlacement(setup), random_logs_(random_logs), groups_(ftl_.shape().groups()) {
    blocks_.give_up_reserve();  // may_open() says how many free ones are kept
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
        groups_[g].data.assign(logical().count(GroupId{g}), kNoSuperblock);
}

std::uint32_t HybridMap::take_pages(GroupId group, const LogicalPage* first, std::uint32_t most, PageAddress* out) {
    if (demanded(group) || merges_failed(group)) return 0;
    groups_[idx(group)].rest.state = Rest::State::none;
    const std::uint32_t n =
        first != nullptr && is_sequential(*first) ? take_sequential(*first, most, out) : take_random(group, most, out);
    counters_.host_pages_allocated += n;
    return n;
}

/// The page has units of the host and others, which the firmware has read before: those that are on the flash.
bool HybridMap::take_part(const LogicalPage& page, std::uint32_t slots, PageAddress& out) {
    if (demanded(page.group) || merges_failed(page.group)) return false;
    Rest& rest = groups_[idx(page.group)].rest;
    const bool is_at_hand = rest.state == Rest::State::at_hand && rest.page == page && rest.slots == slots;
    if (!is_at_hand) rest.state = Rest::State::none;
    if (!stands_at(page)) return false;
    if (!is_at_hand && has_rest(page, slots)) {
        groups_[idx(page.group)].run = {page.block, page.page, page.page + 1};
        ask(page.group, Demand::rest);
        rest = {Rest::State::asked, page, slots};
        return false;
    }
    if (is_at_hand) rest.state = Rest::State::taken;
    counters_.host_pages_allocated += append(page, 1, &out, is_at_hand);
    return true;
}

bool HybridMap::has_rest(const LogicalPage& page, std::uint32_t slots) const {
    for (std::uint32_t i = 0; i < logical().units(page); ++i)
        if ((slots >> i & 1u) == 0 && has_copy(Lpa{idx(logical().first_unit(page)) + i})) return true;
    return false;
}

std::uint32_t HybridMap::take_sequential(const LogicalPage& first, std::uint32_t most, PageAddress* out) {
    return stands_at(first) ? append(first, most, out, false) : 0;
}

/// The sequential log block is before this page, or may be opened for it. False: the merge that must come first has
/// been asked for.
bool HybridMap::stands_at(const LogicalPage& page) {
    Group& g = groups_[idx(page.group)];
    const Sequential& s = g.sequential;
    if (s.at != kNoSuperblock && s.block == page.block && s.next == page.page) return true;
    const bool may_fill = s.block == page.block && s.next < page.page;
    if (random_logs_ == 0 && !g.random.empty()) {
        // A loss of power has left them. Nothing else would merge them before free superblocks are few.
        ask(page.group, Demand::full);
    } else if (s.at != kNoSuperblock && !may_fill) {
        ask(page.group, Demand::partial);
    } else if (s.at == kNoSuperblock && !may_open(page.group)) {
        wait_for_room(page.group);
    } else if (page.page == 0) {
        return true;
    } else {
        g.run = {page.block, 0, page.page};
        ask(page.group, Demand::fill);
    }
    return false;
}

/// Precondition: stands_at(first).
std::uint32_t HybridMap::append(const LogicalPage& first, std::uint32_t most, PageAddress* out, bool copied) {
    const GroupId group = first.group;
    Sequential& s = groups_[idx(group)].sequential;
    const std::uint32_t pages = logical().pages(group, first.block),
                        n = std::min({most, row_left(first.page), pages - first.page});
    for (std::uint32_t i = 0; i < n; ++i) out[i] = blocks_.allocate_host(group, kSequential);
    if (s.at == kNoSuperblock) s = {superblock_of(out[0]), first.block, 0, false};
    s.copied = s.copied || copied;
    s.next = first.page + n;
    if (s.next != pages) return n;
    const Sequential done = std::exchange(s, Sequential{});
    groups_[idx(group)].complete.push_back(done);
    close_if_open(done.at, BlockState::open_host, kSequential);
    return n;
}

std::uint32_t HybridMap::take_random(GroupId group, std::uint32_t most, PageAddress* out) {
    Group& g = groups_[idx(group)];
    const std::uint32_t from = blocks_.write_pointer(group, BlockState::open_host, kRandom);
    if (from == 0) {
        if (g.random.size() >= random_logs_) return ask(group, Demand::full);
        if (!may_open(group)) return wait_for_room(group);
    }
    const std::uint32_t n = std::min(most, row_left(from));
    for (std::uint32_t i = 0; i < n; ++i) out[i] = blocks_.allocate_host(group, kRandom);
    if (from == 0) g.random.push_back(superblock_of(out[0]));
    return n;
}

/// What has failed is merged first.
bool HybridMap::merges_failed(GroupId group) {
    const Group& g = groups_[idx(group)];
    if (g.random.empty() || !ftl_.is_bad(g.random.front()) || ftl_.media().read_only) return false;
    ask(group, Demand::full);
    return true;
}

PageAddress HybridMap::take_again(GroupId group) {
    const bool opens = blocks_.open_block(group, BlockState::open_gc, kMerged) == kNoSuperblock;
    const PageAddress a = blocks_.allocate_gc(group, kMerged);
    if (opens) groups_[idx(group)].random.push_back(superblock_of(a));
    return a;
}

/// One free superblock is kept for a merge and others for the journal. Where losses of power have left fewer, and
/// nothing would give more, all but one may be used.
bool HybridMap::may_open(GroupId group) const {
    const Group& g = groups_[idx(group)];
    const bool none_to_come =
        g.random.empty() && g.dead.empty() && !g.erasing && g.complete.empty() && g.sequential.at == kNoSuperblock;
    return blocks_.free_blocks(group) > (none_to_come ? 1 : ftl_.config().gc_hard_free_blocks);
}

std::uint32_t HybridMap::ask(GroupId group, Demand demand) {
    groups_[idx(group)].rest.state = Rest::State::none;  // a merge may move it
    if (!ftl_.media().read_only) groups_[idx(group)].demand = demand;
    return 0;
}

/// Called when few superblocks are free: waits for an erase, or asks for a merge that frees one.
std::uint32_t HybridMap::wait_for_room(GroupId group) {
    const Group& g = groups_[idx(group)];
    if (!g.dead.empty() || g.erasing || !g.complete.empty()) return 0;
    if (!g.random.empty()) {
        close_if_open(g.random.front(), BlockState::open_host, kRandom);
        return ask(group, Demand::full);
    }
    if (g.sequential.at != kNoSuperblock) return ask(group, Demand::partial);
    ftl_.refuse_writes();
    return 0;
}

std::uint32_t HybridMap::host_programs(GroupId group) const {
    const Group& g = groups_[idx(group)];
    std::uint32_t n = g.sequential.at != kNoSuperblock ? blocks_[g.sequential.at].programs : 0;
    for (const SuperblockId b : g.random) n += blocks_[b].programs;
    for (const Sequential& s : g.complete) n += blocks_[s.at].programs;
    return n;
}

bool HybridMap::begin(GroupId group) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(demanded(group) && g.dead.empty() && !g.erasing && g.complete.empty(),
                 "a merge begun before the one before it has ended");
    return g.begun = begin_demanded(group);
}

void HybridMap::refuse_merges() {
    for (Group& g : groups_)
        if (!g.begun) g.demand = Demand::none;
}

bool HybridMap::begin_demanded(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.demand == Demand::full) return begin_full(group);
    if (g.demand == Demand::fill) return begin_fill(group);
    if (g.demand == Demand::rest) return true;
    const Sequential& s = g.sequential;
    g.run = {s.block, s.next, end_of_mapped(group, s.block, s.next)};
    return true;
}

bool HybridMap::begin_full(GroupId group) {
    Group& g = groups_[idx(group)];
    const SuperblockId log = g.random.front(), of_again = blocks_.open_block(group, BlockState::open_gc, kMerged);
    if (of_again != kNoSuperblock) close_if_open(of_again, BlockState::open_gc, kMerged);
    if (blocks_[log].valid == 0) {
        g.random.pop_front();
        if (ftl_.is_bad(log)) {
            blocks_.make_victim(log);
            ftl_.superblock_emptied(log);
        } else {
            ++(g.gathers ? counters_.full_merges : counters_.empty_logs);
            g.gathers = false;
            die(log);
        }
        const bool goes_on = g.gathers || (!g.random.empty() && ftl_.is_bad(g.random.front()));
        g.demand = goes_on && !ftl_.media().read_only ? Demand::full : Demand::none;
        return false;
    }
    if (blocks_.free_blocks(group) == 0) {  // losses of power have used them up
        g.demand = Demand::none;
        ftl_.refuse_writes();
        return false;
    }
    g.gathers = g.gathers || !ftl_.is_bad(log);
    std::uint32_t page = 0, slots = 0;
    ftl_.next_valid_page(log, page, slots);
    const Ppa first = ftl_.geometry().ppa_of(ftl_.shape().page(log, page), static_cast<unsigned>(__builtin_ctz(slots)));
    const std::uint32_t block = logical().page_of(ftl_.codec().lpa(ftl_.flash().at(first))).block;
    g.run = {block, 0, end_of_mapped(group, block, 0)};
    return true;
}

/// Demands copies of the pages from the end of the replacement block up to the page that the host writes.
bool HybridMap::begin_fill(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.sequential.at == kNoSuperblock && !may_open(group)) {
        g.demand = Demand::none;
        return false;
    }
    g.run.next = g.sequential.at == kNoSuperblock ? 0 : g.sequential.next;
    return true;
}

PageAddress HybridMap::next_page(GroupId group) {
    Group& g = groups_[idx(group)];
    SSDTLM_CHECK(g.run.next < g.run.end, "a page for a merge that has all of its own");
    const bool full = g.demand == Demand::full;
    const PageAddress a = full ? blocks_.allocate_gc(group, kMerged) : blocks_.allocate_host(group, kSequential);
    const SuperblockId b = superblock_of(a);
    Sequential& s = g.sequential;
    if (full) {
        g.merged = b;
    } else {
        if (s.at == kNoSuperblock) s = {b, g.run.block, 0, false};
        s.copied = true;
        s.next = g.run.next + 1;
    }
    SSDTLM_CHECK(ftl_.shape().page(b, g.run.next).page == a.page && ftl_.shape().page(b, g.run.next).plane == a.plane,
                 "a page of a merge out of its place");
    ++g.run.next;
    return a;
}

void HybridMap::end_run(GroupId group) {
    Group& g = groups_[idx(group)];
    g.begun = false;
    if (g.demand == Demand::rest) {
        g.demand = Demand::none;
        g.rest.state = g.rest.state == Rest::State::asked ? Rest::State::at_hand : Rest::State::none;
        return;
    }
    if (g.demand != Demand::full) {
        if (std::exchange(g.demand, Demand::none) == Demand::fill) return;
        close_if_open(g.sequential.at, BlockState::open_host, kSequential);
        becomes_data(group, std::exchange(g.sequential, Sequential{}));
        return;
    }
    if (ftl_.media().read_only) g.demand = Demand::none;
    const SuperblockId merged = std::exchange(g.merged, kNoSuperblock);
    close_if_open(merged, BlockState::open_gc, kMerged);
    ++counters_.full_merge_blocks;
    take_place_of_data(group, g.run.block, merged);
    if (g.sequential.at == kNoSuperblock || g.sequential.block != g.run.block) return;
    const SuperblockId log = std::exchange(g.sequential, Sequential{}).at;
    close_if_open(log, BlockState::open_host, kSequential);
    die(log);
}

void HybridMap::abandon_run(GroupId group) {
    groups_[idx(group)].begun = false;
    if (ftl_.media().read_only) groups_[idx(group)].demand = Demand::none;
}

/// Number behind the last page, at or behind `from`, of the logical block that holds something.
std::uint32_t HybridMap::end_of_mapped(GroupId group, std::uint32_t block, std::uint32_t from) const {
    for (std::uint32_t end = logical().pages(group, block); end > from; --end) {
        const LogicalPage p{group, block, end - 1};
        for (std::uint32_t i = 0; i < logical().units(p); ++i)
            if (has_copy(Lpa{idx(logical().first_unit(p)) + i})) return end;
    }
    return from;
}

void HybridMap::sealed(SuperblockId b) {
    blocks_[b].state = BlockState::placed;
    const GroupId group = ftl_.shape().group_of(b);
    auto& complete = groups_[idx(group)].complete;
    const auto done = std::find_if(complete.begin(), complete.end(), [b](const Sequential& s) { return s.at == b; });
    if (done == complete.end()) return;
    const Sequential log = *done;
    complete.erase(done);
    becomes_data(group, log);
}

void HybridMap::failed(SuperblockId b) {
    if (blocks_[b].stream == kGcStream) return;  // of the journal
    Group& g = groups_[idx(ftl_.shape().group_of(b))];
    if (g.sequential.at == b) g.sequential = Sequential{};
    if (g.merged == b) g.merged = kNoSuperblock;
    g.complete.erase(
        std::remove_if(g.complete.begin(), g.complete.end(), [b](const Sequential& s) { return s.at == b; }),
        g.complete.end());
    g.random.erase(std::remove(g.random.begin(), g.random.end(), b), g.random.end());
    g.random.push_front(b);
    // What was demanded may have been about the log block that was.
    if (g.demand != Demand::none) g.demand = Demand::full;
}

void HybridMap::becomes_data(GroupId group, const Sequential& log) {
    const bool replaces = groups_[idx(group)].data[log.block] != kNoSuperblock;
    FtlCounters& n = counters_;
    ++(log.copied ? n.partial_merges : replaces ? n.switch_merges : n.direct_blocks);
    take_place_of_data(group, log.block, log.at);
}

void HybridMap::take_place_of_data(GroupId group, std::uint32_t block, SuperblockId b) {
    const SuperblockId old = std::exchange(groups_[idx(group)].data[block], b);
    if (old != kNoSuperblock) die(old);
}

void HybridMap::die(SuperblockId b) {
    SSDTLM_CHECK(blocks_[b].valid == 0, "a merge has left units behind");
    groups_[idx(ftl_.shape().group_of(b))].dead.push_back(b);
}

void HybridMap::close_if_open(SuperblockId b, BlockState kind, std::uint32_t stream) {
    if (blocks_[b].state != kind) return;
    if (blocks_.close(ftl_.shape().group_of(b), kind, stream)) sealed(b);
}

SuperblockId HybridMap::begin_erase(GroupId group) {
    Group& g = groups_[idx(group)];
    const SuperblockId b = g.dead.front();
    g.dead.pop_front();
    g.erasing = true;
    blocks_.make_victim(b);
    return b;
}

}  // namespace ssdtlm
