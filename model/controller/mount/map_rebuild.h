// SPDX-License-Identifier: Apache-2.0
// The start of a drive whose power was off: the search for a checkpoint, if the drive has any, the scan of what the
// checkpoint does not know, and the recovery of the map from both. After a checkpoint behind which nothing was written,
// no page is scanned. Where the map is on the flash, its translation pages are read at the end (TranslationSearch).
// Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/mount/checkpoint_search.h"
#include "controller/mount/mount.h"
#include "controller/mount/translation_search.h"
#include "controller/ports/firmware_config.h"

namespace ssdtlm {

/// How the map was found.
enum class MapSource : std::uint8_t {
    all_pages,
    checkpoint,       ///< and the pages written since
    clean_checkpoint  ///< behind which nothing was written
};
const char* name_of(MapSource source);

class MapRebuild {
public:
    /// `entry_cycles`: cycles of a core for each mapping unit and entry of the journal that is put in order, and for
    /// each entry of a translation page. `stale`: told of translation pages that differ from the map; needed where
    /// there are such pages.
    MapRebuild(const Mount::Peers& peers, Ftl& ftl, std::uint32_t entry_cycles,
               TranslationSearch::Found stale = nullptr);

    /// Returns at once. `done` is called when the FTL's tables are rebuilt, and may destroy this.
    void start(std::function<void()> done);
    std::uint64_t reads() const { return checkpoint_reads() + scan_.reads() + translation_reads(); }
    /// Reads of these for the root record and the checkpoint.
    std::uint64_t checkpoint_reads() const { return search_ ? search_->reads() : 0; }
    /// Reads of these of translation pages that are in use.
    std::uint64_t translation_reads() const { return translation_ ? translation_->reads() : 0; }
    /// Mapping units and entries of the journal that were put in order, and entries of translation pages that were
    /// compared.
    std::uint64_t entries() const { return entries_ + (translation_ ? translation_->entries() : 0); }
    /// Entries that no translation page on the flash has.
    std::uint64_t dirty_entries() const { return translation_ ? translation_->dirty() : 0; }
    /// Superblocks whose number of erases nothing on the flash tells.
    std::uint32_t erases_supposed() const { return erases_supposed_; }
    MapSource source() const { return source_; }
    bool over() const { return over_; }
    bool waits_for_flash() const {
        return scan_.waits_for_flash() || (search_ && search_->waits_for_flash()) ||
               (translation_ && translation_->waits_for_flash());
    }
    /// A bound on the time of any start of a drive. `reads`: reads of a page, those with other voltages among them.
    static Ps longest(const NandConfig& config, Ps decode_time, std::uint32_t reads, const FirmwareConfig& costs,
                      const FtlConfig& ftl);
    std::string dump() const;

private:
    void searched();
    void scanned();
    void in_order();
    void end();

    const Mount::Peers peers_;
    Ftl& ftl_;
    const std::uint32_t entry_cycles_;
    std::optional<CheckpointSearch> search_;  // none: the drive has no checkpoints
    Mount scan_;
    std::optional<TranslationSearch> translation_;  // none: the map is all in memory
    std::vector<bool> suspects_;                    // of its pages
    MapSource source_ = MapSource::all_pages;
    std::uint64_t entries_ = 0;
    std::uint32_t erases_supposed_ = 0;
    bool over_ = false;
    std::function<void()> done_;
};

}  // namespace ssdtlm
