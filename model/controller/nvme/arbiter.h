// SPDX-License-Identifier: Apache-2.0
// Which submission queue gives the next commands (NVMe 1.4 §4.13).
//
// RoundRobinArbiter: from each queue up to `burst` commands are taken, then the next queue that has commands gets its
// turn. A turn also ends when the queue has nothing more to give.
//
// SubmissionArbiter: round robin over all queues, the admin queue among them; or weighted round robin with urgent
// priority class: the admin queue first, then the urgent queues, then a round in which the levels high, medium and low
// have as many commands as their weights say. A level without commands loses what is left to it of the round. Inside a
// class queues take turns. A queue of a higher class that gets commands comes before the next ones that are taken.
#pragma once

#include <array>
#include <cstdint>

namespace ssdtlm {

class RoundRobinArbiter {
public:
    static constexpr std::uint32_t kMaxQueues = 128;
    static constexpr std::uint32_t kNoLimit = ~0u;

    /// `code` is Feature 01h AB: burst = 2^code commands, 7 = no limit. Holds from the next turn on.
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

    /// The queue whose turn it is. False: no queue has commands.
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
    /// How many commands the queue that next() named may still give; no limit while it is the only one: its turns
    /// follow each other.
    std::uint32_t limit() const { return alone() ? kNoLimit : credit_; }
    /// `n` commands were taken from the queue that next() named.
    void took(std::uint32_t n) {
        if (burst_ == kNoLimit) return;
        // What exceeds this turn was taken from the following turns of a queue that was alone.
        // A burst is a power of two, so the remainder is a mask.
        credit_ = (n <= credit_ ? credit_ - n : (credit_ - n) & (burst_ - 1));
    }
    /// The queue that next() named has a whole turn from now on.
    void begin_turn() { credit_ = burst_; }
    /// The turn of the queue that next() named is over, whatever it may still give.
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
    /// First ready queue after `qid`, wrapping to `qid` itself; -1 when none.
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

    /// CC.AMS. Precondition: no queue is ready.
    void set_weighted(bool weighted) { weighted_ = weighted; }
    /// Feature 01h AB, see above.
    void set_burst_code(std::uint32_t code) {
        for (RoundRobinArbiter& ring : rings_) ring.set_burst_code(code);
    }
    /// Feature 01h HPW, MPW and LPW, each 0-based. They hold from the next round on.
    void set_weights(std::uint32_t high, std::uint32_t medium, std::uint32_t low) {
        weights_ = {high + 1, medium + 1, low + 1};
    }

    /// `priority`: QPRIO of the queue, 0 urgent to 3 low; that of the admin queue is ignored.
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

    /// The queue whose turn it is. False: no queue has commands.
    bool next(std::uint16_t& qid) {
        if (!any()) return false;
        chosen_ = 0;
        if (__builtin_expect(weighted_, 0)) choose();
        return rings_[chosen_].next(qid);
    }
    /// How many commands the queue that next() named may still give; no limit while it is the only one.
    std::uint32_t limit() const {
        const RoundRobinArbiter& ring = rings_[chosen_];
        if (chosen_ < kHigh) return ring.limit();
        if (ready_rings_ == 1u << chosen_ && ring.alone()) return kNoLimit;
        const std::uint32_t credit = credits_[chosen_ - kHigh];
        return credit < ring.limit() ? credit : ring.limit();
    }
    /// `n` commands were taken from the queue that next() named.
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
    // Rings: 0 is the admin queue's, and everybody's without weights; 1 the urgent queues'; then the levels.
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
        if (n > credit) {  // of a queue that was alone: rounds in which nobody else had anything, each with a new turn
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
    std::uint32_t level_ = 0;                       // whose commands the round is at
    std::uint32_t chosen_ = 0;                      // ring of the queue that next() named
    std::uint32_t ready_rings_ = 0;                 // a bit for each ring with commands
    bool weighted_ = false;
};

}  // namespace ssdtlm
