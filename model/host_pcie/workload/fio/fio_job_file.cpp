// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_job_file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "common/report/content_hash.h"
#include "host_pcie/workload/fio/fio_option_effects.h"
#include "host_pcie/workload/fio/fio_options.h"
#include "host_pcie/workload/fio/fio_resolution.h"

namespace ssdtlm {
namespace {

constexpr int kMaxInclude = 8;

struct RawOption {
    std::string name;
    std::optional<std::string> value;
    std::string where;
};
struct RawSection {
    std::string name;
    std::string where;
    std::vector<RawOption> options;
    bool global() const { return name.compare(0, 6, "global") == 0; }  // fio compares the first six letters
};

std::string trim(const std::string& text) {
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    std::size_t first = 0;
    std::size_t last = text.size();
    while (first < last && blank(text[first])) ++first;
    while (last > first && blank(text[last - 1])) --last;
    return text.substr(first, last - first);
}

class Reader {
public:
    explicit Reader(std::vector<Problem>& problems) : problems_(problems) {}

    void read(const std::string& text, const std::string& path, int depth) {
        std::istringstream in(text);
        std::string line;
        for (std::size_t number = 1; std::getline(in, line); ++number) {
            line.resize(std::min(line.find_first_of(";#"), line.size()));
            const std::size_t column = std::min(line.find_first_not_of(" \t\r"), line.size()) + 1;
            const std::string content = trim(line);
            if (content.empty()) continue;
            const std::string where = path + ":" + std::to_string(number) + ":" + std::to_string(column);
            if (content[0] == '[')
                header(content, where, depth);
            else if (content.compare(0, 8, "include ") == 0)
                include(trim(content.substr(8)), path, where, depth);
            else
                option(content, where);
        }
    }
    /// Reads the options of a command line. As in fio, those before the first --name are defaults.
    void read(const std::vector<FioArgument>& arguments, bool job_follows) {
        for (const FioArgument& a : arguments) {
            const std::string where = kFioCommandLine + a.name;
            if (a.name == "name" && a.value) {
                sections_.push_back({*a.value, where, {}});
                continue;
            }
            if (sections_.empty()) sections_.push_back({"global", where, {}});
            RawOption o{a.name, a.value, where};
            if (o.value) o.value = substitute(*o.value, where);
            sections_.back().options.push_back(std::move(o));
        }
        const bool any_job =
            std::any_of(sections_.begin(), sections_.end(), [](const RawSection& s) { return !s.global(); });
        if (!arguments.empty() && !any_job && !job_follows)  // fio would want a --name
            sections_.push_back({"job", sections_.front().where, {}});
    }
    /// Adds arguments to each job. The last value of an option counts.
    void append(const std::vector<FioArgument>& arguments) {
        for (const FioArgument& a : arguments) {
            RawOption o{a.name, a.value, kFioCommandLine + a.name};
            if (o.value) o.value = substitute(*o.value, o.where);
            for (RawSection& s : sections_)
                if (!s.global()) s.options.push_back(o);
        }
    }
    std::vector<RawSection>& sections() { return sections_; }

private:
    void header(const std::string& content, const std::string& where, int depth) {
        const std::size_t end = content.rfind(']');
        if (depth > 0)
            problems_.push_back({where, "a section in an included file", "only options", "move the section"});
        if (end == std::string::npos || end == 1) {
            problems_.push_back({where, "'" + content + "'", "a section is [name]", "add the name or the ']'"});
            sections_.push_back({"?", where, {}});
            return;
        }
        sections_.push_back({content.substr(1, end - 1), where, {}});
    }
    void option(const std::string& content, const std::string& where) {
        if (sections_.empty()) {
            problems_.push_back(
                {where, "'" + content + "' stands before the first section", "", "write [global] above it"});
            sections_.push_back({"global", where, {}});
        }
        RawOption o;
        const std::size_t equals = content.find('=');
        o.name = trim(content.substr(0, equals));
        if (equals != std::string::npos) o.value = substitute(trim(content.substr(equals + 1)), where);
        o.where = where;
        sections_.back().options.push_back(std::move(o));
    }
    void include(const std::string& name, const std::string& path, const std::string& where, int depth) {
        std::string full = name;
        std::ifstream in(full);
        const std::size_t slash = path.rfind('/');
        if (!in && slash != std::string::npos) {  // relative to the file that includes it
            full = path.substr(0, slash + 1) + name;
            in.open(full);
        }
        if (in && (full == path || std::find(including_.begin(), including_.end(), full) != including_.end())) {
            problems_.push_back({where, "'" + name + "' includes itself", "", "remove this include"});
            return;
        }
        if (!in || depth == kMaxInclude) {
            problems_.push_back(
                {where, "cannot include '" + name + "'", depth == kMaxInclude ? "at most 8 levels" : "", ""});
            return;
        }
        including_.push_back(path);
        read(std::string(std::istreambuf_iterator<char>(in), {}), full, depth + 1);
        including_.pop_back();
    }
    /// Replaces ${NAME} by the variable of the environment, as fio does. A missing variable is a mistake here, but an
    /// empty text in fio.
    std::string substitute(std::string value, const std::string& where) {
        for (std::size_t at = 0; (at = value.find("${", at)) != std::string::npos;) {
            const std::size_t end = value.find('}', at);
            if (end == std::string::npos) break;
            const std::string name = value.substr(at + 2, end - at - 2);
            const char* text = std::getenv(name.c_str());
            if (text == nullptr)
                problems_.push_back({where, "the environment variable " + name + " is not set", "", "export " + name});
            const std::string replacement = text != nullptr ? text : "";
            value.replace(at, end - at + 1, replacement);
            at += replacement.size();
        }
        return value;
    }

    std::vector<Problem>& problems_;
    std::vector<std::string> including_;  // files that are being read, outermost first, without the one at hand
    std::vector<RawSection> sections_;
};

/// fio applies some options before or after the others, whatever their order in the file.
int precedence(const RawOption& o) {
    if (o.name == "kb_base" || o.name == "unit_base" || o.name == "lockfile") return 0;
    if (o.name == "filename" || o.name == "filename_format") return 2;
    return 1;
}

std::string list(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
    return text;
}

/// Collects the options of each running job, before they are sorted into the order of application.
std::vector<FioJobTold> told_jobs(const std::vector<RawSection>& sections, const std::vector<std::string>& wanted) {
    std::vector<FioGiven> global;
    std::vector<FioJobTold> jobs;
    for (const RawSection& raw : sections) {
        std::vector<FioGiven> own;
        for (const RawOption& o : raw.options)
            if (const FioOption* known = FioOptionTable::instance().find(o.name))
                own.push_back({known->name, o.value, o.where});
        if (raw.global()) {
            global.insert(global.end(), own.begin(), own.end());
            continue;
        }
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), raw.name) == wanted.end()) continue;
        jobs.push_back({raw.name, global});
        jobs.back().options.insert(jobs.back().options.end(), own.begin(), own.end());
    }
    return jobs;
}

}  // namespace

std::vector<FioReportJob> FioJobFile::report_jobs() const {
    std::vector<FioReportJob> out;
    for (const FioJob& job : jobs) out.push_back(job.report);
    return out;
}

FioJobFile parse_fio_jobs(const FioJobText& jobs, const FioDevice& device) {
    std::vector<Problem> problems;
    FioJobFile file;
    file.path = jobs.path;
    Reader reader(problems);
    if (!jobs.arguments_last) reader.read(jobs.arguments, !jobs.path.empty());
    if (!jobs.path.empty()) reader.read(jobs.text, jobs.path, 0);
    if (jobs.arguments_last) reader.append(jobs.arguments);

    const std::vector<FioJobTold> told = told_jobs(reader.sections(), jobs.sections);
    FioSettings global;
    global.job.bs_min = global.job.bs_max = global.job.align = {0, 0, 0};  // 0: not set
    std::set<std::string> ignored;
    std::set<std::string> verified;
    std::vector<FioSection> sections;
    std::vector<std::string> names;
    ContentHash content;
    for (RawSection& raw : reader.sections()) {
        if (!raw.global()) {
            names.push_back(raw.name);
            if (!jobs.sections.empty() &&
                std::find(jobs.sections.begin(), jobs.sections.end(), raw.name) == jobs.sections.end())
                continue;
        }
        FioSection section{raw.name, raw.where, global};
        FioSettings& settings = raw.global() ? global : section.settings;
        settings.bs_given_here = false;
        if (!raw.global()) settings.job.report.name = raw.name;
        std::stable_sort(raw.options.begin(), raw.options.end(),
                         [](const RawOption& a, const RawOption& b) { return precedence(a) < precedence(b); });
        content.add("[" + raw.name + "]\n");
        FioOptionTexts& texts = raw.global() ? file.global_options : settings.job.report.options;
        for (const RawOption& o : raw.options) {
            FioOptionCall call{settings, o.where, o.name, o.value, problems};
            apply_fio_option(call, ignored, verified);
            const FioOption* known = FioOptionTable::instance().find(o.name);
            if (known != nullptr) settings.given.insert(known->name);
            content.add((known != nullptr ? known->name : o.name) + (o.value ? "=" + *o.value : "") + "\n");
            if (known != nullptr && o.value) texts.emplace_back(known->name, *o.value);
        }
        if (!raw.global()) sections.push_back(std::move(section));
    }
    for (const std::string& wanted : jobs.sections) {
        if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
        const std::string near = nearest(wanted, names);
        problems.push_back({"command line", "--section '" + wanted + "'", list({names.begin(), names.end()}),
                            near.empty() ? "name a section of the job file" : "did you mean '" + near + "'?"});
    }
    if (sections.empty() && problems.empty())
        problems.push_back({jobs.path.empty() ? "command line" : jobs.path, "no job",
                            "a job is a section [name] other than [global]", "add one"});

    file.digest = content.text();
    file.notes = notes_on_replaced_options(told);
    FioResolution where{file, device, problems, {}, {}};
    for (const FioSection& section : sections) resolve_fio_section(section, where);
    check_fio_flows(where);
    if (problems.empty()) place_fio_files(where);
    if (!problems.empty()) throw UserError(std::move(problems));

    if (!verified.empty())
        file.notes.push_back(
            "contents are verified by the simulator's own integrity check on every read, whatever these say: " +
            list(verified));
    for (std::string& note : notes_on_idle_options(sections, file.jobs)) file.notes.push_back(std::move(note));
    if (!ignored.empty()) file.notes.push_back("the model ignores these options: " + list(ignored));
    return file;
}

FioJobFile parse_fio_job_text(const std::string& text, const std::string& path, const FioDevice& device) {
    return parse_fio_jobs({path, text, {}, false, {}}, device);
}

FioJobFile load_fio_job_file(const std::string& path, const FioDevice& device) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw UserError(Problem{path, "cannot be read", "", "check the path"});
    return parse_fio_job_text(std::string(std::istreambuf_iterator<char>(in), {}), path, device);
}

bool looks_like_fio_jobs(std::string_view begin) {
    std::istringstream in{std::string(begin)};
    for (std::string line; std::getline(in, line);) {
        line.resize(std::min(line.find_first_of(";#"), line.size()));
        const std::string content = trim(line);
        if (content.empty()) continue;
        if (content[0] == '[' || content.compare(0, 8, "include ") == 0) return true;
        const std::size_t equals = content.find('=');
        return equals != std::string::npos &&
               FioOptionTable::instance().find(trim(content.substr(0, equals))) != nullptr;
    }
    return false;
}

}  // namespace ssdtlm
