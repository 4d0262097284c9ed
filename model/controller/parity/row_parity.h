// SPDX-License-Identifier: Apache-2.0
// Parity of rows of superblocks that span the drive (ftl.parity). With the last page for data of a row the pages of its
// last die are handed out for the parity of the others (../ftl/superblock.h, BlockManager); they are due from then on,
// and somebody has to program them, else their superblock is never full. Their numbers are drawn behind those of the
// row's data: so a page for parity that the power has left in front of data that came later is known by its number.
// What the power or a failed program interrupts stays without: its superblock is closed, and emptied like others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/events.h"
#include "controller/ftl/feature_kind.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class RowParity final : public FtlFeature, private FtlListener {
public:
    struct Page {
        PageAddress at;
        PageRecord record;
    };
    static std::unique_ptr<FtlFeatureKind> kind(const FeatureSite& site);
    explicit RowParity(const FeatureSetup& setup);
    /// What a slot adds to the sum (XOR) of its row. A slot that belongs to no unit adds 0. So the sum does not take a
    /// value that means "no unit", as far as a Spare has bits to spare.
    static std::uint32_t addend(Spare s) { return s == kPadding || s == kTorn ? 0 : idx(s); }

    /// `callback` is called when parity pages become due. This is within the step that hands out the last data page of
    /// a row, before that page has its number.
    void on_due(std::function<void()> callback) { on_due_ = std::move(callback); }
    bool any_due() const { return !due_.empty(); }
    /// Adds all due parity pages to `out`, pages of a block in ascending order, and returns how many. Pages of
    /// superblocks that have failed meanwhile are left out. Each page must end with programmed(), failed() or
    /// dropped(). Do not call it within the step that has handed out the row.
    std::uint32_t take_due(std::vector<Page>& out);
    void programmed(const PageAddress& a);
    void failed(const PageAddress& a);   ///< its superblock is closed
    void dropped(const PageAddress& a);  ///< nobody programs it: its superblock has failed meanwhile

    // Those that are due have numbers before a checkpoint says which pages may still be programmed; preconditioning,
    // which has programmed their rows, programs them in no time.
    void number_due_pages() override { draw_numbers(); }
    void program_at_once() override;

private:
    void pages_handed_out() override;
    void draw_numbers();

    const FeatureSetup in_;
    std::vector<Page> due_;
    std::function<void()> on_due_;
};

}  // namespace ssdtlm
