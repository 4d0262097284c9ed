// SPDX-License-Identifier: Apache-2.0
// From what a section says to its clones on this device: fio's fixups (fio 3.33 init.c, filesetup.c) and our checks.
#include <algorithm>
#include <string_view>

#include "common/random/random.h"
#include "host_pcie/workload/fio_job_file.h"

namespace ssdtlm {
namespace {

constexpr const char* kDirection[] = {"reads", "writes", "trims"};

bool synchronous(std::string_view engine) {
    for (std::string_view e : {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "falloc", "pmemblk",
                               "dev-dax", "libpmem", "e4defrag", "ime_psync", "ime_psyncv", "filecreate"})
        if (engine == e) return true;
    return false;
}
bool no_block_io(std::string_view engine) {
    for (std::string_view e : {"cpuio", "net", "netsplice", "filecreate", "filestat", "filedelete", "exec", "rdma"})
        if (engine == e) return true;
    return false;
}

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
    Resolver(const FioSection& section, const FioDevice& device, std::vector<std::string>& notes,
             std::vector<Problem>& problems)
        : section_(section),
          settings_(section.settings),
          device_(device),
          notes_(notes),
          problems_(problems),
          job_(section.settings.job) {}

    void run(std::vector<FioJob>& jobs) {
        const std::size_t before = problems_.size();
        engine();
        block_sizes();
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
        if (problems_.size() != before) return;  // sizes below divide by block sizes
        for (std::uint32_t clone = 0; clone < settings_.numjobs; ++clone) {
            FioJob job = job_;
            job.clone = clone;
            job.index = static_cast<std::uint32_t>(jobs.size());
            job.stonewall = job_.stonewall && clone == 0;
            Random mix(settings_.randseed ^ (device_.seed * 0x9E3779B97F4A7C15u), job.index);
            job.seed = mix.next();
            if (settings_.start_delay_high > job_.start_delay)
                job.start_delay += Ps{static_cast<std::int64_t>(mix.below(
                    static_cast<std::uint64_t>((settings_.start_delay_high - job_.start_delay).count()) + 1))};
            if (!place(job)) return;  // the other clones would repeat the problem
            jobs.push_back(std::move(job));
        }
    }

private:
    std::string title() const { return "job '" + section_.name + "'"; }
    void note(const std::string& text) { notes_.push_back(title() + ": " + text); }
    void problem(const std::string& found, const std::string& allowed, const std::string& repair,
                 const std::string& where = "") {
        problems_.push_back({(where.empty() ? section_.where : where) + ": " + title(), found, allowed, repair});
    }
    bool used(std::size_t d) const { return d == 0 ? job_.reads : d == 1 ? job_.writes : job_.trims; }

    void engine() {
        job_.iodepth = settings_.iodepth;
        if (no_block_io(settings_.engine))
            problem("ioengine=" + settings_.engine, "the model serves block I/O only", "write ioengine=libaio");
        if (synchronous(settings_.engine) && job_.iodepth > 1) {
            note("ioengine=" + settings_.engine + " is synchronous: iodepth=" + std::to_string(job_.iodepth) +
                 " acts as 1, as in fio; write ioengine=libaio for the full depth");
            job_.iodepth = 1;
        }
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
        problem(found, lba_text(), "change it, or the namespace's LBA size");
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
        r.numjobs = settings_.numjobs;
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

    /// Region, pass size and offset of one clone (fio: setup_files, get_start_offset). False after a problem.
    bool place(FioJob& job) {
        const std::uint64_t capacity = device_.capacity;
        const std::uint64_t block = job.smallest_block();
        const FioAmount& step = settings_.offset_increment;
        const auto part = [&](std::uint64_t percent) {
            return capacity / 100 * percent + capacity % 100 * percent / 100;
        };
        job.offset = (settings_.offset.percent ? part(settings_.offset.value) : settings_.offset.value) +
                     job.clone * (step.percent ? part(step.value) : step.value);
        if (settings_.offset.percent || step.percent) job.offset = div_ceil(job.offset, block) * block;
        if (job.offset % device_.lba_bytes != 0) {
            problem("an offset of " + std::to_string(job.offset) + " bytes", lba_text(),
                    "change offset or offset_increment");
            return false;
        }
        const std::string clone = settings_.numjobs > 1 ? "clone " + std::to_string(job.clone) + ": " : "";
        const std::string device = "the device has " + std::to_string(capacity) + " bytes";
        if (job.offset >= capacity) {
            problem(clone + "offset " + std::to_string(job.offset), device, "lower offset or offset_increment");
            return false;
        }
        const FioAmount& size = settings_.size;
        const bool by_bytes = !size.percent && size.value != 0;
        job.region = by_bytes ? size.value : capacity - job.offset;
        if (size.percent && size.value != 0 && size.value != 100) {
            job.region = std::min(part(size.value), capacity - job.offset);
            job.region -= job.region % block;
        }
        if (job.region > capacity - job.offset) {
            problem(clone + "offset " + std::to_string(job.offset) + " + size " + std::to_string(job.region) +
                        " is beyond the end",
                    device, "lower size, e.g. size=100%", settings_.size_where);
            return false;
        }
        std::uint64_t amount = job.region;
        const FioAmount& io = settings_.io_size;
        if (io.percent && io.value != 0) amount = amount / 100 * io.value + amount % 100 * io.value / 100;
        job.size = by_bytes && size.value < amount ? size.value : amount;
        job.io_size = io.percent ? 0 : io.value;
        if (job.size < block || job.region < block) {
            problem(clone + "a size of " + std::to_string(std::min(job.size, job.region)) + " bytes",
                    "at least the smallest block, " + std::to_string(block), "raise size or lower bs",
                    settings_.size_where);
            return false;
        }
        return zones_fit(job);
    }

    bool zones_fit(const FioJob& job) {
        if (job.distribution != FioDistribution::zoned_abs) return true;
        for (std::size_t d = 0; d < kFioDirections; ++d) {
            std::uint64_t end = 0;
            for (const FioZone& z : job.zones[d]) end += z.size;
            if (!used(d) || end <= job.region) continue;
            problem("the zones of zoned_abs end at " + std::to_string(end),
                    "the region has " + std::to_string(job.region) + " bytes", "shrink the zones or raise size");
            return false;
        }
        return true;
    }

    const FioSection& section_;
    const FioSettings& settings_;
    const FioDevice& device_;
    std::vector<std::string>& notes_;
    std::vector<Problem>& problems_;
    FioJob job_;
};

}  // namespace

void resolve_fio_section(const FioSection& section, const FioDevice& device, std::vector<FioJob>& jobs,
                         std::vector<std::string>& notes, std::vector<Problem>& problems) {
    Resolver(section, device, notes, problems).run(jobs);
}

}  // namespace ssdtlm
