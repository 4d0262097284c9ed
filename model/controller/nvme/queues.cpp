// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/queues.h"

#include <algorithm>

namespace ssdtlm {

namespace {
constexpr std::size_t kCidWords = 65536 / 64;
}

QueueSet::QueueSet(std::uint32_t io_pairs, std::uint32_t max_entries)
    : sqs_(io_pairs + 1), cqs_(io_pairs + 1), max_entries_(max_entries) {}

bool QueueSet::any_io_queue() const {
    for (std::uint32_t q = 1; q < count(); ++q)
        if (sqs_[q].valid || cqs_[q].valid) return true;
    return false;
}

void QueueSet::create_sq(std::uint16_t qid, std::uint16_t cqid, std::uint64_t base, std::uint32_t entries) {
    SubmissionQueue& q = sqs_[qid];
    q = SubmissionQueue{};
    q.valid = true;
    q.cqid = cqid;
    q.base = base;
    q.entries = entries;
    q.rung_.assign(entries, SimTime{});
    q.cids_.assign(kCidWords, 0);
    ++cqs_[cqid].bound_sqs;
}

void QueueSet::create_cq(std::uint16_t qid, std::uint64_t base, std::uint32_t entries, std::uint16_t vector,
                         bool interrupts) {
    CompletionQueue& q = cqs_[qid];
    q = CompletionQueue{};
    q.valid = true;
    q.interrupts = interrupts;
    q.vector = vector;
    q.base = base;
    q.entries = entries;
}

void QueueSet::delete_sq(std::uint16_t qid) {
    --cqs_[sqs_[qid].cqid].bound_sqs;
    sqs_[qid] = SubmissionQueue{};
}

void QueueSet::delete_cq(std::uint16_t qid) { cqs_[qid] = CompletionQueue{}; }

void QueueSet::clear() {
    std::fill(sqs_.begin(), sqs_.end(), SubmissionQueue{});
    std::fill(cqs_.begin(), cqs_.end(), CompletionQueue{});
}

DoorbellResult QueueSet::ring_tail(std::uint32_t qid, std::uint32_t value, SimTime now) {
    if (!has_sq(qid)) return DoorbellResult::no_queue;
    SubmissionQueue& q = sqs_[qid];
    if (value >= q.entries) return DoorbellResult::bad_value;
    const std::uint32_t added = value >= q.tail ? value - q.tail : value + q.entries - q.tail;
    const std::uint32_t used = q.tail >= q.head ? q.tail - q.head : q.tail + q.entries - q.head;
    // The same value again, or more commands than free slots (one slot always stays empty).
    if (added == 0 || added + used > q.entries - 1) return DoorbellResult::bad_value;
    for (std::uint32_t slot = q.tail; slot != value; slot = q.next(slot)) q.rung_[slot] = now;
    q.tail = value;
    return DoorbellResult::ok;
}

DoorbellResult QueueSet::ring_head(std::uint32_t qid, std::uint32_t value) {
    if (!has_cq(qid)) return DoorbellResult::no_queue;
    CompletionQueue& q = cqs_[qid];
    if (value >= q.entries) return DoorbellResult::bad_value;
    const std::uint32_t consumed = value >= q.head ? value - q.head : value + q.entries - q.head;
    if (consumed == 0 || consumed > q.posted()) return DoorbellResult::bad_value;
    q.head = value;
    return DoorbellResult::ok;
}

}  // namespace ssdtlm
