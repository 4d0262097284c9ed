// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/sgl.h"

namespace ssdtlm {

using namespace nvme;

WalkStep SglWalk::start(const SglDescriptor& first, std::uint64_t bytes, bool to_host, HostData& data) {
    remaining_ = bytes;
    to_host_ = to_host;
    if (first.is_segment()) {
        entered_ = bytes;
        return enter(first);
    }
    const WalkStep step = take(first, data);
    return step == WalkStep::refused ? step : end();
}

WalkStep SglWalk::enter(const SglDescriptor& segment) {
    if (segment.subtype() != 0) return refuse(kStSglTypeInvalid);
    if (segment.length == 0 || segment.length % sizeof(SglDescriptor) != 0 || segment.address % 8 != 0)
        return refuse(kStInvalidSglSegment);
    empty_ = remaining_ == entered_ ? empty_ + 1 : 0;
    if (empty_ > kMostEmpty) return refuse(kStInvalidSglCount);
    entered_ = remaining_;
    address_ = segment.address;
    segment_ = segment.length;
    last_ = segment.type() == SglDescriptor::kLastSegment;
    return WalkStep::need_list;
}

WalkStep SglWalk::take(const SglDescriptor& block, HostData& data) {
    const bool bucket = block.type() == SglDescriptor::kBitBucket;
    if ((!bucket && block.type() != SglDescriptor::kDataBlock) || block.subtype() != 0)
        return refuse(kStSglTypeInvalid);
    if (block.length == 0 || (bucket && !to_host_)) return WalkStep::done;  // no effect on data from the host
    if (((block.length | (bucket ? 0 : block.address)) & 3u) != 0) return refuse(kStSglGranularity);
    if (block.length > remaining_ || (!bucket && block.address + block.length < block.address))
        return refuse(kStSglLengthInvalid);
    remaining_ -= block.length;
    if (bucket)
        data.skip(block.length);
    else
        data.add(block.address, block.length);
    return WalkStep::done;
}

WalkStep SglWalk::feed(const std::uint8_t* descriptors, HostData& data) {
    const std::uint32_t bytes = list_bytes();
    segment_ -= bytes;
    address_ += bytes;
    for (std::uint32_t at = 0; at < bytes; at += sizeof(SglDescriptor)) {
        const auto d = load<SglDescriptor>(descriptors + at);
        if (d.is_segment()) {
            if (segment_ != 0 || at + sizeof d != bytes) return refuse(kStInvalidSglCount);
            return last_ ? refuse(kStInvalidSglSegment) : enter(d);
        }
        if (take(d, data) == WalkStep::refused) return WalkStep::refused;
    }
    // A segment that is not marked as the last may still end with data. QEMU's nvme accepts this, too.
    return segment_ != 0 ? WalkStep::need_list : end();
}

}  // namespace ssdtlm
