// SPDX-License-Identifier: Apache-2.0
// The start of a drive whose power was off: the search for a checkpoint, if the drive has any, the scan of what the
// checkpoint does not know, and the recovery of the map from both. After a checkpoint behind which nothing was written,
// no page is scanned. At the end, what pages of the map on the flash say may be compared with it.
// Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/checkpoint/checkpoint_search.h"
#include "controller/ftl/ftl.h"
#include "controller/mount/mount.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/mount_step.h"

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
    /// Makes the last step. `suspects`: units of features' own (Ftl::own_unit()) that may say other things than the map
    /// that was found.
    using LastStep = std::function<std::unique_ptr<MountStep>(const std::vector<bool>& suspects)>;
    /// `entry_cycles`: cycles of a core for each mapping unit and entry of the journal that is put in order. `last`:
    /// empty where the map is all in memory.
    MapRebuild(const MountPeers& peers, Ftl& ftl, std::uint32_t entry_cycles, LastStep last = nullptr);

    /// Returns at once. `done` is called when the FTL's tables are rebuilt, and may destroy this.
    void start(std::function<void()> done);
    std::uint64_t reads() const { return checkpoint_reads() + scan_.reads() + last_reads(); }
    /// Reads of these for the root record and the checkpoint.
    std::uint64_t checkpoint_reads() const { return search_ ? search_->reads() : 0; }
    /// Reads of these in the last step.
    std::uint64_t last_reads() const { return last_ ? last_->reads() : 0; }
    /// Mapping units and entries of the journal that were put in order, and those that the last step has compared.
    std::uint64_t entries() const { return entries_ + (last_ ? last_->entries() : 0); }
    /// Entries that the flash does not have.
    std::uint64_t dirty_entries() const { return last_ ? last_->dirty() : 0; }
    /// Superblocks whose number of erases nothing on the flash tells.
    std::uint32_t erases_supposed() const { return erases_supposed_; }
    MapSource source() const { return source_; }
    bool over() const { return over_; }
    bool waits_for_flash() const {
        return scan_.waits_for_flash() || (search_ && search_->waits_for_flash()) ||
               (last_ && last_->waits_for_flash());
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

    const MountPeers peers_;
    Ftl& ftl_;
    const std::uint32_t entry_cycles_;
    std::optional<CheckpointSearch> search_;  // none: the drive has no checkpoints
    Mount scan_;
    const LastStep make_last_;
    std::unique_ptr<MountStep> last_;  // null: there is none, or it has not begun
    std::vector<bool> suspects_;
    MapSource source_ = MapSource::all_pages;
    std::uint64_t entries_ = 0;
    std::uint32_t erases_supposed_ = 0;
    bool over_ = false;
    std::function<void()> done_;
};

}  // namespace ssdtlm
