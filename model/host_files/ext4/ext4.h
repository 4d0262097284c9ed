// SPDX-License-Identifier: Apache-2.0
// ext4 as a drive sees it under direct I/O: extents, and an ordered journal of metadata blocks. Each call changes the
// blocks of metadata that Linux 5.10 changes (fs/ext4: inode.c, extents.c, mballoc.c, fsync.c).
#pragma once

#include <vector>

#include "host_files/ext4/block_allocator.h"
#include "host_files/ext4/ext4_file.h"
#include "host_files/ext4/ext4_layout.h"
#include "host_files/ext4/journal.h"
#include "host_files/ports/file_system.h"

namespace ssdtlm {

struct Ext4Config {
    Ext4LayoutConfig layout;
    bool discard = true;             ///< mke2fs first trims the whole drive
    bool zero_inode_tables = false;  ///< mke2fs writes them; false: as with lazy_itable_init
    bool barrier = true;
    bool relatime = true;  ///< a read may change the inode's atime
    Ps commit_interval = std::chrono::seconds(5);
    Ps write_back_age = std::chrono::seconds(30);
    Ps clock_tick = std::chrono::milliseconds(4);  ///< resolution of the time stamps in inodes
};

class Ext4 final : public FileSystem {
public:
    /// Throws UserError when the drive is too small.
    explicit Ext4(const Ext4Config& config);

    std::vector<std::vector<FileIo>> format() override;
    std::uint64_t room() const override;
    std::uint32_t create(std::uint64_t allocated, SimTime now) override;
    void read(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now,
              std::vector<FileIo>& io) override;
    void write(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now,
               std::vector<FileIo>& io) override;
    void written(std::uint32_t file, std::uint64_t offset, std::uint64_t bytes, SimTime now) override;
    Sync sync(std::uint32_t file, bool data_only) override;
    bool durable(std::uint64_t transaction) const override { return journal_.durable(transaction); }
    bool next(SimTime now, FileIo& io) override { return journal_.next(now, io); }
    void completed(SimTime now) override { journal_.completed(now); }
    SimTime wakes() const override { return journal_.wakes(); }
    std::vector<std::string> outcomes() const override;
    void close(std::uint32_t file) override;

    const Ext4Layout& layout() const { return layout_; }
    const Jbd2Journal& journal() const { return journal_; }
    const Ext4File& file(std::uint32_t number) const { return files_[number]; }
    const BlockAllocator& space() const { return space_; }

private:
    enum class Depends : std::uint8_t { nothing, data };
    void change_inode(Ext4File& file, SimTime now, Depends depends);
    void change_tree(Ext4File& file, std::uint64_t block, SimTime now);
    void change_bitmaps(BlockRun run, SimTime now);
    void allocate(Ext4File& file, std::uint64_t block, std::uint64_t count, SimTime now);
    BlockRun take(Ext4File& file, std::uint64_t block, std::uint64_t count, SimTime now);
    std::int64_t tick(SimTime now) const { return now.time_since_epoch() / config_.clock_tick; }
    void pieces(const Ext4File& file, std::uint64_t offset, std::uint64_t bytes, HostOp op,
                std::vector<FileIo>& io) const;

    const Ext4Config config_;
    const Ext4Layout layout_;
    const std::uint64_t block_;  // bytes
    BlockAllocator space_;
    Jbd2Journal journal_;
    std::vector<Ext4File> files_;
};

}  // namespace ssdtlm
