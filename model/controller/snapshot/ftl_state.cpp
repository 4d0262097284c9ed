// SPDX-License-Identifier: Apache-2.0
#include "controller/snapshot/ftl_state.h"

#include <memory>
#include <utility>

#include "controller/ftl/ftl.h"
#include "controller/ftl/image.h"

namespace ssdtlm {

FlashLayout FtlState::layout_of(Ftl& ftl) {
    const FtlImage image = ftl.image();
    FlashLayout layout;
    layout.units = image.map.laid_out();
    if (const ScatteredLayout* const scattered = image.map.scattered()) {
        layout.seed = scattered->seed();
        layout.held = scattered->held();
    }
    return layout;
}

void FtlState::lay_out(const Ftl& ftl, const FtlImage& image, SpareArea& flash, FlashLayout& of, Snapshot& s) {
    bool map_too = image.map.laid_out() == of.units && (image.map.scattered() == nullptr) == of.held.empty();
    s(of.units, of.seed, of.held, map_too);
    if (!s.reads()) return;
    if (of.units > ftl.logical_units()) s.refuse("more units than the drive has");
    if (!of.held.empty()) {
        if (of.held.size() != ftl.geometry().blocks()) s.refuse("a lay-out of other blocks");
        for (const std::uint32_t h : of.held)
            if (h != ScatteredLayout::kErasedBlock && h > ftl.geometry().units_per_block())
                s.refuse("more units than a block has");
        const auto layout =
            std::make_shared<const ScatteredLayout>(ftl.geometry(), std::vector<std::uint32_t>(of.held), of.seed);
        if (layout->units() > ftl.logical_units()) s.refuse("more units than the drive has");
        if (map_too) image.map.lay_out(layout);
        flash.lay_out(layout, ftl.codec());
    } else if (of.units != 0) {
        const SequentialLayout layout(ftl.geometry(), image.rows, of.units);
        if (map_too) image.map.lay_out(layout);
        flash.lay_out(layout, ftl.codec());
    }
}

void FtlState::exchange(Ftl& ftl, SpareArea& flash, FlashLayout& layout, Snapshot& s) {
    const FtlImage image = ftl.image();
    s.section("ftl");
    lay_out(ftl, image, flash, layout, s);
    flash.state(s);
    s.section("map");
    s(image.map, image.valid, image.mapped_units, image.lost_units, image.last_number);
    s.section("blocks");
    image.blocks.state(s);
    if (image.placement != nullptr) image.placement->state(s);
    image.partitions.state(s);
    image.policy.state(s);
    image.begun.state(s);
    image.victims.state(s);
    s.fixed(image.gc_stream);
    for (const auto& feature : image.features) feature->state(s);
    ftl.notes().state(s);
    s.section("counters");
    if (s.reads()) check_read(ftl, image, s);
    MediaHealth& m = image.media;
    s(image.counters, m.read_only, m.available_spare, m.program_failures, m.erase_failures, m.blocks_retired,
      m.units_lost);
}

}  // namespace ssdtlm
