// SPDX-License-Identifier: Apache-2.0
// The options of files that act: where I/O goes when it does not go to the drive itself.

#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {
namespace {

using Call = FioOptionCall;

constexpr std::uint32_t kMostFiles = 65536;  // assumed: more than any job needs

void directory(Call& c) {
    read_fio_text(c, c.settings.directory);
}
void filename(Call& c) {
    read_fio_text(c, c.settings.filename);
}
void filename_format(Call& c) {
    read_fio_text(c, c.settings.filename_format);
}
void nrfiles(Call& c) {
    read_fio_count(c, 1, kMostFiles, c.settings.nrfiles);
}
void openfiles(Call& c) {
    read_fio_count(c, 1, kMostFiles, c.settings.openfiles);
}
void filesize(Call& c) {
    read_fio_size_range(c, c.settings.filesize_low, c.settings.filesize_high);
}
void file_service_type(Call& c) {
    std::string text;
    if (!read_fio_text(c, text)) return;
    const std::size_t colon = text.find(':');
    Call word{c.settings, c.where, c.name, text.substr(0, colon), c.problems};
    std::size_t i = 0;
    if (!read_fio_word(word, {"roundrobin", "random", "sequential", "zipf", "pareto", "normal", "gauss"}, i)) return;
    if (i > 2) return c.problem("of fio's ways to choose a file roundrobin, random and sequential are modelled");
    c.settings.job.file_service = static_cast<FioFileService>(i);
    c.settings.job.file_service_ios = 1;
    if (colon == std::string::npos) return;
    Call count{c.settings, c.where, c.name, text.substr(colon + 1), c.problems};
    read_fio_count(count, 1, kAny32, c.settings.job.file_service_ios);
}
void overwrite(Call& c) {
    read_fio_bool(c, c.settings.overwrite);
}
void fallocate(Call& c) {
    std::size_t i = 0;
    if (!read_fio_word(c, {"none", "0", "keep", "native", "posix", "truncate", "1"}, i)) return;
    // keep gives the file room, but not the length, which a later reader checks.
    c.settings.fallocate = i < 3    ? FioLayout::Extend::nothing
                           : i == 5 ? FioLayout::Extend::lengthen
                                    : FioLayout::Extend::allocate;
}
void create_on_open(Call& c) {
    read_fio_bool(c, c.settings.create_on_open);
}
void create_only(Call& c) {
    read_fio_bool(c, c.settings.job.create_only);
}
void fill_device(Call& c) {
    bool on = false;  // the whole drive is what a job without size writes anyway
    if (read_fio_bool(c, on) && on) c.settings.size = {};
}

}  // namespace

std::vector<FioOption> file_fio_options() {
    constexpr auto H = FioOption::Treatment::handled;
    return {
        {"directory", nullptr, H,
         "a file of its own for each clone, one beside the other on the drive; written before the jobs start where fio "
         "does that",
         directory},
        {"filename", nullptr, H, "under /dev: the drive; else with a size in bytes: a file on it, shared by its name",
         filename},
        {"filename_format", nullptr, H, "", filename_format},
        {"nrfiles", "nr_files", H, "", nrfiles},
        {"openfiles", nullptr, H, "all files must be open", openfiles},
        {"filesize", nullptr, H, "", filesize},
        {"file_service_type", nullptr, H, "roundrobin, random, sequential", file_service_type},
        {"overwrite", nullptr, H, "", overwrite},
        {"fallocate", nullptr, H, "whether a later reader of the file finds it laid out", fallocate},
        {"create_on_open", nullptr, H, "", create_on_open},
        {"create_only", nullptr, H, "", create_only},
        {"fill_device", "fill_fs", H, "the job writes the whole drive", fill_device},
    };
}

}  // namespace ssdtlm
