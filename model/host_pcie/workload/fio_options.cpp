// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio_options.h"

namespace ssdtlm {

FioOptionTable::FioOptionTable() : options_(handled_fio_options()) {
    for (const FioOption& o : other_fio_options()) options_.push_back(o);
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

std::string FioOptionTable::markdown() const {
    std::string out = "| option | alias | here | remark |\n|---|---|---|---|\n";
    for (const FioOption& o : options_) {
        std::string here = "handled";
        std::string remark = o.text;
        switch (o.treatment) {
            case FioOption::Treatment::handled:
                break;
            case FioOption::Treatment::verified:
                here = "replaced by the integrity check";
                break;
            case FioOption::Treatment::ignored:
                here = "ignored, noted";
                break;
            case FioOption::Treatment::unsupported:
                here = "error";
                if (!remark.empty()) {
                    for (std::size_t i = 0; (i = remark.find('|', i)) != std::string::npos; i += 4)
                        remark.replace(i, 1, " or ");
                    remark = "accepted with " + remark;
                }
                break;
        }
        const std::string alias = o.alias != nullptr ? "`" + std::string(o.alias) + "`" : "";
        out += "| `" + std::string(o.name) + "` | " + alias + " | " + here + " | " + remark + " |\n";
    }
    return out;
}

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
            return;
        case FioOption::Treatment::verified:
            verified.insert(option->name);
            return;
        case FioOption::Treatment::ignored:
            ignored.insert(option->name);
            return;
        case FioOption::Treatment::unsupported:
            break;
    }
    for (const std::string& neutral : split_fio_list(option->text, '|'))
        if (call.value && !neutral.empty() && *call.value == neutral) return;
    call.problem("fio's " + std::string(option->name) + " is not implemented in the model", "remove it");
}

}  // namespace ssdtlm
