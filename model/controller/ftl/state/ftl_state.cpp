// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/state/ftl_state.h"

#include <memory>
#include <utility>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

FlashLayout FtlState::layout_of(const Ftl& ftl) {
    FlashLayout layout;
    layout.units = ftl.map_.laid_out();
    if (const ScatteredLayout* const scattered = ftl.map_.scattered()) {
        layout.seed = scattered->seed();
        layout.held = scattered->held();
    }
    return layout;
}

void FtlState::lay_out(Ftl& ftl, SpareArea& flash, FlashLayout& of, Snapshot& s) {
    bool map_too = ftl.map_.laid_out() == of.units && (ftl.map_.scattered() == nullptr) == of.held.empty();
    s(of.units, of.seed, of.held, map_too);
    if (!s.reads()) return;
    if (of.units > ftl.logical_units_) s.refuse("more units than the drive has");
    if (!of.held.empty()) {
        if (of.held.size() != ftl.geometry_.blocks()) s.refuse("a lay-out of other blocks");
        for (const std::uint32_t h : of.held)
            if (h != ScatteredLayout::kErasedBlock && h > ftl.geometry_.units_per_block())
                s.refuse("more units than a block has");
        const auto layout =
            std::make_shared<const ScatteredLayout>(ftl.geometry_, std::vector<std::uint32_t>(of.held), of.seed);
        if (layout->units() > ftl.logical_units_) s.refuse("more units than the drive has");
        if (map_too) ftl.map_.lay_out(layout);
        flash.lay_out(layout, ftl.codec_);
    } else if (of.units != 0) {
        const SequentialLayout layout(ftl.geometry_, ftl.rows_, of.units);
        if (map_too) ftl.map_.lay_out(layout);
        flash.lay_out(layout, ftl.codec_);
    }
}

void FtlState::check_drained(const Ftl& ftl) {
    SSDTLM_CHECK(ftl.load_.none(), "a snapshot while pages are under way");
}

void FtlState::exchange(Ftl& ftl, SpareArea& flash, FlashLayout& layout, Snapshot& s) {
    check_drained(ftl);
    s.section("ftl");
    lay_out(ftl, flash, layout, s);
    flash.state(s);
    s.section("map");
    s(ftl.map_, ftl.valid_, ftl.mapped_units_, ftl.lost_units_, ftl.last_number_);
    s.section("blocks");
    ftl.blocks_.state(s);
    if (ftl.placement_ != nullptr) ftl.placement_->state(s);
    ftl.lanes_.state(s);
    ftl.policy_->state(s);
    ftl.begun_.state(s);
    ftl.victims_.state(s);
    for (const auto& feature : ftl.features_) feature->state(s);
    s.fixed(ftl.gc_stream_);
    ftl.translation_room_.state(s);
    s.section("journal");
    ftl.journal_.state(s);
    s(ftl.journal_group_);
    s.map(ftl.failed_in_);
    if (ftl.checkpoints_ != nullptr) {
        s.section("checkpoints");
        ftl.checkpoints_->state(s);
    }
    s.section("counters");
    if (s.reads()) check_read(ftl, s);
    MediaHealth& m = ftl.media_;
    s(ftl.counters_, m.read_only, m.available_spare, m.program_failures, m.erase_failures, m.blocks_retired,
      m.units_lost);
}

}  // namespace ssdtlm
