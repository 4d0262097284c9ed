// SPDX-License-Identifier: Apache-2.0
// The netlist: the only code that names concrete classes at both ends of a socket or port. Follow one command here:
//
//   NvmeDriver -mmio-> PcieLink -mmio-> NvmeFrontEnd -Command-> Firmware -FlashTransaction-> FlashBackend
//                                                                                               | one per channel
//   HostMemory <- RootComplex <-dma- PcieLink <-dma- DmaEngine        NandPackage x ways <- OnfiBus
//
// To replace a block, bind another module with the same socket (or another class behind the same port) here.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <systemc>

#include "common/latency/command_tracker.h"
#include "common/latency/occupancy.h"
#include "common/tlm/agenda.h"
#include "common/tlm/agenda_process.h"
#include "controller/channel_ctrl/flash_backend.h"
#include "controller/cpu/firmware.h"
#include "controller/dma/dma_engine.h"
#include "controller/dram/dram_models.h"
#include "controller/ftl/ftl.h"
#include "controller/map_scan/map_scan.h"
#include "controller/nvme/nvme_front_end.h"
#include "host_pcie/driver/host_memory.h"
#include "host_pcie/driver/integrity_oracle.h"
#include "host_pcie/driver/nvme_driver.h"
#include "host_pcie/driver/root_complex.h"
#include "host_pcie/link/pcie_link.h"
#include "nand/array/array_faults.h"
#include "nand/channel/onfi_bus.h"
#include "nand/package/nand_package.h"
#include "sim/results/run_summary.h"
#include "sim/sim_config.h"
#include "sim/taps.h"

namespace ssdtlm {

class SsdSystem : public sc_core::sc_module {
public:
    /// Builds, binds and preconditions the device. `workload`, `observer` and `taps` (both may be null) must outlive it.
    SsdSystem(sc_core::sc_module_name name, const SsdConfig& config, Workload& workload, CompletionObserver* observer,
              SsdTaps* taps = nullptr);

    /// Bytes of data that the DMA engine may read at once: what the link's tags allow, but for those kept for commands.
    static std::uint64_t read_window(const LinkConfig& link);

    /// Busy time of every resource since the start of the simulation, for differences over a window.
    struct BusySnapshot {
        SimTime at{};
        Ps up{}, down{}, dram{};
        std::vector<Ps> cores, channels, dies;
    };
    BusySnapshot busy() const;
    /// Busy shares between two snapshots.
    std::vector<ResourceUse> use(const BusySnapshot& from, const BusySnapshot& to) const;

    /// Pages programmed, pages read, blocks erased since the start, over all channels.
    std::uint64_t flash_pages(FlashClass cls) const;
    /// By die; and of all blocks (erases, blocks), ascending.
    std::vector<DieWear> wear() const;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> blocks_by_erases() const;
    /// What must be equal when the device is idle; after a loss of power, since the power came back.
    std::vector<BookLine> books(const FtlCounters& before) const;
    std::vector<std::pair<std::string, std::uint64_t>> counters() const;
    /// From now on what holds dies, buses and cores is kept in a log, sized for this device.
    const Occupancy& record();
    /// State of every organ, for the watchdog and for panics.
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Between two entries of the agenda: in no organ does anybody wait whom nobody will wake. Throws CheckFailed.
    void check_waiters() const;

    /// The power of the drive goes now, as for host.power_cut_at, which with run.integrity must not be empty (the check has to
    /// expect it). Between two entries of the agenda. What is not on the flash is
    /// gone, whatever the dies are at is torn, and all organs are built again in their places; the host's side goes on, and
    /// with it the entries of the agenda that are posted by whoever `survives`.
    void cut_power() { driver.cut_power(); }
    /// Entries of the agenda posted by an object within these bytes are none of the drive's.
    void survives(const void* object, std::size_t bytes) {
        const auto* const begin = static_cast<const char*>(object);
        survivors_.push_back({begin, begin + bytes});
    }
    /// Called when the map has been found again, before the host's first command.
    void set_on_rebuilt(std::function<void()> f) { on_rebuilt_ = std::move(f); }
    const std::vector<PowerCut>& power_cuts() const { return power_cuts_; }

    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process;
    CommandTracker tracker;
    SpareArea spare;

private:
    std::optional<Ftl> ftl_;

public:
    Ftl& ftl;
    std::unique_ptr<IntegrityOracle> oracle;  ///< null: the check is off
    HostMemory memory;
    NvmeDriver driver;
    RootComplex root_complex;
    PcieLink link;
    DmaEngine dma;
    NvmeFrontEnd front_end;
    std::unique_ptr<DramPort> dram;
    FlashBackend backend;

private:
    FlashPort& flash_;  // the back end, or what looks at what is submitted to it
    std::optional<Firmware> firmware_;

public:
    Firmware& firmware;
    std::unique_ptr<RandomFaults> faults;                ///< of the dies; null: none
    std::vector<std::unique_ptr<OnfiBus>> buses;         ///< by channel
    std::vector<std::unique_ptr<NandPackage>> packages;  ///< by channel, way

private:
    void connect();
    static Firmware::Data data_of(const RunConfig& run);
    Firmware::Surroundings surroundings() { return {agenda, ftl, flash_, dma, *dram}; }
    void power_off();
    void power_on();
    void rebuilt();
    void check_scan() const;

    std::unique_ptr<Occupancy> occupancy_;  // null: nobody wants to know
    // Losses of power (ssd_power.cpp).
    struct Range {
        const char* begin;
        const char* end;
    };
    std::vector<Range> survivors_;
    std::vector<PowerCut> power_cuts_;
    std::optional<MapScan> scan_;  // since the power came back
    SimTime scan_began_{};
    std::function<void()> on_rebuilt_;
    /// What was counted before the power came back last.
    struct Earlier {
        FtlCounters ftl;
        std::array<std::uint64_t, kFlashClassCount> pages{};
        Ps dram{};
        std::uint64_t coalesced = 0, merge_reads = 0, victims = 0;
        std::vector<Ps> cores;
    };
    Earlier earlier_;
};

}  // namespace ssdtlm
