// SPDX-License-Identifier: Apache-2.0
#include "property/blocks_in_memory.h"

#include <cstring>

namespace ssdtlm {

std::uint32_t BlocksInMemory::begin(HostMemory& memory, Random& random, const CaseMetadata& format,
                                    std::uint32_t lba_bytes, const CaseCommand& command, nvme::Sqe& sqe) {
    const bool moves = format.type == 0 || !command.protection.acts;
    lba_bytes_ = lba_bytes;
    blocks_ = command.blocks;
    between_ = moves && format.extended ? format.bytes : 0;
    is_read_ = command.kind == DriveOp::Kind::read;
    address_ = 0;
    sqe.mptr = random.next();  // means nothing, unless it is set below
    if (moves && !format.extended) {
        const auto bytes = static_cast<std::uint32_t>(metadata_.size());
        if (bytes + kMostOffset > capacity_) {
            capacity_ = bytes + kMostOffset;
            place_ = memory.allocate(capacity_, 4);
        }
        sqe.mptr = address_ = place_ + 4 * random.below(kMostOffset / 4 + 1);
        memory.write(address_, metadata_.data(), bytes);
    }
    return blocks_ * (lba_bytes_ + between_);
}

void BlocksInMemory::name_metadata(HostMemory& memory, nvme::Sqe& sqe) {
    using D = nvme::SglDescriptor;
    nvme::set_metadata_sgl(sqe, sqe.mptr);
    if (address_ == 0) return;
    if (descriptor_ == 0) descriptor_ = memory.allocate(sizeof(D), 8);
    memory.store(descriptor_, D::of(D::kDataBlock, address_, static_cast<std::uint32_t>(metadata_.size())));
    sqe.mptr = descriptor_;
}

void BlocksInMemory::pack(std::uint8_t* to) const {
    for (std::size_t b = 0; b < blocks_; ++b) {
        std::memcpy(to, data_.data() + b * lba_bytes_, lba_bytes_);
        std::memcpy(to + lba_bytes_, metadata_.data() + b * between_, between_);
        to += lba_bytes_ + between_;
    }
}

void BlocksInMemory::unpack(HostMemory& memory, const std::uint8_t* from) {
    for (std::size_t b = 0; b < blocks_; ++b) {
        std::memcpy(data_.data() + b * lba_bytes_, from, lba_bytes_);
        std::memcpy(metadata_.data() + b * between_, from + lba_bytes_, between_);
        from += lba_bytes_ + between_;
    }
    if (address_ != 0) memory.read(address_, metadata_.data(), metadata_.size());
}

}  // namespace ssdtlm
