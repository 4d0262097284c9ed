// SPDX-License-Identifier: Apache-2.0
// The data of one command in pieces somewhere in host memory, and the SGL that names them: blocks of odd lengths, empty
// ones, bit buckets that mean nothing to a write, one segment or several.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/driver/host_memory.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class ScatteredData {
public:
    /// Puts `bytes` bytes of `data` into pieces, and the SGL's first descriptor into `sqe`.
    void scatter(HostMemory& memory, Random& random, const std::uint8_t* data, std::uint32_t bytes, bool is_read,
                 nvme::Sqe& sqe);
    bool is_read() const { return !pieces_.empty() && is_read_; }
    /// What the drive has written there, into `data`.
    void gather(HostMemory& memory, std::uint8_t* data) const;
    void forget() { pieces_.clear(); }

private:
    struct Piece {
        std::uint64_t address;
        std::uint32_t bytes;
    };
    static constexpr std::uint32_t kListBytes = 4096, kMostPieces = 21, kMostGap = 28, kGaps = kMostPieces * kMostGap;
    void cut(Random& random, std::uint32_t bytes);

    std::vector<Piece> pieces_;  // in the order of the data; of a command that is under way
    std::vector<nvme::SglDescriptor> blocks_;
    std::uint64_t place_ = 0, list_ = 0;
    std::uint32_t capacity_ = 0;
    bool is_read_ = false;
};

}  // namespace ssdtlm
