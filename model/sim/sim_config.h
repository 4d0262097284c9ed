// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/policy_registry.h"
#include "common/units/units.h"
#include "controller/channel_ctrl/channel_config.h"
#include "controller/channel_ctrl/ecc_config.h"
#include "controller/dram/dram_config.h"
#include "controller/ftl/ftl_config.h"
#include "controller/nvme/nvme_config.h"
#include "controller/ports/firmware_config.h"
#include "controller/scheduler/scheduler_config.h"
#include "host_files/file_systems.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/link/link_config.h"
#include "host_pcie/workload/generated_workload.h"
#include "nand/array/array_faults.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

enum class AgendaMode : std::uint8_t { run_ahead, lockstep };
/// How the data of logical blocks are represented.
enum class DataMode : std::uint8_t { signatures, bytes };

/// The properties of a run that affect the device.
struct ContentsConfig {
    DataMode data = DataMode::signatures;
    bool integrity = true;           ///< every read is compared with what the host last wrote
    std::uint64_t seed = 1;          ///< workload, preconditioning and failures derive from it
    std::string precondition_trace;  ///< command-line options for the trace of FtlConfig::precondition_workload
    std::string drive;               ///< the file of a saved drive to read; empty: the drive is preconditioned
    bool outlives_power = false;     ///< the flash keeps what a search for the map or a saved drive needs
};

/// Whether caches are filled at the start. automatic: they are if writes of a host have made the state
/// (config/cache_checks.h).
enum class FillCaches : std::uint8_t { automatic, yes, no };

struct RunConfig : ContentsConfig {
    FillCaches fill_caches =
        FillCaches::automatic;  ///< as configured; the loader sets FtlConfig::caches_filled from it
    AgendaMode agenda = AgendaMode::run_ahead;
    bool check_waiters = false;              ///< checks after every event that nobody waits in vain
    bool through_guards = false;             ///< the model's modules call each other through their guards
    Ps timeseries_interval{10'000'000'000};  ///< 10 ms
    bool gc_log = false;                     ///< gc.csv: each victim of garbage collection
    std::uint32_t slowest = 100;             ///< commands of each operation whose paths are kept
    std::vector<std::uint64_t> explain;      ///< numbers of commands whose paths are always kept
    Ps watchdog{1'000'000'000'000};          ///< with work pending, nothing may happen for so long; else exit 3
};

/// The power that a drive needs while capacitors supply it.
struct PowerConfig {
    std::uint64_t controller_uw = 3'000'000;  ///< controller, DRAM and link
    std::uint64_t die_uw = 100'000;           ///< each die that programs
};

/// The part of the drive that its host talks to.
struct FrontEndConfig {
    std::string kind = "nvme";  ///< a name of FrontEnds
    PolicyTable policies;       ///< parameters of front ends
};

/// A resolved device: all that Device needs, and nothing of the host or the run.
struct DeviceConfig {
    LinkConfig link;  ///< the link in front of it, whose tags bound the DMA engine's reads
    FrontEndConfig front_end;
    NvmeConfig nvme;
    FirmwareConfig firmware;
    FtlConfig ftl;
    SchedulerConfig scheduler;
    ChannelConfig channel;
    EccConfig ecc;
    DramConfig dram;
    NandConfig nand;
    FaultConfig faults;
    PowerConfig power;
};

/// A resolved device with its host and its run: every parameter that a user may set. Modules get const references to
/// their parts.
struct SsdConfig : DeviceConfig {
    std::string name;              ///< preset or file name
    std::string description;       ///< one sentence for `ssdtlm config presets`
    std::string based_on;          ///< base of a device file; empty once resolved
    double over_provisioning = 0;  ///< FtlConfig::user_capacity_bytes follows from it; 0: the capacity was given
    HostConfig host;
    PolicyTable host_sides;  ///< parameters of hosts, by the name of their front end
    WorkloadConfig workload;
    FilesConfig files;
    RunConfig run;
};

}  // namespace ssdtlm
