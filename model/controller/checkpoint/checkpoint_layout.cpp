// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_layout.h"

#include <string>

#include "controller/checkpoint/checkpoint_books.h"
#include "controller/ftl/mapping/mapping.h"

namespace ssdtlm {

void CheckpointLayout::check(std::vector<Problem>& out, const FtlConfig& config, const NandGeometry& g) {
    const CheckpointLayout checkpoints(config, g);
    if (!config.has_checkpoints() || checkpoints.most_book_pages() + kRootWords <= checkpoints.words_per_page()) return;
    out.push_back({"ftl.checkpoint_interval",
                   std::to_string(checkpoints.most_book_pages()) + " pages for the books of a checkpoint",
                   "at most " + std::to_string(checkpoints.words_per_page() - kRootWords) +
                       ", which a root record of " + std::to_string(g.page_bytes) + " bytes can name",
                   "use larger pages or less flash, or no checkpoints"});
}

CheckpointLayout::CheckpointLayout(const FtlConfig& config, const NandGeometry& g)
    : shape_(g, config.superblock), words_per_page_(g.page_bytes / static_cast<std::uint32_t>(sizeof(std::uint64_t))) {
    // The map counts as if the host could address all flash. An eighth of the pages is more than the journal ever has
    // in use.
    const std::uint32_t map = map_pages(g.units());
    most_book_pages_ = pages_of_words(CheckpointBooks::words_of(shape_, g, map, g.pages() / 8 + 64,
                                                                mapping_of(config, g)->is_on_flash() ? g.units() : 0));
    most_superblocks_ = static_cast<std::uint32_t>(div_ceil(std::uint64_t{map} + most_book_pages_, shape_.pages()));
    if (!config.has_checkpoints()) return;
    // There is room for three: the last checkpoint, the one being written, and as much again. Until that is used up,
    // only pages that have changed are written.
    per_group_ = static_cast<std::uint32_t>(div_ceil(kAnchors + 3 * std::uint64_t{most_superblocks_}, shape_.groups()));
    for (std::uint32_t n = 0; n < per_group_; ++n)
        for (std::uint32_t group = 0; group < shape_.groups(); ++group)
            places_.push_back(SuperblockId{(group + 1) * shape_.blocks_per_group() - per_group_ + n});
}

}  // namespace ssdtlm
