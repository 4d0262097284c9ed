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

    /// Adds an option for a whole number of at least `least`.
    CLI::Option* count(CLI::App* sub, const char* names, std::uint32_t& number, const char* sentence,
                       std::uint32_t least = 1) {
        const std::string name = std::string(names).substr(0, std::string(names).find(','));
        return sub
            ->add_option_function<std::string>(
                names,
                [&texts = texts_, &number, name, least](const std::string& text) {
                    texts.counts.push_back({name, text, least, &number});
                },
                sentence)
            ->default_str(std::to_string(number))
            ->type_name("N");
    }
    /// Adds an option for a number above 0 whose default is 1. `example` is in words.
    CLI::Option* factor(CLI::App* sub, const char* name, double& number, double most, const char* sentence,
                        const char* example) {
        return sub
            ->add_option_function<std::string>(
                name,
                [&texts = texts_, &number, name, most, example](const std::string& text) {
                    texts.factors.push_back({name, text, most, example, &number});
                },
                sentence)
            ->default_str("1")
            ->type_name("FACTOR");
    }

    CLI::App& app_;
    CommandLineTexts& texts_;
    CommandLine& line_;
};

/// Adds the commands that are written in Python.
void add_python_commands(CLI::App& app, CommandLineTexts& texts);

}  // namespace ssdtlm
