// SPDX-License-Identifier: Apache-2.0
// The violations of rules on a channel's pins, and the present levels. The checks of cycles, commands and data share
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nand/pins/pin_generator.h"
#include "nand/pins/pin_sequence.h"

namespace ssdtlm {

struct PinViolation {
    const char* rule = "";
    SimTime time{};
    std::string text;  ///< what was found and what is allowed
};

class PinViolations {
public:
    void add(const char* rule, SimTime t, std::string text);
    /// Adds a violation unless `t` is at least `limit` after `since`.
    void at_least(const char* rule, SimTime t, SimTime since, Ps limit);

    /// The first kKept violations.
    const std::vector<PinViolation>& kept() const { return kept_; }
    std::uint64_t count() const { return count_; }
    static constexpr std::size_t kKept = 100;
    /// One line for each of the first `most` that are kept, and how many more there are.
    std::string report(std::size_t most = kKept) const;

private:
    std::vector<PinViolation> kept_;
    std::uint64_t count_ = 0;
};

/// The time of an event that was not seen yet.
inline constexpr SimTime kLongAgo{Ps{-1'000'000'000'000}};

/// The level of each pin, and the time since which it has this level.
struct PinLevels {
    PinLevels();
    PinValue value(Pin p) const { return values[idx(p)]; }
    SimTime changed(Pin p) const { return since[idx(p)]; }

    std::array<PinValue, kPinCount> values{};
    std::array<SimTime, kPinCount> since{};
};

/// A time in nanoseconds with three decimals.
std::string nanoseconds(Ps t);

}  // namespace ssdtlm
