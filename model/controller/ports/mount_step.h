// SPDX-License-Identifier: Apache-2.0
// A search in the flash that is a step of a drive's start after a loss of power, as the scan of all pages is: what it
// needs, and what the start asks of it. Features have such steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/address/geometry.h"
#include "controller/ports/slc_region.h"

namespace ssdtlm {

class CorePort;
class FlashPort;
class SpareArea;

/// All must outlive the step. `reads_per_die`: blocks of a die that are read at the same time. `page_cycles`: cycles of
/// a core for each page.
struct MountPeers {
    const NandGeometry geometry;
    const SpareArea& spare;
    FlashPort& flash;
    CorePort& cores;
    std::uint32_t reads_per_die = 1;
    std::uint32_t page_cycles = 0;
    SlcRegion slc{};
};

class MountStep {
public:
    virtual ~MountStep() = default;
    /// `done` is called when the last page has been looked at, or at once where there is none. It may destroy this.
    virtual void start(std::function<void()> done) = 0;
    /// Page reads that have ended.
    virtual std::uint64_t reads() const = 0;
    /// Entries of the map that it has compared with those on the flash, and those of them that differed.
    virtual std::uint64_t entries() const { return 0; }
    virtual std::uint64_t dirty() const { return 0; }
    virtual bool over() const = 0;
    /// True: it waits for reads. False: it waits for a core.
    virtual bool waits_for_flash() const = 0;
    /// Text for the watchdog.
    virtual std::string dump() const = 0;
};

}  // namespace ssdtlm
