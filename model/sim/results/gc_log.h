// SPDX-License-Identifier: Apache-2.0
// Writes gc.csv. It has a row when a victim of garbage collection is chosen, and a row when the victim is empty and
// erased.
#pragma once

#include <optional>
#include <ostream>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_probe.h"

namespace ssdtlm {

/// A row has the simulated time from the start of the workload (us; negative before it); chosen or ended; the group of
/// planes and the number of the victim, a superblock; why it was chosen (space, wear, failed); its units in use and not
/// in use; how often it has been erased; and, for its group, the free superblocks and the full ones.
class GcLog final : public GcProbe {
public:
    /// Writes the header. `ftl`: the place of the FTL, because a loss of power builds it again. All arguments must
    /// outlive the run.
    GcLog(const Agenda& agenda, const std::optional<Ftl>& ftl, std::ostream& out);
    /// Makes the present instant time zero.
    void start() { epoch_ = agenda_.now(); }

    void victim_chosen(SuperblockId victim) override { row("chosen", victim); }
    void victim_ended(SuperblockId victim) override { row("ended", victim); }

private:
    void row(const char* event, SuperblockId victim);

    const Agenda& agenda_;
    const std::optional<Ftl>& ftl_;
    std::ostream& out_;
    SimTime epoch_{};
};

}  // namespace ssdtlm
