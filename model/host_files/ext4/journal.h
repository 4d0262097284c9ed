// SPDX-License-Identifier: Apache-2.0
// The journal of ext4 (jbd2, data=ordered). It gathers changed blocks of metadata in the running transaction. A commit
// writes a descriptor and these blocks to the log, and then a commit record. Changes and syncs that come meanwhile join
// the next transaction (group commit). Later the blocks are written to their places, which frees the log.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "host_files/ports/file_system.h"

namespace ssdtlm {

class Jbd2Journal {
public:
    struct Config {
        std::uint64_t first_block = 0;  ///< the journal's superblock; the log is a ring behind it
        std::uint64_t blocks = 0;       ///< including the superblock
        std::uint32_t block_bytes = 4096;
        bool barrier = true;   ///< the drive is flushed before the commit record, which has FUA
        Ps commit_interval{};  ///< age at which a transaction is committed without a sync
        Ps write_back_age{};   ///< age at which a committed block is written to its place
    };
    struct Counters {
        std::uint64_t commits = 0;
        std::uint64_t logged_blocks = 0;  ///< of metadata
        std::uint64_t log_bytes = 0;      ///< with descriptors and commit records
        std::uint64_t log_writes = 0;
        std::uint64_t in_place_blocks = 0;
        std::uint64_t checkpoints = 0;  ///< checkpoints that a full log has forced
    };

    explicit Jbd2Journal(const Config& config);

    /// A block of metadata has changed. Returns the transaction that it belongs to.
    std::uint64_t change(std::uint64_t block, SimTime now);
    /// Asks for a commit of the transaction as soon as possible.
    void want(std::uint64_t transaction);
    bool durable(std::uint64_t transaction) const { return transaction <= committed_; }

    bool next(SimTime now, FileIo& io);
    void completed(SimTime now);
    SimTime wakes() const;

    const Counters& counters() const { return counters_; }
    /// Number of blocks of the log in use.
    std::uint64_t log_used() const { return used_; }

private:
    using Step = std::vector<FileIo>;  // I/Os that may be in the drive together
    void begin_commit();
    void checkpoint();
    Step log_step(std::uint64_t blocks);
    Step in_place(const std::vector<std::uint64_t>& blocks) const;
    void written_in_place(std::uint64_t block);
    void free_tail();
    void write_back(SimTime now);

    const Config config_;
    const std::uint64_t ring_;  // blocks of the log
    std::uint64_t running_ = 1;
    std::set<std::uint64_t> changed_;  // blocks of the running transaction
    SimTime opened_ = kNever;          // time of its first change; kNever: it has none
    std::uint64_t wanted_ = 0;
    std::uint64_t committing_ = 0;  // 0: none
    std::vector<std::uint64_t> in_commit_;
    std::uint64_t committed_ = 0;

    std::deque<Step> steps_;
    std::size_t issued_ = 0;  // I/Os of the first step that were issued
    std::uint32_t under_way_ = 0;

    struct Pending {
        std::uint64_t transaction;
        SimTime since;
    };
    std::map<std::uint64_t, Pending> pending_;  // by block: committed, but not written to its place
    struct InLog {
        std::uint64_t blocks;   // of the log
        std::uint64_t pending;  // blocks of metadata whose newest copy is only here
    };
    std::map<std::uint64_t, InLog> in_log_;  // by transaction
    std::uint64_t head_ = 0;                 // of the ring
    std::uint64_t used_ = 0;
    SimTime write_back_at_ = kNever;
    Counters counters_;
};

}  // namespace ssdtlm
