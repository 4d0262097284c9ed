// SPDX-License-Identifier: Apache-2.0
#include "sim/results/gc_log.h"

#include <fmt/format.h>

namespace ssdtlm {

GcLog::GcLog(const Agenda& agenda, const std::optional<Ftl>& ftl, std::ostream& out)
    : agenda_(agenda), ftl_(ftl), out_(out) {
    out_
        << "time_us,event,group,superblock,reason,valid_units,invalid_units,erases,free_superblocks,full_superblocks\n";
}

void GcLog::row(const char* event, SuperblockId victim) {
    static constexpr const char* kReasons[] = {"space", "wear", "failed", "fold", "refresh"};
    const GroupId group = ftl_->shape().group_of(victim);
    const std::uint32_t valid = ftl_->superblock(victim).valid;
    out_ << fmt::format("{:.6f},{},{},{},{},{},{},{},{},{}\n",
                        static_cast<double>((agenda_.now() - epoch_).count()) * 1e-6, event, idx(group), idx(victim),
                        kReasons[static_cast<std::size_t>(ftl_->victim_reason(victim))], valid,
                        ftl_->units_of(victim) - valid, ftl_->erases(victim), ftl_->free_blocks(group),
                        ftl_->count(group, BlockState::sealed));
}

}  // namespace ssdtlm
