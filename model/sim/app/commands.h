// SPDX-License-Identifier: Apache-2.0
// The subcommands, one function each. They print to standard output and return the exit code. Mistakes of the user
// throw UserError.
#pragma once

#include "sim/app/command_line.h"

namespace ssdtlm {

int execute(const CommandLine& line);

int config_check(const CommandLine& line);
int config_show(const CommandLine& line);
int config_derive(const CommandLine& line);
int config_presets(const CommandLine& line);
int config_workloads(const CommandLine& line);
int config_fio(const CommandLine& line);
int list_trace_formats();
int trace_info(const CommandLine& line);
int trace_head(const CommandLine& line);
int wave_check(const CommandLine& line);

}  // namespace ssdtlm
