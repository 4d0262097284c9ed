// SPDX-License-Identifier: Apache-2.0
// Checks that every wait in the buffer will end, and that its counters are right.
#include <string>

#include "common/report/error.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

/// Checks the content of each list, and of each part of the room.
void WriteBuffer::check_lists() const {
    for (std::uint32_t q = 0; q < queues_.size() && !choices_.empty(); ++q) {
        const BucketChoice& c = choices_[q / order_.buckets];
        OfPartition found;
        for (Index i = queues_[q].head; i != kNone; i = entries_[i].fifo_next) {
            found.queued += entries_[i].queued;
            found.demanded += entries_[i].queued && is_demanded(entries_[i]);
        }
        if (c.size(q % order_.buckets) != found.queued || c.demanded(q % order_.buckets) != found.demanded)
            throw CheckFailed("write buffer: " + std::to_string(found.queued) + " units of translation page " +
                              std::to_string(q % order_.buckets) + " may be programmed and " +
                              std::to_string(found.demanded) + " must be, others are counted");
    }
    for (std::uint32_t q = 0; q < queues_.size() && demanded_first_; ++q)
        for (Index i = queues_[q].head; i != kNone; i = entries_[i].fifo_next) {
            const Entry& e = entries_[i];
            if (is_demanded(e) != (q % 2 == 0))
                throw CheckFailed("write buffer: logical unit " + std::to_string(idx(e.lpa)) +
                                  (q % 2 == 0 ? " goes before those that nobody waits for, and is one"
                                              : " must become durable, and is not before the others"));
            if (part_of(e) != q % lists_per_partition_ / 2)
                throw CheckFailed("write buffer: logical unit " + std::to_string(idx(e.lpa)) +
                                  " is in the list of another tenant's units");
        }
    if (parts_.empty()) return;
    std::vector<Part> found(parts_.size());
    for (const Entry& e : entries_) {
        if (e.state == State::free) continue;
        ++found[part_of(e)].used;
        found[part_of(e)].queued += e.queued;
    }
    std::uint32_t used = 0;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        used += parts_[p].used;
        if (found[p].used > parts_[p].used || parts_[p].used > quotas_.units(p) || found[p].queued != parts_[p].queued)
            throw CheckFailed("write buffer: part " + std::to_string(p) + " of " + std::to_string(quotas_.units(p)) +
                              " units has " + std::to_string(found[p].used) + ", of which " +
                              std::to_string(found[p].queued) + " may be programmed, and counts " +
                              std::to_string(parts_[p].used) + " and " + std::to_string(parts_[p].queued));
    }
    if (used != levels_.used)
        throw CheckFailed("write buffer: " + std::to_string(levels_.used) + " units are used, " + std::to_string(used) +
                          " in its parts");
}

void WriteBuffer::check_waiters() const {
    if (entries_.size() > kFew) return;
    std::uint32_t dirty = 0, queued = 0, demanded = 0, merging = 0;
    for (Index i = 0; i < entries_.size(); ++i) {
        const Entry& e = entries_[i];
        if (e.state == State::free) continue;
        merging += e.state == State::merging;
        queued += e.queued;
        demanded += e.queued && is_demanded(e);
        if (e.state != State::dirty) continue;
        ++dirty;
        if (e.dropped()) continue;
        if (e.queued && (e.marks & kListed) == 0)
            throw CheckFailed("write buffer: logical unit " + std::to_string(idx(e.lpa)) +
                              " may be programmed, and is in no list");
        const auto chain = map_.find(idx(e.lpa));
        const bool oldest = chain != map_.end() && chain->second.oldest == i;
        if (chain == map_.end() || oldest != e.queued)
            throw CheckFailed("write buffer: logical unit " + std::to_string(idx(e.lpa)) + " is dirty, " +
                              (e.queued ? "queued though an older write of it is not in flash"
                                        : "but neither queued nor behind an older write"));
    }
    const auto require = [](bool ok, const char* what, std::uint32_t counted, std::uint32_t found) {
        if (!ok)
            throw CheckFailed(std::string("write buffer: ") + std::to_string(counted) + " units are counted as " +
                              what + ", " + std::to_string(found) + " are");
    };
    require(dirty == levels_.dirty, "dirty", levels_.dirty, dirty);
    require(queued == levels_.queued, "queued", levels_.queued, queued);
    require(demanded == levels_.demanded, "to be made durable", levels_.demanded, demanded);
    require(merging == levels_.merging, "merging", levels_.merging, merging);
    if (queues_.size() > kFewLists)
        return;  // as many as there are partitions and translation pages: looking at them all would be the run's time
    check_lists();
    if (of_partition_.empty()) return;
    OfPartition all;
    for (std::uint32_t partition = 0; partition < of_partition_.size(); ++partition) {
        OfPartition found;
        for (std::uint32_t q = partition * lists_per_partition_; q < (partition + 1) * lists_per_partition_; ++q)
            for (Index i = queues_[q].head; i != kNone; i = entries_[i].fifo_next) {
                found.queued += entries_[i].queued;
                found.demanded += entries_[i].queued && is_demanded(entries_[i]);
            }
        require(found.queued == of_partition_[partition].queued, "queued in a partition",
                of_partition_[partition].queued, found.queued);
        require(found.demanded == of_partition_[partition].demanded, "to be made durable in a partition",
                of_partition_[partition].demanded, found.demanded);
        all.queued += found.queued;
        all.demanded += found.demanded;
    }
    require(all.queued == queued, "queued", queued, all.queued);
    require(all.demanded == demanded, "to be made durable", demanded, all.demanded);
}

}  // namespace ssdtlm
