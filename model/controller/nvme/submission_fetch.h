// SPDX-License-Identifier: Apache-2.0
// Fetches submission queue entries. It chooses the queue and the number of entries, makes one DMA read for each fetch,
// and delivers the entries in the order of the queue. Several reads are under way at once. A read that overtakes an
// older one of its queue waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "controller/nvme/arbiter.h"
#include "controller/nvme/controller_state.h"
#include "controller/nvme/queues.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// Entries of one submission queue that have arrived together, in ring order.
struct FetchedEntries {
    std::uint16_t qid = 0;
    std::uint32_t first = 0;  ///< slot of the first entry
    std::uint32_t count = 0;
    SimTime asked{};  ///< when their fetch began
    const nvme::Sqe* entries = nullptr;
};

/// Takes the entries. Called once for each fetch, in the order of the queue, while the controller serves.
class EntrySink {
public:
    virtual void accept(const FetchedEntries& fetched, SubmissionQueue& queue) = 0;

protected:
    ~EntrySink() = default;
};

class SubmissionFetch final {
public:
    /// `admin` takes the entries of queue 0, and `io` those of all others.
    SubmissionFetch(Agenda& agenda, DmaPort& dma, const NvmeConfig& config, QueueSet& queues, ControllerState& state,
                    NvmeCounters& counters, EntrySink& admin, EntrySink& io);

    /// The host has written the tail doorbell of this queue.
    void rung(std::uint16_t qid) {
        const SubmissionQueue& q = queues_.sq(qid);
        arbiter_.set_ready(qid, q.priority, may_fetch(q));
        resume();
    }
    /// Checks again whether entries of the queue may be fetched. resume() fetches them.
    void refresh(std::uint16_t qid) {
        const SubmissionQueue& q = queues_.sq(qid);
        arbiter_.set_ready(qid, q.priority, q.valid && q.waiting() != 0 && may_fetch(q));
    }
    /// A command of this queue has its CQE, so its fetch window may have room again.
    void window_moved(std::uint16_t qid) {
        if (arbiter_.is_ready(qid, queues_.sq(qid).priority)) return;
        refresh(qid);
        resume();
    }
    void resume() {
        if (arbiter_.any()) fetch();
    }
    /// Sets CC.AMS. Precondition: no queue has entries to fetch.
    void set_weighted(bool weighted) { arbiter_.set_weighted(weighted); }
    /// Sets Feature 01h.
    void set_arbitration(std::uint32_t value) {
        arbiter_.set_burst_code(nvme::Arbitration::burst_code(value));
        arbiter_.set_weights(nvme::Arbitration::high(value), nvme::Arbitration::medium(value),
                             nvme::Arbitration::low(value));
    }
    /// No queue has entries to fetch any more. Precondition: no fetch is under way.
    void reset() { arbiter_.reset(); }

    std::size_t under_way() const { return fetches_.in_use(); }
    std::uint32_t depth() const { return depth_; }
    /// True if entries could be fetched, but all fetches are in use.
    bool waits_for_fetch() const { return arbiter_.any() && fetches_.in_use() == depth_; }
    /// True if commands of this queue wait behind its doorbell because its window is full.
    bool waits_for_window(std::uint16_t qid) const {
        return queues_.has_sq(qid) && queues_.sq(qid).waiting() != 0 &&
               queues_.sq(qid).in_flight >= window_of(queues_.sq(qid));
    }
    /// Share of this queue's window that commands use.
    double window_filled(std::uint16_t qid) const {
        return queues_.has_sq(qid) ? static_cast<double>(queues_.sq(qid).in_flight) / window_of(queues_.sq(qid)) : 0.0;
    }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    /// One DMA read of entries.
    struct Fetch {
        SimTime asked{};
        std::uint16_t qid = 0;
        bool arrived = false;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        Fetch* next = nullptr;  ///< next fetch of the queue
        std::unique_ptr<nvme::Sqe[]> entries;
    };
    /// The fetches of a queue, in the order of their start.
    struct InOrder {
        Fetch* oldest = nullptr;
        Fetch* newest = nullptr;  ///< valid while there is an oldest
    };

    std::uint32_t window_of(const SubmissionQueue& q) const {
        return __builtin_expect(q.tenant - 1u < windows_.size(), 0) ? windows_[q.tenant - 1u] : window_;
    }
    bool may_fetch(const SubmissionQueue& q) const { return !q.deleting && q.in_flight < window_of(q); }
    void fetch();
    void arrived(std::uint64_t fetch, DmaEnd how);

    Agenda& agenda_;
    DmaPort& dma_;
    const std::uint32_t window_;
    const std::vector<std::uint32_t> windows_;  // by tenant, from 1 on
    const std::uint32_t burst_;
    const std::uint32_t depth_;
    QueueSet& queues_;
    ControllerState& state_;
    NvmeCounters& counters_;
    EntrySink& admin_;
    EntrySink& io_;
    SubmissionArbiter arbiter_;
    Pool<Fetch> fetches_;
    std::vector<InOrder> in_order_;  // by queue
};

}  // namespace ssdtlm
