// SPDX-License-Identifier: Apache-2.0
// A checksum that tells whether a snapshot was changed after it had been written. It is part of the content, because
// the checksum of the zstd frame is made anew when a file is packed again. It does not protect against changes that are
// made to deceive.
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
    static constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio; it must be odd
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
    unsigned begun_ = 0;  // number of bytes in word_
};

}  // namespace ssdtlm
