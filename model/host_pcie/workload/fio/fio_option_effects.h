// SPDX-License-Identifier: Apache-2.0
// Notes on options of fio that are given and have no effect on these jobs, as in fio. The reason is that another option
// is missing to which they belong, or that the same option is said again elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host_pcie/workload/fio/fio_resolution.h"

namespace ssdtlm {

/// An option at the place where it stands, by its first name.
struct FioGiven {
    std::string name;
    std::optional<std::string> value;
    std::string where;  ///< kFioCommandLine + name, or "file:line:col"
};
inline constexpr const char* kFioCommandLine = "command line: --";

/// The options that one job gets in the end, in the order in which they count: [global], then its own section.
struct FioJobTold {
    std::string name;
    std::vector<FioGiven> options;
};

/// Notes on options that a later one of the same name replaces: in all jobs or, for the command line, in some.
std::vector<std::string> notes_on_replaced_options(const std::vector<FioJobTold>& jobs);

/// Notes on options that act only beside others, if no job that has them has those others. Call it after all sections
/// are resolved.
std::vector<std::string> notes_on_idle_options(const std::vector<FioSection>& sections,
                                               const std::vector<FioJob>& jobs);

/// The condition under which an option has an effect, by its first name. It is empty if the option always has one.
std::string fio_option_condition(const std::string& name);

}  // namespace ssdtlm
