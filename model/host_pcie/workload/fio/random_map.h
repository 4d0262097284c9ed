// SPDX-License-Identifier: Apache-2.0
// Remembers which blocks of a region were used in this pass, for jobs whose block sizes differ. It has one bit per
// block, and levels above with one bit per full word. To find the next free block costs one word per level.
#pragma once

#include <cstdint>
#include <vector>

namespace ssdtlm {

class RandomMap {
public:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    explicit RandomMap(std::uint64_t blocks) : blocks_(blocks) {
        std::uint64_t n = blocks;
        do {
            n = (n + 63) / 64;
            levels_.emplace_back(n);
        } while (n > 1);
        clear();
    }
    std::uint64_t blocks() const { return blocks_; }
    void clear() {
        std::uint64_t n = blocks_;
        for (auto& level : levels_) {
            level.assign(level.size(), 0);
            if (n % 64 != 0) level.back() = ~std::uint64_t{0} << (n % 64);  // beyond the end counts as used
            n = level.size();
        }
    }
    bool used(std::uint64_t block) const { return (levels_[0][block / 64] >> (block % 64) & 1) != 0; }
    /// Marks up to `count` blocks from `block` and stops at the first used one; returns how many it marked.
    std::uint64_t take(std::uint64_t block, std::uint64_t count) {
        std::uint64_t taken = 0;
        while (taken < count && block < blocks_ && !used(block)) {
            set(block++);
            ++taken;
        }
        return taken;
    }
    /// Returns the first free block at or after `bit`, or kNone.
    std::uint64_t next_free(std::uint64_t bit) const {
        std::size_t level = 0;
        for (;;) {  // up until a word has room at or after `bit` ...
            if (bit / 64 >= levels_[level].size()) return kNone;
            const std::uint64_t room = ~levels_[level][bit / 64] & (~std::uint64_t{0} << (bit % 64));
            if (room != 0) {
                bit = bit / 64 * 64 + static_cast<unsigned>(__builtin_ctzll(room));
                break;
            }
            bit = bit / 64 + 1;
            if (++level == levels_.size()) return kNone;
        }
        while (level > 0) {  // ... then down to its first free bit
            --level;
            bit = bit * 64 + static_cast<unsigned>(__builtin_ctzll(~levels_[level][bit]));
        }
        return bit;
    }

private:
    void set(std::uint64_t bit) {
        for (auto& level : levels_) {
            std::uint64_t& word = level[bit / 64];
            word |= std::uint64_t{1} << (bit % 64);
            if (word != ~std::uint64_t{0}) return;
            bit /= 64;
        }
    }

    std::uint64_t blocks_;
    std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace ssdtlm
