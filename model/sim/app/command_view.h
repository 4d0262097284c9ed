// SPDX-License-Identifier: Apache-2.0
// The table of commands in the form that its printers need, without the details of CLI11.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ssdtlm {

struct OptionView {
    std::vector<std::string> names;  ///< "-w", "--workload"; empty for a positional argument
    std::string value;               ///< kind of value: "FILE"; empty for a flag
    std::vector<std::string> words;  ///< the words that it accepts; empty if it accepts others
    std::string sentence;            ///< says also the default value, and whether it is required
    bool required = false;
    bool optional_value = false;  ///< "--report" alone, or "--report=FILE"
    bool repeated = false;        ///< a positional argument that may have several words

    /// The heading of an option: "-w, --workload FILE", "--report[=FILE]", "DEVICE..."
    std::string heading() const;
    /// The part of heading() behind the names: " FILE", "[=FILE]", "".
    std::string value_part() const;
};

struct OptionGroup {
    std::string name;
    std::vector<OptionView> arguments;  ///< positional
    std::vector<OptionView> options;
};

struct CommandView {
    struct Subcommand {
        std::string name;
        std::string sentence;
    };
    std::string path;  ///< "ssdtlm config show"
    std::string sentence;
    std::vector<OptionGroup> groups;  ///< in order of definition, the group with --help last
    std::vector<Subcommand> subcommands;

    /// The usage of a command: "ssdtlm run DEVICE... -w FILE [OPTION...]"
    std::string usage() const;
    std::vector<OptionView> options() const;  ///< of all groups
    std::vector<OptionView> arguments() const;
};

CommandView view_of(const CLI::App& command);

/// The command and all commands below it that run something, parents first.
std::vector<CommandView> all_commands(const CLI::App& table);

}  // namespace ssdtlm
