// SPDX-License-Identifier: Apache-2.0
#include "property/scattered_data.h"

#include <algorithm>

namespace ssdtlm {

using D = nvme::SglDescriptor;

/// The pieces lie the other way round in memory, a few double words apart.
void ScatteredData::cut(Random& random, std::uint32_t bytes) {
    pieces_.clear();
    blocks_.clear();
    std::uint64_t end = place_ + capacity_;
    for (std::uint32_t left = bytes; left != 0;) {
        if (random.percent(10)) blocks_.push_back(D::of(D::kDataBlock, 4 * random.below(1u << 20), 0));
        if (!is_read_ && random.percent(10)) blocks_.push_back(D::of(D::kBitBucket, 0, 512));
        const bool rest = pieces_.size() + 1 == kMostPieces || random.percent(25);
        const std::uint32_t n = rest ? left : std::min(left, 4 + 4 * static_cast<std::uint32_t>(random.below(1500)));
        end -= n + 4 * random.below(kMostGap / 4 + 1);
        pieces_.push_back({end, n});
        blocks_.push_back(D::of(D::kDataBlock, end, n));
        left -= n;
    }
}

void ScatteredData::scatter(HostMemory& memory, Random& random, const std::uint8_t* data, std::uint32_t bytes,
                            bool is_read, nvme::Sqe& sqe) {
    if (bytes + kGaps > capacity_) {
        capacity_ = bytes + kGaps;
        place_ = memory.allocate(capacity_, 4);
    }
    if (list_ == 0) list_ = memory.allocate(kListBytes, 8);
    is_read_ = is_read;
    cut(random, bytes);
    for (const Piece& p : pieces_) {
        memory.write(p.address, data, p.bytes);
        data += p.bytes;
    }
    if (blocks_.size() == 1 && random.percent(50)) return nvme::set_sgl(sqe, blocks_[0]);
    D first, link;
    std::uint64_t at = list_, in_link = 0;
    for (std::size_t i = 0; i < blocks_.size();) {
        const std::size_t n = std::min<std::size_t>(blocks_.size() - i, 1 + random.below(random.percent(50) ? 3 : 30));
        const bool last = i + n == blocks_.size();
        link = D::of(last ? D::kLastSegment : D::kSegment, at, static_cast<std::uint32_t>(16 * (n + !last)));
        if (in_link == 0)
            first = link;
        else
            memory.store(in_link, link);
        for (std::size_t e = 0; e < n; ++e, at += 16) memory.store(at, blocks_[i + e]);
        in_link = at;
        at += 16 + 8 * random.below(4);
        i += n;
    }
    nvme::set_sgl(sqe, first);
}

void ScatteredData::gather(HostMemory& memory, std::uint8_t* data) const {
    for (const Piece& p : pieces_) {
        memory.read(p.address, data, p.bytes);
        data += p.bytes;
    }
}

}  // namespace ssdtlm
