// SPDX-License-Identifier: Apache-2.0
// Doorbells in host memory (Doorbell Buffer Config, NVMe 1.4 §5.7, §7.13). The host writes each new value there. It
// writes the register only when the value passes the event index, which the controller keeps in the other buffer. While
// a queue has commands in flight, the controller reads the shadow tail at each completion. Before the queue rests, it
// raises the event index and reads once more. It reads a shadow head when the completion queue seems full. The admin
// queue uses registers alone, because Linux does not write its shadows.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/nvme/counters.h"
#include "controller/nvme/queues.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// Takes a value that was read, as if the host had written the register.
class DoorbellSink {
public:
    virtual void shadow_rung(std::uint16_t qid, bool head, std::uint32_t value) = 0;
    /// A read has ended. A reset may have waited for it.
    virtual void shadow_read() = 0;

protected:
    ~DoorbellSink() = default;
};

class ShadowDoorbells final {
public:
    ShadowDoorbells(DmaPort& dma, QueueSet& queues, NvmeCounters& counters, DoorbellSink& sink)
        : dma_(dma), queues_(queues), counters_(counters), sink_(sink), doorbells_(2 * queues.count()) {}

    /// Sets the page addresses of the two buffers.
    void configure(std::uint64_t shadows, std::uint64_t event_indices);
    /// Carries out a controller reset, which removes the buffers. The result of a read under way is then ignored.
    void reset() { shadows_ = 0; }
    bool configured() const { return shadows_ != 0; }

    /// Call it for a submission queue.
    void queue_created(std::uint16_t qid) {
        if (!configured()) return;
        queues_.sq(qid).shadowed = true;
        look_at_tail(qid);
    }
    /// A command of this queue has its entry, or its register was written.
    void look_at_tail(std::uint16_t qid) { look(qid, false); }
    /// There is no room for an entry.
    void look_at_head(std::uint16_t qid) { look(qid, true); }
    /// Number of reads under way.
    std::uint32_t under_way() const { return reads_; }

private:
    struct Doorbell {
        std::uint32_t value = 0;  ///< value that is being read
        bool reading = false;
        bool rests = false;  ///< the event index equals the known value, and this read is the last
        bool again = false;
    };
    void look(std::uint16_t qid, bool head);
    void read(std::uint32_t index);
    void was_read(std::uint32_t index, DmaEnd end);
    std::uint32_t known(std::uint32_t index) const {
        const auto qid = static_cast<std::uint16_t>(index / 2);
        return (index & 1) != 0 ? queues_.cq(qid).head : queues_.sq(qid).tail;
    }

    DmaPort& dma_;
    QueueSet& queues_;
    NvmeCounters& counters_;
    DoorbellSink& sink_;
    std::uint64_t shadows_ = 0, event_indices_ = 0;
    std::vector<Doorbell> doorbells_;  // in the order of the registers: tail 0, head 0, tail 1 ...
    std::uint32_t reads_ = 0;
};

}  // namespace ssdtlm
