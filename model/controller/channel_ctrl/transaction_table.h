// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ports/flash.h"

namespace ssdtlm {

/// Gives submitted transactions their tags for the scheduler.
class TransactionTable {
public:
    void add(FlashTransaction& txn) {
        if (__builtin_expect(free_ == kNone, 0)) grow();
        Entry& entry = entries_[free_];
        txn.tag = free_;
        free_ = entry.next_free;
        entry.txn = &txn;
    }
    FlashTransaction& remove(std::uint32_t tag) {
        entries_[tag].next_free = free_;
        free_ = tag;
        return *entries_[tag].txn;
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    struct Entry {
        FlashTransaction* txn = nullptr;
        std::uint32_t next_free = kNone;
    };
    __attribute__((noinline, cold)) void grow() {
        free_ = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
    }

    std::vector<Entry> entries_;
    std::uint32_t free_ = kNone;  // used last first
};

}  // namespace ssdtlm
