// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_limits.h"

#include <utility>

namespace ssdtlm {
namespace {

/// tDS and tDH for a tRC (Micron L06B model parameters, NV-DDR3 modes 0 to 10). For a faster tRC it has the same share
/// of tRC as in the fastest mode.
Ps data_setup(Ps cycle) {
    constexpr std::pair<std::int64_t, std::int64_t> kModes[] = {
        {30'000, 4'000}, {25'000, 3'300}, {15'000, 2'000}, {12'000, 1'100}, {10'000, 700}, {7'500, 600},
        {6'000, 550},    {5'000, 400},    {3'750, 300},    {3'000, 240},    {2'500, 200}};
    for (const auto& [t_rc, t_ds] : kModes)
        if (cycle.count() >= t_rc) return Ps{t_ds};
    return cycle * 2 / 25;
}

}  // namespace

PinLimits::PinLimits(const OnfiTiming& timing) {
    if (timing.t_wc < 25ns)
        for (Ps* p : {&t_wp, &t_wh, &t_cals, &t_calh, &t_cas, &t_cah, &t_ch}) *p = *p * timing.t_wc.count() / 25'000;
    t_ds = data_setup(Rate::megatransfers(timing.megatransfers).time_for(2));
}

}  // namespace ssdtlm
