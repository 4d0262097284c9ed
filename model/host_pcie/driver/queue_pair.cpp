// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/queue_pair.h"

#include "common/report/error.h"

namespace ssdtlm {
namespace {

std::uint8_t* in_one_piece(HostMemory& memory, std::uint64_t base, std::uint64_t bytes) {
    return bytes <= HostMemory::kChunkBytes ? memory.at(base, bytes) : nullptr;
}

}  // namespace

QueuePair::QueuePair(HostMemory& memory, std::uint16_t qid, std::uint32_t entries, std::uint32_t page_bytes)
    : memory_(memory),
      qid_(qid),
      entries_(entries),
      sq_base_(memory.allocate(std::uint64_t{entries} * nvme::kSqeBytes, page_bytes)),
      cq_base_(memory.allocate(std::uint64_t{entries} * nvme::kCqeBytes, page_bytes)),
      sq_ring_(in_one_piece(memory, sq_base_, std::uint64_t{entries} * nvme::kSqeBytes)),
      cq_ring_(in_one_piece(memory, cq_base_, std::uint64_t{entries} * nvme::kCqeBytes)),
      free_count_(entries - 1),
      free_(std::make_unique<std::uint16_t[]>(entries - 1)),
      busy_(std::make_unique<std::uint8_t[]>(entries - 1)) {
    SSDTLM_CHECK(entries >= 2 && entries <= 65536, "queue size out of range");
    free_all();
}

void QueuePair::free_all() {
    free_count_ = entries_ - 1;
    for (std::uint32_t cid = 0; cid < entries_ - 1; ++cid) {
        free_[entries_ - 2 - cid] = static_cast<std::uint16_t>(cid);
        busy_[cid] = 0;
    }
}

void QueuePair::reset() {
    free_all();
    tail_ = sq_head_ = head_ = 0;
    phase_ = 1;
    // No entry of the first lap may have the phase of a new one. The submission ring need not be cleared, because only
    // entries before the tail count.
    const nvme::Cqe none;
    for (std::uint32_t i = 0; i < entries_; ++i)
        memory_.write(cq_base_ + std::uint64_t{i} * nvme::kCqeBytes, &none, sizeof none);
}

void QueuePair::submit(nvme::Sqe& sqe) {
    SSDTLM_CHECK(has_room(), "submission to a full queue");
    nvme::Sqe& entry = take_entry();
    sqe.cid = entry.cid;
    entry = sqe;
}

void QueuePair::bad_completion(const nvme::Cqe& cqe) const {
    panic("QueuePair::reap", "queue " + std::to_string(qid_) + ": completion entry " + std::to_string(head_) +
                                 " names SQ " + std::to_string(cqe.sqid) + " CID " + std::to_string(cqe.cid) +
                                 " with SQ head " + std::to_string(cqe.sqhd) +
                                 ", which is no outstanding command of this queue");
}

}  // namespace ssdtlm
