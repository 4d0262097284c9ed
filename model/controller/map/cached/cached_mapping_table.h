// SPDX-License-Identifier: Apache-2.0
// Which entries of a map are in memory: the cached mapping table (CMT) of DFTL (Gupta et al., ASPLOS '09). A slot holds
// one entry, or a whole translation page; its key is the logical unit, or the number of the page. Entries in use are
// pinned and stay. The coldest of the others leaves first. Where tenants have parts of the cache, the coldest of the
// part that most exceeds its size leaves first; so a tenant may use what others do not use, until they want it. The
// table knows which keys are present, not what their entries say.
#pragma once

#include <cstdint>
#include <vector>

#include "common/containers/key_table.h"
#include "common/snapshot/snapshot.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ports/quotas.h"

namespace ssdtlm {

class CachedMappingTable {
public:
    using Slot = std::uint32_t;
    static constexpr Slot kNone = 0xFFFFFFFFu;

    struct Shape {
        std::uint64_t slots = 0;          ///< room
        std::uint32_t pages = 0;          ///< translation pages of the map
        std::uint32_t keys_per_page = 0;  ///< of a translation page; 1: slots hold whole ones
        MapReplacement replacement = MapReplacement::lru;
        std::uint32_t protected_percent = 50;
        std::vector<std::uint32_t> quotas{};  ///< per cent of the slots, of tenants 1, 2, ...; empty: shared by all
    };
    explicit CachedMappingTable(const Shape& shape);

    std::uint64_t room() const { return shape_.slots; }
    /// Keys that are present. There may be more than there is room for.
    std::size_t size() const { return index_.size(); }
    std::uint64_t pinned() const { return pinned_; }
    /// One more than the highest slot that was ever in use.
    std::size_t slots() const { return entries_.size(); }
    std::uint32_t page_of(std::uint32_t key) const { return key / shape_.keys_per_page; }

    /// The slot of a key; kNone: it is not present.
    Slot find(std::uint32_t key) const {
        const Place* p = index_.find(key);
        return p == nullptr ? kNone : p->slot;
    }
    std::uint32_t key(Slot s) const { return entries_[s].key; }
    /// A tenant for which the slot counts.
    std::uint16_t tenant(Slot s) const {
        return static_cast<std::uint16_t>(entries_[s].part + 1u < parts_.size() ? entries_[s].part + 1 : 0);
    }
    bool is_dirty(Slot s) const { return entries_[s].dirty; }
    /// The slot was asked for and is present.
    void use(Slot s);
    /// Adds a key as the hottest of those used once, in this tenant's part. Precondition: find(key) == kNone.
    Slot add(std::uint32_t key, std::uint16_t tenant = 0);
    /// A pinned slot does not leave. Each pin() needs an unpin(). After the last unpin() it is the hottest of its kind.
    void pin(Slot s);
    void unpin(Slot s);
    /// The entry differs from its translation page on the flash.
    void make_dirty(Slot s);
    /// All entries of a translation page become clean. Calls visit(slot) for each.
    template <class Visit>
    void clean(std::uint32_t page, Visit&& visit) {
        for (Slot s = first_dirty_[page]; s != kNone;) {
            Entry& e = entries_[s];
            visit(s);
            s = e.next_dirty;
            e.dirty = false;
        }
        first_dirty_[page] = kNone;
        dirty_in_[page] = 0;
    }
    /// Dirty keys of a translation page.
    std::uint32_t dirty_in(std::uint32_t page) const { return dirty_in_[page]; }
    /// Precondition: clean and not pinned.
    void remove(Slot s);
    /// The slot that leaves first; kNone: all are pinned.
    Slot coldest() const { return __builtin_expect(quotas_.shared(), 1) ? coldest_of(0) : coldest_of_fullest(); }
    /// The slot that leaves after it; kNone: it is the last.
    Slot next_coldest(Slot s) const {
        const Entry& e = entries_[s];
        if (e.warmer != kNone) return e.warmer;
        return e.kept ? kNone : parts_[e.part].segments[1].cold;
    }
    /// Keys in this tenant's part.
    std::uint64_t size_of(std::uint16_t tenant) const { return parts_[quotas_.part_of(tenant)].size; }
    /// Reads or writes the state. Precondition (checked): nothing is pinned. It is read into a table from which nothing
    /// was ever removed.
    void state(Snapshot& s);

private:
    struct Place {
        std::uint32_t key = 0;
        Slot slot = kNone;
    };
    struct Entry {
        std::uint32_t key = 0;
        std::uint32_t pins = 0;
        Slot colder = kNone, warmer = kNone;  // in its segment, while it is not pinned
        Slot next_dirty = kNone;              // of its translation page
        bool dirty = false;
        bool kept = false;  // in the protected segment
        std::uint8_t part = 0;
    };
    struct Segment {
        Slot cold = kNone, hot = kNone;
        std::uint64_t size = 0;
    };
    struct Part {
        Segment segments[2];  // used once; used again (segmented LRU only)
        std::uint64_t size = 0, room = 0, most_protected = 0;
    };
    Slot coldest_of(std::uint32_t part) const {
        const Part& p = parts_[part];
        return p.segments[0].cold != kNone ? p.segments[0].cold : p.segments[1].cold;
    }
    Slot coldest_of_fullest() const;
    void link(Slot s);
    void unlink(Slot s);
    void check_lists(Snapshot& s, const std::vector<bool>& is_free) const;

    const Shape shape_;
    const Quotas quotas_;
    std::vector<Part> parts_;
    KeyTable<Place, 1024> index_;
    std::vector<Entry> entries_;
    std::vector<Slot> free_;
    std::vector<Slot> first_dirty_;  // by translation page
    std::vector<std::uint32_t> dirty_in_;
    std::uint64_t pinned_ = 0;
};

}  // namespace ssdtlm
