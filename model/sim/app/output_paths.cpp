// SPDX-License-Identifier: Apache-2.0
#include "sim/app/output_paths.h"

#include <algorithm>

#include "common/report/error.h"
#include "sim/results/result_files.h"

namespace ssdtlm {
namespace fs = std::filesystem;

namespace {

/// The path without links and dots, so that two names of a file are equal. The file need not exist.
fs::path place_of(const fs::path& path) {
    std::error_code error;
    fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
    if (error) place = fs::absolute(path, error).lexically_normal();
    return place.has_filename() ? place : place.parent_path();  // "out/"
}

bool is_in(const fs::path& place, const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), place.begin(), place.end()).first == folder.end();
}

/// A file that the user named, and where.
struct Named {
    std::string where;
    std::string path;
};

class Check {
public:
    Check(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& devices)
        : options_(options), results_(place_of(options.output_directory)) {
        for (const std::string& device : devices) reads({"the device", device});
        reads({"precondition.workload", config.ftl.precondition_workload});
        for (const std::string& workload : options.workloads) reads({"--workload", workload});
        if (!options.base.empty()) reads({"--base", (fs::path(options.base) / "result.json").string()});
        // A drive may be saved where it came from: its file is replaced when the new one is complete.
        if (!config.run.drive.empty() &&
            (options.save_drive.empty() || place_of(options.save_drive) != place_of(config.run.drive)))
            reads({"precondition.from", config.run.drive});
        if (options.report) writes({"--report", *options.report});
        writes({"--save-drive", options.save_drive});
        if (options.service) writes({"--clock", options.service->clock});
        if (options.service) writes({"--socket", options.service->socket});
    }

    std::vector<Problem> problems() const {
        std::vector<Problem> found;
        for (std::size_t i = 0; i < written_.size(); ++i) {
            const std::string what = collision(i);
            if (!what.empty())
                found.push_back(
                    {written_[i].where + " " + written_[i].path, what, "a file of its own", "give another path"});
        }
        for (const Named& in : read_)
            if (is_result(place_of(in.path)))
                found.push_back({options_.output_option + " " + options_.output_directory,
                                 "the results would replace " + in.path + ", which the run reads (" + in.where + ")",
                                 "another folder", "choose one with -o"});
        return found;
    }

private:
    /// A word that is no file is a name of something that comes with the program, or is refused elsewhere.
    void reads(Named in) {
        std::error_code error;
        if (!in.path.empty() && fs::is_regular_file(in.path, error)) read_.push_back(std::move(in));
    }
    void writes(Named out) {
        if (!out.path.empty()) written_.push_back(std::move(out));
    }

    bool is_result(const fs::path& place) const {
        if (!is_in(place, results_) || place == results_) return false;
        return ResultFiles::may_write(*place.lexically_relative(results_).begin());
    }

    /// What the file is besides; empty if nothing.
    std::string collision(std::size_t i) const {
        const fs::path place = place_of(written_[i].path);
        for (const Named& in : read_)
            if (place_of(in.path) == place) return "the run reads this file (" + in.where + ")";
        for (std::size_t other = 0; other < i; ++other)
            if (place_of(written_[other].path) == place) return "is the file of " + written_[other].where + " too";
        if (is_in(results_, place)) return "the results need a folder of this name";
        const bool report = written_[i].where == "--report" && place == results_ / "report.html";
        return is_result(place) && !report ? "the results have a file of this name" : "";
    }

    const RunOptions& options_;
    const fs::path results_;
    std::vector<Named> read_, written_;
};

}  // namespace

void check_output_paths(const SsdConfig& config, const RunOptions& options, const std::vector<std::string>& devices) {
    std::vector<Problem> problems = Check(config, options, devices).problems();
    if (!problems.empty()) throw UserError(std::move(problems));
}

bool comes_with_results(const fs::path& folder, const std::string& output_directory) {
    return is_in(place_of(output_directory), place_of(folder));
}

}  // namespace ssdtlm
