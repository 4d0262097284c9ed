// SPDX-License-Identifier: Apache-2.0
// What an FTL and its flash remember, for a snapshot.
#pragma once

#include "common/snapshot/snapshot.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class Ftl;

class FtlState {
public:
    /// Told to the snapshot, or taken over from it: then the FTL is a fresh one that was not preconditioned, and the flash a fresh one too.
    /// Precondition (checked): nothing is under way.
    static void exchange(Ftl& ftl, SpareArea& flash, Snapshot& s);

private:
    static void layout(Ftl& ftl, SpareArea& flash, Snapshot& s);
    static void check_drained(const Ftl& ftl);
};

}  // namespace ssdtlm
