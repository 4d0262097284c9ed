// SPDX-License-Identifier: Apache-2.0
// The drive loses its power and gets it back. Only the flash outlives that: every organ between the link and the dies is
// built again in its place, so that what is bound to it stays bound, and the map is searched for before CSTS.RDY.
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"
#include "adapter/rtl_schedulers.h"
#include "sim/ssd_system.h"

namespace ssdtlm {

/// The host has taken what was completed, and its driver touches nothing before power_on().
void SsdSystem::power_off() {
    const SimTime now = agenda.now();
    const auto survives_it = [this](const void* self) {
        for (const Range& r : survivors_)
            if (self >= r.begin && self < r.end) return true;
        return false;
    };
    agenda.drop_if([&survives_it](const void* self) { return !survives_it(self); });

    PowerCut cut;
    cut.at = SimTime{now - driver.epoch()};
    for (const auto& package : packages) cut.loss += package->restart();
    for (const auto& bus : buses) bus->restart();
    power_cuts_.push_back(cut);

    earlier_.coalesced += firmware.buffer().coalesced();
    earlier_.merge_reads += firmware.merge_reads();
    earlier_.victims += firmware.gc().victims();
    earlier_.cores.resize(firmware.cores().size());
    for (std::uint32_t i = 0; i < firmware.cores().size(); ++i) earlier_.cores[i] += firmware.cores().busy_until(i, now);
    earlier_.ftl = ftl.counters();

    scan_.reset();
    firmware_.reset();
    ftl_.emplace(config.ftl, config.nand.geometry, spare, config.run.seed);
    ftl.go_on_from(earlier_.ftl);
    backend.restart(make_scheduler(config.scheduler, scheduler_shape(config.nand.geometry, config.nand.independent_plane_read), agenda,
                                   rtl_schedulers()));
    earlier_.dram += dram->busy();
    dram = make_dram(config.dram, agenda);
    dma.restart();
    link.restart();
    front_end.restart(driver.counters().commands_completed);
    front_end.drive_is_starting();
    firmware_.emplace(config.firmware, config.ftl, config.nand.geometry, config.nvme.lba_bytes, surroundings(), data_of(config.run));
    if (occupancy_) occupancy_->power_lost(now);
    connect();
}

void SsdSystem::power_on() {
    for (std::size_t cls = 0; cls < kFlashClassCount; ++cls) earlier_.pages[cls] = flash_pages(static_cast<FlashClass>(cls));
    scan_.emplace(config.nand.geometry, spare, flash_, config.ftl.scan_reads_per_die);
    scan_began_ = agenda.now();
    scan_->start([this] { rebuilt(); });
}

void SsdSystem::rebuilt() {
    power_cuts_.back().scan_reads = scan_->reads();
    power_cuts_.back().scan_time = agenda.now() - scan_began_;
    ftl.recover();
    if (on_rebuilt_) on_rebuilt_();
    front_end.drive_is_up();
}

void SsdSystem::check_scan() const {
    if (scan_ && !scan_->over() && backend.idle()) throw CheckFailed("the search for the map waits for reads, and the flash back end has none");
}

}  // namespace ssdtlm
