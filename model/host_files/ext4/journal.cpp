// SPDX-License-Identifier: Apache-2.0
#include "host_files/ext4/journal.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

constexpr std::uint32_t kTagBytes = 16;        // journal_block_tag3_t, with csum_v3
constexpr std::uint32_t kLogHeaderBytes = 32;  // journal_header_t, the UUID behind the first tag, and the checksum
// The interval at which the kernel looks for old blocks: Linux mm/page-writeback.c, dirty_writeback_interval = 5 * 100.
constexpr Ps kWriteBackEvery = std::chrono::seconds(5);

std::uint64_t log_blocks(std::uint64_t metadata, std::uint32_t block_bytes) {
    return metadata + div_ceil(metadata, (block_bytes - kLogHeaderBytes) / kTagBytes) + 1;
}

}  // namespace

Jbd2Journal::Jbd2Journal(const Config& config) : config_(config), ring_(config.blocks - 1) {
    SSDTLM_CHECK(config.blocks >= 16, "a journal without room for a transaction");
}

std::uint64_t Jbd2Journal::change(std::uint64_t block, SimTime now) {
    if (changed_.empty()) opened_ = now;
    changed_.insert(block);
    return running_;
}

void Jbd2Journal::want(std::uint64_t transaction) {
    // An empty transaction has nothing to commit.
    if (transaction == running_ && changed_.empty()) return;
    wanted_ = std::max(wanted_, transaction);
}

/// Takes the next `blocks` of the ring. Returns one write, or two writes at the end of the ring.
Jbd2Journal::Step Jbd2Journal::log_step(std::uint64_t blocks) {
    Step step;
    while (blocks != 0) {
        const std::uint64_t count = std::min(blocks, ring_ - head_);
        step.push_back({HostOp::write, false, (config_.first_block + 1 + head_) * config_.block_bytes,
                        count * config_.block_bytes});
        head_ = (head_ + count) % ring_;
        blocks -= count;
    }
    counters_.log_writes += step.size();
    return step;
}

/// Begins a commit as jbd2_journal_commit_transaction() does: first the descriptor and the blocks, then a flush, then
/// the commit record.
void Jbd2Journal::begin_commit() {
    committing_ = running_++;
    in_commit_.assign(changed_.begin(), changed_.end());
    changed_.clear();
    opened_ = kNever;
    const std::uint64_t blocks = log_blocks(in_commit_.size(), config_.block_bytes);
    SSDTLM_CHECK(blocks <= ring_, "a transaction that is larger than the journal");
    if (used_ + blocks > ring_) checkpoint();
    steps_.push_back(log_step(blocks - 1));
    if (config_.barrier) steps_.push_back({{HostOp::flush, false, 0, 0}});
    steps_.push_back(log_step(1));
    steps_.back().front().fua = config_.barrier;
    in_log_[committing_] = {blocks, 0};
    used_ += blocks;
    counters_.logged_blocks += in_commit_.size();
    counters_.log_bytes += blocks * config_.block_bytes;
}

/// Writes all committed blocks to their places, so that the log is empty. Then it writes the journal's superblock.
void Jbd2Journal::checkpoint() {
    ++counters_.checkpoints;
    std::vector<std::uint64_t> blocks;
    for (const auto& [block, pending] : pending_) blocks.push_back(block);
    if (!blocks.empty()) steps_.push_back(in_place(blocks));
    if (config_.barrier) steps_.push_back({{HostOp::flush, false, 0, 0}});
    steps_.push_back(
        {{HostOp::write, config_.barrier, config_.first_block * config_.block_bytes, config_.block_bytes}});
    for (const std::uint64_t block : blocks) written_in_place(block);
    free_tail();
    SSDTLM_CHECK(used_ == 0, "a checkpoint that leaves the log in use");
}

/// Returns the writes that put these blocks into their places. Blocks that lie side by side make one write.
Jbd2Journal::Step Jbd2Journal::in_place(const std::vector<std::uint64_t>& blocks) const {
    Step step;
    for (const std::uint64_t block : blocks) {
        const std::uint64_t offset = block * config_.block_bytes;
        if (!step.empty() && step.back().offset + step.back().bytes == offset)
            step.back().bytes += config_.block_bytes;
        else
            step.push_back({HostOp::write, false, offset, config_.block_bytes});
    }
    return step;
}

void Jbd2Journal::written_in_place(std::uint64_t block) {
    const auto at = pending_.find(block);
    --in_log_[at->second.transaction].pending;
    pending_.erase(at);
    ++counters_.in_place_blocks;
}

void Jbd2Journal::free_tail() {
    while (!in_log_.empty() && in_log_.begin()->second.pending == 0 && in_log_.begin()->first <= committed_) {
        used_ -= in_log_.begin()->second.blocks;
        in_log_.erase(in_log_.begin());
    }
}

/// Writes old committed blocks to their places and frees their part of the log. The journal's superblock is not written
/// now; a checkpoint writes it when the log needs the room.
void Jbd2Journal::write_back(SimTime now) {
    std::vector<std::uint64_t> old;
    for (const auto& [block, pending] : pending_)
        if (now - pending.since >= config_.write_back_age) old.push_back(block);
    write_back_at_ = pending_.size() == old.size() ? kNever : now + kWriteBackEvery;
    if (old.empty()) return;
    steps_.push_back(in_place(old));
    for (const std::uint64_t block : old) written_in_place(block);
    free_tail();
}

bool Jbd2Journal::next(SimTime now, FileIo& io) {
    if (steps_.empty()) {
        if (opened_ != kNever && now >= opened_ + config_.commit_interval) wanted_ = std::max(wanted_, running_);
        if (wanted_ >= running_ && !changed_.empty())
            begin_commit();
        else if (now >= write_back_at_)
            write_back(now);
        if (steps_.empty()) return false;
    }
    if (issued_ == steps_.front().size()) return false;
    io = steps_.front()[issued_++];
    ++under_way_;
    return true;
}

void Jbd2Journal::completed(SimTime now) {
    SSDTLM_CHECK(under_way_ != 0, "completion for an idle journal");
    if (--under_way_ != 0 || issued_ != steps_.front().size()) return;
    steps_.pop_front();
    issued_ = 0;
    if (!steps_.empty() || committing_ == 0) return;
    committed_ = committing_;
    committing_ = 0;
    ++counters_.commits;
    for (const std::uint64_t block : in_commit_) {
        const auto [at, fresh] = pending_.emplace(block, Pending{committed_, now});
        if (!fresh) {  // the newer copy replaces the older one
            --in_log_[at->second.transaction].pending;
            at->second.transaction = committed_;
        }
        ++in_log_[committed_].pending;
    }
    free_tail();
    if (write_back_at_ == kNever) write_back_at_ = now + kWriteBackEvery;
}

SimTime Jbd2Journal::wakes() const {
    if (!steps_.empty()) return kNever;
    const SimTime commit = opened_ == kNever ? kNever : opened_ + config_.commit_interval;
    return std::min(commit, write_back_at_);
}

}  // namespace ssdtlm
