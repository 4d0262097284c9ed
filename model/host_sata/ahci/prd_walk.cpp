// SPDX-License-Identifier: Apache-2.0
#include "host_sata/ahci/prd_walk.h"

#include <algorithm>
#include <cstring>

namespace ssdtlm {

PrdWalk::Piece PrdWalk::entry(std::uint32_t index) const {
    const std::uint8_t* const at = entries_.data() + std::size_t{index} * ahci::kPrdBytes;
    std::uint64_t address = 0;
    std::uint32_t count = 0;
    std::memcpy(&address, at, sizeof address);
    std::memcpy(&count, at + ahci::Prd::kCount, sizeof count);
    // Bit 0 of address and count have fixed values, whatever software has written (4.2.3.3).
    return {address & ~std::uint64_t{1}, ((count & ahci::Prd::kDbcMask) | 1u) + 1};
}

void PrdWalk::filled() {
    have_ = std::min(left_, kGroup);
    left_ -= have_;
    next_entry_ += std::uint64_t{have_} * ahci::kPrdBytes;
    at_ = 0;
    leave_what_is_skipped();
}

void PrdWalk::leave_what_is_skipped() {
    for (; at_ < have_; ++at_) {
        const std::uint32_t bytes = entry(at_).bytes;
        if (skip_ < bytes) break;
        skip_ -= bytes;
    }
    if (at_ == have_) return;
    within_ = static_cast<std::uint32_t>(skip_);
    skip_ = 0;
}

PrdWalk::Piece PrdWalk::take(std::uint32_t most) {
    const Piece whole = entry(at_);
    const Piece piece{whole.address + within_, std::min(most, whole.bytes - within_)};
    within_ += piece.bytes;
    if (within_ == whole.bytes) {
        ++at_;
        within_ = 0;
    }
    return piece;
}

}  // namespace ssdtlm
