// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "controller/channel_ctrl/channel_config.h"
#include "controller/channel_ctrl/ecc_config.h"
#include "controller/ports/firmware_config.h"
#include "controller/dram/dram_config.h"
#include "controller/ftl/ftl_config.h"
#include "controller/nvme/nvme_config.h"
#include "controller/scheduler/scheduler_config.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/link/link_config.h"
#include "host_pcie/workload/generated_workload.h"
#include "nand/array/array_faults.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

enum class AgendaMode : std::uint8_t { run_ahead, lockstep };
/// What stands for the data of logical blocks.
enum class DataMode : std::uint8_t { signatures, bytes };

struct RunConfig {
    AgendaMode agenda = AgendaMode::run_ahead;
    DataMode data = DataMode::signatures;
    bool integrity = true;               ///< check every read against what the host last wrote
    bool check_waiters = false;          ///< after every event: nobody waits whom nobody will wake
    std::uint64_t seed = 1;              ///< workload and preconditioning streams derive from it
    Ps timeseries_interval{10'000'000'000};  ///< 10 ms
    bool gc_log = false;                 ///< gc.csv: each victim of garbage collection
    std::uint32_t slowest = 100;         ///< commands of each operation whose way is kept
    std::vector<std::uint64_t> explain;  ///< commands, by number, whose way is kept however long they took
    Ps watchdog{1'000'000'000'000};      ///< nothing happens for this long with work pending: exit 3
};

/// The whole device and run, resolved. Modules get const references to their part.
struct SsdConfig {
    std::string name;                    ///< preset or file name
    std::string description;             ///< one sentence for `ssdtlm config presets`
    HostConfig host;
    LinkConfig link;
    NvmeConfig nvme;
    FirmwareConfig firmware;
    FtlConfig ftl;
    SchedulerConfig scheduler;
    ChannelConfig channel;
    EccConfig ecc;
    DramConfig dram;
    NandConfig nand;
    RandomFaults::Rates faults;
    WorkloadConfig workload;
    RunConfig run;
};

}  // namespace ssdtlm
