// SPDX-License-Identifier: Apache-2.0
// Posts completion queue entries and sends the interrupts that announce them. An entry for a full queue is held until
// the host's head doorbell makes room. Interrupts are MSI-X messages, masked by the table and coalesced according to
// features 08h and 09h.
#pragma once

#include <cstdint>

#include "common/tlm/agenda.h"
#include "controller/nvme/counters.h"
#include "controller/nvme/features.h"
#include "controller/nvme/interrupts.h"
#include "controller/nvme/queues.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// Follows the submission queues whose entries are posted.
class PostedSink {
public:
    /// A command of this queue has its entry in host memory. Called only if the queue is being deleted, has more
    /// commands or has its doorbell in host memory.
    virtual void posted(std::uint16_t sqid, SubmissionQueue& queue) = 0;
    /// An entry waits for room in this queue.
    virtual void full(std::uint16_t cqid) = 0;

protected:
    ~PostedSink() = default;
};

class CompletionPosting {
public:
    CompletionPosting(Agenda& agenda, DmaPort& dma, QueueSet& queues, const NvmeFeatures& features,
                      NvmeCounters& counters, PostedSink& sink)
        : agenda_(agenda),
          dma_(dma),
          queues_(queues),
          features_(features),
          counters_(counters),
          sink_(sink),
          msix_(queues.count()),
          coalescer_(queues.count()),
          timers_(queues.count()) {}

    /// Sends or holds an entry. Everything but the queue's head and the phase is filled in.
    void post(SubmissionQueue& sq, nvme::Cqe& cqe) {
        CompletionQueue& cq = queues_.cq(sq.cqid);
        if (__builtin_expect(cq.full() || cq.has_held(), 0)) return hold(sq.cqid, cqe);
        send(cq, sq, cqe);
    }
    void post(std::uint16_t sqid, std::uint16_t cid, std::uint16_t status, std::uint32_t dw0);
    /// The host has written the head doorbell of this queue.
    void head_moved(std::uint16_t cqid) {
        if (__builtin_expect(queues_.cq(cqid).has_held(), 0)) send_held(cqid);
    }
    /// Call it when features 08h and 09h may have changed.
    void apply_features() { coalescing_ = features_.coalescing_threshold() != 0 && features_.coalescing_time() != 0; }
    /// Drops all interrupts that are due.
    void reset();
    /// Carries out a function-level reset: all vectors are masked, without message and without pending bit.
    void reset_vectors() {
        reset();
        msix_ = MsixTable(queues_.count());
    }

    /// Accesses the MSI-X table and the pending bits in dwords, at `offset` from the start of BAR0.
    std::uint32_t read_vectors(std::uint32_t offset) const {
        return offset < nvme::kMsixPba ? msix_.read_table(offset - nvme::kMsixTable)
                                       : msix_.read_pba(offset - nvme::kMsixPba);
    }
    void write_vectors(std::uint32_t offset, std::uint32_t value);

    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    void hold(std::uint16_t cqid, const nvme::Cqe& cqe);
    void send(CompletionQueue& cq, SubmissionQueue& sq, nvme::Cqe& cqe);
    void send_held(std::uint16_t cqid);
    void signal(std::uint16_t vector);
    void signal_coalesced(std::uint16_t vector);
    void coalescing_timer(std::uint64_t vector);
    void announced(std::uint16_t vector);

    Agenda& agenda_;
    DmaPort& dma_;
    QueueSet& queues_;
    const NvmeFeatures& features_;
    NvmeCounters& counters_;
    PostedSink& sink_;
    MsixTable msix_;
    InterruptCoalescer coalescer_;
    std::vector<Agenda::Entry> timers_;  // by vector, for its coalesced completions
    bool coalescing_ = false;
};

// The path of every command is inline, so that it compiles to one function without further stack frames.

inline void CompletionPosting::signal(std::uint16_t vector) {
    if (__builtin_expect(coalescing_, 0)) announced(vector);
    if (__builtin_expect(!msix_.fire(vector), 0)) {
        ++counters_.interrupts_masked;
        return;
    }
    ++counters_.interrupts;
    const MsixMessage message = msix_.message(vector);
    dma_.post_host(message.address, reinterpret_cast<const std::uint8_t*>(&message.data), sizeof message.data);
}

inline __attribute__((always_inline)) void CompletionPosting::send(CompletionQueue& cq, SubmissionQueue& sq,
                                                                   nvme::Cqe& cqe) {
    bool phase = false;
    const std::uint64_t address = cq.push(phase);
    cqe.sqhd = static_cast<std::uint16_t>(sq.head);
    cqe.status_phase = static_cast<std::uint16_t>(cqe.status_phase | (phase ? 1u : 0u));
    --sq.in_flight;
    ++counters_.cqes;
    dma_.post_host(address, reinterpret_cast<const std::uint8_t*>(&cqe), nvme::kCqeBytes);
    if (cq.interrupts) {
        if (__builtin_expect(coalescing_ && sq.cqid != 0, 0))
            signal_coalesced(cq.vector);
        else
            signal(cq.vector);
    }
    // True when a queue waits for its last command, or when the fetch window was full.
    if (__builtin_expect(sq.deleting || sq.shadowed || sq.waiting() != 0, 0)) sink_.posted(cqe.sqid, sq);
}

}  // namespace ssdtlm
