// SPDX-License-Identifier: Apache-2.0
// Round robin with arbitration burst over the submission queues, the admin queue among them (NVMe 1.4 §4.13.1).
// From each queue up to `burst` commands are taken, then the next queue that has commands gets its turn. A turn also
// ends when the queue has nothing more to give. Weighted round robin is not offered (CAP.AMS = 0).
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
    void reset() {
        ready_.fill(0);
        current_ = kMaxQueues - 1;
        credit_ = 0;
    }

private:
    bool alone() const {
        const std::uint64_t others = ready_[current_ / 64] & ~(1ull << (current_ % 64));
        return (others | ready_[current_ / 64 ^ 1]) == 0;
    }
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

}  // namespace ssdtlm
