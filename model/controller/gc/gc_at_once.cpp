// SPDX-License-Identifier: Apache-2.0
#include "controller/gc/gc_at_once.h"

#include <algorithm>
#include <array>

namespace ssdtlm {

void GcAtOnce::move(GroupId group, SuperblockId victim) {
    from_.clear();
    std::uint32_t slots = 0;
    for (std::uint32_t page = 0; ftl_.next_valid_page(victim, page, slots); ++page) {
        const PageAddress a = ftl_.shape().page(victim, page);
        if (ftl_.notes().renew_page(a)) continue;
        for (; slots != 0; slots &= slots - 1)
            from_.push_back(ftl_.geometry().ppa_of(a, static_cast<unsigned>(__builtin_ctz(slots))));
    }
    std::sort(from_.begin(), from_.end(), [](Ppa a, Ppa b) { return idx(a) < idx(b); });
    const std::uint32_t per_page = ftl_.geometry().units_per_page();
    for (std::size_t i = 0; i < from_.size(); i += per_page)
        program(group, i, static_cast<std::uint32_t>(std::min<std::size_t>(per_page, from_.size() - i)));
}

void GcAtOnce::program(GroupId group, std::size_t first, std::uint32_t count) {
    const NandGeometry& g = ftl_.geometry();
    SpareArea& flash = ftl_.flash_in_no_time();
    std::array<Spare, kMaxUnitsPerPage> spare, source;
    std::array<UnitBytes, kMaxUnitsPerPage> bytes, of_source;
    spare.fill(kPadding);
    const bool keeps_bytes = flash.bytes() != nullptr;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t slot = g.slot_of(from_[first + i]);
        flash.read_page(g.page_of(from_[first + i]), source.data(), keeps_bytes ? of_source.data() : nullptr);
        spare[i] = source[slot];
        if (keeps_bytes) bytes[i] = std::move(of_source[slot]);
    }
    const PageAddress a = ftl_.allocate_moved_page(group);
    PageRecord record = ftl_.draw_record(a);
    content_.clear();
    ftl_.units_moving(a, spare.data(), &from_[first], count, content_);
    if (!content_.empty()) record.content = &content_;
    flash.program_ahead(a, spare.data(), record, keeps_bytes ? bytes.data() : nullptr);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Lpa lpa = ftl_.codec().lpa(spare[i]);
        ftl_.commit_move(lpa, from_[first + i], g.ppa_of(a, i));
        if (map_ != nullptr && !ftl_.is_own(lpa)) map_->moved(lpa);
    }
    ftl_.gc_page_programmed(a);
    ++counters_.pages;
}

void GcAtOnce::erase(SuperblockId victim) {
    const std::uint32_t planes = ftl_.shape().planes();
    for (std::uint32_t i = 0; i < planes; ++i) ftl_.flash_in_no_time().erase(ftl_.shape().block(victim, i));
    counters_.blocks += planes;
    ftl_.superblock_erased(victim);
}

}  // namespace ssdtlm
