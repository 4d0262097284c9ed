// SPDX-License-Identifier: Apache-2.0
// Notes on given options of fio that have no effect on these jobs, as in fio. Either another option is missing that
// they need, or the same option is given again elsewhere.
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

/// The options of a job in the order in which they are applied: [global], then its own section.
struct FioJobTold {
    std::string name;
    std::vector<FioGiven> options;
};

/// Notes on options that a later one of the same name replaces: in all jobs or, for the command line, in some.
std::vector<std::string> notes_on_replaced_options(const std::vector<FioJobTold>& jobs);

/// Notes on options that need other options, if no job with them has the others. Call it after all sections are
/// resolved.
std::vector<std::string> notes_on_idle_options(const std::vector<FioSection>& sections,
                                               const std::vector<FioJob>& jobs);

/// The condition under which an option has an effect, by its first name. It is empty if the option always has one.
std::string fio_option_condition(const std::string& name);

}  // namespace ssdtlm
