// SPDX-License-Identifier: Apache-2.0
// Stands before the flash of a drive that moves data that have been read too often. It tells the FTL of each page that
// is read.
#pragma once

#include "common/address/geometry.h"
#include "controller/ports/flash.h"
#include "controller/refresh/refresh.h"

namespace ssdtlm {

class ReadCounter final : public FlashPort {
public:
    ReadCounter(FlashPort& flash, const NandGeometry& geometry, Refresh& refresh)
        : flash_(flash), geometry_(geometry), refresh_(refresh) {}

    void submit(FlashTransaction& txn) override {
        const bool reads = txn.op == FlashOp::read;
        const BlockId block = geometry_.block_of(txn.address);
        flash_.submit(txn);
        if (reads && !txn.shares_read) refresh_.page_read(block);
    }

private:
    FlashPort& flash_;
    const NandGeometry& geometry_;
    Refresh& refresh_;
};

}  // namespace ssdtlm
