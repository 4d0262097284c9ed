// SPDX-License-Identifier: Apache-2.0
// The host's side of an NVMe submission queue and its completion queue: rings of bytes in host memory, command
// identifiers, phase, and free room. It does not write doorbells: the caller writes the values of tail() and head().
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
    /// The number of commands between submit() and their completion. It is at most entries - 1, so the completion queue
    /// never overflows.
    std::uint32_t outstanding() const { return entries_ - 1 - free_count_; }
    bool outstanding(std::uint16_t cid) const { return busy_[cid] != 0; }
    /// True: submit() is allowed, because an identifier and a slot of the submission queue are free.
    bool has_room() const { return free_count_ != 0 && next(tail_) != sq_head_; }

    /// The identifier of the next command. It is the one that was freed last, so that few slots are in use and stay in
    /// the cache.
    std::uint16_t next_cid() const { return free_[free_count_ - 1]; }
    /// Takes next_cid() and the entry at the tail. The entry is in host memory, and is zero except for the identifier.
    /// The caller fills it before it rings the doorbell. Precondition: has_room().
    nvme::Sqe& take_entry() {
        const std::uint16_t cid = free_[--free_count_];
        busy_[cid] = 1;
        nvme::Sqe& sqe = *new (sq_entry(tail_)) nvme::Sqe;
        sqe.cid = cid;
        tail_ = next(tail_);
        return sqe;
    }
    /// Copies `sqe` to an entry from take_entry(). `sqe` gets the identifier as well. Precondition (checked):
    /// has_room().
    void submit(nvme::Sqe& sqe);
    /// The value for the tail doorbell.
    std::uint32_t tail() const { return tail_; }
    /// The head that the device has reported last. Entries before it have been fetched.
    std::uint32_t sq_head() const { return sq_head_; }

    /// True: the entry at the head has the phase of this lap.
    bool has_completion() const {
        const auto status_phase = nvme::load<std::uint16_t>(cq_entry(head_) + offsetof(nvme::Cqe, status_phase));
        return (status_phase & 1u) == phase_;
    }
    /// The identifier of the command that has completed. Precondition: has_completion().
    std::uint16_t next_completion() const {
        return nvme::load<std::uint16_t>(cq_entry(head_) + offsetof(nvme::Cqe, cid));
    }
    /// Takes the completion at the head, and frees its identifier. Panics when it names no outstanding command of this
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
    /// Takes a completion if there is one. Returns false if there is none.
    bool reap(nvme::Cqe& cqe) {
        if (!has_completion()) return false;
        cqe = take_completion();
        return true;
    }
    /// The controller has forgotten the queue: the rings are empty and all identifiers free.
    void reset();
    /// The value for the head doorbell.
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
