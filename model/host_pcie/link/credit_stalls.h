// SPDX-License-Identifier: Apache-2.0
// Measures how long bursts wait for credits on one direction of a link, and for which credits. Kernel-free.
#pragma once

#include <algorithm>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/link/credits.h"

namespace ssdtlm {

/// The time that was lost because credits were missing. A posted write that waits blocks all other traffic. A read that
/// waits blocks only other reads.
struct CreditStalls {
    Ps posted{};          ///< the wire is idle, and a posted write waits for credits,
    Ps posted_headers{};  ///< part of it: for header credits
    Ps posted_data{};     ///< part of it: for data credits; both may be missing at once
    Ps reads{};           ///< a read has its turn, but waits for a credit

    void add(const CreditWait& wait) {
        posted += wait.until() - wait.since;
        posted_headers += wait.headers - wait.since;
        posted_data += wait.data - wait.since;
    }
};

class CreditStallMeter {
public:
    /// A burst has got the wire. The wire is then idle for `wait` before one of its TLPs, maybe in the future.
    void stalls(const CreditWait& wait, SimTime now) {
        all_.add(wait);
        gaps_.erase(std::remove_if(gaps_.begin(), gaps_.end(), [now](const CreditWait& g) { return g.until() <= now; }),
                    gaps_.end());
        gaps_.push_back(wait);
    }
    /// The first bulk write does not begin before the end of this wait.
    void bulk_waits(const CreditWait& wait) { bulk_ = wait; }
    /// Some burst begins at t. The wait for which the wire was idle has ended, or continues after it.
    void begins(SimTime t) {
        if (__builtin_expect(!bulk_.any(), 1)) return;
        all_.add(bulk_.cut(t));
        bulk_ = {};
    }
    /// The first waiting read could begin at t if it had its credit.
    void read_waits(SimTime t) { reads_since_ = std::min(reads_since_, t); }
    void read_begins(SimTime t) {
        if (reads_since_ == kNever) return;
        all_.reads += t - reads_since_;
        reads_since_ = kNever;
    }

    /// Waits of bursts that have got the wire, up to the end of their last gap.
    Ps posted() const { return all_.posted; }
    /// The part of these waits that is still to come.
    Ps gaps_after(SimTime now) const {
        Ps sum{};
        for (const CreditWait& gap : gaps_)
            if (gap.until() > now) sum += gap.until() - std::max(gap.since, now);
        return sum;
    }
    /// The sums up to now. For reads that have got the wire, they go up to their place on it.
    CreditStalls until(SimTime now) const {
        CreditStalls s = all_;
        for (const CreditWait& gap : gaps_) {
            const CreditWait passed = gap.cut(now);
            s.posted -= gap.until() - passed.until();
            s.posted_headers -= gap.headers - passed.headers;
            s.posted_data -= gap.data - passed.data;
        }
        s.add(bulk_.cut(now));
        if (reads_since_ < now) s.reads += now - reads_since_;
        return s;
    }
    void go_on_from(const CreditStalls& earlier) { all_ = earlier; }

private:
    CreditStalls all_;
    std::vector<CreditWait> gaps_;  // may still have gaps that have ended
    CreditWait bulk_;
    SimTime reads_since_ = kNever;
};

}  // namespace ssdtlm
