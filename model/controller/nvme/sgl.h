// SPDX-License-Identifier: Apache-2.0
// Turns a Scatter Gather List into host addresses (NVMe 1.4 §4.4): data blocks, bit buckets and segments. Like PrpWalk
// it does not read host memory. It names the descriptors that it needs next, at most a page of them, and the caller
// feeds it. Addresses and lengths are in double words (SGLS [1:0] = 2). An SGL names only the data of the command.
#pragma once

#include <cstdint>

#include "controller/dma/host_data.h"
#include "controller/nvme/prp.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class SglWalk {
public:
    /// `bytes` (> 0) is the length of the data, whose first descriptor is in the command. With `to_host` the data are
    /// read from the drive, so that bit buckets take some of them.
    WalkStep start(const nvme::SglDescriptor& first, std::uint64_t bytes, bool to_host, HostData& data);
    /// `descriptors` is the content of list_address(), list_bytes() long.
    WalkStep feed(const std::uint8_t* descriptors, HostData& data);

    std::uint64_t list_address() const { return address_; }
    std::uint32_t list_bytes() const { return static_cast<std::uint32_t>(segment_ < kMost ? segment_ : kMost); }
    /// Status with which the list was refused.
    std::uint16_t status() const { return status_; }

private:
    static constexpr std::uint64_t kMost = nvme::kPageBytes;
    /// Most segments in a row without data. Without this limit a list could be endless. assumed
    static constexpr std::uint32_t kMostEmpty = 64;

    WalkStep refuse(std::uint16_t status) {
        status_ = status;
        return WalkStep::refused;
    }
    WalkStep enter(const nvme::SglDescriptor& segment);
    WalkStep take(const nvme::SglDescriptor& block, HostData& data);
    WalkStep end() { return remaining_ == 0 ? WalkStep::done : refuse(nvme::kStSglLengthInvalid); }

    std::uint64_t address_ = 0;    // address of the next descriptors
    std::uint64_t segment_ = 0;    // bytes of the segment from that address on
    std::uint64_t remaining_ = 0;  // bytes whose place is not known yet
    std::uint64_t entered_ = 0;    // remaining_ at the start of the segment
    std::uint32_t empty_ = 0;      // segments without data in a row
    std::uint16_t status_ = 0;
    bool to_host_ = false;
    bool last_ = false;  // the segment is a last segment
};

}  // namespace ssdtlm
