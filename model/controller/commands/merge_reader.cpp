// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/merge_reader.h"

#include <string>

#include "common/report/error.h"

namespace ssdtlm {

void MergeReader::start(Ppa place, BufferPort::Index entry, const WorkTag& whose) {
    ++reads_;
    ++under_way_;
    FlashJob& job = s_.jobs.acquire(FlashJob::Kind::merge_read, s_.agenda.now());
    job.item[0] = entry;
    job.txn.whose = whose;
    set_up(job, FlashOp::read, FlashClass::host_read, s_.geometry.page_of(place), s_.geometry, *this);
    job.txn.cause = FlashCause::rmw;
    job.txn.slc = s_.slc.holds(job.txn.address);
    job.slot[0] = static_cast<std::uint8_t>(idx(place) - idx(s_.geometry.ppa_of(job.txn.address, 0)));
    job.txn.first_byte = job.slot[0] * s_.geometry.unit_bytes;
    job.txn.data_bytes = s_.geometry.unit_bytes;
    s_.flash.submit(job.txn);
}

void MergeReader::flash_done(FlashTransaction& txn) {
    FlashJob& job = job_of(txn.cookie);
    s_.map.let_go(txn.address.plane, s_.geometry.block_of(txn.address), 1);
    if (__builtin_expect(txn.status.result != FlashResult::ok, 0)) return end(job, false);
    const std::uint64_t unit = s_.extents.unit_bytes;
    s_.dram.access({s_.buffer.unit(job.item[0]).dram_unit * unit, static_cast<std::uint32_t>(unit)}, *this,
                   handle_of(job));
}

void MergeReader::dram_done(std::uint64_t handle) {
    end(job_of(handle), true);
}

void MergeReader::end(FlashJob& job, bool readable) {
    --under_way_;
    const BufferPort::Index entry = job.item[0];
    if (__builtin_expect(!readable, 0) && !s_.buffer.unit(entry).dropped) {
        lose(entry);
    } else {
        if (__builtin_expect(s_.bytes != nullptr, 0) && !s_.buffer.unit(entry).dropped)
            s_.bytes->join(entry, job.bytes->page[job.slot[0]]);
        const std::uint32_t waiter = s_.buffer.merged(entry);
        if (waiter != BufferPort::kNoWaiter) s_.journal.release_when_durable(waiter);  // deallocated meanwhile
    }
    s_.jobs.release(job);
    s_.waiters.settle();
}

__attribute__((noinline, cold)) void MergeReader::lose(BufferPort::Index entry) {
    const Lpa lpa = s_.buffer.unit(entry).lpa;
    waiters_.clear();
    if (s_.buffer.merge_failed(entry, waiters_)) s_.map.lose(lpa);
    for (const std::uint32_t waiter : waiters_) s_.waiters.release(waiter, CommandStatus::unrecovered_read);
}

void MergeReader::check_waiters() const {
    if (s_.buffer.merging() != under_way_)
        throw CheckFailed("firmware: " + std::to_string(s_.buffer.merging()) +
                          " units wait for the rest of their old copy, but " + std::to_string(under_way_) +
                          " merge reads are in flight");
}

}  // namespace ssdtlm
