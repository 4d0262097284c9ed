// SPDX-License-Identifier: Apache-2.0
// The write buffer with two lists for each part of it: units that somebody waits for are programmed before the others.
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

bool WriteBuffer::reserve_part(std::uint32_t n, std::uint16_t tenant) {
    const std::uint32_t part = quotas_.part_of(tenant);
    Part& p = parts_[part];
    p.wanted = p.used + n > quotas_.units(part);
    if (!p.wanted) p.used += n;
    return !p.wanted;
}

/// Returns false if no tenant that waits for room has units to program: units of other tenants give it none.
bool WriteBuffer::programs_give_room() const {
    for (const Part& p : parts_)
        if (p.wanted && p.queued != 0) return true;
    return parts_.empty();
}

/// A part that somebody waits for goes first; then the part that is fuller.
bool WriteBuffer::goes_before(std::uint32_t part, std::uint32_t other) const {
    const Part &a = parts_[part], &b = parts_[other];
    if (a.wanted != b.wanted) return a.wanted;
    return a.used * quotas_.units(other) > b.used * quotas_.units(part);
}

WriteBuffer::Index WriteBuffer::first_dirty(std::uint32_t partition) const {
    if (!demanded_first_) return queues_[partition * lists_per_partition_].head;
    const Queue* const lists = &queues_[partition * lists_per_partition_];
    for (const std::uint32_t others : {0u, 1u}) {
        std::uint32_t best = 0;
        for (std::uint32_t part = 1; part < parts_.size(); ++part)
            if (lists[2 * part + others].head != kNone &&
                (lists[2 * best + others].head == kNone || goes_before(part, best)))
                best = part;
        if (lists[2 * best + others].head != kNone) return lists[2 * best + others].head;
    }
    return kNone;
}

WriteBuffer::Index WriteBuffer::dirty_behind(Index i) const {
    const Entry& e = entries_[i];
    return e.fifo_next != kNone || !demanded_first_ || !is_demanded(e)
               ? e.fifo_next
               : queues_[partition_of(e) * lists_per_partition_ + 2 * part_of(e) + 1].head;
}

/// Puts units without waiters behind those that somebody waits for.
void WriteBuffer::demand_all_lists() {
    for (std::size_t q = 0; q < queues_.size(); q += 2) {
        Queue &before = queues_[q], &behind = queues_[q + 1];
        if (behind.head == kNone) continue;
        entries_[behind.head].fifo_prev = before.tail;
        (before.tail != kNone ? entries_[before.tail].fifo_next : before.head) = behind.head;
        before.tail = behind.tail;
        behind = Queue{};
    }
}

void WriteBuffer::touch(Index i) {
    if (room_ != nullptr) room_->used_dirty(i);
    if (!order_.coldest_first || !entries_[i].queued || is_demanded(entries_[i])) return;
    unlist(i);
    list_last(i);
}

}  // namespace ssdtlm
