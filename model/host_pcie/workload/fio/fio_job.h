// SPDX-License-Identifier: Apache-2.0
// A clone of a fio job, with all options resolved for the device. The generator executes it, and the report in fio's
// format prints it. It is plain data without run-time state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/report/fio_report_job.h"
#include "host_pcie/workload/report/fio_steady_state.h"

namespace ssdtlm {

/// Index of the per-direction arrays below: read, write, trim (HostOp's first three values).
inline constexpr std::size_t kFioDirections = 3;
template <class T>
using PerDirection = std::array<T, kFioDirections>;
constexpr std::size_t fio_index(HostOp op) {
    return static_cast<std::size_t>(op);
}

enum class FioDistribution : std::uint8_t { random, zipf, pareto, normal, zoned, zoned_abs };
enum class FioRateProcess : std::uint8_t { linear, poisson };
enum class FioSequencer : std::uint8_t { sequential, identical };
/// The order in which I/O goes to files (file_service_type).
enum class FioFileService : std::uint8_t { round_robin, random, sequential };
/// Which jobs exitall ends: those of the same reporting group, all that run, or all.
enum class FioExit : std::uint8_t { group, stonewall, all };

/// One entry of bssplit, ordered by percent as fio orders them.
struct FioBlockShare {
    std::uint64_t bytes = 0;
    std::uint32_t percent = 0;
};
/// One zone of random_distribution=zoned / zoned_abs. `size` is percent of the region or bytes.
struct FioZone {
    std::uint32_t access_percent = 0;
    std::uint64_t size = 0;
};

/// The place of a file of a job, or of the drive itself. Addresses are bytes of the device.
struct FioFile {
    std::uint64_t offset = 0;                            ///< of the first byte that I/O may touch
    std::uint64_t region = 0;                            ///< bytes from which offsets are drawn
    std::uint64_t end = 0;                               ///< end of the file or drive
    std::uint64_t begin = 0;                             ///< begin of the file or drive
    std::optional<std::uint32_t> number = std::nullopt;  ///< in FioJobFile::files; none: the drive
};
struct FioJob {
    // --- identity and reporting ---
    FioReportJob report;        ///< names, group, option texts, percentiles, logs
    std::uint32_t index = 0;    ///< dense over all clones; HostRequest::job. fio's thread number is index + 1
    std::uint32_t clone = 0;    ///< 0 .. numjobs-1
    std::uint32_t section = 0;  ///< of the job file, without [global], from 0 on

    // --- what is issued ---
    bool random = false;
    bool reads = true;
    bool writes = false;
    bool trims = false;
    std::uint32_t sequence_ios = 1;  ///< rand*:N: a new random offset every N I/Os
    std::int64_t sequence_hole = 0;  ///< rw:N: bytes added to each sequential offset; negative goes backwards
    FioSequencer sequencer = FioSequencer::sequential;
    std::uint32_t rwmix_read = 50;
    PerDirection<std::uint64_t> bs_min{4096, 4096, 4096};
    PerDirection<std::uint64_t> bs_max{4096, 4096, 4096};
    PerDirection<std::uint64_t> align{4096, 4096, 4096};
    PerDirection<std::vector<FioBlockShare>> bssplit;
    PerDirection<std::uint32_t> percentage_random{100, 100, 100};
    FioDistribution distribution = FioDistribution::random;
    double distribution_value = 0;  ///< zipf theta, pareto h, normal deviation (%)
    std::optional<double> distribution_center;
    PerDirection<std::vector<FioZone>> zones;
    bool strided = false;          ///< zonemode: after zone_size bytes in a zone, I/O moves on past zone_skip
    std::uint64_t zone_size = 0;   ///< bytes
    std::uint64_t zone_range = 0;  ///< bytes of a zone from which offsets are drawn
    std::uint64_t zone_skip = 0;   ///< bytes between zones
    bool random_map = true;        ///< each block comes once per pass
    std::uint32_t fsync = 0;       ///< a flush after this many writes; 0: never
    std::uint32_t fdatasync = 0;
    bool end_fsync = false;
    bool fua = false;           ///< sync=1, sync, dsync
    bool data_only = false;     ///< FUA stands for dsync
    std::uint16_t stream = 0;   ///< write_hint; HostRequest::stream of its writes
    std::uint64_t seed = 0;     ///< of this clone
    bool repeat_passes = true;  ///< randrepeat: the same sequence in every pass

    bool verify = false;               ///< the written data are read back
    std::uint32_t verify_backlog = 0;  ///< read back after so many writes; 0: at the end of a pass
    std::uint32_t verify_batch = 0;    ///< blocks read back at a time; 0: verify_backlog

    // --- where and how much ---
    std::vector<FioFile> files;  ///< at least one
    FioFileService file_service = FioFileService::round_robin;
    std::uint32_t file_service_ios = 1;  ///< I/Os to one file in a row
    bool create_only = false;            ///< the job ends when its files are laid out
    std::uint64_t size = 0;              ///< bytes of one pass, over all files
    std::uint64_t io_size = 0;           ///< bytes of the run when io_size= is given; 0: `size`
    std::uint64_t number_ios = 0;        ///< 0: no limit
    std::uint32_t loops = 1;

    // --- when ---
    std::uint32_t iodepth = 1;  ///< 1 for synchronous engines, whatever the file says
    bool stonewall = false;     ///< it starts when no job is running
    Ps start_delay{0};          ///< from the start of the run
    Ps runtime{0};              ///< 0: no limit
    bool time_based = false;
    Ps ramp_time{0};
    PerDirection<std::uint64_t> rate{0, 0, 0};  ///< bytes per second; 0: no limit
    PerDirection<std::uint64_t> rate_iops{0, 0, 0};
    FioRateProcess rate_process = FioRateProcess::linear;
    bool submit_offload = false;  ///< io_submit_mode=offload: rate sleeps do not wait for outstanding I/O
    Ps thinktime{0};
    std::uint32_t thinktime_blocks = 1;
    bool rate_ignores_think = false;  ///< rate_ignore_thinktime: the job does not make up for think times
    bool thinktime_on_issue = false;  ///< thinktime_blocks_type=issue
    std::uint32_t refill_at =
        ~0u;  ///< a full queue is refilled when this many are left (iodepth_low, iodepth_batch_complete_min)
    std::string wait_for;  ///< name of a job whose clones must all have ended; empty: none
    bool exitall = false;  ///< its end ends other jobs
    bool exitall_on_error = false;
    FioExit exit_what = FioExit::group;
    std::uint32_t flow_id = 0;
    std::uint32_t flow = 0;  ///< weight among the jobs of flow_id; 0: the job is in no flow
    Ps flow_sleep{0};
    Ps latency_target{0};  ///< 0: none
    Ps latency_window{0};
    double latency_percentile = 100;
    bool latency_run = false;
    FioSteadyCriterion steady;

    // --- how the host's I/O scheduler treats it ---
    IoPriority priority;
    bool has_priority = false;  ///< prio or prioclass is given
    std::string io_scheduler;   ///< the scheduler that it asks for; empty: any

    // --- what the job must reach, or it fails ---
    PerDirection<std::uint64_t> rate_min{0, 0, 0};  ///< bytes per second; 0: no limit
    PerDirection<std::uint64_t> rate_iops_min{0, 0, 0};
    Ps rate_cycle = std::chrono::seconds(1);
    PerDirection<Ps> max_latency{};

    bool trimwrite() const { return trims && writes; }
    bool mixed() const { return reads && writes; }
    bool rate_limited() const {
        for (std::size_t d = 0; d < kFioDirections; ++d)
            if (rate[d] != 0 || rate_iops[d] != 0) return true;
        return false;
    }
    /// Bytes of all files together.
    std::uint64_t region() const {
        std::uint64_t sum = 0;
        for (const FioFile& f : files) sum += f.region;
        return sum;
    }
    /// The smallest or largest block of all three directions, used or not, as fio counts.
    std::uint64_t smallest_block() const { return std::min({bs_min[0], bs_min[1], bs_min[2]}); }
    std::uint64_t largest_block() const { return std::max({bs_max[0], bs_max[1], bs_max[2]}); }
};

/// The device against which the job file is checked and resolved.
struct FioDevice {
    std::uint64_t capacity = 0;  ///< bytes of the drive, or of the part of it that the workload sees
    std::uint32_t lba_bytes = 4096;
    std::uint64_t seed = 0;  ///< of the run; joins every job's randseed
    /// Ends of its namespaces in bytes, in ascending order; the last is `capacity`. Empty: it is one namespace, or
    /// none.
    std::vector<std::uint64_t> namespace_ends = {};
};

}  // namespace ssdtlm
