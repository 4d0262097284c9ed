// SPDX-License-Identifier: Apache-2.0
// The translation pages of a map that is not all in memory, as a feature of the FTL: where they are on the flash, which
// copy counts, and what they take of it. Each is a mapping unit of flash and a unit of the feature's own, behind those
// of the host; the FTL's table of places is their directory. They are written to superblocks of their own
// (BlockState::open_map). Garbage collection moves them like other units. What is in memory of them, and when they are
// written, is the part of CachedMap.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "controller/ftl/events.h"
#include "controller/ftl/feature_kind.h"
#include "controller/map/cached/pages/translation_room.h"

namespace ssdtlm {

class TranslationPages final : public FtlFeature, private FtlListener {
public:
    static std::unique_ptr<FtlFeatureKind> kind(const FeatureSite& site);
    explicit TranslationPages(const FeatureSetup& setup);
    /// Null: the map is all in memory.
    static TranslationPages* of(const Ftl& ftl);

    std::uint32_t count() const { return count_; }
    /// Entries of the map in each of them.
    std::uint32_t entries_each() const { return entries_; }
    /// Its logical number.
    Lpa unit_of(std::uint32_t page) const { return Lpa{static_cast<std::uint32_t>(host_units_ + page)}; }
    /// kUnmapped: the page was never written, which means that nothing is mapped in it.
    Ppa place(std::uint32_t page) const;

    /// Which pages may be in one flash page.
    const TranslationRoom& room() const { return room_; }
    /// Finds the next group in turn that may take this page and others of its pool. False: there is none, and only
    /// garbage collection helps.
    bool next_group(std::uint32_t page, GroupId& out);
    PageAddress allocate(GroupId group);
    /// Called at program issue, like Ftl::map_unit().
    Ppa put(std::uint32_t page, Ppa to);
    void programmed(const PageAddress& a);
    void failed(const PageAddress& a);  ///< like Ftl::host_page_failed()
    /// The page says from now on that nothing is mapped.
    void drop(std::uint32_t page);

    // What the core asks of a feature.
    void state(Snapshot& s) override { room_.state(s); }
    void found_pages(const FoundSuperblocks&) override { count_held(); }
    void found_records(const FoundSuperblocks&, std::vector<std::vector<SuperblockId>>&) override { count_held(); }
    /// Lays out the pages of all units that are mapped now. These are the first units.
    void lay_out_own_units() override;
    std::string check() const override;

private:
    void units_moving(const PageAddress& a, const Spare* units, const Ppa* from, std::uint32_t count,
                      PageContent& content) override;
    GroupId group_of(Ppa p) const;
    void leave(Ppa old);
    void count_held();

    const FeatureSetup in_;
    const std::uint64_t host_units_;
    const std::uint32_t entries_, count_;
    TranslationRoom room_;
};

}  // namespace ssdtlm
