// SPDX-License-Identifier: Apache-2.0
// What the completion scripts of all shells need from the table of commands. The scripts ask the program for the names
// of shipped files, because files may be added after the installation.
#pragma once

#include <string>
#include <vector>

#include "sim/app/command_view.h"

namespace ssdtlm {

/// The path of a command without the program's name: "config show"; "" for the program itself.
std::string below_program(const std::string& path);
/// Joins words to "a b c".
std::string joined(const std::vector<std::string>& words);
/// "key=" for each parameter, for --set.
std::vector<std::string> parameter_assignments();

/// The kind of words that complete a value.
enum class Completes { words, file, folder, device, workload, assignment, nothing };
Completes completes(const OptionView& option);

std::string bash_completion(const CLI::App& table);
std::string zsh_completion(const CLI::App& table);
std::string fish_completion(const CLI::App& table);

}  // namespace ssdtlm
