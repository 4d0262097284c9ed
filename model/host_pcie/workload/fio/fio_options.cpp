// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_options.h"

#include <cctype>

namespace ssdtlm {

FioOptionTable::FioOptionTable() : options_(handled_fio_options()) {
    for (const auto rows :
         {file_fio_options, control_fio_options, priority_fio_options, other_fio_options, engine_fio_options})
        for (const FioOption& o : rows()) options_.push_back(o);
}

bool is_fio_flag(std::string_view canonical_name) {
    for (const std::string_view flag :
         {"bs_unaligned",     "norandommap",    "time_based",     "verify_only", "exitall",
          "exitall_on_error", "stonewall",      "new_group",      "thread",      "threads",
          "group_reporting",  "zero_buffers",   "refill_buffers", "hipri",       "fixedbufs",
          "registerfiles",    "sqthread_poll",  "nonvectored",    "uncached",    "nowait",
          "force_async",      "userspace_reap", "readfua",        "writefua",    "fdp"})
        if (canonical_name == flag) return true;
    return false;
}

const FioOptionTable& FioOptionTable::instance() {
    static const FioOptionTable table;
    return table;
}

const FioOption* FioOptionTable::find(std::string_view name) const {
    for (const FioOption& o : options_)
        if (name == o.name || (o.alias != nullptr && name == o.alias)) return &o;
    return nullptr;
}

std::string FioOptionTable::suggestion(const std::string& name) const {
    std::vector<std::string> names;
    for (const FioOption& o : options_) {
        names.emplace_back(o.name);
        if (o.alias != nullptr) names.emplace_back(o.alias);
    }
    return nearest(name, names);
}

const char* FioOptionTable::treatment(const FioOption& option) {
    switch (option.treatment) {
        case FioOption::Treatment::handled:
            return "handled";
        case FioOption::Treatment::verified:
            return "replaced by the integrity check";
        case FioOption::Treatment::ignored:
            return "ignored, noted";
        case FioOption::Treatment::unsupported:
        case FioOption::Treatment::of_engine:
            break;
    }
    return "error";
}

std::string FioOptionTable::remark(const FioOption& option) {
    std::string remark = option.text;
    if (option.treatment == FioOption::Treatment::of_engine) return "of ioengine=" + remark;
    if (option.treatment != FioOption::Treatment::unsupported) return remark;
    if (!remark.empty()) {
        for (std::size_t i = 0; (i = remark.find('|', i)) != std::string::npos; i += 4) remark.replace(i, 1, " or ");
        remark = "accepted with " + remark + "; ";
    }
    return remark + option.reason;
}

std::string FioOptionTable::markdown() const {
    std::string out = "| option | alias | here | remark |\n|---|---|---|---|\n";
    for (const FioOption& o : options_) {
        const std::string alias = o.alias != nullptr ? "`" + std::string(o.alias) + "`" : "";
        out += "| `" + std::string(o.name) + "` | " + alias + " | " + treatment(o) + " | " + remark(o) + " |\n";
    }
    return out;
}

namespace {

/// True: the option's value is an amount. Options with texts in which "4KiB" would be a name are left out.
bool is_amount(std::string_view option) {
    for (const std::string_view text : {"name", "description", "filename", "directory", "filename_format", "wait_for",
                                        "write_bw_log", "write_iops_log", "write_lat_log"})
        if (option == text) return false;
    return true;
}

/// True: the text has a number with a unit like KiB.
bool names_ib_unit(std::string_view text) {
    const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
    for (std::size_t i = 1; i + 2 < text.size(); ++i)
        if (std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
            std::string_view("kmgtp").find(lower(text[i])) != std::string_view::npos && lower(text[i + 1]) == 'i' &&
            lower(text[i + 2]) == 'b')
            return true;
    return false;
}

}  // namespace

void apply_fio_option(FioOptionCall& call, std::set<std::string>& ignored, std::set<std::string>& verified) {
    const FioOptionTable& table = FioOptionTable::instance();
    const FioOption* option = table.find(call.name);
    if (option == nullptr) {
        const std::string near = table.suggestion(call.name);
        call.problems.push_back({call.where, "'" + call.name + "' is not a fio option", "",
                                 near.empty() ? "remove it, or see fio --cmdhelp" : "did you mean '" + near + "'?"});
        return;
    }
    switch (option->treatment) {
        case FioOption::Treatment::handled:
            option->apply(call);
            if (call.settings.kb_base == 1024 && is_amount(option->name) && names_ib_unit(call.value.value_or("")))
                call.settings.kib_1000.push_back(call.name + "=" + *call.value);
            return;
        case FioOption::Treatment::verified:
            verified.insert(option->name);
            return;
        case FioOption::Treatment::ignored:
            ignored.insert(option->name);
            return;
        case FioOption::Treatment::of_engine:
            call.settings.of_engine.push_back(
                {call.where, "'" + call.name + "'", "an option of ioengine=" + std::string(option->text), "remove it"});
            return;
        case FioOption::Treatment::unsupported:
            break;
    }
    const bool flag_off = is_fio_flag(option->name) && call.value && *call.value == "0";
    if (flag_off) return;
    for (const std::string& neutral : split_fio_list(option->text, '|'))
        if (call.value && !neutral.empty() && *call.value == neutral) return;
    call.problem("fio's " + std::string(option->name) + " is not implemented in the model: " + option->reason,
                 "remove it");
}

}  // namespace ssdtlm
