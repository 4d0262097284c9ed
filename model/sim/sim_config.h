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
/// The representation of the data of logical blocks.
enum class DataMode : std::uint8_t { signatures, bytes };

/// The properties of a run that a device has to know.
struct ContentsConfig {
    DataMode data = DataMode::signatures;
    bool integrity = true;   ///< every read is checked against what the host last wrote
    std::uint64_t seed = 1;  ///< workload, preconditioning and failures derive from it
    std::string
        precondition_trace;  ///< how the trace of FtlConfig::precondition_workload is read: options of the command line
    std::string drive;  ///< the file of a saved one, which is to be read into the device; empty: it is preconditioned
    bool outlives_power =
        false;  ///< the power may go, or the drive is saved: the flash keeps what a search for the map finds.
};

/// Whether caches are filled at the start; automatic: where a host's writes have led to the state
/// (config/cache_checks.h).
enum class FillCaches : std::uint8_t { automatic, yes, no };

struct RunConfig : ContentsConfig {
    FillCaches fill_caches =
        FillCaches::automatic;  ///< of a configuration that is loaded; FtlConfig::caches_filled is what came of it
    AgendaMode agenda = AgendaMode::run_ahead;
    bool check_waiters = false;              ///< after every event: nobody waits whom nobody will wake
    bool through_guards = false;             ///< the model's modules call each other as they do foreign ones
    Ps timeseries_interval{10'000'000'000};  ///< 10 ms
    bool gc_log = false;                     ///< gc.csv: each victim of garbage collection
    std::uint32_t slowest = 100;             ///< commands of each operation whose way is kept
    std::vector<std::uint64_t> explain;      ///< commands, by number, whose way is kept however long they took
    Ps watchdog{1'000'000'000'000};          ///< nothing happens for this long with work pending: exit 3
};

/// Power of a drive while capacitors supply it.
struct PowerConfig {
    std::uint64_t controller_uw = 3'000'000;  ///< controller, DRAM and link
    std::uint64_t die_uw = 100'000;           ///< a die that programs
};

/// The drive's end towards its host.
struct FrontEndConfig {
    std::string kind = "nvme";  ///< a name of FrontEnds
    PolicyTable policies;       ///< parameters of front ends
};

/// A device, resolved: all that Device takes, and nothing of the host's or the run's.
struct DeviceConfig {
    LinkConfig link;  ///< in front of it: its tags bound the DMA engine's reads
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

/// A device, what drives it, and the run, resolved: every parameter that a user may set. Modules get const references
/// to their part.
struct SsdConfig : DeviceConfig {
    std::string name;              ///< preset or file name
    std::string description;       ///< one sentence for `ssdtlm config presets`
    std::string based_on;          ///< of a device file; empty when it is resolved
    double over_provisioning = 0;  ///< of FtlConfig::user_capacity_bytes, which follows from it; 0: that was given
    HostConfig host;
    PolicyTable host_sides;  ///< parameters of hosts, by the front end that they speak to
    WorkloadConfig workload;
    FilesConfig files;
    RunConfig run;
};

}  // namespace ssdtlm
