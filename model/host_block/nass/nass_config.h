// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/units/units.h"

namespace ssdtlm {

/// Limits on how many requests of a context may be in the drive (NASS, IPDPS 2019).
struct NassConfig {
    bool aggre = false;                       ///< AggreBDL: contexts that take more than their share are limited
    bool anti = false;                        ///< AntiBDL: what limited contexts leave free is lent
    bool seq = false;                         ///< SeqBDL: small sequential streams have as many tags as they need
    Ps window{100'000'000'000};               ///< of the evaluation model
    std::uint32_t window_completions = 1024;  ///< it ends with so many, if that comes first
    std::uint32_t delta_ppm = 100'000;        ///< beyond its share by more than this: aggressive
    std::uint32_t theta_ppm = 900'000;        ///< share of the tags in use below which they are lent
    std::uint32_t seq_share_ppm = 900'000;    ///< of the requests of a sequential stream that continue the one before
    std::uint32_t seq_bytes = 64 * 1024;      ///< requests of a small sequential stream are smaller than this
    std::uint32_t seq_keep_ppm = 980'000;     ///< of its bandwidth that a stream keeps under its limit

    // What a command costs, in drive time that others cannot have: a fixed time, and a time for each KiB. Only ratios
    // count.
    Ps read_command{1'500'000}, write_command{1'500'000};
    Ps read_kib{1'707'000}, write_kib{1'707'000};

    bool on() const { return aggre || anti || seq; }
};

}  // namespace ssdtlm
