// SPDX-License-Identifier: Apache-2.0
// A large array of which most is never written: what was not reads as zero without a look into memory, which spares a
// simulator that looks up a random entry of hundreds of megabytes a miss of the cache and of the TLB.
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
    SparseArray(std::size_t size, const char* what) : values_(size, what), written_(size / kChunk / 64 + 1) {}

    T operator[](std::size_t i) const { return written(i) ? values_[i] : T{}; }
    /// The element, about to be written.
    T& at_write(std::size_t i) {
        written_[i / kChunk / 64] |= std::uint64_t{1} << (i / kChunk % 64);
        return values_[i];
    }
    void prefetch(std::size_t i) const {
        if (written(i)) values_.prefetch(i);
    }

private:
    /// Elements that share a mark: the marks of 100 million elements are to fit the first-level cache.
    static constexpr std::size_t kChunk = 8192;

    bool written(std::size_t i) const { return (written_[i / kChunk / 64] >> (i / kChunk % 64) & 1) != 0; }

    ZeroedArray<T> values_;
    std::vector<std::uint64_t> written_;
};

}  // namespace ssdtlm
