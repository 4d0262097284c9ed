// SPDX-License-Identifier: Apache-2.0
// What an FTL owes to flash that is programmed in two steps (NandGeometry::two_step): a lower page is not safe before
// its upper one has been programmed. Who waits for it closes its word line with padding, which goes on where the
// superblock is open. So a victim wins only what is invalid beyond that, and a superblock that was open when the drive
// started is not written to any more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/block_state.h"
#include "controller/ftl/feature.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class OpenWordLines final : public FtlFeature {
public:
    /// Rows of pages that a victim costs at most beside its valid units: the rest of a row, and three to close it.
    static constexpr std::uint32_t kRows = 4;

    struct Page {
        PageAddress at;
        PageRecord record;
        bool of_host = false;  ///< where the host writes; else where garbage collection does
    };
    /// Null: flash is programmed in one step.
    static std::unique_ptr<FtlFeature> make(const FeatureSetup& setup);
    explicit OpenWordLines(const FeatureSetup& setup) : in_(setup) {}
    /// What it is not made to work with.
    static void check(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g);
    /// Invalid ones of a superblock with so many planes from which on it is worth a collection: a page's worth, or more
    /// than that costs.
    static std::uint32_t reclaim_units(const NandGeometry& g, std::uint32_t planes) {
        return g.units_per_page() * (g.two_step ? kRows * planes + 1 : 1);
    }

    /// The upper page above the lower one at this row of the superblock has not been handed out, and will be.
    bool is_missing(SuperblockId b, std::uint32_t lower_row) const;
    /// All that was handed out of it has been programmed.
    bool is_quiet(SuperblockId b) const;
    /// The superblock's next page, as padding. Precondition: it is open. To end with programmed().
    Page take(SuperblockId b);
    void programmed(const Page& page);
    /// What is open is closed, as after a loss of power.
    void lay_out_ended() override;

private:
    bool is_open(SuperblockId b) const;
    void close(GroupId group, BlockState kind, std::uint32_t stream);

    const FeatureSetup in_;
};

}  // namespace ssdtlm
