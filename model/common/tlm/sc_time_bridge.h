// SPDX-License-Identifier: Apache-2.0
// Converts between SimTime and sc_time. No other file does.
#pragma once

#include <systemc>

#include "common/units/units.h"

namespace ssdtlm {

/// Throws UserError unless the kernel's time resolution is 1 ps. Call it once, before elaboration ends.
void check_kernel_resolution();

inline sc_core::sc_time to_sc_time(Ps d) {
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(d.count()));
}
inline sc_core::sc_time to_sc_time(SimTime t) {
    return to_sc_time(t.time_since_epoch());
}
inline SimTime to_sim_time(const sc_core::sc_time& t) {
    return SimTime{Ps{static_cast<std::int64_t>(t.value())}};
}

}  // namespace ssdtlm
