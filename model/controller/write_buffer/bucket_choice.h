// SPDX-License-Identifier: Apache-2.0
// Chooses the units of a write buffer that go to flash together, grouped by the translation page that they make dirty
// (Hexa-SSD, IEICE Electronics Express 19(21), 2022). There is a bucket for each translation page. The largest bucket
// goes first, with all its units. A bucket whose oldest unit has waited for `patience` other units goes before it. A
// bucket with a unit that must become durable goes before both. This class has only numbers; the units are in
// WriteBuffer's lists.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ports/dirty_pages.h"

namespace ssdtlm {

class BucketChoice {
public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    BucketChoice(std::uint32_t buckets, std::uint64_t patience);

    /// Buckets of these pages go first if they have at least a quarter of the largest bucket's units, because their
    /// units make no further page dirty.
    void prefer(const DirtyPages& pages) { dirty_pages_ = &pages; }
    /// A unit has come into the buffer.
    void arrived() { ++arrivals_; }
    /// added(): a unit of the bucket may be programmed now. removed(): it may not any more. `demanded`: the unit must
    /// become durable.
    void added(std::uint32_t bucket, bool demanded);
    void removed(std::uint32_t bucket, bool demanded);
    /// demand(): one unit of the bucket that may be programmed must become durable now. demand_all(): all units must.
    void demand(std::uint32_t bucket);
    void demand_all();
    /// The bucket whose next unit is programmed next. The caller removes the unit. kNone: all are empty.
    std::uint32_t next();
    std::uint32_t size(std::uint32_t bucket) const { return buckets_[bucket].size; }
    std::uint32_t demanded(std::uint32_t bucket) const { return buckets_[bucket].demanded; }

private:
    struct Bucket {
        std::uint32_t size = 0;
        std::uint32_t demanded = 0;
        bool listed = false;                          // among those with demanded units
        std::uint64_t since = 0;                      // arrivals before its oldest unit
        std::uint32_t larger = kNone, later = kNone;  // of the same size: before and behind it
        std::uint32_t older = kNone, newer = kNone;   // of those that are not empty, by `since`
    };
    struct List {
        std::uint32_t first = kNone, last = kNone;
    };
    void resize(std::uint32_t bucket, std::uint32_t size);
    void age(std::uint32_t bucket, bool in);
    void note_demand(std::uint32_t bucket);
    std::uint32_t largest();
    std::uint32_t choose();
    std::uint32_t largest_demanded();
    std::uint32_t largest_dirty(std::uint32_t least) const;

    std::vector<Bucket> buckets_;
    std::vector<List> of_size_;
    const std::uint64_t patience_;
    const DirtyPages* dirty_pages_ = nullptr;  // null: none goes first for that
    std::uint64_t arrivals_ = 0;
    std::uint64_t units_ = 0, demanded_units_ = 0;
    std::uint32_t most_ = 0;  // no bucket is larger
    List by_age_;
    std::vector<std::uint32_t> with_demand_;    // and some that had
    std::uint32_t current_ = kNone, left_ = 0;  // units of it that go together
};

}  // namespace ssdtlm
