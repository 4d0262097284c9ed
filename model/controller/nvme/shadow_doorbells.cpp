// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/shadow_doorbells.h"

namespace ssdtlm {

void ShadowDoorbells::configure(std::uint64_t shadows, std::uint64_t event_indices) {
    shadows_ = shadows;
    event_indices_ = event_indices;
    for (std::uint32_t qid = 1; qid < queues_.count(); ++qid) {
        if (queues_.has_sq(qid)) queue_created(static_cast<std::uint16_t>(qid));
        if (queues_.has_cq(qid)) look_at_head(static_cast<std::uint16_t>(qid));
    }
}

void ShadowDoorbells::look(std::uint16_t qid, bool head) {
    if (qid == 0 || !configured()) return;
    Doorbell& d = doorbells_[2u * qid + (head ? 1 : 0)];
    if (d.reading)
        d.again = true;
    else
        read(2u * qid + (head ? 1 : 0));
}

void ShadowDoorbells::read(std::uint32_t index) {
    Doorbell& d = doorbells_[index];
    const auto qid = static_cast<std::uint16_t>(index / 2);
    d.reading = true;
    d.again = false;
    // If the tail will be read again at the next completion, no register write is needed before that.
    d.rests = (index & 1) != 0 || queues_.sq(qid).in_flight == 0;
    if (d.rests) {
        const std::uint32_t value = known(index);
        dma_.post_host(event_indices_ + 4 * index, reinterpret_cast<const std::uint8_t*>(&value), sizeof value);
    }
    ++reads_;
    ++counters_.shadow_reads;
    const HostSegment segment{shadows_ + 4 * index, sizeof d.value};
    dma_.read_host(&segment, 1, reinterpret_cast<std::uint8_t*>(&d.value),
                   DmaThen::to<&ShadowDoorbells::was_read>(this, index));
}

void ShadowDoorbells::was_read(std::uint32_t index, DmaEnd end) {
    Doorbell& d = doorbells_[index];
    const auto qid = static_cast<std::uint16_t>(index / 2);
    const bool head = (index & 1) != 0;
    --reads_;
    d.reading = false;
    if (!configured() || end.failed || !(head ? queues_.has_cq(qid) : queues_.has_sq(qid))) return sink_.shadow_read();
    const bool moved = (d.value & 0xFFFF) != known(index);
    if (moved) sink_.shadow_rung(qid, head, d.value & 0xFFFF);
    if (!configured()) return sink_.shadow_read();
    // Before the doorbell rests, its event index must be the value known now. A value that was refused is not read
    // again.
    const bool wakes = moved && (d.value & 0xFFFF) == known(index);
    if (!d.reading && (d.again || wakes || (!head && !d.rests && queues_.sq(qid).in_flight == 0))) read(index);
    sink_.shadow_read();
}

}  // namespace ssdtlm
