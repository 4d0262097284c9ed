// SPDX-License-Identifier: Apache-2.0
#include "common/address/scattered_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/random/random.h"
#include "common/report/error.h"

namespace ssdtlm {

namespace {
// These streams of the seed are independent of each other and of the workload's draws.
constexpr std::uint64_t kNumbers = 0x7065726D75746564, kSlots = 0x736C6F747363;
/// The entries of all tables of slots together. They should stay in the second-level cache.
constexpr std::uint32_t kMostEntries = 1u << 17, kFewestTables = 4, kMostTables = 64;

std::uint32_t tables_for(std::uint32_t per_block) {
    std::uint32_t tables = kMostTables;
    while (tables > kFewestTables && tables * std::uint64_t{per_block} > kMostEntries) tables /= 2;
    return tables;
}

std::vector<std::uint32_t> sums(const std::vector<std::uint32_t>& held) {
    std::vector<std::uint32_t> first(held.size() + 1);
    for (std::size_t b = 0; b < held.size(); ++b)
        first[b + 1] = first[b] + (held[b] == ScatteredLayout::kErasedBlock ? 0 : held[b]);
    return first;
}

/// Returns the inverse of an odd number modulo 2^32, by Newton's iteration. Each step doubles the number of correct
/// bits.
std::uint32_t inverse_of(std::uint32_t odd) {
    std::uint32_t x = odd;  // three bits are correct
    for (int i = 0; i < 4; ++i) x *= 2 - odd * x;
    return x;
}
}  // namespace

RandomPermutation::RandomPermutation(std::uint32_t n, std::uint64_t seed) : n_(n), mask_(1) {
    unsigned bits = 2;
    while (bits < 32 && (std::uint64_t{1} << bits) < n) ++bits;
    mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    shift_ = (bits + 1) / 2;
    Random random(seed, kNumbers);
    for (Round& r : rounds_) {
        r.times = static_cast<std::uint32_t>(random.next()) | 1u;
        r.inverse = inverse_of(r.times);
        r.plus = static_cast<std::uint32_t>(random.next());
    }
}

ScatteredLayout::ScatteredLayout(const NandGeometry& geometry, std::vector<std::uint32_t> held, std::uint64_t seed)
    : per_block_(geometry.units_per_block()),
      by_block_(per_block_),
      seed_(seed),
      held_(std::move(held)),
      first_(sums(held_)),
      renumbered_(std::max(1u, first_.back()), seed),
      tables_(tables_for(per_block_)),
      slots_(std::size_t{tables_} * per_block_),
      order_(slots_.size()) {
    SSDTLM_CHECK(held_.size() == geometry.blocks(), "a layout of other blocks");
    for (const std::uint32_t h : held_)
        SSDTLM_CHECK(h == kErasedBlock || h <= per_block_, "more units than a block has");
    // There are about as many marks as blocks, so the search for a number's block takes one or two steps from the mark.
    while ((std::uint64_t{1} << (near_shift_ + 1)) * held_.size() <= units()) ++near_shift_;
    std::uint32_t block = 0;
    for (std::uint64_t number = 0; number < units(); number += std::uint64_t{1} << near_shift_) {
        while (first_[block + 1] <= number) ++block;
        near_.push_back(block);
    }
    Random random(seed, kSlots);
    for (std::uint32_t t = 0; t < tables_; ++t) {
        std::uint32_t* const slots = slots_.data() + std::size_t{t} * per_block_;
        std::iota(slots, slots + per_block_, 0u);
        for (std::uint32_t i = per_block_; i > 1; --i) std::swap(slots[i - 1], slots[random.below(i)]);
        for (std::uint32_t i = 0; i < per_block_; ++i) order_[std::size_t{t} * per_block_ + slots[i]] = i;
    }
}

}  // namespace ssdtlm
