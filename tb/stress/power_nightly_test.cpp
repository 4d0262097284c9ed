// SPDX-License-Identifier: Apache-2.0
// The power goes once, after each entry of the agenda of a short run: bring-up, work, collection, shutdown.
#include "power_run.h"

namespace ssdtlm {
namespace {

TEST(PowerCut, AtEachEntryOfAShortRun) {
    EXPECT_GT(cut_everywhere(1), 1000u);
}

TEST(PowerCut, AtEachEntryOfAShortRunWithCheckpoints) {
    EXPECT_GT(cut_everywhere(1, DataMode::signatures, true), 1000u);
}

TEST(PowerCut, AtEachEntryOfAShortRunWithTheMapOnTheFlash) {
    EXPECT_GT(cut_everywhere(1, DataMode::signatures, false, true), 1000u);
}

}  // namespace
}  // namespace ssdtlm
