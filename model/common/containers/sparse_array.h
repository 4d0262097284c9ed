// SPDX-License-Identifier: Apache-2.0
// A large array of which most is never written: what was not reads as zero without a look into memory, which spares a
// simulator that looks up a random entry of hundreds of megabytes a miss of the cache and of the TLB. It begins on small
// pages, so that a run of a few thousand commands takes a few megabytes, and moves to huge ones when that pays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/containers/zeroed_array.h"

namespace ssdtlm {

template <class T>
class SparseArray {
public:
    /// How it will be written: anywhere, or in a few places that each move on. The first moves to huge pages as a whole,
    /// when there have been many writes; of the second a huge page's worth when half of it has been written.
    enum class Writes : std::uint8_t { random, sequential };

    /// UserError, naming `what`, when there is no memory.
    SparseArray(std::size_t size, const char* what, Writes writes = Writes::random)
        : size_(size),
          values_(size, what, Values::Pages::small),
          written_((size / kRegion + 1) * kRegionWords),
          sequential_(writes == Writes::sequential),
          patience_(sequential_ ? ~std::uint64_t{0} : kPatience) {}

    T operator[](std::size_t i) const { return written(i) ? values_[i] : T{}; }
    /// The element, about to be written.
    T& at_write(std::size_t i) {
        if (i / kChunk != last_chunk_) {
            last_chunk_ = i / kChunk;
            if (__builtin_expect(--patience_ == 0, 0)) move_to_huge_pages();
            if (__builtin_expect(!written(i), 0)) mark(i);
        }
        return values_[i];
    }
    void prefetch(std::size_t i) const {
        if (written(i)) values_.prefetch(i);
    }
    /// What is not zero, for a Snapshot. Precondition: read into an array that was not written.
    template <class Archive>
    void state(Archive& s) {
        std::uint64_t chunk = s.reads() ? 0 : next_filled(0);
        for (s(chunk); chunk * kChunk < size_; s(chunk)) {
            const std::size_t first = static_cast<std::size_t>(chunk) * kChunk;
            s.bytes(&at_write(first), std::min(kChunk, size_ - first) * sizeof(T));
            if (!s.reads()) chunk = next_filled(chunk + 1);
        }
    }

private:
    using Values = ZeroedArray<T>;
    /// Elements that share a mark: the marks of 100 million elements are to fit the first-level cache.
    static constexpr std::size_t kChunk = 8192;
    static constexpr std::size_t kRegion = Values::kHugePage / sizeof(T);  ///< elements of a huge page
    static constexpr std::size_t kRegionWords = kRegion / kChunk / 64;     ///< of written_
    static_assert(kRegionWords * 64 * kChunk == kRegion);

    bool written(std::size_t i) const { return (written_[i / kChunk / 64] >> (i / kChunk % 64) & 1) != 0; }

    /// Writes that are not to the chunk of the one before: each may have taken a small page, together at most 32 MiB.
    static constexpr std::uint64_t kPatience = 8192;

    std::size_t written_chunks(std::size_t region) const {
        std::size_t n = 0;
        for (std::size_t w = region * kRegionWords, end = w + kRegionWords; w < end; ++w)
            n += static_cast<std::size_t>(__builtin_popcountll(written_[w]));
        return n;
    }
    __attribute__((noinline, cold)) void mark(std::size_t i) {
        written_[i / kChunk / 64] |= std::uint64_t{1} << (i / kChunk % 64);
        if (sequential_ && written_chunks(i / kRegion) == kRegionWords * 32) values_.make_huge(i);
    }
    __attribute__((noinline, cold)) void move_to_huge_pages() {
        values_.allow_huge();
        for (std::size_t region = 0; region < written_.size() / kRegionWords; ++region)
            if (written_chunks(region) != 0) values_.make_huge(region * kRegion);
    }

    /// The first chunk from this one on with something in it; behind the last: none.
    std::uint64_t next_filled(std::uint64_t chunk) const {
        for (; chunk * kChunk < size_; ++chunk) {
            if (!written(static_cast<std::size_t>(chunk) * kChunk)) continue;
            const std::size_t first = static_cast<std::size_t>(chunk) * kChunk;
            const T* const begin = &values_[first];
            if (std::any_of(begin, begin + std::min(kChunk, size_ - first), [](const T& v) { return v != T{}; })) return chunk;
        }
        return chunk;
    }

    const std::size_t size_;
    Values values_;
    std::vector<std::uint64_t> written_;
    std::size_t last_chunk_ = ~std::size_t{0};
    const bool sequential_;
    std::uint64_t patience_;
};

}  // namespace ssdtlm
