// SPDX-License-Identifier: Apache-2.0
// A large array of which most is never written: what was not reads as zero without a look into memory, which spares a
// simulator that looks up a random entry of hundreds of megabytes a miss of the cache and of the TLB. Where it is written
// densely it moves to huge pages; scattered writes take a small page each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/containers/zeroed_array.h"

namespace ssdtlm {

template <class T>
class SparseArray {
public:
    /// UserError, naming `what`, when there is no memory.
    SparseArray(std::size_t size, const char* what)
        : values_(size, what, Values::Pages::small), written_((size / kRegion + 1) * kRegionWords) {}

    T operator[](std::size_t i) const { return written(i) ? values_[i] : T{}; }
    /// The element, about to be written.
    T& at_write(std::size_t i) {
        if (__builtin_expect(!written(i), 0)) mark(i);
        return values_[i];
    }
    void prefetch(std::size_t i) const {
        if (written(i)) values_.prefetch(i);
    }

private:
    using Values = ZeroedArray<T>;
    /// Elements that share a mark: the marks of 100 million elements are to fit the first-level cache.
    static constexpr std::size_t kChunk = 8192;
    static constexpr std::size_t kRegion = Values::kHugePage / sizeof(T);  ///< elements of a huge page
    static constexpr std::size_t kRegionWords = kRegion / kChunk / 64;     ///< of written_
    static_assert(kRegionWords * 64 * kChunk == kRegion);

    bool written(std::size_t i) const { return (written_[i / kChunk / 64] >> (i / kChunk % 64) & 1) != 0; }

    __attribute__((noinline, cold)) void mark(std::size_t i) {
        written_[i / kChunk / 64] |= std::uint64_t{1} << (i / kChunk % 64);
        // When random writes have reached the last chunk, they have touched more than half of the small pages.
        for (std::size_t w = i / kRegion * kRegionWords, end = w + kRegionWords; w < end; ++w)
            if (written_[w] != ~std::uint64_t{0}) return;
        values_.make_huge(i);
    }

    Values values_;
    std::vector<std::uint64_t> written_;
};

}  // namespace ssdtlm
