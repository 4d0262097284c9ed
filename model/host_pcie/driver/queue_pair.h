// SPDX-License-Identifier: Apache-2.0
// One NVMe submission queue and its completion queue, the host's side: rings of bytes in host memory, command
// identifiers, phase, free room. Models no doorbells on the wire: the caller stores what tail() and head() say.
// Source: NVMe 1.4 §4.1, §4.6.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "host_pcie/driver/host_memory.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class QueuePair {
public:
    /// Both rings have `entries` (2..65536) entries and start on a page.
    QueuePair(HostMemory& memory, std::uint16_t qid, std::uint32_t entries, std::uint32_t page_bytes);

    std::uint16_t qid() const { return qid_; }
    std::uint32_t entries() const { return entries_; }
    std::uint64_t sq_base() const { return sq_base_; }
    std::uint64_t cq_base() const { return cq_base_; }
    /// Commands between submit() and their completion; at most entries - 1, so the completion queue never overflows.
    std::uint32_t outstanding() const { return entries_ - 1 - free_count_; }
    bool outstanding(std::uint16_t cid) const { return busy_[cid] != 0; }
    /// True: submit() is allowed, because an identifier and a slot of the submission queue are free.
    bool has_room() const { return free_count_ != 0 && next(tail_) != sq_head_; }

    /// Identifier of the next command. Recently used low numbers come first, so few slots stay warm.
    std::uint16_t next_cid() const { return free_[free_count_ - 1]; }
    /// Takes next_cid() and the entry at the tail, which is in host memory and all zero except for the identifier. The
    /// caller fills it before it rings the doorbell. Precondition: has_room().
    nvme::Sqe& take_entry() {
        const std::uint16_t cid = free_[--free_count_];
        busy_[cid] = 1;
        nvme::Sqe& sqe = *new (sq_entry(tail_)) nvme::Sqe;
        sqe.cid = cid;
        tail_ = next(tail_);
        return sqe;
    }
    /// As take_entry(), for an entry made elsewhere, which gets the identifier too. Precondition (checked): has_room().
    void submit(nvme::Sqe& sqe);
    /// Value for the tail doorbell.
    std::uint32_t tail() const { return tail_; }
    /// The device's head as last reported: entries up to it have been fetched.
    std::uint32_t sq_head() const { return sq_head_; }

    /// True: the entry at the head has the phase of this lap.
    bool has_completion() const {
        const auto status_phase = nvme::load<std::uint16_t>(cq_entry(head_) + offsetof(nvme::Cqe, status_phase));
        return (status_phase & 1u) == phase_;
    }
    /// Identifier of the command that the completion is for. Precondition: has_completion().
    std::uint16_t next_completion() const {
        return nvme::load<std::uint16_t>(cq_entry(head_) + offsetof(nvme::Cqe, cid));
    }
    /// Takes the completion at the head and frees its identifier. Panics when it names no outstanding command of this
    /// queue. The entry stays readable until the head doorbell is rung. Precondition: has_completion().
    const nvme::Cqe& take_completion() {
        const nvme::Cqe& entry = *reinterpret_cast<const nvme::Cqe*>(cq_entry(head_));
        if (entry.sqid != qid_ || entry.cid >= entries_ - 1 || busy_[entry.cid] == 0 || entry.sqhd >= entries_)
            bad_completion(entry);
        busy_[entry.cid] = 0;
        free_[free_count_++] = entry.cid;
        sq_head_ = entry.sqhd;
        if (++head_ == entries_) {
            head_ = 0;
            phase_ ^= 1u;
        }
        return entry;
    }
    /// Calls take_completion() if there is a completion.
    bool reap(nvme::Cqe& cqe) {
        if (!has_completion()) return false;
        cqe = take_completion();
        return true;
    }
    /// The controller has forgotten the queue: the rings are empty and all identifiers free.
    void reset();
    /// Value for the head doorbell.
    std::uint32_t head() const { return head_; }

private:
    void free_all();
    std::uint32_t next(std::uint32_t i) const { return i + 1 == entries_ ? 0 : i + 1; }
    std::uint8_t* sq_entry(std::uint32_t i) {
        const std::uint64_t offset = std::uint64_t{i} * nvme::kSqeBytes;
        return sq_ring_ != nullptr ? sq_ring_ + offset : memory_.at(sq_base_ + offset, nvme::kSqeBytes);
    }
    const std::uint8_t* cq_entry(std::uint32_t i) const {
        const std::uint64_t offset = std::uint64_t{i} * nvme::kCqeBytes;
        return cq_ring_ != nullptr ? cq_ring_ + offset : memory_.at(cq_base_ + offset, nvme::kCqeBytes);
    }
    [[noreturn]] void bad_completion(const nvme::Cqe& cqe) const;

    HostMemory& memory_;
    std::uint16_t qid_;
    std::uint32_t entries_;
    std::uint64_t sq_base_;
    std::uint64_t cq_base_;
    std::uint8_t* sq_ring_;  // null: too long for one piece of HostMemory
    std::uint8_t* cq_ring_;
    std::uint32_t tail_ = 0;
    std::uint32_t sq_head_ = 0;
    std::uint32_t head_ = 0;
    std::uint32_t phase_ = 1;
    std::uint32_t free_count_;
    std::unique_ptr<std::uint16_t[]> free_;  // stack of identifiers
    std::unique_ptr<std::uint8_t[]> busy_;   // by identifier
};

}  // namespace ssdtlm
