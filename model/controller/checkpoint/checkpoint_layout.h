// SPDX-License-Identifier: Apache-2.0
// Which superblocks are set apart for checkpoints of the map, and how much of the map goes into a page. They are the
// last superblocks of each group, taken group by group in turn. The first two are the anchors: they hold root records,
// and a drive looks there when it starts. The others hold pages of checkpoints. A superblock with a block that the
// factory has marked leaves its place to a spare one of its group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"
#include "controller/ftl/ftl_config.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

class CheckpointLayout {
public:
    CheckpointLayout(const FtlConfig& config, const NandGeometry& geometry);
    /// Adds a problem when a root record cannot name all pages of the books.
    static void check(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g);

    /// Superblocks of each group that are set apart; 0: the drive has no checkpoints.
    std::uint32_t per_group() const { return per_group_; }
    std::uint32_t superblocks() const { return static_cast<std::uint32_t>(places_.size()); }
    static constexpr std::uint32_t kAnchors = 2;
    /// The i-th superblock set apart. Anchors come first.
    SuperblockId superblock(std::uint32_t i) const { return places_[i]; }
    bool holds(SuperblockId b) const { return std::find(places_.begin(), places_.end(), b) != places_.end(); }
    /// Call it before anything is written. Precondition: holds(bad).
    void replace(SuperblockId bad, SuperblockId by) { *std::find(places_.begin(), places_.end(), bad) = by; }
    /// Root records are in the first plane of an anchor, in the order of its pages.
    std::uint32_t anchor_pages() const { return shape_.pages() / shape_.planes(); }
    PageAddress anchor_page(std::uint32_t anchor, std::uint32_t n) const {
        return shape_.page(superblock(anchor), n * shape_.planes());
    }
    const SuperblockShape& shape() const { return shape_; }

    static constexpr std::uint32_t kHeaderWords = 2;  ///< of each page
    static constexpr std::uint32_t kRootWords = 8;    ///< of a root record, without the places of the books
    std::uint32_t words_per_page() const { return words_per_page_; }
    std::uint32_t payload_words() const { return words_per_page_ - kHeaderWords; }
    std::uint32_t entries_per_page() const { return 2 * payload_words(); }  ///< of the map, 4 bytes each
    std::uint32_t map_pages(std::uint64_t logical_units) const {
        return static_cast<std::uint32_t>(div_ceil(logical_units, entries_per_page()));
    }
    std::uint32_t pages_of_words(std::uint64_t words) const {
        return static_cast<std::uint32_t>(div_ceil(words, payload_words()));
    }
    /// Most superblocks that a whole checkpoint takes.
    std::uint32_t most_superblocks() const { return most_superblocks_; }
    /// Most pages that the books of a whole checkpoint have. A root record has to name them all.
    std::uint32_t most_book_pages() const { return most_book_pages_; }

private:
    const SuperblockShape shape_;
    const std::uint32_t words_per_page_;
    std::uint32_t most_book_pages_ = 0, most_superblocks_ = 0, per_group_ = 0;
    std::vector<SuperblockId> places_;
};

}  // namespace ssdtlm
