// SPDX-License-Identifier: Apache-2.0
// What cfq and bfq share: a queue of requests, the choice of the next one by address, and an exact product of ratios.
#pragma once

#include <iterator>

#include "host_block/schedulers/waiting_requests.h"

namespace ssdtlm {

/// Returns a * b / c without overflow.
inline std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(a) * b / c);
}

/// The requests of a queue, ordered by address and by arrival.
struct AddressQueue {
    WaitingTree sorted;
    WaitingList fifo;

    bool empty() const { return fifo.empty(); }
    void add(Waiting& w) {
        sorted.insert(w);
        fifo.push_back(w);
    }
    void remove(Waiting& w) {
        sorted.erase(sorted.iterator_to(w));
        fifo.erase(fifo.iterator_to(w));
    }
    void grown(Waiting& w) {
        sorted.erase(sorted.iterator_to(w));
        sorted.insert(w);
    }
    /// Returns the request that is nearest to `place`, where the last one ended. A distance backwards counts `penalty`
    /// times. Requests more than `back_max` behind come after all others, the lowest address first.
    Waiting& nearest(std::uint64_t place, std::uint64_t back_max, std::uint64_t penalty) {
        const auto ahead = sorted.lower_bound(ByPlace::type{place, 0});
        if (ahead == sorted.begin()) return *ahead;
        const std::uint64_t behind = std::prev(ahead)->request->offset;
        const bool reachable = place - behind <= back_max;
        if (ahead != sorted.end() && (!reachable || ahead->request->offset - place <= (place - behind) * penalty))
            return *ahead;
        if (!reachable) return *sorted.begin();
        return *sorted.lower_bound(ByPlace::type{behind, 0});
    }
};

}  // namespace ssdtlm
