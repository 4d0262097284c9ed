// SPDX-License-Identifier: Apache-2.0
// Notes on options of fio that are given and have no effect on these jobs, as in fio: because another one is missing
// that they belong to, or because another place says the same option again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_resolution.h"

namespace ssdtlm {

/// One option where it stands, by its first name.
struct FioGiven {
    std::string name;
    std::optional<std::string> value;
    std::string where;  ///< kFioCommandLine + name, or "file:line:col"
};
inline constexpr const char* kFioCommandLine = "command line: --";

/// What one job is told in the end, in the order in which it counts: [global], then its own section.
struct FioJobTold {
    std::string name;
    std::vector<FioGiven> options;
};

/// Options that a later one of the same name replaces, in all jobs or, of the command line, in some.
std::vector<std::string> notes_on_replaced_options(const std::vector<FioJobTold>& jobs);

/// Options that act only beside others, which no job has that is given them. After all sections are resolved.
std::vector<std::string> notes_on_idle_options(const std::vector<FioSection>& sections,
                                               const std::vector<FioJob>& jobs);

/// Of the option by its first name: what it acts with; empty: it always acts.
std::string fio_option_condition(const std::string& name);

}  // namespace ssdtlm
