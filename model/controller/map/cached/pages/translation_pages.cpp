// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/pages/translation_pages.h"

#include <algorithm>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_contents.h"
#include "controller/map/cached/pages/translation_sizes.h"

namespace ssdtlm {

namespace {
class TranslationPagesKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return mapping_of(config_, geometry_)->is_on_flash(); }
    /// One superblock of each group is open for them.
    FeatureNeeds needs() const override { return {0, 1, 0, true, entries_per_translation_page(config_, geometry_)}; }
    void check(std::vector<Problem>& out) const override;
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<TranslationPages>(setup);
    }
};

void TranslationPagesKind::check(std::vector<Problem>& out) const {
    // Each unit of a row may be of another translation page.
    const std::uint32_t row = SuperblockShape(geometry_, config_.superblock).joined() * geometry_.units_per_page();
    const std::uint64_t pages = translation_pages_of(config_, geometry_);
    if (limits_dirty_pages(config_) && most_dirty_pages(config_, geometry_) < std::min<std::uint64_t>(row, pages))
        out.push_back({"map.power_protected",
                       std::to_string(most_dirty_pages(config_, geometry_)) + " of " + std::to_string(pages) +
                           " translation pages",
                       "at least " + std::to_string(row) + " of them, which one row of pages may make dirty",
                       "raise it"});
    if (!config_.map.quotas.empty())
        check_quotas(out, "map.quotas", "map.cache", config_.map.quotas, cached_map_slots_of(config_, geometry_));
    if (!config_.map.quotas.empty() && config_.caches_filled)
        out.push_back({"precondition.fill_caches", "true with map.quotas",
                       "false: nobody says which tenants wrote before", "set it to false"});
    if (config_.map.gc_updates == GcMapUpdates::written) return;
    const std::uint64_t all = pages * geometry_.unit_bytes;
    if (config_.map.granularity != MapGranularity::page || config_.map.cache_bytes < all)
        out.push_back({"map.gc_updates", "\"found\" with a part of the map in the cache",
                       "map.granularity = \"page\" and map.cache = " + std::to_string(all) +
                           " bytes or more: a translation page that is read back must say where units are",
                       "set map.gc_updates = \"written\", or these two"});
    if (config_.has_checkpoints())
        out.push_back({"map.gc_updates", "\"found\" with checkpoints of the map",
                       "\"written\": what a checkpoint says is not searched for in out-of-band areas",
                       "set it to \"written\""});
}
}  // namespace

std::unique_ptr<FtlFeatureKind> TranslationPages::kind(const FeatureSite& site) {
    return std::make_unique<TranslationPagesKind>(site);
}

TranslationPages* TranslationPages::of(const Ftl& ftl) {
    return ftl.feature<TranslationPages>();
}

TranslationPages::TranslationPages(const FeatureSetup& setup)
    : in_(setup),
      host_units_(setup.ftl.logical_units()),
      entries_(setup.ftl.needs().units_per_own),
      count_(setup.ftl.own_units()),
      room_(setup.partitions, count_, entries_) {
    in_.events.listen(*this, {FtlEvent::units_moving});
}

Ppa TranslationPages::place(std::uint32_t page) const {
    return in_.books.entry(unit_of(page));
}

GroupId TranslationPages::group_of(Ppa p) const {
    return in_.ftl.shape().group_of(in_.ftl.shape().superblock_of(p));
}

bool TranslationPages::next_group(std::uint32_t page, GroupId& out) {
    return room_.next(
        room_.pool_of(page), [this](GroupId group) { return in_.blocks.takes_map_pages(group); }, out);
}

PageAddress TranslationPages::allocate(GroupId group) {
    const bool opens = in_.blocks.write_pointer(group, BlockState::open_map) == 0;
    const PageAddress a = in_.blocks.allocate_map(group);
    if (opens) in_.ftl.update_able(group);
    in_.events.pages_handed_out();
    return a;
}

Ppa TranslationPages::put(std::uint32_t page, Ppa to) {
    const Ppa old = in_.books.exchange(unit_of(page), to);
    if (in_.books.entries().is_copy(old)) leave(old);
    in_.books.validate(to);
    room_.came(group_of(to));
    return old;
}

void TranslationPages::programmed(const PageAddress& a) {
    ++in_.counters.map_pages;
    in_.ftl.page_ended(a, PageEnd::programmed);
}

void TranslationPages::failed(const PageAddress& a) {
    ++in_.counters.map_pages;
    in_.ftl.page_ended(a, PageEnd::failed);
}

/// The flash is not told: what is deallocated stands in the journal, and if a loss of power brings this copy back,
/// nobody believes what it says (TranslationSearch).
void TranslationPages::drop(std::uint32_t page) {
    const Ppa old = in_.books.exchange(unit_of(page), kUnmapped);
    if (in_.books.entries().is_copy(old)) leave(old);
}

void TranslationPages::leave(Ppa old) {
    in_.books.invalidate(old);
    room_.left(group_of(old));
}

/// Recovery has found where the pages are.
void TranslationPages::count_held() {
    for (std::uint32_t page = 0; page < count_; ++page)
        if (const Ppa p = place(page); p != kUnmapped) room_.came(group_of(p));
}

void TranslationPages::units_moving(const PageAddress&, const Spare* units, const Ppa* from, std::uint32_t count,
                                    PageContent& content) {
    if (in_.ftl.flash().keeps_map()) copy_entries(content, units, from, count, in_.ftl);
}

void TranslationPages::lay_out_own_units() {
    const NandGeometry& g = in_.ftl.geometry();
    const auto pages = static_cast<std::uint32_t>((in_.ftl.mapped_units() + entries_ - 1) / entries_);
    Spare out[kMaxUnitsPerPage];
    for (std::uint32_t next = 0; next < pages;) {
        const std::uint32_t pool = room_.pool_of(next);
        GroupId group{};
        SSDTLM_CHECK(next_group(next, group), "no room for the translation pages of what is laid out");
        const PageAddress a = allocate(group);
        for (std::uint32_t s = 0; s < g.units_per_page(); ++s) {
            out[s] = kPadding;
            if (next == pages || room_.pool_of(next) != pool) continue;
            out[s] = in_.ftl.codec().make(unit_of(next), 0);
            put(next++, g.ppa_of(a, s));
        }
        in_.ftl.flash_in_no_time().program_page(a, out, in_.ftl.draw_record(a, PageKind::mapping));
        programmed(a);
        in_.ftl.program_owed_at_once();
    }
}

std::string TranslationPages::check() const {
    std::vector<std::uint32_t> held(in_.partitions.shares());
    for (std::uint32_t page = 0; page < count_; ++page)
        if (const Ppa p = place(page); in_.books.entries().is_copy(p)) ++held[in_.partitions.share_of(group_of(p))];
    for (std::uint32_t share = 0; share < held.size(); ++share)
        if (held[share] != room_.held(share))
            return "translation pages of share " + std::to_string(share) + ": " + std::to_string(room_.held(share)) +
                   " counted, " + std::to_string(held[share]) + " mapped";
    return {};
}

}  // namespace ssdtlm
