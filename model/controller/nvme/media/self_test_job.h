// SPDX-License-Identifier: Apache-2.0
// Device Self-test: reads the flash and discards the data. The short test reads a block in each thousandth of the
// drive, the extended one all blocks. A block that cannot be read ends the test.
#pragma once

#include <algorithm>
#include <cstdint>

#include "controller/nvme/admin/admin_kind.h"
#include "controller/nvme/media/media_work.h"

namespace ssdtlm {

class SelfTestJob final : public MediaJob {
public:
    static constexpr std::uint64_t kShortReads = 1000;         ///< assumed
    static constexpr std::uint32_t kExtendedBytes = 1u << 17;  ///< size of one read, if the drive takes it; assumed
    static constexpr std::uint8_t kMediaSegment = 1;           ///< the only one

    /// Reads `blocks` blocks of `lba_bytes` bytes, from block `first` of the drive on.
    SelfTestJob(AdminContext& context, SelfTest test, std::uint64_t first, std::uint64_t blocks,
                std::uint32_t lba_bytes)
        : c_(context), test_(test), first_(first), blocks_(blocks), lba_bytes_(lba_bytes) {
        count_ = test == SelfTest::short_test
                     ? 1
                     : firmware_command_bytes(kExtendedBytes, context.config.max_transfer_bytes) / lba_bytes;
        step_ = test == SelfTest::short_test ? std::max<std::uint64_t>(blocks / kShortReads, 1) : count_;
        c_.memory.self_tests.begin(test);
    }

    const char* name() const override { return "self-test"; }
    bool next(NvmeCommand& c) override {
        if (at_ >= blocks_) return false;
        c.op = IoOp::read;
        c.slba = first_ + at_;
        c.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(count_, blocks_ - at_));
        c.bytes = std::uint64_t{c.blocks} * lba_bytes_;
        c.special.data = SpecialCommand::Data::nowhere;
        at_ += step_;
        return true;
    }
    void ended(const NvmeCommand& c) override {
        if (c.status != CommandStatus::success || c_.memory.uncorrectable.any(c.slba, c.blocks)) {
            outcome_ = SelfTestResult::failed_segment;
            failed_ = c.slba;
            c_.media->cut_short(*this);
        }
        const std::uint64_t read = std::min(at_, blocks_);
        c_.memory.self_tests.progress(static_cast<std::uint8_t>(std::min<std::uint64_t>(read * 100 / blocks_, 99)));
    }
    void done() override;
    void abort(SelfTestResult::Outcome why) {
        outcome_ = why;
        c_.media->cut_short(*this);
    }
    SelfTest test() const { return test_; }

private:
    AdminContext& c_;
    const SelfTest test_;
    const std::uint64_t first_, blocks_;
    const std::uint32_t lba_bytes_;
    std::uint32_t count_ = 1;
    std::uint64_t step_ = 1, at_ = 0;
    SelfTestResult::Outcome outcome_ = SelfTestResult::passed;
    std::uint64_t failed_ = 0;
};

}  // namespace ssdtlm
