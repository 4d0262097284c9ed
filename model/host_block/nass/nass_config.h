// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// Limits on how many requests of a context may be in the drive (NASS, IPDPS 2019).
struct NassConfig {
    bool aggre = false;                       ///< AggreBDL: limits contexts that take more than their share
    bool anti = false;                        ///< AntiBDL: lends tags that are free to limited contexts
    bool seq = false;                         ///< SeqBDL: limits small sequential streams to the tags that they need
    Ps window{100'000'000'000};               ///< longest window of the evaluation model
    std::uint32_t window_completions = 1024;  ///< a window also ends after so many completed commands
    std::uint32_t delta_ppm = 100'000;        ///< a context above its share by more than this is aggressive
    std::uint32_t theta_ppm = 900'000;        ///< tags are lent while less than this share of them is in use
    std::uint32_t seq_share_ppm = 900'000;    ///< least share of a stream's requests that continue the request before
    std::uint32_t seq_bytes = 64 * 1024;      ///< mean request of a small sequential stream is below this
    std::uint32_t seq_keep_ppm = 980'000;     ///< share of its bandwidth that a stream must keep under its limit

    // The cost of a command is the drive time that it takes from other contexts: a fixed time, and a time for each KiB.
    // Only the ratios of these times matter.
    Ps read_command{1'500'000}, write_command{1'500'000};
    Ps read_kib{1'707'000}, write_kib{1'707'000};

    bool on() const { return aggre || anti || seq; }
};

}  // namespace ssdtlm
