// SPDX-License-Identifier: Apache-2.0
// The options that act. To add one: a row in the table below, its function above it, a field in FioJob or FioSettings.

#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {
namespace {

using Call = FioOptionCall;

// --- direction ---

void rw(Call& c) {
    struct Word {
        const char* name;
        bool random, reads, writes, trims;
    };
    static constexpr Word words[] = {{"read", false, true, false, false},       {"write", false, false, true, false},
                                     {"trim", false, false, false, true},       {"randread", true, true, false, false},
                                     {"randwrite", true, false, true, false},   {"randtrim", true, false, false, true},
                                     {"rw", false, true, true, false},          {"readwrite", false, true, true, false},
                                     {"randrw", true, true, true, false},       {"trimwrite", false, false, true, true},
                                     {"randtrimwrite", true, false, true, true}};
    std::vector<std::string> names;
    for (const Word& w : words) names.emplace_back(w.name);
    std::string text;
    if (!read_fio_text(c, text)) return;
    const std::size_t colon = text.find(':');
    Call word{c.settings, c.where, c.name, text.substr(0, colon), c.problems};
    std::size_t index = 0;
    if (!read_fio_word(word, names, index)) return;
    FioJob& job = c.settings.job;
    const Word& w = words[index];
    job.random = w.random;
    job.reads = w.reads;
    job.writes = w.writes;
    job.trims = w.trims;
    job.report.rw = index == 7 ? "rw" : w.name;
    job.sequence_ios = 1;
    job.sequence_hole = 0;
    if (colon == std::string::npos) return;
    const bool backwards = text.size() > colon + 1 && text[colon + 1] == '-';
    std::string why;
    const auto number =
        parse_fio_amount(std::string_view(text).substr(colon + 1 + (backwards ? 1 : 0)), c.settings.kb_base, why);
    if (!number || number->percent || (w.random && (backwards || number->value == 0)) || number->value > kAny32)
        return c.problem(w.random ? "allowed after ':': the number of I/Os per random offset"
                                  : "allowed after ':': the hole in bytes");
    if (w.random)
        job.sequence_ios = static_cast<std::uint32_t>(number->value);
    else
        job.sequence_hole =
            backwards ? -static_cast<std::int64_t>(number->value) : static_cast<std::int64_t>(number->value);
}
void rw_sequencer(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"sequential", "identical"}, i)) c.settings.job.sequencer = static_cast<FioSequencer>(i);
}
void rwmixread(Call& c) {
    read_fio_count(c, 0, 100, c.settings.job.rwmix_read);
}
void rwmixwrite(Call& c) {
    std::uint32_t writes = 0;
    if (read_fio_count(c, 0, 100, writes)) c.settings.job.rwmix_read = 100 - writes;
}
void percentage_random(Call& c) {
    PerDirection<std::uint64_t> v;
    for (std::size_t d = 0; d < kFioDirections; ++d) v[d] = c.settings.job.percentage_random[d];
    if (!read_fio_triple(c, 0, 100, v)) return;
    for (std::size_t d = 0; d < kFioDirections; ++d)
        c.settings.job.percentage_random[d] = static_cast<std::uint32_t>(v[d]);
}
void random_distribution(Call& c) {
    read_fio_distribution(c);
}
void zonemode(Call& c) {
    std::size_t i = 0;
    if (!read_fio_word(c, {"none", "strided", "zbd"}, i)) return;
    if (i == 2) return c.problem("the drive has no zones; allowed: none, strided");
    c.settings.strided = i == 1;
}
bool zone_bytes(Call& c, std::uint64_t& bytes) {
    FioAmount amount;
    if (!read_fio_amount(c, false, amount)) return false;
    bytes = amount.value;
    return true;
}
void zonesize(Call& c) {
    zone_bytes(c, c.settings.job.zone_size);
}
void zonerange(Call& c) {
    zone_bytes(c, c.settings.job.zone_range);
}
void zoneskip(Call& c) {
    zone_bytes(c, c.settings.job.zone_skip);
}
void norandommap(Call& c) {
    read_fio_flag(c, c.settings.norandommap);
}
void write_hint(Call& c) {
    std::size_t i = 0;
    // Linux's WRITE_LIFE_*, one less, is the stream identifier (drivers/nvme/host/core.c 4.13 to 5.16).
    if (read_fio_word(c, {"none", "short", "medium", "long", "extreme"}, i))
        c.settings.job.stream = static_cast<std::uint16_t>(i);
}
void randseed(Call& c) {
    if (read_fio_count(c, 0, kAny64, c.settings.randseed)) c.settings.randseed_given = true;
}
void randrepeat(Call& c) {
    read_fio_bool(c, c.settings.job.repeat_passes);
}

// --- sizes ---

void bs(Call& c) {
    if (read_fio_triple(c, 1, kAny32, c.settings.bs)) c.settings.bs_given_here = true;
}
void bsrange(Call& c) {
    read_fio_bsrange(c);
}
void bssplit(Call& c) {
    read_fio_bssplit(c);
}
void blockalign(Call& c) {
    read_fio_triple(c, 1, kAny32, c.settings.job.align);
}
void size(Call& c) {
    if (read_fio_amount(c, true, c.settings.size)) c.settings.size_where = c.where;
}
void io_size(Call& c) {
    read_fio_amount(c, true, c.settings.io_size);
}
void offset(Call& c) {
    read_fio_amount(c, true, c.settings.offset);
}
void offset_increment(Call& c) {
    read_fio_amount(c, true, c.settings.offset_increment);
}
void number_ios(Call& c) {
    read_fio_count(c, 0, kAny64, c.settings.job.number_ios);
}
void loops(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.loops);
}
void kb_base(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"1024", "1000"}, i)) c.settings.kb_base = i == 0 ? 1024 : 1000;
}

// --- load ---

void ioengine(Call& c) {
    std::string text;
    if (read_fio_text(c, text)) c.settings.engine = text.substr(0, text.find(':'));
}
void iodepth(Call& c) {
    read_fio_count(c, 1, 65535, c.settings.iodepth);
}
void numjobs(Call& c) {
    read_fio_count(c, 1, 4096, c.settings.numjobs);
}
void rate(Call& c) {
    read_fio_triple(c, 0, kAny64, c.settings.job.rate);
}
void rate_iops(Call& c) {
    read_fio_triple(c, 0, kAny32, c.settings.job.rate_iops);
}
void rate_process(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"linear", "poisson"}, i)) c.settings.job.rate_process = static_cast<FioRateProcess>(i);
}
void io_submit_mode(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"inline", "offload"}, i)) c.settings.job.submit_offload = i == 1;
}
void thinktime(Call& c) {
    read_fio_duration(c, FioBareTime::microseconds, c.settings.job.thinktime);
}
void thinktime_blocks(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.thinktime_blocks);
}
void thinktime_blocks_type(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"complete", "issue"}, i)) c.settings.job.thinktime_on_issue = i == 1;
}
void rate_ignore_thinktime(Call& c) {
    read_fio_bool(c, c.settings.job.rate_ignores_think);
}
void fsync(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.fsync);
}
void fdatasync(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.fdatasync);
}
void end_fsync(Call& c) {
    read_fio_bool(c, c.settings.job.end_fsync);
}
void writefua(Call& c) {
    read_fio_flag(c, c.settings.job.fua);
}
void sync_mode(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"none", "0", "sync", "1", "dsync"}, i)) {
        c.settings.job.fua = i >= 2;
        c.settings.job.data_only = i == 4;
    }
}

// --- time and order ---

void runtime(Call& c) {
    read_fio_duration(c, FioBareTime::seconds, c.settings.job.runtime);
}
void time_based(Call& c) {
    read_fio_flag(c, c.settings.job.time_based);
}
void ramp_time(Call& c) {
    read_fio_duration(c, FioBareTime::seconds, c.settings.job.ramp_time);
}
void startdelay(Call& c) {
    if (!c.value) return c.problem("this option needs a value");
    const std::size_t dash = c.value->find('-');
    Call low{c.settings, c.where, c.name, c.value->substr(0, dash), c.problems};
    Ps first{0};
    Ps last{0};
    if (!read_fio_duration(low, FioBareTime::seconds, first)) return;
    if (dash != std::string::npos) {
        Call high{c.settings, c.where, c.name, c.value->substr(dash + 1), c.problems};
        if (!read_fio_duration(high, FioBareTime::seconds, last)) return;
        if (last < first) return c.problem("the second delay of a range must not be shorter");
    }
    c.settings.job.start_delay = first;
    c.settings.start_delay_high = last;
}
void stonewall(Call& c) {
    read_fio_flag(c, c.settings.job.stonewall);
}
void new_group(Call& c) {
    read_fio_flag(c, c.settings.new_group);
}
void group_reporting(Call& c) {
    read_fio_flag(c, c.settings.job.report.group_reporting);
}

// --- output ---

void name(Call& c) {
    read_fio_text(c, c.settings.job.report.name);
}
void description(Call& c) {
    read_fio_text(c, c.settings.job.report.description);
}
void unified_rw_reporting(Call& c) {
    std::size_t i = 0;
    if (read_fio_word(c, {"none", "0", "mixed", "1", "both", "2"}, i))
        c.settings.job.report.unified = static_cast<FioUnified>(i / 2);
}
void percentile_list(Call& c) {
    std::string text;
    if (!read_fio_text(c, text)) return;
    std::vector<double> list;
    for (const std::string& part : split_fio_list(text, ':')) {
        std::string why;
        const auto v = parse_fio_float(part, why);
        if (!v || *v < 0 || *v > 100 || list.size() == 20)
            return c.problem("allowed: up to 20 numbers from 0 to 100 with ':' between");
        list.push_back(*v);
    }
    c.settings.job.report.percentiles = list;
}
void clat_percentiles(Call& c) {
    read_fio_bool(c, c.settings.job.report.clat_percentiles);
}
void lat_percentiles(Call& c) {
    read_fio_bool(c, c.settings.job.report.lat_percentiles);
}
void slat_percentiles(Call& c) {
    read_fio_bool(c, c.settings.job.report.slat_percentiles);
}
void write_bw_log(Call& c) {
    c.settings.bw_log = c.value.value_or("");
}
void write_iops_log(Call& c) {
    c.settings.iops_log = c.value.value_or("");
}
void write_lat_log(Call& c) {
    c.settings.lat_log = c.value.value_or("");
}
void log_avg_msec(Call& c) {
    read_fio_count(c, 0, kAny32, c.settings.job.report.log_avg_msec);
}
void log_offset(Call& c) {
    read_fio_bool(c, c.settings.job.report.log_offset);
}
void bwavgtime(Call& c) {
    read_fio_count(c, 1, kAny32, c.settings.job.report.bw_avg_msec);
}

}  // namespace

std::vector<FioOption> handled_fio_options() {
    constexpr auto H = FioOption::Treatment::handled;
    return {
        {"rw", "readwrite", H, "with `:N` suffix", rw},
        {"rw_sequencer", nullptr, H, "", rw_sequencer},
        {"rwmixread", nullptr, H, "of a contradictory pair the later one wins", rwmixread},
        {"rwmixwrite", nullptr, H, "", rwmixwrite},
        {"percentage_random", nullptr, H, "", percentage_random},
        {"random_distribution", nullptr, H, "hot blocks are scattered by a permutation instead of a hash",
         random_distribution},
        {"zonemode", nullptr, H, "none or strided; zbd needs a zoned drive", zonemode},
        {"zonesize", nullptr, H, "by itself it means zonemode=strided", zonesize},
        {"zonerange", nullptr, H, "default: zonesize", zonerange},
        {"zoneskip", nullptr, H, "", zoneskip},
        {"norandommap", nullptr, H, "default: each block once per pass", norandommap},
        {"write_hint", nullptr, H, "a stream of the drive, with `host.streams` and `nvme.streams`", write_hint},
        {"randseed", nullptr, H, "own sequences; the run's seed joins it", randseed},
        {"randrepeat", nullptr, H, "0: every pass has its own sequence", randrepeat},
        {"bs", "blocksize", H, "multiple of the LBA size", bs},
        {"bsrange", "blocksize_range", H, "", bsrange},
        {"bssplit", nullptr, H, "a sum above 100 is an error", bssplit},
        {"ba", "blockalign", H, "turns the random map off", blockalign},
        {"size", nullptr, H, "default: the device; larger than the device is an error", size},
        {"io_size", "io_limit", H, "", io_size},
        {"offset", "fileoffset", H, "", offset},
        {"offset_increment", nullptr, H, "", offset_increment},
        {"number_ios", nullptr, H, "", number_ios},
        {"loops", nullptr, H, "", loops},
        {"kb_base", nullptr, H, "", kb_base},
        {"ioengine", nullptr, H,
         "synchronous engines (and the default, psync) cap iodepth to 1; one that does no I/O of a drive is an error",
         ioengine},
        {"iodepth", nullptr, H, "", iodepth},
        {"numjobs", nullptr, H, "each clone is a job with a queue pair of its own where the device has enough",
         numjobs},
        {"rate", nullptr, H, "exact to the picosecond", rate},
        {"rate_iops", nullptr, H, "counts I/Os also when block sizes are mixed", rate_iops},
        {"rate_process", nullptr, H, "", rate_process},
        {"io_submit_mode", nullptr, H, "inline (default): a rate sleep first waits for outstanding I/O",
         io_submit_mode},
        {"thinktime", nullptr, H, "", thinktime},
        {"thinktime_blocks", nullptr, H, "", thinktime_blocks},
        {"thinktime_blocks_type", nullptr, H, "", thinktime_blocks_type},
        {"rate_ignore_thinktime", nullptr, H, "", rate_ignore_thinktime},
        {"fsync", nullptr, H,
         "NVMe Flush; the job issues nothing until it is done. A drive without a volatile write cache gets none, as "
         "from Linux",
         fsync},
        {"fdatasync", nullptr, H, "as fsync", fdatasync},
        {"end_fsync", nullptr, H, "a flush at the end of each pass", end_fsync},
        {"fsync_on_close", nullptr, H, "as end_fsync", end_fsync},
        {"sync", nullptr, H, "writes with FUA", sync_mode},
        {"writefua", nullptr, H, "", writefua},
        {"runtime", "timeout", H, "simulated time", runtime},
        {"time_based", nullptr, H, "", time_based},
        {"ramp_time", nullptr, H, "", ramp_time},
        {"startdelay", nullptr, H, "", startdelay},
        {"stonewall", "wait_for_previous", H, "", stonewall},
        {"new_group", nullptr, H, "", new_group},
        {"group_reporting", nullptr, H, "", group_reporting},
        {"name", nullptr, H, "", name},
        {"description", nullptr, H, "", description},
        {"unified_rw_reporting", nullptr, H, "`mixed` has reads, writes and trims together, `both` also each by itself",
         unified_rw_reporting},
        {"percentile_list", nullptr, H, "", percentile_list},
        {"clat_percentiles", nullptr, H, "", clat_percentiles},
        {"lat_percentiles", nullptr, H, "", lat_percentiles},
        {"slat_percentiles", nullptr, H, "", slat_percentiles},
        {"write_bw_log", nullptr, H, "", write_bw_log},
        {"write_iops_log", nullptr, H, "", write_iops_log},
        {"write_lat_log", nullptr, H, "", write_lat_log},
        {"log_avg_msec", nullptr, H, "", log_avg_msec},
        {"log_offset", nullptr, H, "", log_offset},
        {"bwavgtime", nullptr, H, "", bwavgtime},
    };
}

}  // namespace ssdtlm
