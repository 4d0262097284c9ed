// SPDX-License-Identifier: Apache-2.0
// The room in DRAM that write buffer and read cache share, and the order in which units leave it. The oldest leave
// first, or those not used for longest (LRU). With a window (CFLRU: Park et al., CASES 2006), of the coldest few the
// clean ones leave before the dirty ones, which cost a program. This class has only numbers. The units are with buffer
// and cache, which tell it what comes, is used and leaves.
//
// A clean unit leaves at once. A dirty one has to be programmed, which takes time: a write waits for that. A unit that
// was read does not stay then, but the buffer is told that room is wanted.
#pragma once

#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/ports/buffer_levels.h"

namespace ssdtlm {

class SharedCache {
public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    /// `window`: of this many coldest units, clean ones leave first; 1: it does not matter what is dirty. `by_use`: a
    /// unit that is used becomes the newest again.
    SharedCache(std::uint32_t units, std::uint32_t window, bool by_use);

    /// Both must outlive it. `evict` is called for a clean unit that must leave. It calls left_clean().
    void bind(BufferLevels& buffer, std::function<void(std::uint32_t slot)> evict);

    std::uint32_t units() const { return units_; }
    std::uint32_t clean() const { return clean_count_; }

    // --- Units of the write buffer, by its index ---
    void entered_dirty(std::uint32_t entry) { push(entry); }
    void used_dirty(std::uint32_t entry) { use(entry); }
    void left_dirty(std::uint32_t entry) {
        if (nodes_[entry].linked) remove(entry);
    }
    /// The unit is programmed. It stays where it was in the order, as the clean unit of this slot.
    void cleaned(std::uint32_t entry, std::uint32_t slot);
    // --- Units of the read cache, by its slot ---
    void entered_clean(std::uint32_t slot);
    void used_clean(std::uint32_t slot);
    void left_clean(std::uint32_t slot);

    /// Makes room for this many more units of the write buffer; clean units leave for them if it is their turn. False:
    /// a dirty one's turn comes first.
    bool make_room(std::uint32_t units);
    /// Makes room for a unit that was read. False: it does not stay.
    bool admit_clean();

    /// Throws CheckFailed unless each unit of both is in the order once. It looks at all of them if they are few.
    void check() const;
    /// Precondition: the write buffer holds no unit.
    void state(Snapshot& s);

private:
    struct Node {
        boost::intrusive::set_member_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>
            hook;                 // among the clean ones
        std::uint64_t since = 0;  // grows from the oldest to the newest
        std::uint32_t older = kNone, newer = kNone;
        bool linked = false;
    };
    struct Since {
        using type = std::uint64_t;
        std::uint64_t operator()(const Node& n) const { return n.since; }
    };
    using Clean =
        boost::intrusive::set<Node, boost::intrusive::member_hook<Node, decltype(Node::hook), &Node::hook>,
                              boost::intrusive::key_of_value<Since>, boost::intrusive::constant_time_size<false>>;
    std::uint32_t node_of(std::uint32_t slot) const { return units_ + slot; }
    bool in_window(const Node& n) const { return edge_ == kNone || n.since <= nodes_[edge_].since; }
    void push(std::uint32_t node);
    void remove(std::uint32_t node);
    void use(std::uint32_t node);
    bool evict_one();

    const std::uint32_t units_, window_;
    const bool by_use_;
    BufferLevels* buffer_ = nullptr;
    std::function<void(std::uint32_t)> evict_;
    std::vector<Node> nodes_;  // by entry of the buffer, and behind them by slot of the cache
    Clean clean_;
    std::uint32_t oldest_ = kNone, newest_ = kNone;
    std::uint32_t size_ = 0, clean_count_ = 0;
    std::uint32_t edge_ = kNone;  // the newest one of the window; kNone: it is not full
    std::uint64_t clock_ = 0;
};

}  // namespace ssdtlm
