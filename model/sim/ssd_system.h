// SPDX-License-Identifier: Apache-2.0
// The test bench of a drive. It joins host, link and device, and has the parts that observe both ends. A command goes
// this way:
//
//   Host                    PcieLink    Device
//   NvmeDriver -------------- mmio ---> NvmeFrontEnd -Command-> Firmware -FlashTransaction-> FlashBackend
//                                                                                                | one per channel
//   HostMemory <- RootComplex <-- dma - DmaEngine                         NandPackage x ways <- OnfiBus
//
// To replace a half or the link, bind another module with the same sockets here. sim/host and sim/device have the parts
// of the halves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "common/latency/occupancy.h"
#include "common/tlm/agenda.h"
#include "common/tlm/agenda_process.h"
#include "host_pcie/driver/integrity_oracle.h"
#include "host_pcie/link/pcie_link.h"
#include "sim/device/device.h"
#include "sim/host/host_side.h"
#include "sim/results/run_summary.h"
#include "sim/sim_config.h"
#include "sim/taps.h"

namespace ssdtlm {

class SsdSystem : public sc_core::sc_module {
public:
    /// Builds, binds and preconditions the drive. `workload`, `observer` and `taps` must outlive it; the last two may
    /// be null. `before`: the workload of precondition.workload, which is played first; null: there is none. `host`:
    /// makes the host; empty: it is the host for frontend.kind.
    SsdSystem(sc_core::sc_module_name name, const SsdConfig& config, Workload& workload, CompletionObserver* observer,
              SsdTaps* taps = nullptr, Workload* before = nullptr, const HostMaker& host = {});

    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process;
    Device device;
    PcieLink link;
    std::unique_ptr<IntegrityOracle> oracle;  ///< null: the check is off
private:
    std::unique_ptr<HostSide> host_side_;

public:
    HostSide& host;  ///< the host for frontend.kind, or the one that was passed

    /// Busy time of every resource since the start of the simulation, for differences over a window.
    struct BusySnapshot {
        SimTime at{};
        Ps up{}, down{}, dram{};
        std::vector<Ps> cores, channels, dies;
        std::vector<Ps> planes;        ///< only with independent plane reads
        Ps look_ahead{};               ///< sum over planes: idle because a grant looks at a limited number of reads
        BusyMeter::Totals die_work{};  ///< of all dies, by the owner of the work
        std::vector<Ps> cpus;          ///< host CPUs, by queue pair
        std::vector<HostSide::Resource> between;  ///< resources between link and drive (HostSide)
        CreditStalls up_stalls, down_stalls;
    };
    BusySnapshot busy() const;
    /// Busy shares between two snapshots.
    std::vector<ResourceUse> use(const BusySnapshot& from, const BusySnapshot& to) const;

    /// wear() returns the erases by die. blocks_by_erases() returns pairs (erases, number of blocks with so many),
    /// ascending.
    std::vector<DieWear> wear() const;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> blocks_by_erases() const;
    /// Pairs of counts that must be equal when the device is idle. After a loss of power they count from when the power
    /// came back.
    std::vector<BookLine> books(const FtlCounters& before) const;
    /// Counters of a map on the flash and of its table, since the start of the run.
    CachedMap::Counters map_counters() const;
    TableCaches::Counters table_counters() const;
    /// Counters since the start of the run.
    Counters counters() const;
    /// Records what holds dies, buses and cores from now on, and returns the log.
    const Occupancy& record();
    /// The state of every organ, for the watchdog and for panics.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

    /// Cuts the supply of the drive now, as host.power_cut_at does. With run.integrity, or a map on the flash,
    /// host.power_cut_at must not be empty, because these must expect the loss. The host continues, and so do the
    /// agenda entries of all objects that survives() has named. See Device::supply_fails() and power_off(). Call it
    /// between two entries of the agenda.
    void cut_power() { host.driver.cut_power(); }
    /// Agenda entries of an object within these bytes survive a loss of power, because the object does not belong to
    /// the drive.
    void survives(const void* object, std::size_t bytes) {
        const auto* const begin = static_cast<const char*>(object);
        survivors_.push_back({begin, begin + bytes});
    }
    /// False while power is off, and while the FTL looks for its map: it has no blocks then.
    bool knows_blocks() const { return host.driver.powered() && !device.controller.looks_for_map(); }
    std::vector<PowerCut> power_cuts() const;
    /// Tells `watcher` about losses of power from now on. It must outlive the system. If it posts agenda entries, it
    /// must be named to survives().
    void watch_power(PowerWatcher& watcher) { power_watcher_ = &watcher; }

    /// check_saving() is for a drive that was just built: it throws UserError if the drive could not be saved at the
    /// end. save_drive() is for a drive that is shut down, when nothing more can happen. It saves the state of the
    /// drive, and what the host knows about its data. It throws UserError when the drive cannot be saved, and
    /// OutputError when the file cannot be written. `text`: describes the drive in the file (saved_drive_text()).
    void check_saving();
    /// `given_up`: is called now and then; if it returns true, SnapshotGivenUp is thrown, and there is no file.
    void save_drive(const std::string& path, const std::string& text, bool (*given_up)() = nullptr);

private:
    void load_drive(bool model_is_host);
    void check_contents(Snapshot& s) const;
    void fill_read_cache();
    void state(Snapshot& s);
    void supply_fails();
    void power_off();
    bool power_on();

    std::unique_ptr<Occupancy> occupancy_;  // null: there is none
    struct Range {
        const char* begin;
        const char* end;
    };
    std::vector<Range> survivors_;
    bool off_ = false;
    PowerWatcher* power_watcher_ = nullptr;  // null: there is none
};

}  // namespace ssdtlm
