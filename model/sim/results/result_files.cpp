// SPDX-License-Identifier: Apache-2.0
#include "sim/results/result_files.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>

#include "common/report/error.h"

namespace ssdtlm {

namespace fs = std::filesystem;

namespace {
constexpr const char* kManifest = "wall_clock.json";

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw OutputError(
        Problem{path.string(), "cannot be written: " + why, "", "make room, or choose another folder with -o"});
}
bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// True: it has the name of a log of fio: <prefix>_bw.<number>.log.
bool is_fio_log(const std::string& name) {
    static const std::regex kLog(R"(.*_(bw|iops|slat|clat|lat)\.[0-9]+\.log)");
    return std::regex_match(name, kLog);
}

bool is_rtl_recording(const std::string& name) {
    return name.rfind("rtl_", 0) == 0 && ends_with(name, ".fst");
}

/// The further files that the manifest of a run lists. It is empty if the manifest has no list.
std::vector<std::string> listed_in(const fs::path& manifest) {
    std::vector<std::string> listed;
    std::ifstream in(manifest, std::ios::binary);
    const nlohmann::json j = nlohmann::json::parse(in, nullptr, false);
    if (!j.is_object() || !j.contains("files") || !j["files"].is_array()) return listed;
    for (const auto& name : j["files"])
        if (name.is_string()) listed.push_back(name.get<std::string>());
    return listed;
}

/// The names of the entries of a folder; none if it cannot be read.
std::vector<std::string> entries_of(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    return names;
}

void remove_quietly(const fs::path& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}
}  // namespace

void write_text_file(const fs::path& path, const std::string& text) {
    errno = 0;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) refuse(path, system_reason());
}

void write_whole_file(const fs::path& path, const std::string& text) {
    write_text_file(part_of(path), text);
    publish(path);
}

const std::vector<std::string>& ResultFiles::names() {
    static const std::vector<std::string> all{
        "result.json",    "failed.json", "latency.csv", "latency_bins.csv", "latency_by_job.csv", "slowest.json",
        "timeseries.csv", "gc.csv",      "block.csv",   "fio.json",         "wall_clock.json"};
    return all;
}

const std::vector<std::string>& ResultFiles::recordings() {
    static const std::vector<std::string> all{"wave.vcd",    "wave.fst",   "wave.gtkw",
                                              "wave.names/", "trace.json", "report.html"};
    return all;
}

bool ResultFiles::may_write(std::string name) {
    static const std::string kPart = part_of("").string();
    if (ends_with(name, kPart)) name.resize(name.size() - kPart.size());
    const auto has = [&name](const std::vector<std::string>& all) {
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string& n) { return n.substr(0, n.find('/')) == name; });
    };
    return has(names()) || has(recordings()) || is_fio_log(name) || is_rtl_recording(name);
}

std::vector<std::string> ResultFiles::parts() const {
    std::vector<std::string> all;
    for (const std::string& name : names()) all.push_back(part(name).string());
    for (const std::string& name : recordings())
        if (name.back() != '/') all.push_back(part(name).string());
    return all;
}

void ResultFiles::remove_parts() const {
    for (const std::string& path : parts()) remove_quietly(path);
    for (const std::string& name : entries_of(directory_)) {
        const std::string whole = name.substr(0, std::min(name.size(), name.rfind(".part")));
        if (whole != name && (is_fio_log(whole) || is_rtl_recording(whole) || whole.rfind("report.html", 0) == 0))
            remove_quietly(directory_ / name);
    }
}

ResultFiles::~ResultFiles() {
    std::error_code ignored;
    for (const std::string& name : added_) fs::remove(part(name), ignored);
}

void ResultFiles::remove_earlier() const {
    for (const std::string& listed : listed_in(directory_ / kManifest)) {
        const fs::path name = fs::path(listed).lexically_normal();
        if (name.is_absolute() || *name.begin() == "..") continue;  // outside the folder
        if (is_fio_log(name.filename().string())) remove_quietly(directory_ / name);
    }
    for (const std::string& name : names()) remove_quietly(directory_ / name);
    for (const std::string& name : recordings()) remove_quietly(directory_ / name.substr(0, name.find('/')));
    for (const std::string& name : entries_of(directory_))
        if (is_rtl_recording(name)) remove_quietly(directory_ / name);
}

void ResultFiles::add(const std::string& name, const std::string& text) {
    added_.push_back(name);
    write_text_file(part(name), text);
}

std::ostream& ResultFiles::stream(const std::string& name) {
    added_.push_back(name);
    errno = 0;
    std::ofstream& out =
        streams_.emplace_back(Stream{name, std::ofstream(part(name), std::ios::binary | std::ios::trunc)}).out;
    if (!out) refuse(part(name), system_reason());
    return out;
}

void ResultFiles::commit() {
    for (Stream& s : streams_) {
        errno = 0;
        s.out.close();  // writes the rest, and tries again what failed before
        if (!s.out) refuse(directory_ / s.name, system_reason());
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
