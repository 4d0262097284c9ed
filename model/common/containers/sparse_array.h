// SPDX-License-Identifier: Apache-2.0
// A large array of which most is never written. An element in a part that was never written reads as zero without an
// access to the array. This saves a miss of the cache and of the TLB at each random look-up in hundreds of megabytes.
// The memory in use grows with the number of written elements.
//
// If writes are random, the elements are in a hash table until the table has a quarter of the array's size. In the
// array each element would touch a page of its own, which the kernel has to clear. If writes are sequential, the array
// begins on small pages. The elements of a huge page move to a huge page after half as many writes as there are
// elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/containers/key_table.h"
#include "common/containers/zeroed_array.h"

namespace ssdtlm {

template <class T>
class SparseArray {
public:
    /// How the array will be written: at random places, or at a few places that each move forward.
    enum class Writes : std::uint8_t { random, sequential };

    /// Throws UserError when there is no memory. `what`: the name of the array for this error.
    SparseArray(std::size_t size, const char* what, Writes writes = Writes::random)
        : size_(size),
          values_(size, what, writes == Writes::random ? Values::Pages::huge : Values::Pages::small),
          written_((size / kRegion + 1) * kRegionWords),
          few_(writes == Writes::random ? std::make_unique<Few>() : nullptr),
          most_(size * sizeof(T) / sizeof(Element) / 2 / 4),
          small_writes_(writes == Writes::sequential ? size / kRegion + 1 : 0, kRegion / 2) {
        SSDTLM_CHECK(few_ == nullptr || size <= Few::kEmpty,
                     std::string(what) + ": more elements than a key of 32 bits has values");
    }

    T operator[](std::size_t i) const { return written(i) ? value(i) : T{}; }
    /// Returns the element for writing. The reference is valid until the next call.
    T& at_write(std::size_t i) {
        if (i / kChunk != last_chunk_) {
            last_chunk_ = i / kChunk;
            if (__builtin_expect(!written(i), 0)) mark(i);
        }
        if (few_ != nullptr) return among_few(i);
        if (!small_writes_.empty() && __builtin_expect(--small_writes_[i / kRegion] == 0, 0)) values_.make_huge(i);
        return values_[i];
    }
    [[gnu::always_inline]] void prefetch(
        std::size_t i) const {  // the caller has not checked `i`, so it may be out of range
        if (i >= size_ || !written(i)) return;
        if (few_ != nullptr)
            few_->prefetch(static_cast<std::uint32_t>(i));
        else
            values_.prefetch(i);
    }
    /// Writes the chunks that are not zero to a Snapshot, or reads them from it. Precondition for reading: nothing was
    /// written to the array.
    template <class Archive>
    void state(Archive& s) {
        if (few_ != nullptr) leave_table();
        std::uint64_t chunk = s.reads() ? 0 : next_filled(0);
        for (s(chunk); chunk * kChunk < size_; s(chunk)) {
            const std::size_t first = static_cast<std::size_t>(chunk) * kChunk;
            s.bytes(&at_write(first), std::min(kChunk, size_ - first) * sizeof(T));
            if (s.reads() && !small_writes_.empty()) {
                std::uint32_t& left = small_writes_[first / kRegion];
                left = std::max(left, std::uint32_t{kChunk} + 1) - std::uint32_t{kChunk};
            }
            if (!s.reads()) chunk = next_filled(chunk + 1);
        }
    }

private:
    using Values = ZeroedArray<T>;
    struct Element {
        std::uint32_t key;
        T value;
    };
    using Few = KeyTable<Element, 256>;
    /// Number of elements that share a mark in written_. The marks of 100 million elements should fit into the
    /// first-level cache.
    static constexpr std::size_t kChunk = 8192;
    static constexpr std::size_t kRegion = Values::kHugePage / sizeof(T);  ///< elements of a huge page
    static constexpr std::size_t kRegionWords = kRegion / kChunk / 64;     ///< words of written_ for each region
    static_assert(kRegionWords * 64 * kChunk == kRegion);

    bool written(std::size_t i) const { return (written_[i / kChunk / 64] >> (i / kChunk % 64) & 1) != 0; }

    T value(std::size_t i) const {
        if (few_ == nullptr) return values_[i];
        const Element* const e = few_->find(static_cast<std::uint32_t>(i));
        return e != nullptr ? e->value : T{};
    }
    T& among_few(std::size_t i) {
        if (__builtin_expect(few_->size() >= most_, 0)) {
            leave_table();
            return values_[i];
        }
        bool fresh;
        return few_->insert(static_cast<std::uint32_t>(i), fresh).value;
    }
    __attribute__((noinline, cold)) void leave_table() {
        few_->for_each([this](const Element& e) { values_[e.key] = e.value; });
        few_.reset();
    }

    __attribute__((noinline, cold)) void mark(std::size_t i) {
        written_[i / kChunk / 64] |= std::uint64_t{1} << (i / kChunk % 64);
    }

    /// Returns the first chunk from this one on that is not zero, or the number behind the last chunk if there is none.
    std::uint64_t next_filled(std::uint64_t chunk) const {
        for (; chunk * kChunk < size_; ++chunk) {
            if (!written(static_cast<std::size_t>(chunk) * kChunk)) continue;
            const std::size_t first = static_cast<std::size_t>(chunk) * kChunk;
            const T* const begin = &values_[first];
            if (std::any_of(begin, begin + std::min(kChunk, size_ - first), [](const T& v) { return v != T{}; }))
                return chunk;
        }
        return chunk;
    }

    const std::size_t size_;
    Values values_;
    std::vector<std::uint64_t> written_;
    std::size_t last_chunk_ = ~std::size_t{0};
    std::unique_ptr<Few> few_;  // null: all elements are in values_
    const std::size_t most_;    // most elements of few_
    std::vector<std::uint32_t>
        small_writes_;  // by region: writes until it moves to a huge page; empty: all regions are on huge pages
};

}  // namespace ssdtlm
