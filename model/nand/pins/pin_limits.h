// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nand/onfi/nand_config.h"

namespace ssdtlm {

/// Set-up and hold times that do not follow from OnfiTiming. They are for a tWC of 25 ns, and in proportion for a
/// shorter one (Micron L06B model parameters).
struct PinLimits {
    Ps t_wp{11'000}, t_wh{11'000}, t_cals{15'000}, t_calh{5'000}, t_cas{5'000}, t_cah{5'000}, t_ch{5'000};
    Ps t_ds{};  ///< = tDH, by the data rate
    explicit PinLimits(const OnfiTiming& timing);
};

}  // namespace ssdtlm
