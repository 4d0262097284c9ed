// SPDX-License-Identifier: Apache-2.0
// Helpers of the code that makes the table of commands.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "sim/app/command_table.h"

namespace ssdtlm {

/// The type name of an option that takes one of these words: "a|b|c".
inline std::string one_of(const std::vector<std::string>& words) {
    std::string s;
    for (const auto& w : words) s += (s.empty() ? "" : "|") + w;
    return s;
}
template <class T>
std::string one_of(const OptionWords<T>& words) {
    std::vector<std::string> names;
    for (const auto& [name, meaning] : words) names.push_back(name);
    return one_of(names);
}

class CommandParts {
protected:
    CommandParts(CLI::App& app, CommandLineTexts& texts) : app_(app), texts_(texts), line_(texts.line) {}

    CLI::App* subcommand(CLI::App& parent, const char* name, const char* sentence, CommandLine::Command command) {
        CLI::App* sub = parent.add_subcommand(name, sentence);
        sub->allow_extras();
        sub->callback([&line = line_, command] { line.command = command; });
        return sub;
    }
    /// Adds a subcommand that has only subcommands of its own.
    CLI::App* family(const char* name, const char* sentence) {
        CLI::App* sub = app_.add_subcommand(name, sentence);
        sub->require_subcommand(1);
        sub->allow_extras();
        return sub;
    }
    /// Puts the options that follow into this group of the help.
    static void group(CLI::App* sub, const char* name) { sub->option_defaults()->group(name); }

    CLI::App& app_;
    CommandLineTexts& texts_;
    CommandLine& line_;
};

/// Adds the commands that are written in Python.
void add_python_commands(CLI::App& app, CommandLineTexts& texts);

}  // namespace ssdtlm
