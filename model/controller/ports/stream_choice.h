// SPDX-License-Identifier: Apache-2.0
// Chooses, as a policy, the write stream of data for which the host names none. Data that are written often are kept
// apart from the rest.
#pragma once

#include <cstdint>

#include "common/address/geometry.h"
#include "common/snapshot/snapshot.h"

namespace ssdtlm {

/// Contract: the choice depends only on the units written before, and their order (tb/unit/ftl/stream_choice_test.cpp).
class StreamChoice {
public:
    virtual ~StreamChoice() = default;
    /// The host writes this unit. Returns its stream: 0 for units that are seldom written, the highest for those
    /// written most often.
    virtual std::uint8_t written(Lpa lpa) = 0;
    /// Reads or writes the policy's memory, for a drive that is saved.
    virtual void state(Snapshot& s) {
        s.refuse("the choice of write streams (ftl.streams_by) does not say what it remembers");
    }
};

}  // namespace ssdtlm
