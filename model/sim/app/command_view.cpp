// SPDX-License-Identifier: Apache-2.0
#include "sim/app/command_view.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>

#include "sim/app/command_pages.h"

namespace ssdtlm {
namespace {

// More words than these do not fit behind the name of an option.
constexpr std::size_t kWordsInHeading = 3;

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t bar = std::min(text.find('|', from), text.size());
        words.push_back(text.substr(from, bar - from));
        from = bar + 1;
    }
    return words;
}

std::string joined_by(const std::vector<std::string>& words, const char* separator) {
    std::string s;
    for (const auto& w : words) s += (s.empty() ? "" : separator) + w;
    return s;
}

/// "--trace-format" -> "FORMAT"
std::string capitals_of_last_part(const std::string& name) {
    std::string s = name.substr(name.find_last_of('-') + 1);
    for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return s;
}

OptionView option_view(const CLI::Option& o) {
    OptionView v;
    const bool positional = o.get_positional();
    for (const auto& n : o.get_snames()) v.names.push_back("-" + n);
    for (const auto& n : o.get_lnames()) v.names.push_back("--" + n);
    v.required = o.get_required();
    v.repeated = positional && o.get_expected_max() >= CLI::detail::expected_max_vector_size;
    v.sentence = o.get_description();
    if (o.get_expected_max() > 0) {
        v.value = o.get_type_name();
        v.optional_value = !positional && o.get_expected_min() == 0;
        // A kind of value is written in capitals; other text is a word that the user types.
        if (v.value.find('|') != std::string::npos || std::islower(static_cast<unsigned char>(v.value[0])) != 0)
            v.words = split(v.value);
        std::vector<std::string> remarks;
        if (v.words.size() > kWordsInHeading) {
            v.value = capitals_of_last_part(positional ? o.get_name() : v.names.back());
            remarks.push_back("one of " + joined_by(v.words, ", "));
        }
        if (!o.get_default_str().empty()) remarks.push_back("default " + o.get_default_str());
        if (v.required) remarks.emplace_back("required");
        if (!remarks.empty()) v.sentence += " (" + joined_by(remarks, "; ") + ")";
    }
    return v;
}

bool is_help(const CLI::App& app, const CLI::Option* o) {
    return o == app.get_help_ptr();
}

}  // namespace

std::string OptionView::heading() const {
    if (names.empty()) return value + (repeated ? "..." : "");
    return joined_by(names, ", ") + value_part();
}

std::string OptionView::value_part() const {
    if (value.empty()) return "";
    return optional_value ? "[=" + value + "]" : " " + value;
}

std::string CommandView::usage() const {
    std::string s = path;
    if (!subcommands.empty()) return s + " COMMAND";
    for (const auto& a : arguments()) s += a.required ? " " + a.heading() : " [" + a.heading() + "]";
    bool others = false;
    for (const auto& o : options()) {
        if (o.required) s += " " + o.names.front() + " " + o.value;
        others = others || !o.required;
    }
    return s + (others ? " [OPTION...]" : "");
}

std::vector<OptionView> CommandView::options() const {
    std::vector<OptionView> all;
    for (const auto& g : groups) all.insert(all.end(), g.options.begin(), g.options.end());
    return all;
}

std::vector<OptionView> CommandView::arguments() const {
    std::vector<OptionView> all;
    for (const auto& g : groups) all.insert(all.end(), g.arguments.begin(), g.arguments.end());
    return all;
}

CommandView view_of(const CLI::App& command) {
    CommandView view;
    view.path = command_path(command);
    view.sentence = command.get_description();
    for (const CLI::App* sub : command.get_subcommands({}))
        view.subcommands.push_back({sub->get_name(), sub->get_description()});
    const auto options = command.get_options();
    // Options with the same group name form one group, even if options of other groups were defined between them.
    std::vector<std::string> names = command.get_groups();
    std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
        return std::none_of(options.begin(), options.end(),
                            [&](const CLI::Option* o) { return is_help(command, o) && o->get_group() == name; });
    });
    for (const auto& name : names) {
        OptionGroup group{name, {}, {}};
        for (const CLI::Option* o : options) {
            if (o->get_group() != name) continue;
            (o->get_positional() ? group.arguments : group.options).push_back(option_view(*o));
        }
        view.groups.push_back(std::move(group));
    }
    return view;
}

std::vector<CommandView> all_commands(const CLI::App& table) {
    std::vector<CommandView> all{view_of(table)};
    for (const CLI::App* sub : table.get_subcommands({})) {
        const auto below = all_commands(*sub);
        all.insert(all.end(), below.begin(), below.end());
    }
    return all;
}

}  // namespace ssdtlm
