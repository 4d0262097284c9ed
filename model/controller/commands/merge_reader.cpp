// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/merge_reader.h"

#include <algorithm>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

void MergeReader::start(Ppa place, WriteBuffer::Index entry, const WorkTag& whose) {
    ++reads_;
    ++under_way_;
    Read& job = jobs_.acquire();
    job.entry = entry;
    job.txn.whose = whose;
    set_up(job, FlashOp::read, FlashClass::host_read, services_.geometry.page_of(place), services_.geometry,
           Then::to<&MergeReader::flash_done>(this, job));
    job.txn.cause = FlashCause::rmw;
    job.txn.slc = services_.slc.holds(job.txn.address);
    job.slot[0] = static_cast<std::uint8_t>(idx(place) - idx(services_.geometry.ppa_of(job.txn.address, 0)));
    job.txn.first_byte = job.slot[0] * services_.geometry.unit_bytes;
    job.txn.data_bytes = services_.geometry.unit_bytes;
    services_.flash.submit(job.txn);
}

void MergeReader::add(Waiting& unit, std::uint64_t from, std::uint64_t bytes) const {
    const std::uint32_t block = services_.extents.lba_bytes;
    for (std::uint64_t b = from / block; b < (from + bytes) / block; ++b) unit.has.set(b);
}

void MergeReader::wait(Ppa place, WriteBuffer::Index entry, std::uint64_t from, std::uint64_t bytes) {
    services_.map.let_go(services_.geometry.page_of(place).plane, services_.geometry.block_of(place), 1);
    bool fresh = false;
    Waiting& unit = waiting_.insert(entry, fresh);
    SSDTLM_CHECK(fresh, "a unit waits for its rest twice");
    unit.number = ++last_number_;
    add(unit, from, bytes);
    if (order_.size() > 2 * waiting_.size() + 64) {
        const auto is_over = [this](const Order& o) {
            const Waiting* const w = waiting_.find(o.entry);
            return w == nullptr || w->number != o.number;
        };
        order_.erase(std::remove_if(order_.begin(), order_.end(), is_over), order_.end());
    }
    order_.push_back({entry, unit.number});
}

void MergeReader::brought(WriteBuffer::Index entry, std::uint64_t from, std::uint64_t bytes) {
    Waiting& unit = *waiting_.find(entry);
    add(unit, from, bytes);
    if (unit.has.count() != services_.extents.blocks_per_unit) return;
    waiting_.erase(unit);
    complete(entry);
}

void MergeReader::begin_oldest() {
    const Order oldest = order_.front();
    order_.pop_front();
    const Waiting* const unit = waiting_.find(oldest.entry);
    if (unit != nullptr && unit->number == oldest.number) begin(oldest.entry);
}

void MergeReader::begin(WriteBuffer::Index entry) {
    waiting_.erase(*waiting_.find(entry));
    if (waiting_.size() == 0) order_.clear();
    const WriteBuffer::Unit unit = services_.buffer.unit(entry);
    if (unit.dropped) return complete(entry);
    ++asking_;
    Ppa place = kUnmapped;
    const MapThen then = MapThen::to<&MergeReader::map_answered>(this, entry);
    if (services_.map.translate({unit.lpa, 1, unit.whose()}, MapUse::read, &place, then)) located(entry, place);
}

void MergeReader::map_answered(WriteBuffer::Index entry, const Ppa* place) {
    located(entry, *place);
    services_.wait_queues.settle();
}

void MergeReader::located(WriteBuffer::Index entry, Ppa place) {
    --asking_;
    const WriteBuffer::Unit unit = services_.buffer.unit(entry);
    if (__builtin_expect(unit.dropped || place == kLost, 0)) {
        if (is_place(place))
            services_.map.let_go(services_.geometry.page_of(place).plane, services_.geometry.block_of(place), 1);
        return unit.dropped ? complete(entry) : lose(entry);
    }
    SSDTLM_CHECK(is_place(place), "a unit that was written in part has no old copy any more");
    start(place, entry, unit.whose());
}

/// The unit may now be programmed, unless it was deallocated meanwhile.
void MergeReader::complete(WriteBuffer::Index entry) {
    const std::uint32_t waiter = services_.buffer.merged(entry);
    if (waiter != WriteBuffer::kNoWaiter) services_.journal.release_when_durable(waiter);
}

void MergeReader::flash_done(Read& job) {
    const FlashTransaction& txn = job.txn;
    services_.map.let_go(txn.address.plane, services_.geometry.block_of(txn.address), 1);
    if (__builtin_expect(txn.status.result != FlashResult::ok, 0)) return end(job, false);
    const std::uint64_t unit = services_.extents.unit_bytes;
    services_.dram.access({services_.buffer.unit(job.entry).dram_unit * unit, static_cast<std::uint32_t>(unit)},
                          Then::to<&MergeReader::dram_done>(this, job));
}

void MergeReader::end(Read& job, bool readable) {
    --under_way_;
    const WriteBuffer::Index entry = job.entry;
    if (__builtin_expect(!readable, 0) && !services_.buffer.unit(entry).dropped) {
        lose(entry);
    } else {
        if (__builtin_expect(services_.bytes != nullptr, 0) && !services_.buffer.unit(entry).dropped)
            services_.bytes->join(entry, job.bytes->page[job.slot[0]]);
        complete(entry);
    }
    jobs_.release(job);
    services_.wait_queues.settle();
}

__attribute__((noinline, cold)) void MergeReader::lose(WriteBuffer::Index entry) {
    const Lpa lpa = services_.buffer.unit(entry).lpa;
    waiters_.clear();
    if (services_.buffer.merge_failed(entry, waiters_)) services_.map.lose(lpa);
    for (const std::uint32_t waiter : waiters_) services_.wait_queues.release(waiter, CommandStatus::unrecovered_read);
}

void MergeReader::check_waiters() const {
    if (services_.buffer.merging() != under_way() + waiting_.size())
        throw CheckFailed("firmware: " + std::to_string(services_.buffer.merging()) +
                          " units wait for the rest of their old copy, but " + std::to_string(under_way()) +
                          " merge reads are in flight, and " + std::to_string(waiting_.size()) + " are to begin");
    if (anything_waits() &&
        (services_.wait_queues.anybody_for_room() || waiting_.size() > services_.buffer.capacity() / 2))
        throw CheckFailed("firmware: " + std::to_string(waiting_.size()) +
                          " merge reads are to begin, and nobody begins them");
    waiting_.for_each([&](const Waiting& unit) {
        if (services_.buffer.is_awaited(unit.key))
            throw CheckFailed("firmware: somebody waits for a unit whose merge read does not begin");
    });
}

std::string MergeReader::dump() const {
    return std::to_string(under_way()) + " merge reads, " + std::to_string(waiting_.size()) + " later";
}

}  // namespace ssdtlm
