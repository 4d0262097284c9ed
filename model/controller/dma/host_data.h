// SPDX-License-Identifier: Apache-2.0
// Where the data of a command lie in host memory, whatever the host's way of saying so: extents, in the order of the
// data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "controller/ports/dma_port.h"

namespace ssdtlm {

class HostData {
public:
    /// The next `bytes` (> 0) bytes of the data. Neighbours are joined.
    void add(std::uint64_t address, std::uint64_t bytes) {
        if (extents_.empty() || end() != address) extents_.push_back({address, bytes_});
        bytes_ += bytes;
    }
    /// The next `bytes` (> 0) bytes of the data, which the host does not want.
    void skip(std::uint64_t bytes) {
        if (extents_.empty() || extents_.back().address != kNowhere) extents_.push_back({kNowhere, bytes_});
        bytes_ += bytes;
        skips_ = true;
    }
    void clear() {
        extents_.clear();
        bytes_ = 0;
        skips_ = false;
    }
    bool empty() const { return bytes_ == 0; }
    std::uint64_t bytes() const { return bytes_; }
    /// Some of them are not wanted: only for_each() knows which.
    bool skips() const { return skips_; }
    bool in_one_piece() const { return extents_.size() == 1; }

    /// Precondition: offset < bytes().
    std::uint64_t address_of(std::uint64_t offset) const {
        const Extent& e = in_one_piece() ? extents_.front() : extents_[extent_of(offset)];
        return e.address + (offset - e.from);
    }
    /// Appends the host's memory for `bytes` bytes from `offset` on. Precondition: offset + bytes <= bytes().
    void segments(std::uint64_t offset, std::uint64_t bytes, std::vector<HostSegment>& to) const {
        for (std::size_t i = extent_of(offset); bytes != 0; ++i) {
            const std::uint64_t within = offset - extents_[i].from;
            const std::uint64_t n = std::min(bytes, end_of(i) - offset);
            to.push_back({extents_[i].address + within, static_cast<std::uint32_t>(n)});
            offset += n;
            bytes -= n;
        }
    }
    /// Calls `f(place, bytes)` for each piece that is wanted of `bytes` bytes from `offset` on; `place`: in the data.
    /// The same precondition.
    template <class F>
    void for_each(std::uint64_t offset, std::uint64_t bytes, F f) const {
        for (std::size_t i = extent_of(offset); bytes != 0; ++i) {
            const std::uint64_t n = std::min(bytes, end_of(i) - offset);
            if (extents_[i].address != kNowhere) f(offset, n);
            offset += n;
            bytes -= n;
        }
    }

private:
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // odd: no data go on behind it
    struct Extent {
        std::uint64_t address;
        std::uint64_t from;  // place of its first byte in the data
    };
    std::uint64_t end() const { return extents_.back().address + (bytes_ - extents_.back().from); }
    std::uint64_t end_of(std::size_t i) const { return i + 1 < extents_.size() ? extents_[i + 1].from : bytes_; }
    std::size_t extent_of(std::uint64_t offset) const {
        const auto behind = std::upper_bound(extents_.begin(), extents_.end(), offset,
                                             [](std::uint64_t o, const Extent& e) { return o < e.from; });
        return static_cast<std::size_t>(behind - extents_.begin()) - 1;
    }

    std::vector<Extent> extents_;
    std::uint64_t bytes_ = 0;
    bool skips_ = false;
};

}  // namespace ssdtlm
