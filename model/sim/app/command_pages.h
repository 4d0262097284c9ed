// SPDX-License-Identifier: Apache-2.0
// What is printed from the table of commands: help, man page, shell completion.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ssdtlm {

/// "ssdtlm 0.1.0" and a line end.
std::string version_text();

/// "ssdtlm config show"; "ssdtlm" for the table itself.
std::string command_path(const CLI::App& command);

/// Usage, arguments, options by group and subcommands of one command; lines of at most 80 columns.
std::string help_page(const CLI::App& command);

/// The man page of the whole program, in roff.
std::string manual_page(const CLI::App& table);

/// Writes the completion script of one shell; nullptr for a shell that is not known.
using CompletionPage = std::string (*)(const CLI::App& table);
CompletionPage completion_page(const std::string& shell);

}  // namespace ssdtlm
