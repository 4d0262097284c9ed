// SPDX-License-Identifier: Apache-2.0
// Chooses the submission queue that gives the next commands (NVMe 1.4 §4.13).
//
// RoundRobinArbiter takes up to `burst` commands from each queue, and then turns to the next queue that has commands. A
// turn also ends when the queue has no more commands.
//
// SubmissionArbiter is round robin over all queues including the admin queue, or weighted round robin with urgent
// priority class. The latter serves the admin queue first, then the urgent queues, then rounds of the levels high,
// medium and low. In a round each level gives as many commands as its weight says. A level without commands loses the
// rest of its share. Inside a class the queues take turns. When a queue of a higher class gets commands, it is served
// before the next command is taken.
#pragma once

#include <array>
#include <cstdint>

namespace ssdtlm {

class RoundRobinArbiter {
public:
    static constexpr std::uint32_t kMaxQueues = 128;
    static constexpr std::uint32_t kNoLimit = ~0u;

    /// `code` is Feature 01h AB: burst = 2^code commands, and 7 means no limit. It takes effect at the next turn.
    void set_burst_code(std::uint32_t code) { burst_ = code >= 7 ? kNoLimit : 1u << code; }

    void set_ready(std::uint16_t qid, bool ready) {
        const std::uint64_t bit = 1ull << (qid % 64);
        if (ready) {
            ready_[qid / 64] |= bit;
        } else {
            ready_[qid / 64] &= ~bit;
            if (qid == current_) credit_ = 0;
        }
    }
    bool is_ready(std::uint16_t qid) const { return (ready_[qid / 64] >> (qid % 64) & 1) != 0; }

    /// Whether any queue has commands, that is, whether next() would find one.
    bool any() const { return (ready_[0] | ready_[1]) != 0; }

    /// Finds the queue whose turn it is. Returns false if no queue has commands.
    bool next(std::uint16_t& qid) {
        if (credit_ == 0) {
            const int found = find_after(current_);
            if (found < 0) return false;
            current_ = static_cast<std::uint16_t>(found);
            credit_ = burst_;
        }
        qid = current_;
        return true;
    }
    /// Number of commands that the queue named by next() may still give. There is no limit while it is the only one,
    /// because its turns then follow each other.
    std::uint32_t limit() const { return alone() ? kNoLimit : credit_; }
    /// Records that `n` commands were taken from the queue named by next().
    void took(std::uint32_t n) {
        if (burst_ == kNoLimit) return;
        // A queue that was alone may have exceeded this turn: the rest was taken from its following turns. A burst is a
        // power of two, so the remainder is a mask.
        credit_ = (n <= credit_ ? credit_ - n : (credit_ - n) & (burst_ - 1));
    }
    /// Gives the queue named by next() a new whole turn.
    void begin_turn() { credit_ = burst_; }
    /// Ends the turn of the queue named by next(), even if it may still give commands.
    void end_turn() { credit_ = 0; }
    /// Whether no other queue has commands.
    bool alone() const {
        const std::uint64_t others = ready_[current_ / 64] & ~(1ull << (current_ % 64));
        return (others | ready_[current_ / 64 ^ 1]) == 0;
    }
    void reset() {
        ready_.fill(0);
        current_ = kMaxQueues - 1;
        credit_ = 0;
    }

private:
    /// Returns the first ready queue after `qid`, wrapping to `qid` itself, or -1 if there is none.
    int find_after(std::uint32_t qid) const {
        const std::uint32_t word = qid / 64;
        const std::uint32_t shift = qid % 64;
        const std::uint64_t above = ready_[word] & (~1ull << shift);
        if (above != 0) return static_cast<int>(word * 64) + __builtin_ctzll(above);
        const std::uint64_t other = ready_[word ^ 1];
        if (other != 0) return static_cast<int>((word ^ 1) * 64) + __builtin_ctzll(other);
        if (ready_[word] != 0) return static_cast<int>(word * 64) + __builtin_ctzll(ready_[word]);
        return -1;
    }

    std::array<std::uint64_t, kMaxQueues / 64> ready_{};
    std::uint32_t burst_ = 8;
    std::uint32_t credit_ = 0;  // commands left in this turn; 0: the turn is over
    std::uint16_t current_ = kMaxQueues - 1;
};

class SubmissionArbiter {
public:
    static constexpr std::uint32_t kNoLimit = RoundRobinArbiter::kNoLimit;
    static constexpr std::uint32_t kLevels = 3;  // high, medium, low

    /// Sets CC.AMS. Precondition: no queue is ready.
    void set_weighted(bool weighted) { weighted_ = weighted; }
    /// Sets Feature 01h AB; see RoundRobinArbiter.
    void set_burst_code(std::uint32_t code) {
        for (RoundRobinArbiter& ring : rings_) ring.set_burst_code(code);
    }
    /// Sets Feature 01h HPW, MPW and LPW, each 0-based. They take effect in the next round.
    void set_weights(std::uint32_t high, std::uint32_t medium, std::uint32_t low) {
        weights_ = {high + 1, medium + 1, low + 1};
    }

    /// `priority` is QPRIO of the queue, from 0 (urgent) to 3 (low). It is ignored for the admin queue.
    void set_ready(std::uint16_t qid, std::uint8_t priority, bool ready) {
        const std::uint32_t ring = ring_of(qid, priority);
        rings_[ring].set_ready(qid, ready);
        if (rings_[ring].any())
            ready_rings_ |= 1u << ring;
        else
            ready_rings_ &= ~(1u << ring);
    }
    bool is_ready(std::uint16_t qid, std::uint8_t priority) const {
        return rings_[ring_of(qid, priority)].is_ready(qid);
    }
    /// Whether any queue has commands, that is, whether next() would find one.
    bool any() const { return ready_rings_ != 0; }

    /// Finds the queue whose turn it is. Returns false if no queue has commands.
    bool next(std::uint16_t& qid) {
        if (!any()) return false;
        chosen_ = 0;
        if (__builtin_expect(weighted_, 0)) choose();
        return rings_[chosen_].next(qid);
    }
    /// Number of commands that the queue named by next() may still give. There is no limit while it is the only one.
    std::uint32_t limit() const {
        const RoundRobinArbiter& ring = rings_[chosen_];
        if (chosen_ < kHigh) return ring.limit();
        if (ready_rings_ == 1u << chosen_ && ring.alone()) return kNoLimit;
        const std::uint32_t credit = credits_[chosen_ - kHigh];
        return credit < ring.limit() ? credit : ring.limit();
    }
    /// Records that `n` commands were taken from the queue named by next().
    void took(std::uint32_t n) {
        if (__builtin_expect(chosen_ >= kHigh, 0)) return spend(n);
        rings_[chosen_].took(n);
    }
    void reset() {
        for (RoundRobinArbiter& ring : rings_) ring.reset();
        credits_ = {};
        level_ = 0;
        ready_rings_ = 0;
    }

private:
    // Ring 0 holds the admin queue, and without weights all queues. Ring 1 holds the urgent queues, and the levels
    // follow.
    static constexpr std::uint32_t kHigh = 2;
    std::uint32_t ring_of(std::uint16_t qid, std::uint8_t priority) const {
        return __builtin_expect(weighted_, 0) && qid != 0 ? 1u + priority : 0u;
    }
    void choose() {
        if ((ready_rings_ & 3) != 0) {
            chosen_ = (ready_rings_ & 1) != 0 ? 0 : 1;
            return;
        }
        while (credits_[level_] == 0 || (ready_rings_ >> (kHigh + level_) & 1) == 0) {
            credits_[level_] = 0;
            if (++level_ < kLevels) continue;
            level_ = 0;
            credits_ = weights_;
        }
        chosen_ = kHigh + level_;
    }
    void spend(std::uint32_t n) {
        RoundRobinArbiter& ring = rings_[chosen_];
        std::uint32_t& credit = credits_[chosen_ - kHigh];
        if (n > credit) {  // a queue that was alone has used several rounds, each with a new turn
            const std::uint32_t weight = weights_[chosen_ - kHigh];
            n = (n - credit) % weight;
            credit = n == 0 ? 0 : weight;
            ring.begin_turn();
        }
        ring.took(n);
        credit -= n;
        if (credit == 0) ring.end_turn();
    }

    std::array<RoundRobinArbiter, kHigh + kLevels> rings_;
    std::array<std::uint32_t, kLevels> weights_{1, 1, 1};
    std::array<std::uint32_t, kLevels> credits_{};  // left in this round
    std::uint32_t level_ = 0;                       // level that the round is at
    std::uint32_t chosen_ = 0;                      // ring of the queue that next() named
    std::uint32_t ready_rings_ = 0;                 // a bit for each ring with commands
    bool weighted_ = false;
};

}  // namespace ssdtlm
