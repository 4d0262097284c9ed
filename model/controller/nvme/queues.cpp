// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/queues.h"

namespace ssdtlm {

namespace {
constexpr std::size_t kCidWords = 65536 / 64;
}

QueueSet::QueueSet(std::uint32_t io_pairs, std::uint32_t max_entries)
    : sqs_(io_pairs + 1), cqs_(io_pairs + 1), count_(io_pairs + 1), max_entries_(max_entries) {}

bool QueueSet::any_io_queue() const {
    for (std::uint32_t q = 1; q < count(); ++q)
        if (sqs_[q].valid || cqs_[q].valid) return true;
    return false;
}

void QueueSet::create_sq(std::uint16_t qid, std::uint16_t cqid, std::uint64_t base, std::uint32_t entries,
                         Purpose purpose) {
    SubmissionQueue& q = sqs_[qid];
    q = SubmissionQueue{};
    q.valid = true;
    q.cqid = cqid;
    q.tenant = purpose.tenant;
    q.priority = purpose.priority;
    q.base = base;
    q.entries = entries;
    q.rung_ = std::make_unique<SimTime[]>(entries);
    q.cids_ = std::make_unique<std::uint64_t[]>(kCidWords);
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

void QueueSet::delete_cq(std::uint16_t qid) {
    cqs_[qid] = CompletionQueue{};
}

void QueueSet::clear() {
    for (SubmissionQueue& q : sqs_) q = SubmissionQueue{};
    for (CompletionQueue& q : cqs_) q = CompletionQueue{};
}

}  // namespace ssdtlm
