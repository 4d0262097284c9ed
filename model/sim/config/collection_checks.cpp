// SPDX-License-Identifier: Apache-2.0
#include "sim/config/collection_checks.h"

#include <string>

#include "controller/ftl/ftl_check.h"
#include "sim/config/config_checker.h"

namespace ssdtlm {
namespace {

constexpr std::int64_t kMostLooks = 65536;  // before data are old; the work since each of them is kept in a list

class CollectionChecker final : private ConfigChecker {
public:
    explicit CollectionChecker(const ResolvedConfig& resolved) : ConfigChecker(resolved) {}

    std::vector<Problem> run() {
        thresholds();
        if (c_.ftl.gc_idle_after != Ps{} && c_.ftl.gc_idle_free_blocks <= c_.ftl.gc_soft_free_blocks)
            add("gc.idle_free_blocks",
                value("gc.idle_free_blocks") + " is not above gc.soft_free_blocks = " + value("gc.soft_free_blocks") +
                    ", with gc.idle_after = " + value("gc.idle_after"),
                "more than " + value("gc.soft_free_blocks"),
                "raise it, because a plane with fewer free blocks is always collected");
        if (!c_.ftl.gc_charge_time) in_no_time();
        ages();
        return std::move(out_);
    }

private:
    void thresholds() {
        const bool fails = c_.faults.any() || !c_.host.power_cut_at.empty();  // blocks may then be left half written
        const std::uint32_t least = fails ? 2 : least_hard_free_blocks(c_.ftl);
        if (c_.ftl.gc_hard_free_blocks < least) {
            const bool share = c_.ftl.gc_hard_used_percent != 0;
            const std::string found = share ? value("gc.hard_used") + " leaves " +
                                                  std::to_string(c_.ftl.gc_hard_free_blocks) + " of " +
                                                  std::to_string(c_.nand.geometry.blocks_per_plane) + " blocks free"
                                            : value("gc.hard_free_blocks");
            add(share ? "gc.hard_used" : "gc.hard_free_blocks",
                found + (least == 1        ? ""
                         : c_.faults.any() ? " with rates in [nand.faults]"
                         : fails           ? " with host.power_cut_at"
                                           : ""),
                "at least " + std::to_string(least) +
                    (!share       ? ""
                     : least == 1 ? " block"
                                  : " blocks"),
                std::string(share ? "lower it" : "raise it") +
                    ", because garbage collection needs free blocks itself; 1 is enough where only it and the host "
                    "write");
        }
        if (c_.ftl.gc_soft_free_blocks > c_.ftl.gc_hard_free_blocks) return;
        add("gc.soft_free_blocks",
            value("gc.soft_free_blocks") + " is not above gc.hard_free_blocks = " + value("gc.hard_free_blocks"),
            "more than " + value("gc.hard_free_blocks"), "background collection has to start before host writes wait");
    }
    void ages() {
        const Age age = c_.ftl.refresh_age, interval = c_.ftl.look_interval();
        if (age == Age{}) {
            if (c_.ftl.refresh_interval != Age{})
                add("refresh.interval", value("refresh.interval") + " with refresh.age = " + value("refresh.age"),
                    "0s: there are no ages to look at", "set refresh.age, or leave it out");
            return;
        }
        if (interval < Age::of(1us) || interval > age || age / interval > kMostLooks)
            add("refresh.interval", value("refresh.interval") + " with refresh.age = " + value("refresh.age"),
                "1us to refresh.age, and no less than 1 / " + std::to_string(kMostLooks) +
                    " of it (0s means a 16th of refresh.age)",
                "change one of the two");
    }
    void in_no_time() {
        const std::string with = " with gc.charge_time = false";
        if (fault_kinds(c_.faults, c_.nand.geometry).any())
            add("gc.charge_time", "false with rates in [nand.faults]",
                "true: failing flash without time is not implemented", "set it to true, or leave out [nand.faults]");
        if (c_.scheduler.merge_reads)
            add("scheduler.merge_reads", value("scheduler.merge_reads") + with,
                "false: the register of a plane would show what was erased beside the die",
                "leave it out, or set gc.charge_time = true");
        if (!c_.host.power_cut_at.empty())
            add("host.power_cut_at", "a loss of power" + with,
                "none: without time, moved data is programmed before the pages in front of it",
                "leave it out, or set gc.charge_time = true");
    }
};

}  // namespace

std::vector<Problem> check_collection(const ResolvedConfig& resolved) {
    return CollectionChecker(resolved).run();
}

}  // namespace ssdtlm
