// SPDX-License-Identifier: Apache-2.0
// Which write stream data go with whose host does not say so, as a policy: what is written often is kept apart from
// what is not.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "common/snapshot/snapshot.h"

namespace ssdtlm {

/// Contract: a function of the units that were written before, in their order (tb/unit/ftl/stream_choice_test.cpp).
class StreamChoice {
public:
    virtual ~StreamChoice() = default;
    /// The host writes this unit. The stream that it goes with: 0, of what is written seldom, to that of what is
    /// written most often.
    virtual std::uint8_t written(Lpa lpa) = 0;
    /// What it remembers, for a drive that is saved.
    virtual void state(Snapshot& s) {
        s.refuse("the choice of write streams (ftl.streams_by) does not say what it remembers");
    }
};

}  // namespace ssdtlm
