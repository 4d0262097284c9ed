// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_option_effects.h"

#include <algorithm>
#include <map>
#include <set>

namespace ssdtlm {
namespace {

struct Row {
    std::vector<const char*> names;
    const char* with;
    bool (*acts)(const FioJob& job, const FioSettings& settings);
};

bool flushes(const FioJob& j, const FioSettings&) {
    return j.writes;
}
bool on_files(const FioJob&, const FioSettings& s) {
    if (!s.filename.empty() && s.filename.compare(0, 5, "/dev/") == 0) return false;
    return !s.directory.empty() || !s.filename.empty() || s.nrfiles > 1 || s.filesize_low != 0 ||
           !s.filename_format.empty();
}
bool verifies(const FioJob&, const FioSettings& s) {
    return s.job.verify;
}
bool logs(const FioJob& j, const FioSettings&) {
    return !j.report.bw_log.empty() || !j.report.iops_log.empty() || !j.report.lat_log.empty();
}
bool deep(const FioJob& j, const FioSettings&) {
    return j.iodepth > 1;
}
bool random_places(const FioJob& j, const FioSettings&) {
    return j.random;
}
bool draws(const FioJob& j, const FioSettings&) {
    return j.random || j.mixed() || j.trimwrite() || j.bs_min != j.bs_max ||
           j.rate_process == FioRateProcess::poisson || j.files.size() > 1;
}
bool paced(const FioJob& j, const FioSettings&) {
    return j.rate_limited();
}
bool aims(const FioJob& j, const FioSettings&) {
    return j.latency_target != Ps{0};
}
bool never(const FioJob&, const FioSettings&) {
    return false;
}
bool has_minimum(const FioJob& j, const FioSettings&) {
    return std::any_of(j.rate_min.begin(), j.rate_min.end(), [](auto v) { return v != 0; }) ||
           std::any_of(j.rate_iops_min.begin(), j.rate_iops_min.end(), [](auto v) { return v != 0; });
}

const std::vector<Row>& rows() {
    static const std::vector<Row> table{
        {{"rw_sequencer"},
         "a number behind rw, as rw=randread:8",
         [](const FioJob& j, const FioSettings&) { return j.sequence_ios > 1; }},
        {{"rwmixread", "rwmixwrite"},
         "a job that reads and writes",
         [](const FioJob& j, const FioSettings&) { return j.mixed(); }},
        {{"percentage_random", "random_distribution", "norandommap", "randrepeat", "ba"},
         "random offsets",
         random_places},
        {{"randseed"}, "what is drawn: random offsets, directions or sizes", draws},
        {{"offset_increment"}, "numjobs above 1", [](const FioJob&, const FioSettings& s) { return s.numjobs > 1; }},
        {{"fill_device"},
         "a size, which it replaces by the drive's",
         [](const FioJob&, const FioSettings& s) { return s.given.count("size") != 0; }},
        {{"write_hint", "fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync", "writefua", "verify"},
         "a job that writes",
         flushes},
        {{"loops"},
         "jobs that end by their size, not by time_based",
         [](const FioJob& j, const FioSettings&) { return !j.time_based; }},
        {{"rate_process", "io_submit_mode"}, "rate or rate_iops", paced},
        {{"rate_ignore_thinktime"},
         "thinktime, and rate or rate_iops",
         [](const FioJob& j, const FioSettings& s) { return j.thinktime != Ps{0} && paced(j, s); }},
        {{"zonerange", "zoneskip"},
         "zonemode=strided, which zonesize means",
         [](const FioJob& j, const FioSettings&) { return j.strided; }},
        {{"thinktime_blocks", "thinktime_blocks_type"},
         "thinktime",
         [](const FioJob& j, const FioSettings&) { return j.thinktime != Ps{0}; }},
        {{"stonewall", "new_group"},
         "a job before it",
         [](const FioJob& j, const FioSettings&) { return j.section > 0; }},
        {{"log_avg_msec", "log_offset"}, "write_bw_log, write_iops_log or write_lat_log", logs},
        {{"exit_what"},
         "exitall or exitall_on_error",
         [](const FioJob& j, const FioSettings&) { return j.exitall || j.exitall_on_error; }},
        {{"flow_id"}, "flow", [](const FioJob& j, const FioSettings&) { return j.flow != 0; }},
        {{"rate_cycle"}, "rate_min or rate_iops_min", has_minimum},
        {{"latency_window", "latency_percentile", "latency_run"}, "latency_target", aims},
        {{"steadystate", "steadystate_ramp_time"},
         "steadystate_duration",
         [](const FioJob& j, const FioSettings&) { return j.steady.seconds != 0; }},
        {{"iodepth_low", "iodepth_batch_complete_min"}, "a depth above 1, with an asynchronous ioengine", deep},
        {{"iodepth_batch"}, "fio itself: the model submits all I/Os of one moment together", never},
        {{"iodepth_batch_complete_max"}, "fio itself: the model takes all completions of one moment together", never},
        {{"openfiles"}, "fio itself: in the model all files are open", never},
        {{"do_verify", "verify_backlog"}, "verify", verifies},
        {{"verify_backlog_batch"},
         "verify and verify_backlog",
         [](const FioJob& j, const FioSettings& s) { return s.job.verify && j.verify_backlog != 0; }},
        {{"filename_format", "filesize", "nrfiles", "overwrite", "fallocate", "create_on_open", "create_only"},
         "files, named by directory or filename",
         on_files},
        {{"file_service_type"},
         "nrfiles above 1",
         [](const FioJob& j, const FioSettings&) { return j.files.size() > 1; }},
    };
    return table;
}

const Row* row_of(const std::string& name) {
    for (const Row& r : rows())
        if (std::find(r.names.begin(), r.names.end(), name) != r.names.end()) return &r;
    return nullptr;
}

std::string text_of(const FioGiven& o) {
    return o.name + (o.value ? "=" + *o.value : "");
}

bool on_command_line(const FioGiven& o) {
    return o.where.compare(0, std::string(kFioCommandLine).size(), kFioCommandLine) == 0;
}

/// The common name of options with the same meaning, of which the later one counts.
std::string subject_of(const std::string& name) {
    return name == "rwmixwrite" ? "rwmixread" : name;
}

}  // namespace

std::vector<std::string> notes_on_replaced_options(const std::vector<FioJobTold>& jobs) {
    struct Fate {
        FioGiven given;
        std::size_t jobs = 0;
        std::vector<std::pair<std::string, FioGiven>> replaced;  ///< in which job, by what
    };
    std::vector<Fate> fates;
    for (const FioJobTold& job : jobs) {
        std::map<std::string, std::size_t> last;
        for (std::size_t i = 0; i < job.options.size(); ++i) last[subject_of(job.options[i].name)] = i;
        for (const FioGiven& o : job.options) {
            const auto same = [&](const Fate& f) {
                return f.given.where == o.where && f.given.name == o.name && f.given.value == o.value;
            };
            auto fate = std::find_if(fates.begin(), fates.end(), same);
            if (fate == fates.end()) fate = fates.insert(fates.end(), {o, 0, {}});
            ++fate->jobs;
            const FioGiven& counts = job.options[last[subject_of(o.name)]];
            if (counts.where != o.where && (counts.value != o.value || counts.name != o.name))
                fate->replaced.emplace_back(job.name, counts);
        }
    }
    std::vector<std::string> notes;
    for (const Fate& f : fates) {
        if (f.replaced.empty()) continue;
        const bool line = on_command_line(f.given), all = f.replaced.size() == f.jobs;
        if (!all && !line) continue;  // a default that counts for some jobs
        const FioGiven& by = f.replaced.front().second;
        const std::string given = line ? "--" + text_of(f.given) : f.given.where + ": " + text_of(f.given);
        std::string in;
        for (const auto& [job, counts] : f.replaced) in += (in.empty() ? "" : ", ") + job;
        notes.push_back(
            given + " has no effect" + (all ? "" : " in job " + in) + ": " + by.where + " says " + text_of(by) +
            (line && !on_command_line(by) ? ", and the job file counts, as in fio" : ", which comes after it"));
    }
    return notes;
}

std::vector<std::string> notes_on_idle_options(const std::vector<FioSection>& sections,
                                               const std::vector<FioJob>& jobs) {
    std::set<std::string> acting, idle;
    for (std::size_t s = 0; s < sections.size(); ++s) {
        const auto job = std::find_if(jobs.begin(), jobs.end(), [&](const FioJob& j) { return j.section == s; });
        if (job == jobs.end()) continue;
        for (const std::string& name : sections[s].settings.given)
            if (const Row* row = row_of(name)) (row->acts(*job, sections[s].settings) ? acting : idle).insert(name);
    }
    std::vector<std::string> notes;
    if (jobs.size() == 1)
        for (const char* name : {"exitall", "exitall_on_error", "flow", "group_reporting"})
            if (sections.front().settings.given.count(name) != 0)
                notes.push_back(std::string(name) + " has no effect: it acts only with another job");
    for (const std::string& name : idle)
        if (acting.count(name) == 0) notes.push_back(name + " has no effect: it acts only with " + row_of(name)->with);
    return notes;
}

std::string fio_option_condition(const std::string& name) {
    const Row* row = row_of(name);
    return row == nullptr ? "" : row->with;
}

}  // namespace ssdtlm
