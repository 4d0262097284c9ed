// SPDX-License-Identifier: Apache-2.0
// Turns a Scatter Gather List into host addresses (NVMe 1.4 §4.4): data blocks, bit buckets, segments. Like PrpWalk it
// does not read host memory: it says which descriptors it needs next, and is fed with them, a page at most at a time.
// Addresses and lengths are in double words (SGLS [1:0] = 2); an SGL names the command's data and nothing more.
#pragma once

#include <cstdint>

#include "controller/dma/host_data.h"
#include "controller/nvme/prp.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class SglWalk {
public:
    /// `bytes` (> 0) of data, whose first descriptor is in the command. `to_host`: they are read from the drive, so
    /// that bit buckets take some of them.
    WalkStep start(const nvme::SglDescriptor& first, std::uint64_t bytes, bool to_host, HostData& data);
    /// `descriptors`: what list_address() holds, list_bytes() long.
    WalkStep feed(const std::uint8_t* descriptors, HostData& data);

    std::uint64_t list_address() const { return address_; }
    std::uint32_t list_bytes() const { return static_cast<std::uint32_t>(segment_ < kMost ? segment_ : kMost); }
    /// Why it is refused.
    std::uint16_t status() const { return status_; }

private:
    static constexpr std::uint64_t kMost = nvme::kPageBytes;
    /// Segments in a row that bring no data: a host could send the controller in circles. assumed.
    static constexpr std::uint32_t kMostEmpty = 64;

    WalkStep refuse(std::uint16_t status) {
        status_ = status;
        return WalkStep::refused;
    }
    WalkStep enter(const nvme::SglDescriptor& segment);
    WalkStep take(const nvme::SglDescriptor& block, HostData& data);
    WalkStep end() { return remaining_ == 0 ? WalkStep::done : refuse(nvme::kStSglLengthInvalid); }

    std::uint64_t address_ = 0;    // of the descriptors that come next
    std::uint64_t segment_ = 0;    // bytes of the segment from there on
    std::uint64_t remaining_ = 0;  // bytes whose place is not known yet
    std::uint64_t entered_ = 0;    // what remained when the segment began
    std::uint32_t empty_ = 0;      // segments without data in a row
    std::uint16_t status_ = 0;
    bool to_host_ = false;
    bool last_ = false;  // it is a last segment
};

}  // namespace ssdtlm
