// SPDX-License-Identifier: Apache-2.0
#include "host_files/ext4/ext4.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

constexpr std::uint64_t kFirstInode = 12;  // behind the reserved inodes and lost+found
constexpr std::uint64_t kRootInode = 2;
constexpr std::uint64_t kExtentsInInode = 4;  // struct ext4_inode i_block: a header and four extents
constexpr std::uint64_t kExtentBytes = 12;    // struct ext4_extent
constexpr std::uint64_t kDiscardBytes =
    1u << 30;  // assumed: mke2fs discards 2 GiB at a time, but a block request may hold less
constexpr std::uint64_t kFormatWrite =
    1u << 20;  // e2fsprogs mkjournal.c and mke2fs zero this much at a time (STRIDE_LENGTH)

const Ext4LayoutConfig& checked(const Ext4LayoutConfig& layout) {
    const Ext4Layout tried(layout);
    if (*tried.problem() != '\0')
        throw UserError(Problem{
            "files.system", std::string("ext4 on ") + std::to_string(layout.bytes >> 20) + " MiB: " + tried.problem(),
            "a drive of 64 MiB or more with the default journal",
            "take a larger drive, or a smaller files.ext4.journal_size"});
    return layout;
}

/// The bytes that mballoc asks for, so that a growing file stays in one piece (ext4_mb_normalize_request()).
std::uint64_t normalized(std::uint64_t file_bytes) {
    constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;
    for (std::uint64_t step = 16 * kKiB; step <= kMiB; step *= 2)
        if (file_bytes <= step) return step;
    if (file_bytes <= 4 * kMiB) return 2 * kMiB;
    return file_bytes <= 8 * kMiB ? 4 * kMiB : 8 * kMiB;
}

}  // namespace

Ext4::Ext4(const Ext4Config& config)
    : config_(config),
      layout_(checked(config.layout)),
      block_(layout_.block_bytes()),
      space_(layout_.blocks()),
      journal_({layout_.journal().first, layout_.journal().count, layout_.block_bytes(), config.barrier,
                config.commit_interval, config.write_back_age}) {
    for (const BlockRun& run : layout_.taken()) space_.take(run);
}

std::vector<std::vector<FileIo>> Ext4::format() {
    std::vector<std::vector<FileIo>> steps;
    if (config_.discard) {
        auto& step = steps.emplace_back();
        const std::uint64_t end = layout_.blocks() * block_;
        for (std::uint64_t at = 0; at < end; at += kDiscardBytes)
            step.push_back({HostOp::trim, false, at, std::min(kDiscardBytes, end - at)});
    }
    const auto write = [&](const BlockRun& run) {
        for (std::uint64_t at = 0; at < run.count * block_; at += kFormatWrite)
            steps.back().push_back(
                {HostOp::write, false, run.first * block_ + at, std::min(kFormatWrite, run.count * block_ - at)});
    };
    steps.emplace_back();
    if (config_.zero_inode_tables)
        for (const BlockRun& run : layout_.inode_tables()) write(run);
    write(layout_.journal());
    steps.emplace_back();
    for (const BlockRun& run : layout_.written_first()) write(run);
    write({layout_.inode_block(kRootInode), 1});
    steps.push_back({{HostOp::flush, false, 0, 0}});
    return steps;
}

std::uint64_t Ext4::room() const {
    return space_.free_blocks() * block_;
}

std::uint32_t Ext4::create(std::uint64_t allocated, SimTime now) {
    const auto number = static_cast<std::uint32_t>(files_.size());
    Ext4File& file = files_.emplace_back();
    file.inode = kFirstInode + number;
    SSDTLM_CHECK(file.inode <= layout_.inodes(), "more files than inodes");
    journal_.change(layout_.inode_bitmap(file.inode), now);
    journal_.change(layout_.descriptor_block(0), now);
    // All entries are taken to be in the first block of the root directory.
    journal_.change(layout_.root_directory(), now);
    change_inode(file, now, Depends::data);
    file.changed_tick = tick(now);
    if (allocated != 0) {
        allocate(file, 0, div_ceil(allocated, block_), now);
        file.size = allocated;
    }
    return number;
}

void Ext4::change_inode(Ext4File& file, SimTime now, Depends depends) {
    file.transaction = journal_.change(layout_.inode_block(file.inode), now);
    if (depends == Depends::data) file.data_transaction = file.transaction;
}

/// Changes the leaf of the extent tree that has this block, and adds leaves if the tree needs more of them. Leaves are
/// taken to cover equal parts of the file.
void Ext4::change_tree(Ext4File& file, std::uint64_t block, SimTime now) {
    if (file.map.size() <= kExtentsInInode && file.tree.empty()) return;
    const std::uint64_t leaves = div_ceil(file.map.size(), block_ / kExtentBytes - 1);
    while (file.tree.size() < leaves) {
        const BlockRun run = space_.allocate(file.map.behind(block), 1);
        if (run.count == 0) break;  // the leaves that exist take its place
        change_bitmaps(run, now);
        file.tree.push_back(run.first);
    }
    if (file.tree.empty()) return;
    const std::uint64_t end = std::max(div_ceil(file.size, block_), block + 1);
    journal_.change(file.tree[block * file.tree.size() / end], now);
}

void Ext4::change_bitmaps(BlockRun run, SimTime now) {
    for (std::uint64_t group = layout_.group_of(run.first); group <= layout_.group_of(run.end() - 1); ++group) {
        journal_.change(layout_.block_bitmap(group), now);
        journal_.change(layout_.descriptor_block(group), now);
    }
}

/// Takes blocks from the file's reserve. If the reserve is not for this block, it first makes a new one.
BlockRun Ext4::take(Ext4File& file, std::uint64_t block, std::uint64_t count, SimTime now) {
    if (file.reserved.count == 0 || file.reserved_for != block) {
        space_.release(file.reserved);
        const std::uint64_t wanted =
            std::max(count, normalized(std::max(file.size, (block + count) * block_)) / block_);
        // No reserve is made when free blocks are few.
        file.reserved = space_.allocate(file.map.behind(block), space_.free_blocks() > 2 * wanted ? wanted : count);
        file.reserved_for = block;
    }
    const BlockRun run{file.reserved.first, std::min(count, file.reserved.count)};
    file.reserved.first += run.count;
    file.reserved.count -= run.count;
    file.reserved_for += run.count;
    if (run.count != 0) change_bitmaps(run, now);
    return run;
}

void Ext4::allocate(Ext4File& file, std::uint64_t block, std::uint64_t count, SimTime now) {
    while (count != 0) {
        BlockRun run = take(file, block, count, now);
        if (run.count == 0) {  // the reserves of all files are freed before a file gets no blocks
            for (std::uint32_t f = 0; f < files_.size(); ++f) close(f);
            run = take(file, block, count, now);
        }
        SSDTLM_CHECK(run.count != 0, "the file system is full");
        file.map.add(block, run, false);
        change_tree(file, block, now);
        block += run.count;
        count -= run.count;
    }
    change_inode(file, now, Depends::data);
}

/// Cuts an access into I/Os. Blocks that lie side by side on the drive make one I/O. Holes have no I/O, and reads of
/// unwritten blocks have none either.
void Ext4::pieces(const Ext4File& file, std::uint64_t offset, std::uint64_t bytes, HostOp op,
                  std::vector<FileIo>& io) const {
    const std::uint64_t end = offset + bytes;
    const std::size_t before = io.size();
    while (offset < end) {
        const std::uint64_t block = offset / block_, inside = offset % block_;
        const ExtentMap::Piece piece = file.map.at(block, div_ceil(end, block_) - block);
        const std::uint64_t length = std::min(piece.count * block_ - inside, end - offset);
        if (piece.kind == ExtentMap::Piece::Kind::written ||
            (op == HostOp::write && piece.kind == ExtentMap::Piece::Kind::unwritten)) {
            const std::uint64_t at = piece.first * block_ + inside;
            if (io.size() != before && io.back().offset + io.back().bytes == at)
                io.back().bytes += length;
            else
                io.push_back({op, false, at, length});
        }
        offset += length;
    }
}

void Ext4::read(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes, SimTime now, std::vector<FileIo>& io) {
    Ext4File& file = files_[number];
    // As in relatime_need_update(), only the first read after a change updates the inode.
    if (config_.relatime && file.read_tick <= file.changed_tick && file.read_tick != tick(now)) {
        file.read_tick = tick(now);
        change_inode(file, now, Depends::nothing);
    }
    pieces(file, offset, bytes, HostOp::read, io);
}

void Ext4::write(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes, SimTime now,
                 std::vector<FileIo>& io) {
    Ext4File& file = files_[number];
    if (file.changed_tick != tick(now)) {
        file.changed_tick = tick(now);
        change_inode(file, now, Depends::nothing);
    }
    const std::uint64_t end = div_ceil(offset + bytes, block_);
    for (std::uint64_t block = offset / block_; block < end;) {
        const ExtentMap::Piece piece = file.map.at(block, end - block);
        if (piece.kind == ExtentMap::Piece::Kind::hole) allocate(file, block, piece.count, now);
        block += piece.count;
    }
    pieces(file, offset, bytes, HostOp::write, io);
}

/// As ext4_end_io_end(), it marks blocks as written only after their data are on the drive. This is the order that
/// data=ordered promises.
void Ext4::written(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes, SimTime now) {
    Ext4File& file = files_[number];
    const std::uint64_t block = offset / block_;
    const bool converted = file.map.mark_written(block, div_ceil(offset + bytes, block_) - block);
    const bool longer = offset + bytes > file.size;
    if (longer) file.size = offset + bytes;
    if (converted) change_tree(file, block, now);
    if (converted || longer) change_inode(file, now, Depends::data);
}

/// As ext4_sync_file(), it asks for a commit of the transaction with the inode's last change. If that is committed
/// already, only the drive's cache has to be flushed.
FileSystem::Sync Ext4::sync(std::uint32_t number, bool data_only) {
    const Ext4File& file = files_[number];
    Sync sync;
    sync.transaction = data_only ? file.data_transaction : file.transaction;
    sync.flush = config_.barrier && journal_.durable(sync.transaction);
    journal_.want(sync.transaction);
    return sync;
}

void Ext4::close(std::uint32_t number) {
    space_.release(files_[number].reserved);
    files_[number].reserved = {};
}

std::vector<std::string> Ext4::outcomes() const {
    const Jbd2Journal::Counters& c = journal_.counters();
    std::size_t extents = 0;
    for (const Ext4File& f : files_) extents += f.map.size();
    return {"files: ext4 with " + std::to_string(files_.size()) + " files in " + std::to_string(extents) +
            " extents; " + std::to_string(c.commits) + " commits with " + std::to_string(c.logged_blocks) +
            " blocks of metadata, " + std::to_string(c.log_writes) + " writes of " + std::to_string(c.log_bytes >> 10) +
            " KiB to the journal; " + std::to_string(c.in_place_blocks) +
            " blocks written to their places; the journal was full " + std::to_string(c.checkpoints) + " times"};
}

}  // namespace ssdtlm
