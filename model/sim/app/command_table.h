// SPDX-License-Identifier: Apache-2.0
// The table of commands and options: names, groups, kinds of value and sentences. The parser, `help`, the man page and
// the shell completion all read it, so an option is written down once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/app/command_line.h"
#include "sim/app/number_texts.h"

namespace CLI {
class App;
}

namespace ssdtlm {

/// The words of a command that is written in Python. That command reads its words itself.
struct PythonTexts {
    std::vector<std::string> words;
    std::vector<std::string> conditions;
    std::vector<std::string> measured;
    std::vector<std::string> free;
    std::string text;
    bool flag = false;
};

/// The values as the user typed them. The parser fills them in, and parse_command_line() then checks and interprets
/// them.
struct CommandLineTexts {
    CommandLine line;
    std::vector<std::string> topic;  ///< help: the words of the command to explain
    std::string shell = "bash";      ///< completion
    WaveTexts wave;
    PythonTexts python;
    GuestServiceOptions service;  ///< serve
    std::vector<CountText> counts;
    std::vector<FactorText> factors;
    std::string pace = "wall";  ///< serve: --pace
    bool timeline = false;
    std::string timeline_from;
    std::string timeline_to;
    std::string blkparse_action = "D";
    std::string replay_gap;
    std::string beyond = "error";
    std::string replay = "stamped";
};

/// The words that an option accepts, with their meanings.
template <class T>
using OptionWords = std::map<std::string, T>;
const OptionWords<char>& blkparse_action_words();
const OptionWords<BeyondDevice>& beyond_device_words();
const OptionWords<TraceReplayOptions::Mode>& replay_words();
const OptionWords<vfio::Pacer::Mode>& pace_words();
std::vector<std::string> trace_format_words();
std::vector<std::string> shell_words();

/// The kind of value of an option is its type name: FILE, DIR, DEVICE (a preset or a file), KEY=VALUE, COMMAND, TIME, N
/// and so on; a type name with '|' lists the words that the option takes.
inline constexpr const char* kDeviceKind = "DEVICE";
inline constexpr const char* kWorkloadKind = "WORKLOAD";
inline constexpr const char* kFileKind = "FILE";
inline constexpr const char* kFolderKind = "DIR";
inline constexpr const char* kAssignmentKind = "KEY=VALUE";
inline constexpr const char* kCommandKind = "COMMAND";

/// All commands, bound to `texts`, which must outlive the result.
std::unique_ptr<CLI::App> make_command_table(CommandLineTexts& texts);

}  // namespace ssdtlm
