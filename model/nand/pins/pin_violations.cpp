// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_violations.h"

#include <algorithm>
#include <utility>

namespace ssdtlm {

PinLevels::PinLevels() {
    for (std::uint32_t p = 0; p < kPinCount; ++p) values[p] = idle_value(static_cast<Pin>(p));
    since.fill(kLongAgo);
}

std::string nanoseconds(Ps t) {
    return std::to_string(t.count() / 1000) + "." + std::to_string(1000 + t.count() % 1000).substr(1) + " ns";
}

void PinViolations::at_least(const char* rule, SimTime t, SimTime since, Ps limit) {
    if (t - since >= limit) return;
    add(rule, t, nanoseconds(t - since) + "; at least " + nanoseconds(limit));
}

void PinViolations::add(const char* rule, SimTime t, std::string text) {
    ++count_;
    if (kept_.size() < kKept) kept_.push_back({rule, t, std::move(text)});
}

std::string PinViolations::report(std::size_t most) const {
    std::string text;
    const std::size_t told = std::min(most, kept_.size());
    for (std::size_t i = 0; i < told; ++i)
        text += nanoseconds(kept_[i].time.time_since_epoch()) + ": " + kept_[i].rule + ": " + kept_[i].text + "\n";
    if (count_ > told) text += "and " + std::to_string(count_ - told) + " more\n";
    return text;
}

}  // namespace ssdtlm
