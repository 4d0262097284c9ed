// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/tpcc/page_cleaner.h"

#include <algorithm>

namespace ssdtlm {

void PageCleaner::collect() {
    const bool aged =
        pool_.oldest_change() != BufferPool::kNone && pool_.oldest_change() + place_.most_age < log_.lsn();
    if (!aged && !pool_.short_of_room()) return;
    batch_.clear();
    if (pool_.short_of_room()) pool_.make_room(batch_, kBatch);
    for_room_ += batch_.size();
    const std::size_t room = batch_.size();
    if (log_.lsn() > place_.most_age) pool_.write_older(log_.lsn() - place_.most_age, batch_, kBatch);
    for_age_ += batch_.size() - room;
    if (batch_.empty()) return;
    // A page may not be newer on the drive than the log.
    needs_ = log_.lsn();
    log_.want(needs_);
    phase_ = Phase::log;
}

/// Goes from a phase that has ended to the next one.
void PageCleaner::step() {
    if (phase_ == Phase::log && log_.flushed() >= needs_) {
        phase_ = place_.doublewrite_on ? Phase::doublewrite : Phase::pages;
        next_ = 0;
    } else if (phase_ == Phase::doublewrite && next_ == batch_.size() && under_way_ == 0) {
        phase_ = Phase::doublewrite_flush;
        next_ = 0;
    } else if (phase_ == Phase::pages && next_ == batch_.size() && under_way_ == 0) {
        phase_ = Phase::pages_flush;
        next_ = 0;
    }
}

bool PageCleaner::flush(HostRequest& request) {
    if (under_way_ != 0) return false;
    request.op = HostOp::flush;
    ++under_way_;
    return true;
}

bool PageCleaner::next(bool may_collect, HostRequest& request) {
    if (phase_ == Phase::idle && may_collect) collect();
    step();
    switch (phase_) {
        case Phase::idle:
        case Phase::log:
            return false;
        case Phase::doublewrite_flush:
        case Phase::pages_flush:
            return flush(request);
        case Phase::doublewrite:
        case Phase::pages:
            break;
    }
    if (next_ == batch_.size()) return false;
    request.op = HostOp::write;
    std::size_t pages = 1;
    if (phase_ == Phase::doublewrite) {
        pages = std::min<std::size_t>(kBlock, batch_.size() - next_);
        request.offset = place_.doublewrite + next_ * place_.page_bytes;
    } else {
        request.offset = place_.pages + batch_[next_] * place_.page_bytes;
    }
    request.bytes = static_cast<std::uint32_t>(pages * place_.page_bytes);
    next_ += pages;
    ++under_way_;
    return true;
}

bool PageCleaner::completed() {
    --under_way_;
    if (phase_ == Phase::doublewrite_flush) phase_ = Phase::pages;
    if (phase_ != Phase::pages_flush) return false;
    for (const std::uint64_t page : batch_) pool_.written(page);
    phase_ = Phase::idle;
    return true;
}

}  // namespace ssdtlm
