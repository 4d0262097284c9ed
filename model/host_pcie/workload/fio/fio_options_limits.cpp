// SPDX-License-Identifier: Apache-2.0
// The handled options that make a job depend on other jobs, on its own results, or on what it has written.

#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {
namespace {

constexpr std::uint32_t kMostFlow = 1000;  // fio's FLOW_MAX_WEIGHT
using Call = FioOptionCall;

// --- other jobs ---

void wait_for(Call& c) {
    if (read_fio_text(c, c.settings.job.wait_for)) c.settings.wait_for_where = c.where;
}
void exitall(Call& c) {
    read_fio_flag(c, c.settings.job.exitall);
}
void exitall_on_error(Call& c) {
    read_fio_flag(c, c.settings.job.exitall_on_error);
}
void exit_what(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"group", "stonewall", "all"}, i)) c.settings.job.exit_what = static_cast<FioExit>(i);
}
void flow_id(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.flow_id);
}
void flow(Call& c) {
    read_fio_count(c, 0, kMostFlow, c.settings.job.flow);
}
void flow_sleep(Call& c) {
    read_fio_duration(c, FioBareTime::microseconds, c.settings.job.flow_sleep);
}

// --- its own results ---

void rate_min(Call& c) {
    read_fio_triple(c, 0, kAny64, c.settings.job.rate_min);
}
void rate_iops_min(Call& c) {
    read_fio_triple(c, 0, kAny32, c.settings.job.rate_iops_min);
}
void rate_cycle(Call& c) {
    std::uint32_t ms = 0;
    if (read_fio_count(c, 0, kAny32, ms)) c.settings.job.rate_cycle = std::chrono::milliseconds(ms);
}
void max_latency(Call& c) {
    read_fio_durations(c, c.settings.job.max_latency);
}
void latency_target(Call& c) {
    read_fio_duration(c, FioBareTime::microseconds, c.settings.job.latency_target);
}
void latency_window(Call& c) {
    read_fio_duration(c, FioBareTime::microseconds, c.settings.job.latency_window);
}
void latency_percentile(Call& c) {
    std::string why;
    const auto percent = parse_fio_float(c.value.value_or(""), why);
    if (!percent || !(*percent > 0 && *percent <= 100)) return c.problem("allowed: above 0, up to 100");
    c.settings.job.latency_percentile = *percent;
}
void latency_run(Call& c) {
    read_fio_bool(c, c.settings.job.latency_run);
}
void steadystate(Call& c) {
    read_fio_steadystate(c);
}
/// Whole seconds, as fio takes one value a second.
bool read_seconds(Call& c, Ps& time) {
    if (!read_fio_duration(c, FioBareTime::seconds, time)) return false;
    if (time % std::chrono::seconds(1) == Ps{0}) return true;
    c.problem("allowed: whole seconds");
    return false;
}
void steadystate_duration(Call& c) {
    Ps time{0};
    if (read_seconds(c, time))
        c.settings.job.steady.seconds =
            static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}
void steadystate_ramp_time(Call& c) {
    read_seconds(c, c.settings.job.steady.ramp);
}
void iodepth_low(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.iodepth_low);
}
void iodepth_batch(Call& c) {
    std::uint32_t any = 0;  // it has no effect, as all I/Os that are ready at one instant are submitted together
    read_fio_count(c, 1, kAny32, any);
}
void iodepth_batch_complete_min(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.batch_complete);
}
void iodepth_batch_complete_max(Call& c) {
    std::uint32_t any = 0;  // it has no effect, as all completed I/Os are taken at once
    read_fio_count(c, 0, kAny32, any);
}

// --- what it has written ---

void verify(Call& c) {
    static const std::vector<std::string> words{
        "0",        "none",     "md5",    "crc64",  "crc32",   "crc32c-intel", "crc32c",
        "crc16",    "crc7",     "sha1",   "sha256", "sha512",  "sha3-224",     "sha3-256",
        "sha3-384", "sha3-512", "xxhash", "meta",   "pattern", "pattern_hdr",  "null"};
    std::string text;
    if (!read_fio_text(c, text)) return;
    Call word{c.settings, c.where, c.name, text.substr(0, text.find(':')), c.problems};
    std::size_t i = 0;
    if (read_fio_word(word, words, i)) c.settings.job.verify = i >= 2;
}
void do_verify(Call& c) {
    read_fio_bool(c, c.settings.do_verify);
}
void verify_backlog(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.verify_backlog);
}
void verify_backlog_batch(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.verify_batch);
}

}  // namespace

std::vector<FioOption> control_fio_options() {
    constexpr auto H = FioOption::Treatment::handled;
    return {
        {"wait_for", nullptr, H, "", wait_for},
        {"exitall", nullptr, H, "", exitall},
        {"exitall_on_error", nullptr, H, "", exitall_on_error},
        {"exit_what", nullptr, H, "", exit_what},
        {"flow_id", nullptr, H, "", flow_id},
        {"flow", nullptr, H, "", flow},
        {"flow_sleep", nullptr, H, "without it a job that is ahead waits for the others; fio spins", flow_sleep},
        {"rate_min", "ratemin", H, "a job below it ends, and the run exits 1", rate_min},
        {"rate_iops_min", nullptr, H, "as rate_min", rate_iops_min},
        {"rate_cycle", "ratecycle", H, "", rate_cycle},
        {"max_latency", nullptr, H, "a job with a longer one ends, and the run exits 1", max_latency},
        {"latency_target", nullptr, H, "", latency_target},
        {"latency_window", nullptr, H, "", latency_window},
        {"latency_percentile", nullptr, H, "", latency_percentile},
        {"latency_run", nullptr, H, "", latency_run},
        {"steadystate", "ss", H, "iops, iops_slope, bw, bw_slope", steadystate},
        {"steadystate_duration", "ss_dur", H, "", steadystate_duration},
        {"steadystate_ramp_time", "ss_ramp", H, "", steadystate_ramp_time},
        {"iodepth_low", nullptr, H, "", iodepth_low},
        {"iodepth_batch", "iodepth_batch_submit", H, "all I/Os of one moment are submitted together", iodepth_batch},
        {"iodepth_batch_complete_min", "iodepth_batch_complete", H,
         "a full queue is refilled when so many have completed; each keeps its own completion time",
         iodepth_batch_complete_min},
        {"iodepth_batch_complete_max", nullptr, H, "all that have completed are taken", iodepth_batch_complete_max},
        {"verify", nullptr, H,
         "what a job has written is read back; contents are checked by the integrity check of the run, whatever the "
         "method",
         verify},
        {"do_verify", nullptr, H, "", do_verify},
        {"verify_backlog", nullptr, H, "", verify_backlog},
        {"verify_backlog_batch", nullptr, H, "", verify_backlog_batch},
    };
}

}  // namespace ssdtlm
