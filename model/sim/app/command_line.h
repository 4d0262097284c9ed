// SPDX-License-Identifier: Apache-2.0
// Parses the command line into a struct. It prints nothing and runs nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/app/run_options.h"

namespace ssdtlm {

struct CommandLine {
    enum class Command : std::uint8_t {
        none,  ///< never set by the parser
        help,  ///< this and the next three print `text`
        version,
        manual,
        completion,
        run,
        serve,
        config_check,
        config_show,
        config_derive,
        config_schema,
        config_presets,
        config_workloads,
        config_fio,
        config_reference,
        trace_formats,
        trace_info,
        trace_head,
        wave_check,
        python  ///< a command that is written in Python, with `python_words`
    };
    Command command = Command::none;
    std::string text;
    std::vector<std::string> files;        ///< device files or presets
    std::vector<std::string> assignments;  ///< --set
    std::string wave_file;                 ///< wave check
    std::string variants;                  ///< config show: file of further assignments, or ""
    std::optional<std::string> seed;       ///< as typed
    RunOptions run;                        ///< run, serve; trace info and head use its `trace` and `json`
    std::uint32_t lines = 10;              ///< trace head
    std::vector<std::string> python_words;
};

/// Throws UserError with all mistakes that can be found at once.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace ssdtlm
