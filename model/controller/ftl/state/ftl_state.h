// SPDX-License-Identifier: Apache-2.0
// What an FTL and its flash remember, for a snapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class Ftl;
struct FtlImage;

/// What the big tables of a flash say how they differ from: of the sequential lay-out so many units, or the scattered
/// one.
struct FlashLayout {
    std::uint32_t units = 0;
    std::uint64_t seed = 0;
    std::vector<std::uint32_t> held;  ///< by block; empty: not scattered
};

class FtlState {
public:
    /// Of an FTL that has not lost its power yet.
    static FlashLayout layout_of(Ftl& ftl);
    /// Told to the snapshot, or taken over from it: then the FTL is a fresh one that was not preconditioned, and the
    /// flash a fresh one too. Precondition (checked): nothing is under way. `layout`: of the flash, which a map that
    /// was found again after a loss of power does not have.
    static void exchange(Ftl& ftl, SpareArea& flash, FlashLayout& layout, Snapshot& s);
    /// Of an FTL that has not lost its power.
    static void exchange(Ftl& ftl, SpareArea& flash, Snapshot& s) {
        FlashLayout layout = layout_of(ftl);
        exchange(ftl, flash, layout, s);
    }

private:
    static void lay_out(const Ftl& ftl, const FtlImage& image, SpareArea& flash, FlashLayout& layout, Snapshot& s);
    static void check_read(const Ftl& ftl, const FtlImage& image, Snapshot& s);
    static void check_flash(const Ftl& ftl, const FtlImage& image, Snapshot& s);
    static void check_journal(const Ftl& ftl, const FtlImage& image, Snapshot& s);
    static void check_entries(const Ftl& ftl, const FtlImage& image, Snapshot& s);
    static void check_turns(const Ftl& ftl, const FtlImage& image, Snapshot& s);
};

}  // namespace ssdtlm
