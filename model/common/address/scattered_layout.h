// SPDX-License-Identifier: Apache-2.0
// Says where logical units 0 .. n-1 lie when each block holds a given number of them at random places, as after very
// many random overwrites. It is a formula in both directions, so units that stay where they were laid out need no
// memory (compare sequential_layout.h). A permutation numbers the units anew. Each block takes as many of the new
// numbers, in order, as it holds units. Their places in the block follow from one of a few permutations of its slots,
// which is rotated by a number that depends on the block.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/fast_divide.h"
#include "common/address/geometry.h"

namespace ssdtlm {

/// A permutation of 0 .. n-1 without a table. It permutes 2^k >= n numbers, and repeats this until the result is below
/// n. Each round multiplies by an odd number and combines the lower half of the bits with the upper half. So each round
/// can be undone.
class RandomPermutation {
public:
    /// Precondition: n >= 1.
    RandomPermutation(std::uint32_t n, std::uint64_t seed);
    std::uint32_t operator()(std::uint32_t i) const {
        do i = forth(i);
        while (i >= n_);
        return i;
    }
    /// Precondition: j < n. permutation(inverse(j)) == j.
    std::uint32_t inverse(std::uint32_t j) const {
        do j = back(j);
        while (j >= n_);
        return j;
    }

private:
    static constexpr int kRounds = 4;
    std::uint32_t forth(std::uint32_t x) const {
        for (const Round& r : rounds_) {
            x = (x * r.times + r.plus) & mask_;
            x ^= x >> shift_;
        }
        return x;
    }
    std::uint32_t back(std::uint32_t x) const {
        for (int i = kRounds - 1; i >= 0; --i) {
            x ^= x >> shift_;  // the shift is at least half of the bits
            x = (x - rounds_[i].plus) * rounds_[i].inverse & mask_;
        }
        return x;
    }

    struct Round {
        std::uint32_t times, inverse, plus;
    };
    std::uint32_t n_, mask_;
    unsigned shift_;
    Round rounds_[kRounds];
};

class ScatteredLayout {
public:
    /// A value in `held` that says that the block is erased.
    static constexpr std::uint32_t kErasedBlock = 0xFFFFFFFFu;
    /// Values for a unit of flash that is no logical unit.
    static constexpr std::uint32_t kNothing = 0xFFFFFFFEu;  ///< programmed, but no logical unit lies there
    static constexpr std::uint32_t kNotProgrammed = 0xFFFFFFFFu;

    /// `held`: units of each block, or kErasedBlock for an erased one.
    ScatteredLayout(const NandGeometry& geometry, std::vector<std::uint32_t> held, std::uint64_t seed);

    /// Number of logical units in the layout.
    std::uint32_t units() const { return first_.back(); }
    /// The place of a unit; kUnmapped if the layout does not have it.
    Ppa place_of(Lpa lpa) const {
        if (idx(lpa) >= units()) return kUnmapped;
        const std::uint32_t number = renumbered_(idx(lpa));
        std::uint32_t block = near_[number >> near_shift_];
        while (first_[block + 1] <= number) ++block;
        std::uint32_t at = number - first_[block] + turn(block);
        if (at >= per_block_) at -= per_block_;
        return Ppa{block * per_block_ + slots_[table(block) + at]};
    }
    /// The logical unit at this place, kNothing or kNotProgrammed.
    std::uint32_t unit_at(Ppa p) const {
        const std::uint32_t block = by_block_(idx(p)), slot = idx(p) - block * per_block_;
        if (held_[block] == kErasedBlock) return kNotProgrammed;
        const std::uint32_t at = order_[table(block) + slot], turned = turn(block);
        const std::uint32_t i = at >= turned ? at - turned : at + per_block_ - turned;
        return i < held_[block] ? renumbered_.inverse(first_[block] + i) : kNothing;
    }
    /// Calls visit(slot) for each slot of the block that holds a logical unit, in no particular order.
    template <class Visit>
    void for_each_slot(BlockId b, Visit&& visit) const {
        const std::uint32_t held = held_[idx(b)] == kErasedBlock ? 0 : held_[idx(b)];
        for (std::uint32_t i = 0, at = turn(idx(b)); i < held; ++i) {
            visit(slots_[table(idx(b)) + at]);
            if (++at == per_block_) at = 0;
        }
    }
    bool is_erased(BlockId b) const { return held_[idx(b)] == kErasedBlock; }
    const std::vector<std::uint32_t>& held() const { return held_; }
    std::uint64_t seed() const { return seed_; }

private:
    std::uint32_t table(std::uint32_t block) const { return block % tables_ * per_block_; }
    /// The number of places by which the block's permutation is rotated.
    std::uint32_t turn(std::uint32_t block) const {
        std::uint64_t z = (block + 1) * 0x9E3779B97F4A7C15u ^ seed_;  // the output function of SplitMix64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<std::uint32_t>(((z >> 32) * per_block_) >> 32);
    }

    std::uint32_t per_block_;
    FastDivide by_block_;
    std::uint64_t seed_;
    std::vector<std::uint32_t> held_;
    std::vector<std::uint32_t> first_;  // new number of each block's first unit; one more at the end
    RandomPermutation renumbered_;
    unsigned near_shift_ = 0;
    std::vector<std::uint32_t> near_;   // the block of each 2^near_shift_-th new number
    std::uint32_t tables_;              // a power of two, so that % is quick
    std::vector<std::uint32_t> slots_;  // by table: the slots in a random order
    std::vector<std::uint32_t> order_;  // by table: the position of each slot in that order
};

}  // namespace ssdtlm
