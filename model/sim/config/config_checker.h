// SPDX-License-Identifier: Apache-2.0
// The base of all checks of a configuration. It makes problems that begin with the place of a parameter, and knows each
// value as the user writes it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/config/quantity.h"
#include "common/report/error.h"
#include "common/units/units.h"
#include "sim/config/config_loader.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

class ConfigChecker {
protected:
    static std::string time_text(Ps time) { return format_quantity(time.count(), Dimension::time); }
    explicit ConfigChecker(const ResolvedConfig& resolved) : resolved_(resolved), c_(resolved.config) {}

    /// Adds a problem. `key` is the parameter that the user should look at: its place opens the message.
    void add(const std::string& key, const std::string& what, std::string allowed, std::string repair) {
        out_.push_back({resolved_.where(key), key + ": " + what, std::move(allowed), std::move(repair)});
    }
    void add(std::vector<Problem> problems) {
        for (Problem& p : problems) out_.push_back(std::move(p));
    }
    std::string value(const std::string& key) const {
        const auto& p = ssd_parameters()[static_cast<std::size_t>(parameter_index(key))];
        return to_text(p, p.get(c_));
    }

    const ResolvedConfig& resolved_;
    const SsdConfig& c_;
    std::vector<Problem> out_;
};

}  // namespace ssdtlm
