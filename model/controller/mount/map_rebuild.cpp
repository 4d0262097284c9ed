// SPDX-License-Identifier: Apache-2.0
#include "controller/mount/map_rebuild.h"

#include <algorithm>
#include <utility>

#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/ftl_check.h"
#include "controller/mount/recovery.h"
#include "controller/slc/slc_cache.h"
#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {

const char* name_of(MapSource source) {
    switch (source) {
        case MapSource::all_pages:
            return "all_pages";
        case MapSource::checkpoint:
            return "checkpoint";
        case MapSource::clean_checkpoint:
            return "clean_checkpoint";
    }
    return "?";
}

MapRebuild::MapRebuild(const MountPeers& peers, Ftl& ftl, std::uint32_t entry_cycles, LastStep last)
    : peers_(peers), ftl_(ftl), entry_cycles_(entry_cycles), scan_(peers), make_last_(std::move(last)) {
    SSDTLM_CHECK((make_last_ != nullptr) == (ftl.own_units() != 0),
                 "what features keep of the map on the flash is compared with it, and nothing else is");
}

void MapRebuild::start(std::function<void()> done) {
    done_ = std::move(done);
    if (checkpoints_of(ftl_) == nullptr) return scan_.start([this] { scanned(); });
    // Behind a clean checkpoint units of features say what its pages of the map do.
    const CheckpointLayout& layout = checkpoints_of(ftl_)->layout();
    search_.emplace(
        peers_, layout,
        ftl_.own_units() == 0 ? 0 : static_cast<std::uint32_t>(ftl_.logical_units() / layout.entries_per_page()));
    search_->start([this] { searched(); });
}

void MapRebuild::searched() {
    const CheckpointLayout& layout = checkpoints_of(ftl_)->layout();
    std::vector<bool> skips(peers_.geometry.blocks());
    for (std::uint32_t i = 0; i < layout.superblocks(); ++i)
        for (std::uint32_t p = 0; p < layout.shape().planes(); ++p)
            skips[idx(layout.shape().block(layout.superblock(i), p))] = true;
    checkpoints_of(ftl_)->set_root_number(search_->root_number());
    if (!search_->found()) return scan_.start([this] { scanned(); }, std::move(skips));
    const CheckpointSearch::Found& found = *search_->found();
    checkpoints_of(ftl_)->found(found.books, found.root, found.anchor, found.anchor_pages);
    if (found.root.clean) {
        source_ = MapSource::clean_checkpoint;
        return scanned();
    }
    source_ = MapSource::checkpoint;
    const SuperblockShape& shape = ftl_.shape();
    std::vector<bool> were_slc(peers_.geometry.blocks());
    for (std::uint32_t b = 0; b < were_slc.size(); ++b)
        were_slc[b] = found.books.superblocks[idx(shape.superblock_of(BlockId{b}))].stream == kSlcStream;
    const auto go_on_at = [&found](BlockId b, bool readable, const PageRecord& first) {
        // Nothing is known of a block that was erased since, or whose first page cannot be read.
        const bool is_same = readable && first.number <= found.books.number;
        return is_same ? std::max(found.books.blocks[idx(b)].next_page, 1u) : 1u;
    };
    scan_.start([this] { scanned(); }, std::move(skips), go_on_at, std::move(were_slc));
}

void MapRebuild::scanned() {
    Recovery recovery(ftl_);
    switch (source_) {
        case MapSource::all_pages:
            entries_ = recovery.from_all_pages();
            break;
        case MapSource::checkpoint:
            entries_ = recovery.from_checkpoint(search_->found()->books, scan_.read_from());
            break;
        case MapSource::clean_checkpoint:
            entries_ = recovery.from_clean_checkpoint(search_->found()->books);
            break;
    }
    suspects_ = recovery.suspects();
    erases_supposed_ = recovery.erases_supposed();
    peers_.cores.run(0, entries_ * entry_cycles_, CoreStep::mount, Then::to<&MapRebuild::in_order>(this));
}

void MapRebuild::in_order() {
    if (!make_last_) return end();
    last_ = make_last_(suspects_);
    last_->start([this] { end(); });
}

void MapRebuild::end() {
    over_ = true;
    const std::function<void()> done = std::move(done_);
    done();
}

Ps MapRebuild::longest(const NandConfig& config, Ps decode_time, std::uint32_t reads, const FirmwareConfig& costs,
                       const FtlConfig& ftl) {
    NandConfig nand = config;
    if (ftl.slc.any()) nand.t_read.push_back(nand.slc.t_read + OnfiBusTiming(config).slc_prefix());
    const NandGeometry& g = nand.geometry;
    const Clock clock = Clock::hertz(costs.clock_hz);
    const Ps page_time = clock.cycles(costs.scan_page);
    const CheckpointLayout layout(ftl, g);
    const OnfiBusTiming timing(nand);
    const Ps whole_page = timing.issue(FlashOp::read, 1) + timing.select() + timing.turnaround() +
                          timing.burst(g.page_bytes).out + timing.busy_delay() +
                          *std::max_element(nand.t_read.begin(), nand.t_read.end()) + decode_time;
    // The bound takes one checkpoint page after the other, and at most as many entries of the journal as there are
    // units.
    const auto checkpoint_pages = static_cast<std::int64_t>(std::min(
                                      layout.most_superblocks() + CheckpointLayout::kAnchors, layout.superblocks())) *
                                  layout.shape().pages();
    // The last step reads one own unit of a feature after the other, and compares all that each says.
    const FeatureNeeds features = needs_of(ftl, g);
    const auto own_units = static_cast<std::int64_t>(features.own_units(logical_units_of(ftl, g)));
    const Ps entry_time = clock.cycles(costs.scan_entry);
    const std::uint32_t in_both_modes = ftl.slc.dynamic_blocks != 0 ? g.slc_pages_per_block() : 0;
    return Mount::longest(nand, decode_time, reads, page_time, in_both_modes) +
           checkpoint_pages * (whole_page * reads + page_time) + static_cast<std::int64_t>(2 * g.units()) * entry_time +
           own_units * (whole_page * reads + page_time) +
           own_units * static_cast<std::int64_t>(features.units_per_own) * entry_time;
}

std::string MapRebuild::dump() const {
    if (over_) return "";
    return (search_ ? search_->dump() : "") + scan_.dump() + (last_ ? last_->dump() : "");
}

}  // namespace ssdtlm
