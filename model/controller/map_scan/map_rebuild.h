// SPDX-License-Identifier: Apache-2.0
// The start of a drive whose power was off: the search for a checkpoint, if the drive has any, the scan of what that does not know, and
// the order in which what was found says what is true. From a checkpoint behind which nothing was written no page is scanned. Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "controller/ftl/ftl.h"
#include "controller/map_scan/checkpoint_search.h"
#include "controller/map_scan/map_scan.h"
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
    /// `entry_cycles`: of a core for each mapping unit and entry of the journal that is put in order.
    MapRebuild(const MapScan::Surroundings& around, Ftl& ftl, std::uint32_t entry_cycles);

    /// Returns at once; `done` is called when the FTL's tables are as they have to be, and may destroy this.
    void start(std::function<void()> done);
    std::uint64_t reads() const { return checkpoint_reads() + scan_.reads(); }
    /// Of those, for the root record and the checkpoint.
    std::uint64_t checkpoint_reads() const { return search_ ? search_->reads() : 0; }
    /// Mapping units and entries of the journal that were put in order.
    std::uint64_t entries() const { return entries_; }
    MapSource source() const { return source_; }
    bool over() const { return over_; }
    bool waits_for_flash() const { return scan_.waits_for_flash() || (search_ && search_->waits_for_flash()); }
    /// No start of a drive takes longer. `reads`: of a page, those with other voltages among them.
    static Ps longest(const NandConfig& config, Ps decode_time, std::uint32_t reads, const FirmwareConfig& costs, const FtlConfig& ftl);
    std::string dump() const;

private:
    void searched();
    void scanned();
    void end(std::uint64_t);

    const MapScan::Surroundings around_;
    Ftl& ftl_;
    const std::uint32_t entry_cycles_;
    std::optional<CheckpointSearch> search_;  // none: the drive has no checkpoints
    MapScan scan_;
    MapSource source_ = MapSource::all_pages;
    std::uint64_t entries_ = 0;
    bool over_ = false;
    std::function<void()> done_;
};

}  // namespace ssdtlm
