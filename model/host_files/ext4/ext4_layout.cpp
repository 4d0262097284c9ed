// SPDX-License-Identifier: Apache-2.0
#include "host_files/ext4/ext4_layout.h"

#include <algorithm>

#include "common/units/units.h"

namespace ssdtlm {

namespace {

constexpr std::uint64_t kGroupDescriptorBytes = 64;  // ext4 with 64bit

bool is_power_of(std::uint64_t value, std::uint64_t base) {
    while (value % base == 0) value /= base;
    return value == 1;
}

bool lies_before(const BlockRun& a, const BlockRun& b) {
    return a.first < b.first;
}

}  // namespace

/// The steps come from e2fsprogs lib/ext2fs/mkjournal.c.
std::uint64_t Ext4Layout::default_journal_blocks(std::uint64_t blocks) {
    constexpr std::uint64_t kSteps[][2] = {{2048, 0},
                                           {32768, 1024},
                                           {256 * 1024, 4096},
                                           {512 * 1024, 8192},
                                           {4096 * 1024, 16384},
                                           {8192 * 1024, 32768},
                                           {16384 * 1024, 65536},
                                           {32768 * 1024, 131072}};
    for (const auto& [below, journal] : kSteps)
        if (blocks < below) return journal;
    return 262144;
}

Ext4Layout::Ext4Layout(const Ext4LayoutConfig& config)
    : config_(config), blocks_(config.bytes / config.block_bytes), groups_(div_ceil(blocks_, blocks_per_group())) {
    if (!lay_out() && *problem_ == '\0') problem_ = "no room for its tables and its journal";
}

bool Ext4Layout::lay_out() {
    journal_.count =
        config_.journal_bytes != 0 ? config_.journal_bytes / config_.block_bytes : default_journal_blocks(blocks_);
    if (journal_.count == 0) {
        problem_ = "too few blocks for a journal";
        return false;
    }
    const std::uint64_t per_block = config_.block_bytes / config_.inode_bytes;
    inodes_per_group_ = std::max<std::uint64_t>(config_.bytes / config_.inode_ratio / groups_, 16);
    table_blocks_ = div_ceil(inodes_per_group_, per_block);
    inodes_per_group_ = table_blocks_ * per_block;
    descriptor_blocks_ = div_ceil(groups_ * kGroupDescriptorBytes, config_.block_bytes);
    // The tables of a flex group and the root directory must fit into the first of its groups, because the groups
    // behind it may begin with a copy of the superblock.
    const auto fits = [&] { return 1 + descriptor_blocks_ + flex_ * (2 + table_blocks_) < blocks_per_group(); };
    while (flex_ > 1 && !fits()) flex_ /= 2;
    if (!fits()) return false;
    for (std::uint64_t first = 0; first < groups_; first += flex_) {
        const std::uint64_t count = std::min(flex_, groups_ - first);
        Tables t;
        t.block_bitmaps = copy_in(first).end();
        t.inode_bitmaps = t.block_bitmaps + count;
        t.inode_tables = t.inode_bitmaps + count;
        t.end = t.inode_tables + count * table_blocks_;
        if (t.end >= blocks_) return false;
        tables_.push_back(t);
    }
    root_directory_ = tables_.front().end;
    // As e2fsprogs get_midpoint_journal_block(), the journal begins in the middle group, behind the blocks that are
    // taken there.
    const std::uint64_t middle = groups_ / 2;
    journal_.first = copy_in(middle).end();
    for (const BlockRun& run : own())  // the journal lies in one piece
        if (run.first < journal_.end() && run.end() > journal_.first) journal_.first = run.end();
    return journal_.end() < blocks_;
}

bool Ext4Layout::has_copy(std::uint64_t group) const {
    return group <= 1 || is_power_of(group, 3) || is_power_of(group, 5) || is_power_of(group, 7);
}

/// The superblock and descriptors at the beginning of a group. The count is 0 if the group has no copy of them.
BlockRun Ext4Layout::copy_in(std::uint64_t group) const {
    return {group * blocks_per_group(), has_copy(group) ? 1 + descriptor_blocks_ : 0};
}

std::uint64_t Ext4Layout::inode_bitmap(std::uint64_t inode) const {
    const std::uint64_t group = (inode - 1) / inodes_per_group_;
    return tables_[group / flex_].inode_bitmaps + group % flex_;
}

std::uint64_t Ext4Layout::inode_block(std::uint64_t inode) const {
    const std::uint64_t group = (inode - 1) / inodes_per_group_, in_group = (inode - 1) % inodes_per_group_;
    return tables_[group / flex_].inode_tables + group % flex_ * table_blocks_ +
           in_group / (config_.block_bytes / config_.inode_bytes);
}

std::uint64_t Ext4Layout::descriptor_block(std::uint64_t group) const {
    return 1 + group * kGroupDescriptorBytes / config_.block_bytes;
}

std::vector<BlockRun> Ext4Layout::written_first() const {
    std::vector<BlockRun> runs;
    for (std::uint64_t group = 0; group < groups_; ++group)
        if (const BlockRun copy = copy_in(group); copy.count != 0 && copy.end() <= blocks_) runs.push_back(copy);
    for (const Tables& t : tables_) runs.push_back({t.block_bitmaps, t.inode_tables - t.block_bitmaps});
    runs.push_back({root_directory_, 1});
    std::sort(runs.begin(), runs.end(), lies_before);
    return runs;
}

std::vector<BlockRun> Ext4Layout::inode_tables() const {
    std::vector<BlockRun> runs;
    for (const Tables& t : tables_) runs.push_back({t.inode_tables, t.end - t.inode_tables});
    return runs;
}

/// The file system's own blocks, without the journal.
std::vector<BlockRun> Ext4Layout::own() const {
    std::vector<BlockRun> runs = written_first();
    for (const BlockRun& run : inode_tables()) runs.push_back(run);
    std::sort(runs.begin(), runs.end(), lies_before);
    return runs;
}

std::vector<BlockRun> Ext4Layout::taken() const {
    std::vector<BlockRun> runs = own();
    runs.insert(std::upper_bound(runs.begin(), runs.end(), journal_, lies_before), journal_);
    return runs;
}

}  // namespace ssdtlm
