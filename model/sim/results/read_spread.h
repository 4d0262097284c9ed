// SPDX-License-Identifier: Apache-2.0
// Measures how far the reads of a run are spread over the drive. A cache that is much smaller than the range of random
// reads answers almost none of them, even when it is full.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace ssdtlm {

class ReadSpread {
public:
    explicit ReadSpread(std::uint64_t drive_bytes) {
        while (drive_bytes >> shift_ >= kRegions) ++shift_;
    }
    void read(std::uint64_t offset) { seen_[(offset >> shift_) % kRegions] = true; }
    /// The bytes of the regions in which reads began. It is 0 if there are few regions, as with some sequential
    /// streams.
    std::uint64_t bytes() const {
        const std::size_t regions = seen_.count();
        return regions < kFewest ? 0 : std::uint64_t{regions} << shift_;
    }

private:
    static constexpr std::size_t kRegions = 4096;
    static constexpr std::size_t kFewest = 256;  // assumed: more than a workload has streams
    unsigned shift_ = 9;
    std::bitset<kRegions> seen_;
};

}  // namespace ssdtlm
