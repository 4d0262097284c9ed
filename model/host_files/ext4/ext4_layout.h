// SPDX-License-Identifier: Apache-2.0
// Says where mke2fs puts the file system's own blocks. The bitmaps and inode tables of sixteen block groups lie
// together (flex_bg). The superblock has copies in some groups (sparse_super). The journal lies in the middle.
#pragma once

#include <cstdint>
#include <vector>

#include "host_files/ext4/block_allocator.h"

namespace ssdtlm {

struct Ext4LayoutConfig {
    std::uint64_t bytes = 0;
    std::uint32_t block_bytes = 4096;
    std::uint64_t journal_bytes = 0;    ///< 0: as mke2fs chooses it
    std::uint32_t inode_ratio = 16384;  ///< bytes of the file system for each inode
    std::uint32_t inode_bytes = 256;
};

class Ext4Layout {
public:
    explicit Ext4Layout(const Ext4LayoutConfig& config);

    /// The reason why the drive is too small; empty if it is large enough.
    const char* problem() const { return problem_; }

    std::uint64_t blocks() const { return blocks_; }
    std::uint32_t block_bytes() const { return config_.block_bytes; }
    std::uint64_t groups() const { return groups_; }
    std::uint64_t group_of(std::uint64_t block) const { return block / blocks_per_group(); }
    std::uint64_t blocks_per_group() const { return std::uint64_t{8} * config_.block_bytes; }
    std::uint64_t inodes() const { return groups_ * inodes_per_group_; }

    std::uint64_t block_bitmap(std::uint64_t group) const {
        return tables_[group / flex_].block_bitmaps + group % flex_;
    }
    /// Inodes count from 1.
    std::uint64_t inode_bitmap(std::uint64_t inode) const;
    std::uint64_t inode_block(std::uint64_t inode) const;
    /// The block that has the group's descriptor, in the first copy of the descriptors.
    std::uint64_t descriptor_block(std::uint64_t group) const;
    BlockRun journal() const { return journal_; }
    std::uint64_t root_directory() const { return root_directory_; }

    /// All blocks that no file may use, ordered by address and without overlap.
    std::vector<BlockRun> taken() const;
    /// The superblocks, descriptors, bitmaps and the root directory. mke2fs always writes them.
    std::vector<BlockRun> written_first() const;
    std::vector<BlockRun> inode_tables() const;

    /// The default of e2fsprogs for a file system of this many blocks (ext2fs_default_journal_size()). It is 0 if the
    /// file system is too small for a journal.
    static std::uint64_t default_journal_blocks(std::uint64_t blocks);

private:
    struct Tables {  // the tables of a flex group, side by side
        std::uint64_t block_bitmaps = 0, inode_bitmaps = 0, inode_tables = 0, end = 0;
    };
    bool has_copy(std::uint64_t group) const;
    BlockRun copy_in(std::uint64_t group) const;
    bool lay_out();
    std::vector<BlockRun> own() const;

    const Ext4LayoutConfig config_;
    std::uint64_t blocks_ = 0;
    std::uint64_t groups_ = 0;
    std::uint64_t inodes_per_group_ = 0;
    std::uint64_t flex_ = 16;              // groups whose tables lie together (mke2fs.conf flex_bg_size)
    std::uint64_t table_blocks_ = 0;       // of one group
    std::uint64_t descriptor_blocks_ = 0;  // of one copy
    std::vector<Tables> tables_;
    BlockRun journal_;
    std::uint64_t root_directory_ = 0;
    const char* problem_ = "";
};

}  // namespace ssdtlm
