// SPDX-License-Identifier: Apache-2.0
// How far the reads of a run are spread over the drive. A cache that is small beside the range of random reads answers
// next to none of them, however long it is filled.
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
    /// Bytes of the regions in which reads began; 0 where these are few, as with some streams that read on and on.
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
