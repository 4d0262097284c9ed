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
      busy_(entries - 1, 0) {
    SSDTLM_CHECK(entries >= 2 && entries <= 65536, "queue size out of range");
    free_.reserve(entries - 1);
    for (std::uint32_t cid = entries - 1; cid-- > 0;) free_.push_back(static_cast<std::uint16_t>(cid));
}

void QueuePair::submit(nvme::Sqe& sqe) {
    SSDTLM_CHECK(has_room(), "submission to a full queue");
    sqe.cid = free_.back();
    free_.pop_back();
    busy_[sqe.cid] = 1;
    std::memcpy(sq_entry(tail_), &sqe, sizeof sqe);
    tail_ = next(tail_);
}

bool QueuePair::has_completion() const {
    return nvme::load<nvme::Cqe>(cq_entry(head_)).phase() == phase_;
}

bool QueuePair::reap(nvme::Cqe& cqe) {
    const auto entry = nvme::load<nvme::Cqe>(cq_entry(head_));
    if (entry.phase() != phase_) return false;
    if (entry.sqid != qid_ || entry.cid >= busy_.size() || busy_[entry.cid] == 0 || entry.sqhd >= entries_)
        bad_completion(entry);
    cqe = entry;
    busy_[entry.cid] = 0;
    free_.push_back(entry.cid);
    sq_head_ = entry.sqhd;
    head_ = next(head_);
    if (head_ == 0) phase_ = !phase_;
    return true;
}

void QueuePair::bad_completion(const nvme::Cqe& cqe) const {
    panic("QueuePair::reap", "queue " + std::to_string(qid_) + ": completion entry " + std::to_string(head_) +
                                 " names SQ " + std::to_string(cqe.sqid) + " CID " + std::to_string(cqe.cid) +
                                 " with SQ head " + std::to_string(cqe.sqhd) +
                                 ", which is no outstanding command of this queue");
}

}  // namespace ssdtlm
