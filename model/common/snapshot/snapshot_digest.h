// SPDX-License-Identifier: Apache-2.0
// Tells whether a snapshot is as it was written. Whoever unpacks, changes and packs it again makes the checksum of its
// zstd frame anew; this checksum is part of the content. It does not protect against somebody who wants to deceive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ssdtlm {

class SnapshotDigest {
public:
    /// Adds bytes. The result does not depend on how the bytes are split into calls.
    void add(const void* data, std::size_t size) {
        const auto* at = static_cast<const unsigned char*>(data);
        for (; size != 0 && begun_ != 0; --size) add_byte(*at++);
        for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t), at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, sizeof word);
            mix(word);
        }
        for (; size != 0; --size) add_byte(*at++);
    }
    std::uint64_t value() const { return (value_ ^ word_ ^ std::uint64_t{begun_} << 60) * kPrime; }

private:
    static constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio, odd
    void mix(std::uint64_t word) {
        value_ = (value_ ^ word) * kPrime;
        value_ ^= value_ >> 29;
    }
    void add_byte(unsigned char c) {
        word_ |= std::uint64_t{c} << (8 * begun_);
        if (++begun_ != sizeof word_) return;
        mix(word_);
        word_ = 0;
        begun_ = 0;
    }
    std::uint64_t value_ = 0xCBF29CE484222325u;
    std::uint64_t word_ = 0;
    unsigned begun_ = 0;  // bytes of word_
};

}  // namespace ssdtlm
