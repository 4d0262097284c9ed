// SPDX-License-Identifier: Apache-2.0
// Holds the few of many things that are in some state at the moment. It is an open-addressing hash table of 32-bit keys
// (linear probing, backward-shift deletion). It does not allocate once it has grown. It is small enough to stay in the
// cache of the machine that simulates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/containers/huge_page_allocator.h"

namespace ssdtlm {

/// `Entry` has a member std::uint32_t `key`. insert() gives a new key a default Entry. `kInitial`: number of slots at
/// first.
template <class Entry, std::size_t kInitial>
class KeyTable {
    static_assert(kInitial >= 2 && (kInitial & (kInitial - 1)) == 0, "a power of two");

public:
    static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;  ///< this value is no key

    KeyTable() : slots_(kInitial, empty()) {}

    std::size_t size() const { return size_; }

    const Entry* find(std::uint32_t key) const {
        for (std::size_t i = home(key);; i = next(i)) {
            if (slots_[i].key == key) return &slots_[i];
            if (slots_[i].key == kEmpty) return nullptr;
        }
    }
    [[gnu::always_inline]] void prefetch(std::uint32_t key) const { __builtin_prefetch(&slots_[home(key)], 1); }
    Entry* find(std::uint32_t key) { return const_cast<Entry*>(static_cast<const KeyTable*>(this)->find(key)); }

    /// Returns the entry of `key`, and makes it if it is absent. `fresh`: set to whether it was made. Pointers to other
    /// entries may become invalid.
    Entry& insert(std::uint32_t key, bool& fresh) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        std::size_t i = home(key);
        while (slots_[i].key != kEmpty && slots_[i].key != key) i = next(i);
        fresh = slots_[i].key == kEmpty;
        if (fresh) {
            slots_[i] = Entry{};
            slots_[i].key = key;
            ++size_;
        }
        return slots_[i];
    }

    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Entry& e : slots_)
            if (e.key != kEmpty) visit(e);
    }

    void erase(Entry& entry) {
        std::size_t hole = static_cast<std::size_t>(&entry - slots_.data());
        for (std::size_t i = next(hole); slots_[i].key != kEmpty; i = next(i)) {
            // An entry may move into the hole unless its home lies behind the hole on its probe path.
            if (((i - home(slots_[i].key)) & mask()) < ((i - hole) & mask())) continue;
            slots_[hole] = slots_[i];
            hole = i;
        }
        slots_[hole].key = kEmpty;
        --size_;
    }

private:
    using Slots = std::vector<Entry, HugePageAllocator<Entry>>;
    static Entry empty() {
        Entry e{};
        e.key = kEmpty;
        return e;
    }
    std::size_t mask() const { return slots_.size() - 1; }
    std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
    /// Fibonacci hashing: consecutive keys spread over the table.
    std::size_t home(std::uint32_t key) const {
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 32) & mask();
    }
    void grow() {
        Slots old(2 * slots_.size(), empty());
        old.swap(slots_);
        size_ = 0;
        bool fresh = false;
        for (const Entry& e : old)
            if (e.key != kEmpty) insert(e.key, fresh) = e;
    }

    Slots slots_;
    std::size_t size_ = 0;
};

}  // namespace ssdtlm
