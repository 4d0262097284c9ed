// SPDX-License-Identifier: Apache-2.0
// Turns the contents of a section into its clones: fio's fixups (fio 3.33 init.c) and our checks.
#include <algorithm>
#include <string_view>

#include "common/random/random.h"
#include "host_pcie/workload/fio/fio_engines.h"
#include "host_pcie/workload/fio/fio_job_file.h"
#include "host_pcie/workload/fio/fio_resolution.h"

namespace ssdtlm {
namespace {

constexpr const char* kDirection[] = {"reads", "writes", "trims"};

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::string_view units = " kmgt";
    std::size_t unit = 0;
    while (unit + 1 < units.size() && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + (unit == 0 ? "" : std::string(1, units[unit]));
}

class Resolver {
public:
    Resolver(const FioSection& section, FioResolution& where)
        : section_(section),
          settings_(section.settings),
          where_(where),
          device_(where.device),
          problems_(where.problems),
          job_(section.settings.job) {}

    void run() {
        std::vector<FioJob>& jobs = where_.file.jobs;
        const std::size_t before = problems_.size();
        engine();
        kib();
        refill();
        combinations();
        waitee(jobs);
        block_sizes();
        zones();
        random_map();
        rates();
        if (job_.time_based && job_.runtime == Ps{0}) {
            note("time_based has no effect without runtime, as in fio");
            job_.time_based = false;
        }
        if (job_.loops == 0) job_.loops = 1;
        job_.repeat_passes = job_.repeat_passes && !settings_.randseed_given;
        report();
        groups(jobs);
        if (problems_.size() != before) return;  // the code below divides by block sizes
        const std::uint32_t section = jobs.empty() ? 0 : jobs.back().section + 1;
        for (std::uint32_t clone = 0; clone < settings_.numjobs; ++clone) {
            FioJob job = job_;
            job.clone = clone;
            job.section = section;
            job.index = static_cast<std::uint32_t>(jobs.size());
            job.stonewall = job_.stonewall && clone == 0;
            Random mix(settings_.randseed ^ (device_.seed * 0x9E3779B97F4A7C15u), job.index);
            job.seed = mix.next();
            if (settings_.start_delay_high > job_.start_delay)
                job.start_delay += Ps{static_cast<std::int64_t>(mix.below(
                    static_cast<std::uint64_t>((settings_.start_delay_high - job_.start_delay).count()) + 1))};
            if (!place_fio_job(job, section_, where_)) return;  // the other clones would repeat the problem
            jobs.push_back(std::move(job));
        }
    }

private:
    std::string title() const { return "job '" + section_.name + "'"; }
    void note(const std::string& text) { where_.file.notes.push_back(title() + ": " + text); }
    void warn(const std::string& text) { where_.file.warnings.push_back(title() + ": " + text); }
    void problem(const std::string& found, const std::string& allowed, const std::string& repair,
                 const std::string& where = "") {
        problems_.push_back({(where.empty() ? section_.where : where) + ": " + title(), found, allowed, repair});
    }
    bool used(std::size_t d) const { return d == 0 ? job_.reads : d == 1 ? job_.writes : job_.trims; }

    void engine() {
        job_.iodepth = settings_.iodepth;
        const std::string found = "ioengine=" + settings_.engine;
        const FioEngine* engine = find_fio_engine(settings_.engine);
        if (engine == nullptr) {
            const std::string near = nearest_fio_engine(settings_.engine);
            problem(found + " is not an engine of fio", "",
                    near.empty() ? "write ioengine=libaio" : "did you mean '" + near + "'?");
            return;
        }
        if (engine->kind == FioEngine::Kind::not_a_drive) {
            problem(found + " " + engine->what, "the model serves the block I/O of a drive only",
                    "write ioengine=libaio, or remove the job");
            return;
        }
        // Options of other engines come from [global] more than once.
        for (const Problem& p : settings_.of_engine)
            if (std::none_of(problems_.begin(), problems_.end(), [&](const Problem& q) { return q.where == p.where; }))
                problems_.push_back(p);
        if (engine->kind == FioEngine::Kind::synchronous && job_.iodepth > 1) {
            warn(found + " is synchronous: iodepth=" + std::to_string(job_.iodepth) +
                 " acts as 1, as in fio; write ioengine=libaio for the full depth");
            job_.iodepth = 1;
        }
    }

    /// Computes how far a full queue empties, from iodepth_low and iodepth_batch_complete_min (backend.c,
    /// wait_for_completions).
    void refill() {
        const std::uint32_t low =
            settings_.iodepth_low == 0 ? job_.iodepth : std::min(settings_.iodepth_low, job_.iodepth);
        const std::uint32_t batch = std::clamp(settings_.batch_complete, 1u, job_.iodepth);
        std::uint32_t left = job_.iodepth;
        do left -= std::min(batch, left);
        while (left > low);
        job_.refill_at = left;
    }

    /// Checks combinations of options that exclude each other.
    void combinations() {
        job_.verify = job_.verify && settings_.do_verify && job_.writes;
        if (job_.latency_target != Ps{0} && job_.latency_window == Ps{0})
            problem("latency_target without latency_window", "the time after which a depth is judged",
                    "write latency_window=5s");
        if (job_.flow == 0 && job_.flow_sleep != Ps{0}) note("flow_sleep has no effect without flow, as in fio");
        if (job_.steady.seconds == 1) problem("steadystate_duration=1", "2 seconds or more", "raise it");
        if (settings_.openfiles != 0 && settings_.openfiles < settings_.nrfiles)
            problem(
                "openfiles=" + std::to_string(settings_.openfiles) + " of nrfiles=" + std::to_string(settings_.nrfiles),
                "all files must be open: the model opens none in turn", "remove openfiles");
        if (settings_.nrfiles > 1 && job_.trimwrite())
            problem("trimwrite over " + std::to_string(settings_.nrfiles) + " files", "one file", "write nrfiles=1");
    }

    /// Checks that wait_for names exactly one job before this one.
    void waitee(const std::vector<FioJob>& jobs) {
        if (job_.wait_for.empty()) return;
        std::size_t count = 0;
        for (const FioJob& j : jobs) count += j.clone == 0 && j.report.name == job_.wait_for ? 1 : 0;
        const std::string found = "wait_for=" + job_.wait_for;
        if (job_.report.name == job_.wait_for)
            problem(found + " waits for the job itself", "", "name a job before it", settings_.wait_for_where);
        else if (count != 1)
            problem(found + ": " + std::to_string(count) + " jobs before this one have that name", "one, as in fio",
                    "name one job that stands before it", settings_.wait_for_where);
    }

    void kib() {
        if (settings_.kib_1000.empty()) return;
        std::string all;
        for (const std::string& v : settings_.kib_1000) all += (all.empty() ? "" : ", ") + v;
        warn(all +
             ": with fio's default kb_base=1024 a KiB has 1000 bytes and a k has 1024; write 4k, or kb_base=1000");
    }

    void block_sizes() {
        bool from_bs = false;
        for (std::size_t d = 0; d < kFioDirections; ++d) {
            if (job_.bs_min[d] == 0) {
                job_.bs_min[d] = job_.bs_max[d] = settings_.bs[d];
                from_bs = true;
            }
            if (job_.align[d] == 0 || !job_.random) job_.align[d] = job_.bs_min[d];
            if (!used(d)) continue;
            multiple(d, job_.bs_min[d], "block size");
            multiple(d, job_.bs_max[d], "block size");
            if (job_.align[d] != job_.bs_min[d]) multiple(d, job_.align[d], "blockalign");
            for (const FioBlockShare& s : job_.bssplit[d]) multiple(d, s.bytes, "block size");
            if (job_.bs_max[d] > (std::uint64_t{1} << 30))
                problem("a block size of " + bytes_text(job_.bs_max[d]) + " for " + kDirection[d], "at most 1g",
                        "lower it");
        }
        if (!from_bs && settings_.bs_given_here) note("bs has no effect where bssplit or bsrange is set, as in fio");
        const auto hole = static_cast<std::uint64_t>(job_.sequence_hole < 0 ? -job_.sequence_hole : job_.sequence_hole);
        if (hole % device_.lba_bytes != 0)
            problem("a hole of " + std::to_string(hole) + " bytes", lba_text(), "change the number after rw=...:");
    }
    std::string lba_text() const {
        return "allowed: multiples of the LBA size, " + std::to_string(device_.lba_bytes) + " bytes";
    }
    void multiple(std::size_t d, std::uint64_t bytes, const char* what) {
        if (bytes % device_.lba_bytes == 0) return;
        const std::string found =
            std::string("a ") + what + " of " + std::to_string(bytes) + " bytes for " + kDirection[d];
        for (const Problem& p : problems_)
            if (p.found == found && p.where == section_.where + ": " + title())
                return;  // bs_min and bs_max are one value
        problem(found, lba_text(),
                settings_.kib_1000.empty() ? "change it, or the namespace's LBA size"
                                           : "a KiB has 1000 bytes with fio's default kb_base=1024: write 4k for 4096");
    }

    void zones() {
        job_.strided = settings_.strided.value_or(job_.zone_size != 0);
        if (!job_.strided) return;
        if (job_.zone_size == 0)
            return problem("zonemode=strided without zonesize", "bytes to be done in a zone", "add zonesize");
        if (job_.zone_range == 0) job_.zone_range = job_.zone_size;
        for (const std::uint64_t bytes : {job_.zone_range, job_.zone_skip})
            if (bytes % device_.lba_bytes != 0)
                problem("zones of " + std::to_string(bytes) + " bytes", lba_text(),
                        "change zonerange, zonesize or zoneskip");
        for (std::size_t d = 0; d < kFioDirections; ++d)
            if (used(d) && job_.zone_range < job_.bs_max[d])
                problem("a zone of " + std::to_string(job_.zone_range) + " bytes",
                        "one that holds the largest block, " + std::to_string(job_.bs_max[d]) + " bytes",
                        "raise zonerange or zonesize");
    }

    void random_map() {
        bool aligned = true;
        for (std::size_t d = 0; d < kFioDirections; ++d) aligned = aligned && job_.align[d] == job_.bs_min[d];
        if (!aligned && !settings_.norandommap) note("blockalign turns the random map off, as in fio");
        job_.random_map = !settings_.norandommap && aligned && job_.distribution == FioDistribution::random;
    }

    void rates() {
        const auto any = [](const PerDirection<std::uint64_t>& v) { return v[0] != 0 || v[1] != 0 || v[2] != 0; };
        if (any(job_.rate) && any(job_.rate_iops))
            problem("rate and rate_iops together", "one of the two", "remove one");
        for (std::size_t d = 0; d < kFioDirections; ++d) {
            if (used(d) && job_.rate_iops[d] != 0 && job_.bs_min[d] != job_.bs_max[d])
                return note(
                    "rate_iops counts I/Os; fio 3.33 counts bytes of the smallest block and runs slower with mixed "
                    "sizes");
        }
    }

    void report() {
        FioReportJob& r = job_.report;
        r.iodepth = settings_.iodepth;
        r.ramp = job_.ramp_time;
        r.numjobs = settings_.numjobs;
        r.latency_target_ns = static_cast<std::uint64_t>(job_.latency_target.count() / 1000);
        r.latency_window_us = static_cast<std::uint64_t>(job_.latency_window.count() / 1'000'000);
        r.latency_percentile = job_.latency_percentile;
        const std::size_t d = job_.reads ? 0 : job_.writes ? 1 : 2;
        r.bs = bytes_text(job_.bs_min[d]);
        if (job_.bs_max[d] != job_.bs_min[d]) r.bs += "-" + bytes_text(job_.bs_max[d]);
        const auto prefix = [&](const std::optional<std::string>& log) {
            return !log ? std::string() : log->empty() ? r.name : *log;
        };
        r.bw_log = prefix(settings_.bw_log);
        r.iops_log = prefix(settings_.iops_log);
        r.lat_log = prefix(settings_.lat_log);
    }

    void groups(const std::vector<FioJob>& jobs) {
        if (jobs.empty()) return;
        job_.report.group = jobs.back().report.group + (job_.stonewall || settings_.new_group ? 1 : 0);
    }

    const FioSection& section_;
    const FioSettings& settings_;
    FioResolution& where_;
    const FioDevice& device_;
    std::vector<Problem>& problems_;
    FioJob job_;
};

}  // namespace

void check_fio_flows(FioResolution& where) {
    std::uint32_t wall = 0;
    std::vector<std::uint32_t> walls;  // stonewalls before each job
    for (const FioJob& late : where.file.jobs) {
        wall += late.stonewall ? 1 : 0;
        walls.push_back(wall);
        if (late.flow == 0 || late.clone != 0) continue;
        for (const FioJob& early : where.file.jobs) {
            if (early.index >= late.index) break;
            if (early.flow == 0 || early.flow_id != late.flow_id || early.runtime != Ps{0}) continue;
            if (walls[early.index] == wall && late.wait_for.empty()) continue;
            where.problems.push_back({where.file.path + ": job '" + early.report.name + "'",
                                      "its flow waits for job '" + late.report.name + "', which waits for it to end",
                                      "jobs of a flow that run together, or a runtime",
                                      "remove stonewall, wait_for or flow"});
            break;
        }
    }
}

void resolve_fio_section(const FioSection& section, FioResolution& where) {
    Resolver(section, where).run();
}

}  // namespace ssdtlm
