// SPDX-License-Identifier: Apache-2.0
// Stores and reads what an FTL and its flash remember, for a snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class Ftl;
struct FtlImage;

/// The layout from which the big tables of a flash record differences: the first `units` laid out in sequence, or the
/// scattered layout.
struct FlashLayout {
    std::uint32_t units = 0;
    std::uint64_t seed = 0;
    std::vector<std::uint32_t> held;  ///< by block; empty: not scattered
};

class FtlState {
public:
    /// The layout of an FTL that has not lost its power yet.
    static FlashLayout layout_of(Ftl& ftl);
    /// Writes the state to the snapshot, or reads it. For reading, FTL and flash are fresh and not preconditioned.
    /// Precondition (checked): nothing is under way. `layout`: that of the flash; a map that was rebuilt after a loss
    /// of power has none.
    static void exchange(Ftl& ftl, SpareArea& flash, FlashLayout& layout, Snapshot& s);
    /// As exchange() with a layout, for an FTL that has not lost its power.
    static void exchange(Ftl& ftl, SpareArea& flash, Snapshot& s) {
        FlashLayout layout = layout_of(ftl);
        exchange(ftl, flash, layout, s);
    }

private:
    static void lay_out(const Ftl& ftl, const FtlImage& image, SpareArea& flash, FlashLayout& layout, Snapshot& s);
    static void check_read(const Ftl& ftl, const FtlImage& image, Snapshot& s);
    static void check_flash(const Ftl& ftl, const FtlImage& image, Snapshot& s);
    static void check_turns(const Ftl& ftl, const FtlImage& image, Snapshot& s);
};

}  // namespace ssdtlm
