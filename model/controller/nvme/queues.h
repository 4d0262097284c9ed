// SPDX-License-Identifier: Apache-2.0
// Submission and completion queue pairs in the controller: heads, tails, phase, and the rules of the doorbells (NVMe
// 1.4 §4.1). The queue memory itself is in the host. Queues are physically contiguous (CAP.CQR = 1).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/units/units.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// Both ends of a ring, aligned to a cache line.
struct alignas(64) SubmissionQueue {
    bool valid = false;
    bool deleting = false;  ///< Delete SQ waits for the commands in flight; nothing more is fetched
    std::uint16_t cqid = 0;
    std::uint16_t delete_cid = 0;  ///< CID of the waiting Delete SQ command
    std::uint16_t tenant = 0;      ///< tenant that it was created for; 0: none in particular
    std::uint8_t priority = 0;     ///< QPRIO
    bool shadowed = false;         ///< the controller reads its tail in host memory at each completion
    std::uint32_t entries = 0;
    std::uint32_t head = 0;  ///< first slot whose entry has not arrived: SQHD
    std::uint64_t base = 0;
    std::uint32_t fetch = 0;  ///< first slot not yet asked for
    std::uint32_t tail = 0;
    std::uint32_t in_flight = 0;  ///< commands fetched or being fetched whose CQE is not posted

    /// Number of commands behind the doorbell that are not being fetched yet.
    std::uint32_t waiting() const { return tail >= fetch ? tail - fetch : tail + entries - fetch; }
    std::uint32_t next(std::uint32_t slot) const { return slot + 1 == entries ? 0 : slot + 1; }
    /// Time at which the doorbell that covers this slot reached the controller.
    SimTime rung_at(std::uint32_t slot) const { return rung_[slot]; }

    bool cid_in_use(std::uint32_t cid) const { return (cids_[cid / 64] >> (cid % 64) & 1) != 0; }
    void take_cid(std::uint32_t cid) { cids_[cid / 64] |= 1ull << (cid % 64); }
    void free_cid(std::uint32_t cid) { cids_[cid / 64] &= ~(1ull << (cid % 64)); }

    /// Takes the value of the tail doorbell. Returns false, and changes nothing, if the value is unchanged, out of
    /// range, or gives more commands than free slots. One slot always stays empty.
    bool ring(std::uint32_t value, SimTime now) {
        if (value >= entries) return false;
        const std::uint32_t added = value >= tail ? value - tail : value + entries - tail;
        const std::uint32_t used = tail >= head ? tail - head : tail + entries - head;
        if (added == 0 || added + used > entries - 1) return false;
        for (std::uint32_t slot = tail; slot != value; slot = next(slot)) rung_[slot] = now;
        tail = value;
        return true;
    }

private:
    friend class QueueSet;
    std::unique_ptr<SimTime[]> rung_;        // by slot
    std::unique_ptr<std::uint64_t[]> cids_;  // bit per identifier
};
static_assert(sizeof(SubmissionQueue) == 64);

struct alignas(64) CompletionQueue {
    bool valid = false;
    bool interrupts = false;
    bool phase = true;  ///< phase of the next entry
    std::uint16_t vector = 0;
    std::uint32_t entries = 0;
    std::uint64_t base = 0;
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    std::uint32_t bound_sqs = 0;
    std::uint32_t held_first = 0;
    std::vector<nvme::Cqe> held;  ///< entries not posted because the queue was full; [held_first, end)

    bool full() const { return (tail + 1 == entries ? 0 : tail + 1) == head; }
    std::uint32_t posted() const { return tail >= head ? tail - head : tail + entries - head; }
    bool has_held() const { return held_first != held.size(); }
    /// Takes the value of the head doorbell. Returns false, and changes nothing, if it consumes no entry or more than
    /// are posted.
    bool ring(std::uint32_t value) {
        if (value >= entries) return false;
        const std::uint32_t consumed = value >= head ? value - head : value + entries - head;
        if (consumed == 0 || consumed > posted()) return false;
        head = value;
        return true;
    }
    /// Reserves the tail slot and returns its address. `p` is the phase to write there. Precondition: the queue is not
    /// full.
    std::uint64_t push(bool& p) {
        const std::uint64_t address = base + std::uint64_t{tail} * nvme::kCqeBytes;
        p = phase;
        if (++tail == entries) {
            tail = 0;
            phase = !phase;
        }
        return address;
    }
};
static_assert(sizeof(CompletionQueue) == 64);

enum class DoorbellResult : std::uint8_t {
    ok,
    no_queue,  ///< ignored; asynchronous event 0/0
    bad_value  ///< ignored; asynchronous event 0/1
};

/// All queues of the controller. Queue 0 is the admin pair.
class QueueSet {
public:
    QueueSet(std::uint32_t io_pairs, std::uint32_t max_entries);

    SubmissionQueue& sq(std::uint16_t qid) { return sqs_[qid]; }
    CompletionQueue& cq(std::uint16_t qid) { return cqs_[qid]; }
    const SubmissionQueue& sq(std::uint16_t qid) const { return sqs_[qid]; }
    const CompletionQueue& cq(std::uint16_t qid) const { return cqs_[qid]; }
    std::uint32_t count() const { return count_; }
    bool has_sq(std::uint32_t qid) const { return qid < count_ && sqs_[qid].valid; }
    bool has_cq(std::uint32_t qid) const { return qid < count_ && cqs_[qid].valid; }
    bool any_io_queue() const;

    std::uint32_t io_pairs() const { return count() - 1; }
    std::uint32_t max_entries() const { return max_entries_; }

    /// Tenant and priority for which a queue is created.
    struct Purpose {
        std::uint8_t priority = 0;  ///< QPRIO
        std::uint16_t tenant = 0;
    };
    void create_sq(std::uint16_t qid, std::uint16_t cqid, std::uint64_t base, std::uint32_t entries, Purpose purpose);
    void create_cq(std::uint16_t qid, std::uint64_t base, std::uint32_t entries, std::uint16_t vector, bool interrupts);
    void delete_sq(std::uint16_t qid);
    void delete_cq(std::uint16_t qid);
    void clear();

    DoorbellResult ring_tail(std::uint32_t qid, std::uint32_t value, SimTime now) {
        if (!has_sq(qid)) return DoorbellResult::no_queue;
        return sqs_[qid].ring(value, now) ? DoorbellResult::ok : DoorbellResult::bad_value;
    }
    DoorbellResult ring_head(std::uint32_t qid, std::uint32_t value) {
        if (!has_cq(qid)) return DoorbellResult::no_queue;
        return cqs_[qid].ring(value) ? DoorbellResult::ok : DoorbellResult::bad_value;
    }

private:
    std::vector<SubmissionQueue> sqs_;
    std::vector<CompletionQueue> cqs_;
    std::uint32_t count_;
    std::uint32_t max_entries_;
};

}  // namespace ssdtlm
