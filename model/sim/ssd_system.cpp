// SPDX-License-Identifier: Apache-2.0
#include "sim/ssd_system.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/snapshot/snapshot_file.h"
#include "sim/host/workload_host.h"

namespace ssdtlm {

namespace {

IntegrityOracle::Geometry oracle_geometry(const SsdConfig& c, const Ftl& ftl) {
    IntegrityOracle::Geometry g;
    g.units = ftl.logical_units();
    g.unit_bytes = c.nand.geometry.unit_bytes;
    g.lba_bytes = c.nvme.lba_bytes;
    g.filled_units = ftl.mapped_units();  // preconditioning fills from unit 0
    g.version_bits = ftl.codec().version_bits();
    if (c.run.data == DataMode::bytes) g.bytes_of_seed = c.run.seed;
    g.power_cuts = !c.host.power_cut_at.empty();
    g.durable_writes = c.ftl.buffer_mode != BufferMode::write_back;
    g.durable_trims = c.ftl.buffer_mode == BufferMode::power_protected;
    return g;
}

std::unique_ptr<IntegrityOracle> make_oracle(const SsdConfig& c, const SsdController& controller) {
    if (!c.run.integrity) return nullptr;
    const Ftl& ftl = *controller.ftl;
    auto oracle = std::make_unique<IntegrityOracle>(oracle_geometry(c, ftl));
    if (controller.played.changes_mapped)  // at any address
        for (std::uint64_t unit = 0; unit < ftl.logical_units(); ++unit)
            oracle->at_start(unit, ftl.lookup(Lpa{static_cast<std::uint32_t>(unit)}) != kUnmapped);
    return oracle;
}

std::unique_ptr<FunctionalHost> host_of(const SsdConfig& c, Workload* before) {
    if (before == nullptr && c.run.drive.empty() && !c.ftl.precondition_workload.empty())
        throw UserError(Problem{"precondition.workload",
                                "\"" + c.ftl.precondition_workload + "\" in a program that plays none",
                                "a run of ssdtlm run", "set it to \"\""});
    return before != nullptr ? std::make_unique<WorkloadHost>(*before, c) : nullptr;
}

ContentsConfig contents_of(const SsdConfig& c) {
    ContentsConfig contents = c.run;
    contents.outlives_power |= !c.host.power_cut_at.empty();
    return contents;
}

SsdTaps& or_none(SsdTaps* taps) {
    return taps != nullptr ? *taps : SsdTaps::none();
}

}  // namespace

SsdSystem::SsdSystem(sc_core::sc_module_name name, const SsdConfig& c, Workload& workload, CompletionObserver* observer,
                     SsdTaps* taps, Workload* before, const HostMaker& make_host)
    : sc_module(name),
      config(c),
      process("agenda", agenda, c.run.agenda == AgendaMode::lockstep),
      device("device", agenda, config, contents_of(config), or_none(taps), host_of(config, before).get()),
      link("link", agenda, config.link),
      oracle(make_oracle(config, device.controller)),
      host_side_((make_host ? make_host : HostMaker(make_host_side))(
          {agenda, config, workload, device, link, or_none(taps), oracle.get(), observer})),
      host(*host_side_) {
    agenda.call_straight(!c.run.through_guards);

    if (!config.run.drive.empty()) load_drive(!make_host);
    host.driver.set_power_switch([this](bool on) {
        if (on) return power_on();
        supply_fails();
        return true;
    });
    for (const auto& [object, bytes] : host.survivors()) survives(object, bytes);
}

void SsdSystem::save_drive(const std::string& path, const std::string& text, bool (*given_up)()) {
    SnapshotWriter s(path, text, given_up);
    state(s);
    s.finish();
}

void SsdSystem::load_drive(bool model_is_host) {
    SnapshotReader s(config.run.drive);
    try {
        state(s);
        s.finish();
        if (model_is_host && !device.controller.front_end->is_as_configured())
            throw UserError(Problem{"precondition.from",
                                    config.run.drive + ": a guest has formatted, created, deleted or detached "
                                                       "namespaces, or begun to sanitize the drive",
                                    "for a run, a drive with the namespaces of nvme.namespaces and nvme.lba_size",
                                    "serve it (ssdtlm serve), or let the guest restore them"});
        device.controller.ftl->verify_books();
        check_contents(s);
        fill_read_cache();
    } catch (const UserError&) {
        throw;
    } catch (const std::exception& e) {  // a check in an organ has failed on the state that it has read
        s.refuse((std::string("what it says does not fit together: ") + e.what()).c_str());
    }
}

/// Gives the units of the read cache their bytes. They are those of the flash, because cached units are clean. A unit
/// whose copy in flash was lost since it was cached has none: reads of it end as unrecovered.
void SsdSystem::fill_read_cache() {
    ReadCache* const cache = device.controller.firmware->read_cache();
    const ByteStore* const bytes = device.flash.spare.bytes();
    if (cache == nullptr || bytes == nullptr) return;
    const Ftl& ftl = *device.controller.ftl;
    const std::uint32_t units = config.nand.geometry.units_per_page();
    std::vector<Spare> spare(units);
    std::vector<UnitBytes> page(units);
    cache->take_bytes([&](const ReadCache::Unit& unit) {
        const std::uint32_t slot = idx(ftl.lookup(unit.lpa));
        if (slot >= idx(kLost)) return UnitBytes{};
        const Ppa first{slot / units * units};
        device.flash.spare.read_page(first, spare.data());
        device.flash.spare.read_bytes(first, spare.data(), page.data());
        return page[slot % units];
    });
}

/// Checks that the drive has the data that the host has written, and that its read cache has no other data.
void SsdSystem::check_contents(Snapshot& s) const {
    const Ftl& ftl = *device.controller.ftl;
    const auto version_at = [&ftl](Ppa at) { return at == kUnmapped ? 0 : ftl.codec().version(ftl.flash().at(at)); };
    for (std::uint32_t unit = 0; oracle != nullptr && unit < ftl.logical_units(); ++unit) {
        const Ppa at = ftl.lookup(Lpa{unit});
        s.require(at == kLost || oracle->may_hold(unit, version_at(at)),
                  "a unit that holds other data than the host has written");
    }
    if (const ReadCache* const cache = device.controller.firmware->read_cache())
        cache->for_each([&](const ReadCache::Unit& unit) {
            s.require(idx(unit.lpa) < ftl.logical_units(), "a unit in the read cache that there is not");
            const Ppa at = ftl.lookup(unit.lpa);
            s.require(at == kLost || unit.version == version_at(at),
                      "a unit in the read cache that holds other data than the flash");
        });
}

namespace {
/// A snapshot that stores nothing. It finds out whether a part of the drive refuses to be saved.
class SnapshotTrial final : public Snapshot {
public:
    SnapshotTrial() : Snapshot(false) {}
    void section(const char*) override {}
    [[noreturn]] void refuse(const char* what) override {
        throw UserError(Problem{"--save-drive", std::string("the drive of this run cannot be saved: ") + what, "",
                                "leave --save-drive out"});
    }
    void bytes(void*, std::size_t) override {}
};
}  // namespace

void SsdSystem::check_saving() {
    SnapshotTrial s;
    state(s);
}

void SsdSystem::state(Snapshot& s) {
    device.flash.state(s);
    device.controller.state(s);
    bool known = oracle != nullptr;
    s(known);
    if (oracle != nullptr && !known)
        s.refuse("it was saved with run.integrity = false, so its contents cannot be checked");
    if (!known) return;
    std::unique_ptr<IntegrityOracle> nobodys;
    if (oracle == nullptr) nobodys = std::make_unique<IntegrityOracle>(oracle_geometry(config, *device.controller.ftl));
    (oracle != nullptr ? *oracle : *nobodys).state(s);
}

/// The host has taken all completions by now, and its driver does nothing until the power is back.
void SsdSystem::supply_fails() {
    off_ = false;
    if (power_watcher_ != nullptr) power_watcher_->supply_fails();
    host.cut_way(agenda, link);
    device.supply_fails([this] { power_off(); });
}

bool SsdSystem::power_on() {
    if (!off_) return false;
    if (power_watcher_ != nullptr) power_watcher_->power_back();
    device.power_on();
    return true;
}

void SsdSystem::power_off() {
    off_ = true;
    agenda.drop_if([this](const void* self) {
        for (const Range& r : survivors_)
            if (self >= r.begin && self < r.end) return false;
        return true;
    });
    if (power_watcher_ != nullptr) power_watcher_->power_lost();
    device.power_off(std::min(host.carried_out(), device.controller.front_end->counts().ended));
    if (power_watcher_ != nullptr) power_watcher_->built_again();
    host.driver.drive_is_off();
}

std::vector<PowerCut> SsdSystem::power_cuts() const {
    std::vector<PowerCut> cuts = device.power_cuts();
    for (PowerCut& cut : cuts) cut.at = SimTime{cut.at - host.driver.epoch()};
    return cuts;
}

const Occupancy& SsdSystem::record() {
    const NandGeometry& g = config.nand.geometry;
    occupancy_ = std::make_unique<Occupancy>(Occupancy::Size{
        g.channels, g.dies_per_channel(), g.planes_per_die, config.nand.independent_plane_read, config.firmware.cores});
    device.controller.record(*occupancy_);
    return *occupancy_;
}

void SsdSystem::check_waiters() const {
    host.check_waiters();
    link.check_waiters();
    device.controller.check_waiters();
}

std::string SsdSystem::dump() const {
    return fmt::format("state at {} ps, {} agenda entries pending\n", agenda.now().time_since_epoch().count(),
                       agenda.pending()) +
           host.driver.state() + link.dump() + host.dump() + device.controller.dump();
}

}  // namespace ssdtlm
