// SPDX-License-Identifier: Apache-2.0
// The mapping units whose content is not a single known version: writes or trims in flight, or a settled race.
// An open-addressing hash table (linear probing, backward-shift deletion); no allocation once grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ssdtlm {

class UnitTable {
public:
    static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;

    struct Entry {
        std::uint32_t unit = kEmpty;
        std::uint16_t before = 0;     ///< versions possible before the first operation of the group took effect
        std::uint16_t within = 0;     ///< versions of the operations of the group
        std::uint32_t in_flight = 0;  ///< operations of the group not yet completed

        std::uint16_t acceptable() const { return static_cast<std::uint16_t>(before | within); }
    };

    UnitTable() : slots_(kInitial) {}

    std::size_t size() const { return size_; }

    const Entry* find(std::uint32_t unit) const {
        for (std::size_t i = home(unit);; i = next(i)) {
            if (slots_[i].unit == unit) return &slots_[i];
            if (slots_[i].unit == kEmpty) return nullptr;
        }
    }
    Entry* find(std::uint32_t unit) { return const_cast<Entry*>(static_cast<const UnitTable*>(this)->find(unit)); }

    /// The entry of `unit`, made when absent (`fresh` says so). Invalidates pointers to other entries.
    Entry& insert(std::uint32_t unit, bool& fresh) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        std::size_t i = home(unit);
        while (slots_[i].unit != kEmpty && slots_[i].unit != unit) i = next(i);
        fresh = slots_[i].unit == kEmpty;
        if (fresh) {
            slots_[i] = Entry{unit, 0, 0, 0};
            ++size_;
        }
        return slots_[i];
    }

    void erase(Entry& entry) {
        std::size_t hole = static_cast<std::size_t>(&entry - slots_.data());
        for (std::size_t i = next(hole); slots_[i].unit != kEmpty; i = next(i)) {
            // An entry may move into the hole unless its home lies behind the hole on its probe path.
            if (((i - home(slots_[i].unit)) & mask()) < ((i - hole) & mask())) continue;
            slots_[hole] = slots_[i];
            hole = i;
        }
        slots_[hole].unit = kEmpty;
        --size_;
    }

private:
    static constexpr std::size_t kInitial = 1024;

    std::size_t mask() const { return slots_.size() - 1; }
    std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
    /// Fibonacci hashing: consecutive units spread over the table.
    std::size_t home(std::uint32_t unit) const {
        return static_cast<std::size_t>((unit * 0x9E3779B97F4A7C15u) >> 32) & mask();
    }
    void grow() {
        std::vector<Entry> old(2 * slots_.size());
        old.swap(slots_);
        size_ = 0;
        bool fresh = false;
        for (const Entry& e : old)
            if (e.unit != kEmpty) insert(e.unit, fresh) = e;
    }

    std::vector<Entry> slots_;
    std::size_t size_ = 0;
};

}  // namespace ssdtlm
