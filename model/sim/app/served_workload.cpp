// SPDX-License-Identifier: Apache-2.0
#include "sim/app/served_workload.h"

#include <fmt/format.h>

#include <algorithm>

namespace ssdtlm {

namespace {
/// A quarter of the range of simulated time. The watchdog must never end a run, because a guest may leave its commands
/// for any time.
constexpr Ps kNoWatchdog{Ps::max() / 4};
constexpr const char* kOrigin = "default of serve";
}  // namespace

void add_service_defaults(ConfigLoader& loader) {
    RawValue bytes;
    bytes.string = "bytes";
    loader.add_option("run.data", bytes, kOrigin);
    RawValue unchecked;
    unchecked.type = RawValue::Type::boolean;
    loader.add_option("run.integrity", unchecked, kOrigin);
}

void check_service(const ResolvedConfig& resolved) {
    const SsdConfig& c = resolved.config;
    std::vector<Problem> problems;
    const auto refuse = [&](const char* key, std::string found, const char* allowed, const char* repair) {
        problems.push_back({resolved.where(key), std::move(found), allowed, repair});
    };
    if (c.front_end.kind != "nvme")
        refuse("frontend.kind", "\"" + c.front_end.kind + "\" for a guest, which has an NVMe driver", "\"nvme\"",
               "set it to \"nvme\"");
    if (c.run.data != DataMode::bytes)
        refuse("run.data", "signatures, and a guest reads and writes bytes", "\"bytes\"", "set it to \"bytes\"");
    if (c.run.integrity)
        refuse("run.integrity", "true, and what a guest writes is known to the guest only", "false",
               "leave it out, and let the guest check: fio --verify, fsck");
    if (c.host.block.on())
        refuse("block.scheduler", "an I/O scheduler of the model before a guest, which has its own", "\"off\"",
               "leave it out, and choose one in the guest");
    if (!c.host.reset_at.empty())
        refuse("host.reset_at", "resets by the host, which is the guest", "none",
               "leave it out, and reset in the guest: nvme reset, or /sys/.../reset");
    if (!c.ftl.precondition_workload.empty() && c.files.on())
        refuse("files.system", "a file system of the model before a guest, which has its own", "\"none\"",
               "leave it out");
    if (!problems.empty()) throw UserError(std::move(problems));
}

SsdConfig served_config(SsdConfig c) {
    const HostConfig given = c.host;
    c.host = HostConfig();
    c.host.queue_pairs = std::min(given.queue_pairs, c.nvme.max_queue_pairs);
    c.host.power_cut_at = given.power_cut_at;
    c.host.power_off_time = given.power_off_time;
    c.nvme.max_queue_pairs = c.host.queue_pairs;
    c.run.watchdog = kNoWatchdog;
    c.run.outlives_power = true;  // SIGUSR1
    return c;
}

WorkloadSource guest_source(const SsdConfig& config, GuestCommands*& commands) {
    WorkloadSource source;
    auto made = std::make_unique<GuestCommands>(config.nvme.max_queue_pairs);
    commands = made.get();
    for (std::uint32_t q = 1; q <= config.nvme.max_queue_pairs; ++q) {
        FioReportJob job;
        job.name = fmt::format("queue {}", q);
        job.rw = "randrw";
        source.report_jobs.push_back(job);
    }
    source.digest = "a guest";
    source.workload = std::move(made);
    return source;
}

std::vector<std::string> service_notes(const GuestService& s) {
    std::vector<std::string> notes;
    const vfio::Pacer& p = s.pacer;
    if (p.is_free())
        notes.push_back("simulated time ran freely: what a guest measures by its own clock says nothing of the drive");
    else
        notes.push_back(fmt::format("the model was behind its clock by {:.3g} ms at most, {:.3g} ms in the mean{}",
                                    static_cast<double>(p.most_behind_ns()) * 1e-6, p.mean_behind_ns() * 1e-6,
                                    p.stood_ns() != 0
                                        ? fmt::format("; the guest's clock stood for {:.3g} s of the wall",
                                                      static_cast<double>(p.stood_ns()) * 1e-9)
                                        : std::string()));
    if (s.dropped != 0)
        notes.push_back(fmt::format("{} of {} clients broke the protocol, or did not answer, and were dropped",
                                    s.dropped, s.clients));
    return notes;
}

}  // namespace ssdtlm
