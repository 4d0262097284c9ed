// SPDX-License-Identifier: Apache-2.0
// The limit of a run, in the form of the results.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ssdtlm {

/// What sets how many of something there are.
struct Bound {
    std::vector<std::string> parameters;  ///< all of them have to rise for more
    std::string fixed;                    ///< in words, where no parameter can: "the 32 tags of NCQ"
};

/// A wait that can limit a run.
struct WaitUse {
    std::string name;
    std::vector<std::string> parameters;  ///< that shorten it
    std::string says;                     ///< who waits
    double share = 0;                     ///< of the time, somebody waited
    std::string fixed{};                  ///< what bounds it where no parameter does, as in Bound
};

struct LimitVerdict {
    enum class Kind { unknown, load, resource, wait };
    Kind kind = Kind::unknown;
    std::vector<std::string> names;       ///< what limits; several bind together, and all of them have to be doubled
    std::vector<std::string> parameters;  ///< that change it
    std::string sentence;
    /// Throughput that the busiest resource allows at the same cost per command, as a factor of the present one.
    struct Most {
        std::string resource;
        double factor = 1;
    };
    std::optional<Most>
        most;  ///< none when a wait limits: with more of what is waited for, a command costs something else
};
const char* limit_kind_name(LimitVerdict::Kind kind);

}  // namespace ssdtlm
