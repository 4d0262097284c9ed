// SPDX-License-Identifier: Apache-2.0
// The verdict on what limits a run, as the results have it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ssdtlm {

/// The bound on a number of things.
struct Bound {
    std::vector<std::string> parameters;  ///< all of them must be raised to raise the bound
    std::string fixed;                    ///< if no parameter can raise it, its name: "the 32 tags of NCQ"
};

/// A wait that can limit a run.
struct WaitUse {
    std::string name;
    std::vector<std::string> parameters;  ///< parameters that shorten it
    std::string says;                     ///< says who waits
    double share = 0;                     ///< share of the time in which somebody waited
    std::string fixed{};                  ///< as in Bound
};

struct LimitVerdict {
    enum class Kind { unknown, load, resource, wait };
    Kind kind = Kind::unknown;
    std::vector<std::string> names;       ///< what limits; if there are several, all of them must be doubled
    std::vector<std::string> parameters;  ///< parameters that change it
    std::string sentence;
    /// The throughput that the busiest resource allows at the same cost per command, divided by the present one.
    struct Most {
        std::string resource;
        double factor = 1;
    };
    std::optional<Most> most;  ///< none if a wait limits, because the cost per command then changes with it
};
const char* limit_kind_name(LimitVerdict::Kind kind);

}  // namespace ssdtlm
