// SPDX-License-Identifier: Apache-2.0
// Informs the integrity oracle when a command is written and when it has completed. Without an oracle it does nothing.
// Kernel-free.
#pragma once

#include <cstdint>

#include "common/report/error.h"
#include "host_pcie/driver/integrity_oracle.h"
#include "host_pcie/driver/io_queue.h"

namespace ssdtlm {

class DataCheck {
public:
    /// `oracle` may be null.
    explicit DataCheck(IntegrityOracle* oracle) : oracle_(oracle) {}

    bool is_on() const { return oracle_ != nullptr; }
    void prepare(const DriveInfo& info) {
        lba_shift_ = static_cast<unsigned>(__builtin_ctz(info.lba_bytes));
        SSDTLM_CHECK(
            oracle_ == nullptr || (oracle_->lba_bytes() == info.lba_bytes && oracle_->capacity_blocks() >= info.blocks),
            "the integrity oracle was built for another namespace");
    }
    /// A command for this offset is about to be written. Precondition, here and for the functions below: is_on().
    [[gnu::always_inline]] void prefetch(std::uint64_t offset) { oracle_->prefetch(offset >> lba_shift_); }
    /// The command was written, but not announced yet.
    void begin(IoSlot& slot);
    /// The command has completed. `now`: time since the start of the workload. !ok: it is not known whether the device
    /// carried it out.
    void end(std::uint16_t queue, std::uint16_t tag, IoSlot& slot, SimTime now, bool ok);

private:
    IntegrityOracle* const oracle_;
    unsigned lba_shift_ = 9;
};

inline void DataCheck::begin(IoSlot& slot) {
    const HostRequest& r = slot.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    if (r.op == HostOp::read) {
        slot.token = oracle_->begin_read(blocks, slot.data, slot.spoiled);
        slot.spoiled = 0;
    } else if (r.op == HostOp::write) {
        slot.token = oracle_->begin_write(slba, blocks, slot.data);
        slot.spoiled = 0;
    } else if (r.op == HostOp::trim) {
        slot.token = oracle_->begin_trim(slba, blocks);
    } else {
        slot.token = oracle_->begin_flush();
    }
}

inline void DataCheck::end(std::uint16_t queue, std::uint16_t tag, IoSlot& slot, SimTime now, bool ok) {
    const HostRequest& r = slot.request;
    const std::uint64_t slba = r.offset >> lba_shift_;
    const std::uint32_t blocks = r.bytes >> lba_shift_;
    if (r.op == HostOp::read) {
        if (__builtin_expect(!ok, 0)) return oracle_->abandon_read();
        oracle_->check_read(slot.token, slba, blocks, slot.data, IntegrityOracle::Reader{queue, tag, now});
        slot.spoiled = blocks;
    } else if (r.op == HostOp::write) {
        oracle_->end_write(slba, blocks, ok, slot.token, r.fua);
    } else if (r.op == HostOp::trim) {
        oracle_->end_trim(slba, blocks, ok, slot.token);
    } else {
        oracle_->end_flush(slot.token, ok);
    }
}

}  // namespace ssdtlm
