// SPDX-License-Identifier: Apache-2.0
// The texts that are printed from the table of commands: help, man page, shell completion.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ssdtlm {

/// The version as "ssdtlm 0.1.0" and a line end.
std::string version_text();

/// The path of a command: "ssdtlm config show"; "ssdtlm" for the table itself.
std::string command_path(const CLI::App& command);

/// The help of one command: usage, arguments, options by group, and subcommands. Lines have at most 80 columns.
std::string help_page(const CLI::App& command);

/// The man page of the whole program, in roff.
std::string manual_page(const CLI::App& table);

/// Returns the function that writes the completion script of a shell, or nullptr for an unknown shell.
using CompletionPage = std::string (*)(const CLI::App& table);
CompletionPage completion_page(const std::string& shell);

}  // namespace ssdtlm
