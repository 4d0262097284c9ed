// SPDX-License-Identifier: Apache-2.0
// In front of the flash of a drive that moves what has been read too often: the FTL counts each page that is read.
#pragma once

#include "controller/ftl/ftl.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

class ReadCounter final : public FlashPort {
public:
    ReadCounter(FlashPort& flash, Ftl& ftl) : flash_(flash), ftl_(ftl) {}

    void submit(FlashTransaction& txn) override {
        const bool reads = txn.op == FlashOp::read;
        const BlockId block = ftl_.geometry().block_of(txn.address);
        flash_.submit(txn);
        if (reads && !txn.shares_read) ftl_.page_read(block);
    }

private:
    FlashPort& flash_;
    Ftl& ftl_;
};

}  // namespace ssdtlm
