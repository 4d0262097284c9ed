// SPDX-License-Identifier: Apache-2.0
// What an FTL owes to flash that is programmed in two steps (NandGeometry::two_step): a lower page is not safe before
// its upper one has been programmed. Whoever waits for it closes its word line with padding, which goes on where the
// superblock is open. So a victim wins only what is invalid beyond that (FeatureNeeds), and a superblock that was
// open when the drive started is not written to any more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/block_state.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class OpenWordLines final : public FtlFeature {
public:
    struct Page {
        PageAddress at;
        PageRecord record;
        bool of_host = false;  ///< where the host writes; else where garbage collection does
    };
    static std::unique_ptr<FtlFeatureKind> kind(const FeatureSite& site);
    explicit OpenWordLines(const FeatureSetup& setup) : in_(setup) {}

    /// True: the upper page above the lower one at this row of the superblock has not been handed out yet, but will be.
    bool is_missing(SuperblockId b, std::uint32_t lower_row) const;
    /// True: all pages that were handed out of the superblock have been programmed.
    bool is_quiet(SuperblockId b) const;
    /// Takes the superblock's next page as padding. Precondition: the superblock is open. The page must end with
    /// programmed().
    Page take(SuperblockId b);
    void programmed(const Page& page);
    /// Closes the open superblocks, as a loss of power would.
    void lay_out_ended() override;

private:
    bool is_open(SuperblockId b) const;
    void close(GroupId group, BlockState kind, std::uint32_t stream);

    const FeatureSetup in_;
};

}  // namespace ssdtlm
