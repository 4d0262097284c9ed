// SPDX-License-Identifier: Apache-2.0
#include "sim/results/result_files.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/report/error.h"

namespace ssdtlm {

namespace fs = std::filesystem;

namespace {
[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw OutputError(Problem{path.string(), "cannot be written: " + why, "", "make room, or choose another folder with -o"});
}
}  // namespace

void write_text_file(const fs::path& path, const std::string& text) {
    errno = 0;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) refuse(path, std::strerror(errno));
}

const std::vector<std::string>& ResultFiles::names() {
    static const std::vector<std::string> all{"result.json",    "failed.json", "latency.csv",
                                              "latency_bins.csv", "latency_by_job.csv", "slowest.json", "timeseries.csv", "gc.csv", "fio.json",    "wall_clock.json"};
    return all;
}

ResultFiles::~ResultFiles() {
    std::error_code ignored;
    for (const std::string& name : added_) fs::remove(part(name), ignored);
}

void ResultFiles::remove_earlier() const {
    std::error_code ignored;
    for (const std::string& name : names()) {
        fs::remove(directory_ / name, ignored);
        fs::remove(part(name), ignored);
    }
}

void ResultFiles::add(const std::string& name, const std::string& text) {
    added_.push_back(name);
    write_text_file(part(name), text);
}

std::ostream& ResultFiles::stream(const std::string& name) {
    added_.push_back(name);
    errno = 0;
    std::ofstream& out = streams_.emplace_back(Stream{name, std::ofstream(part(name), std::ios::binary | std::ios::trunc)}).out;
    if (!out) refuse(part(name), std::strerror(errno));
    return out;
}

void ResultFiles::commit() {
    for (Stream& s : streams_) {
        errno = 0;
        s.out.close();  // writes what is left, and tries again what failed before
        if (!s.out) refuse(directory_ / s.name, errno != 0 ? std::strerror(errno) : "not all of it was taken");
    }
    streams_.clear();
    while (!added_.empty()) {
        const std::string& name = added_.front();
        std::error_code error;
        fs::rename(part(name), directory_ / name, error);
        if (error) refuse(directory_ / name, error.message());
        added_.erase(added_.begin());
    }
}

}  // namespace ssdtlm
