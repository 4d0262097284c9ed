// SPDX-License-Identifier: Apache-2.0
// The containers in which schedulers keep requests. Each request has one note, which holds the links of all lists and
// trees. So nothing is allocated while requests come and go.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <tuple>

#include "host_block/ports/io_scheduler.h"

namespace ssdtlm {

/// A scheduler's note about a request, from its insertion until its completion.
struct Waiting {
    BlockRequest* request = nullptr;
    std::uint64_t sequence = 0;  ///< number of its insertion into the policy; it orders equal keys
    bool waits = false;          ///< it is in the scheduler, not in the drive
    SimTime time{};              ///< for the policy: a deadline, or the time of dispatch
    std::uint64_t value = 0;     ///< for the policy: the cost that it charged
    std::uint64_t tag = 0;       ///< for the policy: its place in virtual time
    boost::intrusive::list_member_hook<> listed;
    boost::intrusive::list_member_hook<> recent;
    boost::intrusive::set_member_hook<> sorted;    ///< for the policy: by place
    boost::intrusive::set_member_hook<> by_begin;  ///< for front merges
    boost::intrusive::set_member_hook<> by_end;    ///< for back merges

    std::uint32_t context() const { return request->context.number; }
};

/// A list of requests in the order of their arrival.
using WaitingList = boost::intrusive::list<
    Waiting, boost::intrusive::member_hook<Waiting, boost::intrusive::list_member_hook<>, &Waiting::listed>>;

/// Orders requests by place. If several requests have one place, the one that came first is first.
struct ByPlace {
    using type = std::pair<std::uint64_t, std::uint64_t>;
    type operator()(const Waiting& w) const { return {w.request->offset, w.sequence}; }
};
using WaitingTree =
    boost::intrusive::set<Waiting,
                          boost::intrusive::member_hook<Waiting, boost::intrusive::set_member_hook<>, &Waiting::sorted>,
                          boost::intrusive::key_of_value<ByPlace>>;

/// The key of the merge index. Only requests of the same operation and context may merge, and only if both or none of
/// them are awaited: these make up the kind.
using MergeKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // kind, place, sequence
inline std::uint64_t merge_kind(const BlockRequest& r) {
    return std::uint64_t{r.context.number} << 8 | static_cast<std::uint64_t>(r.op) << 1 | (r.sync ? 1u : 0u);
}
struct ByBegin {
    using type = MergeKey;
    type operator()(const Waiting& w) const { return {merge_kind(*w.request), w.request->offset, w.sequence}; }
};
struct ByEnd {
    using type = MergeKey;
    type operator()(const Waiting& w) const { return {merge_kind(*w.request), w.request->end(), w.sequence}; }
};

/// Returns false for requests that are never merged: FUA, flushes and barriers.
inline bool mergeable(const BlockRequest& r) {
    return !r.fua && !r.barrier && r.op != HostOp::flush;
}
/// True: `candidate` lies behind or before `r` and may join it. `front`: set to true if it lies before it.
inline bool joins(const BlockRequest& r, const BlockRequest& candidate, bool& front) {
    if (!mergeable(r) || !mergeable(candidate) || r.op != candidate.op || r.sync != candidate.sync ||
        r.context.number != candidate.context.number)
        return false;
    front = r.end() != candidate.offset;
    return !front || r.offset == candidate.end();
}

/// Finds a request to merge with among all waiting requests, whatever their age. It prefers a back merge to a front
/// merge, and of several requests the one that came first.
class MergeIndex {
public:
    void add(Waiting& w) {
        begins_.insert(w);
        ends_.insert(w);
    }
    void remove(Waiting& w) {
        begins_.erase(begins_.iterator_to(w));
        ends_.erase(ends_.iterator_to(w));
    }
    /// Sorts a request anew that has grown.
    void moved(Waiting& w) {
        remove(w);
        add(w);
    }
    Waiting* find(const BlockRequest& c, bool fronts, bool& front) {
        const auto behind = ends_.lower_bound(MergeKey{merge_kind(c), c.offset, 0});
        front = false;
        if (behind != ends_.end() && same(*behind->request, c) && behind->request->end() == c.offset) return &*behind;
        if (!fronts) return nullptr;
        const auto before = begins_.lower_bound(MergeKey{merge_kind(c), c.end(), 0});
        front = true;
        if (before != begins_.end() && same(*before->request, c) && before->request->offset == c.end()) return &*before;
        return nullptr;
    }

private:
    static bool same(const BlockRequest& a, const BlockRequest& b) { return merge_kind(a) == merge_kind(b); }
    boost::intrusive::set<
        Waiting, boost::intrusive::member_hook<Waiting, boost::intrusive::set_member_hook<>, &Waiting::by_begin>,
        boost::intrusive::key_of_value<ByBegin>>
        begins_;
    boost::intrusive::set<Waiting,
                          boost::intrusive::member_hook<Waiting, boost::intrusive::set_member_hook<>, &Waiting::by_end>,
                          boost::intrusive::key_of_value<ByEnd>>
        ends_;
};

/// The gate during one call of dispatch(). It remembers the gate's answers, so that it asks once for each context.
class OpenContexts {
public:
    explicit OpenContexts(const DispatchGate& gate) : gate_(gate) {}
    bool operator()(std::uint32_t context) {
        if (context >= 64) return gate_.may_dispatch(context);
        const std::uint64_t bit = std::uint64_t{1} << context;
        if ((asked_ & bit) == 0) {
            asked_ |= bit;
            if (gate_.may_dispatch(context)) open_ |= bit;
        }
        return (open_ & bit) != 0;
    }
    bool fills_waits() const { return gate_.fills_waits(); }
    /// Returns the first request of a list whose context is open, or null.
    Waiting* first(WaitingList& list) {
        for (Waiting& w : list)
            if ((*this)(w.context())) return &w;
        return nullptr;
    }
    /// Returns the first request of a tree, from `from` on, whose context is open, or null.
    Waiting* first(WaitingTree& tree, WaitingTree::iterator from) {
        for (; from != tree.end(); ++from)
            if ((*this)(from->context())) return &*from;
        return nullptr;
    }

private:
    const DispatchGate& gate_;
    std::uint64_t asked_ = 0, open_ = 0;
};

}  // namespace ssdtlm
