// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/submission_fetch.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

SubmissionFetch::SubmissionFetch(Agenda& agenda, DmaPort& dma, const NvmeConfig& config, QueueSet& queues,
                                 ControllerState& state, NvmeCounters& counters, EntrySink& admin, EntrySink& io)
    : agenda_(agenda),
      dma_(dma),
      window_(config.fetch_window),
      windows_(config.fetch_windows),
      burst_(config.fetch_burst),
      depth_(config.fetch_depth),
      queues_(queues),
      state_(state),
      counters_(counters),
      admin_(admin),
      io_(io),
      in_order_(config.max_queue_pairs + 1) {}

/// Precondition: a queue is ready.
void SubmissionFetch::fetch() {
    std::uint16_t qid = 0;
    do {
        if (fetches_.in_use() == depth_ || !state_.running() || !arbiter_.next(qid)) return;
        SubmissionQueue& q = queues_.sq(qid);
        const std::uint64_t address = q.base + std::uint64_t{q.fetch} * kSqeBytes;
        const std::uint32_t waiting = q.waiting();
        const std::uint32_t room = window_of(q) - q.in_flight;
        std::uint32_t n = 1;
        if (waiting != 1) {
            const auto to_page_end = static_cast<std::uint32_t>((kPageBytes - (address & kPageMask)) / kSqeBytes);
            const std::uint32_t to_ring_end = q.entries - q.fetch;
            const std::uint32_t wanted = std::min(std::min(arbiter_.limit(), waiting), burst_);
            n = std::min(std::min(wanted, room), std::min(to_page_end, to_ring_end));
        }

        Fetch& f = fetches_.acquire();
        if (__builtin_expect(f.entries == nullptr, 0)) f.entries = std::make_unique<Sqe[]>(burst_);
        f.asked = agenda_.now();
        f.qid = qid;
        f.arrived = false;
        f.first = q.fetch;
        f.count = n;
        f.next = nullptr;
        InOrder& order = in_order_[qid];
        (order.oldest == nullptr ? order.oldest : order.newest->next) = &f;
        order.newest = &f;
        counters_.sqes += n;
        q.fetch = q.fetch + n == q.entries ? 0 : q.fetch + n;
        q.in_flight += n;
        arbiter_.took(n);
        if (n == waiting || n == room) arbiter_.set_ready(qid, q.priority, false);
        ++counters_.fetches;
        const HostSegment segment{address, n * kSqeBytes};
        dma_.read_host(&segment, 1, reinterpret_cast<std::uint8_t*>(f.entries.get()),
                       DmaThen::to<&SubmissionFetch::arrived>(this, Pool<Fetch>::handle_of(f).number()));
    } while (arbiter_.any());
}

void SubmissionFetch::arrived(std::uint64_t number, DmaEnd how) {
    if (__builtin_expect(how.failed, 0)) state_.fatal();  // no CQE can report it
    Fetch& fetch = fetches_.at(number);
    fetch.arrived = true;
    SubmissionQueue& q = queues_.sq(fetch.qid);
    InOrder& order = in_order_[fetch.qid];
    // A read that overtook an older one of its queue waits for it, because SQHD must not pass a slot that is still
    // unread.
    while (order.oldest != nullptr && order.oldest->arrived) {
        Fetch& f = *order.oldest;
        order.oldest = f.next;
        const std::uint32_t end = f.first + f.count;
        q.head = end == q.entries ? 0 : end;
        if (__builtin_expect(state_.serving(), 1)) {
            (f.qid != 0 ? io_ : admin_).accept(FetchedEntries{f.qid, f.first, f.count, f.asked, f.entries.get()}, q);
        } else {
            q.in_flight -= f.count;
            counters_.dropped += f.count;
        }
        fetches_.release(f);
    }
    resume();
    state_.settle();
}

void SubmissionFetch::check_waiters() const {
    if (!state_.serving()) return;  // a stopping controller drops its queues
    for (std::uint32_t i = 0; i < queues_.count(); ++i) {
        if (!queues_.has_sq(i)) continue;
        const auto qid = static_cast<std::uint16_t>(i);
        const SubmissionQueue& q = queues_.sq(qid);
        if (q.waiting() != 0 && may_fetch(q) && !arbiter_.is_ready(qid, q.priority))
            throw CheckFailed(fmt::format(
                "nvme: queue {}: commands are behind the doorbell and may be fetched, but the arbiter does not know",
                i));
    }
    if (arbiter_.any() && state_.running() && fetches_.in_use() != depth_)
        throw CheckFailed("nvme: a submission queue is ready and a fetch is free, but nobody fetches");
}

}  // namespace ssdtlm
