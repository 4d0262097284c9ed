// SPDX-License-Identifier: Apache-2.0
// The contents of a logical block, when contents are bytes. They follow from a seed, the LBA and the version of the
// block, so nobody has to store them. Version 0 is a block that was never written: it has zeros.
#pragma once

#include <cstdint>
#include <cstring>

namespace ssdtlm {

class BlockBytes {
public:
    /// `block_bytes`: size of a block, a multiple of 8.
    BlockBytes(std::uint64_t seed, std::uint32_t block_bytes) : seed_(seed), block_bytes_(block_bytes) {}

    std::uint32_t block_bytes() const { return block_bytes_; }
    void fill(std::uint64_t lba, std::uint32_t version, std::uint8_t* out) const {
        if (version == 0) {
            std::memset(out, 0, block_bytes_);
            return;
        }
        std::uint64_t state = first_state(lba, version);
        for (std::uint32_t i = 0; i < block_bytes_; i += kWord) {
            const std::uint64_t word = next(state);
            std::memcpy(out + i, &word, kWord);
        }
    }
    /// The position of the first byte of `found` that differs; block_bytes() if none does.
    std::uint32_t differs_at(std::uint64_t lba, std::uint32_t version, const std::uint8_t* found) const {
        std::uint64_t state = first_state(lba, version);
        for (std::uint32_t i = 0; i < block_bytes_; i += kWord) {
            const std::uint64_t word = version == 0 ? 0 : next(state);
            std::uint64_t other;
            std::memcpy(&other, found + i, kWord);
            if (__builtin_expect(other != word, 0))
                return i + static_cast<std::uint32_t>(__builtin_ctzll(other ^ word)) / 8;
        }
        return block_bytes_;
    }

private:
    static constexpr std::uint32_t kWord = 8;
    static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    /// SplitMix64 (Steele, Lea, Flood 2014).
    static std::uint64_t next(std::uint64_t& state) { return mixed(state += kGolden); }
    std::uint64_t first_state(std::uint64_t lba, std::uint32_t version) const {
        return mixed(mixed(mixed(seed_ + kGolden) + lba) + version);
    }

    std::uint64_t seed_;
    std::uint32_t block_bytes_;
};

}  // namespace ssdtlm
