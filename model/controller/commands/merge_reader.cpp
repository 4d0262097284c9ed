// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/merge_reader.h"

#include <string>

#include "common/report/error.h"

namespace ssdtlm {

void MergeReader::start(Ppa place, BufferPort::Index entry) {
    ++reads_;
    ++under_way_;
    FlashJob& job = s_.jobs.acquire(FlashJob::Kind::merge_read, s_.agenda.now());
    job.item[0] = entry;
    job.txn.op = FlashOp::read;
    job.txn.cls = FlashClass::host_read;
    job.txn.address = s_.geometry.page_of(place);
    job.txn.die = s_.geometry.die_of(job.txn.address.plane);
    job.txn.data_bytes = s_.geometry.unit_bytes;
    job.txn.client = this;
    job.txn.cookie = handle_of(job);
    s_.flash.submit(job.txn);
}

void MergeReader::flash_done(FlashTransaction& txn) {
    FlashJob& job = job_of(txn.cookie);
    --under_way_;
    s_.map.let_go(txn.address.plane, s_.geometry.block_of(txn.address), 1);
    const std::uint32_t waiter = s_.buffer.merged(job.item[0]);
    if (waiter != BufferPort::kNoWaiter) s_.waiters.release(waiter);
    s_.jobs.release(job);
    s_.waiters.settle();
}

void MergeReader::check_waiters() const {
    if (s_.buffer.merging() != under_way_)
        throw CheckFailed("firmware: " + std::to_string(s_.buffer.merging()) + " units wait for the rest of their old copy, but " +
                          std::to_string(under_way_) + " merge reads are in flight");
}

}  // namespace ssdtlm
