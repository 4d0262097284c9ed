// SPDX-License-Identifier: Apache-2.0
#include "nand/pins/pin_violations.h"

#include <utility>

namespace ssdtlm {

PinLevels::PinLevels() {
    for (std::uint32_t p = 0; p < kPinCount; ++p) values[p] = idle_value(static_cast<Pin>(p));
    since.fill(kLongAgo);
}

std::string nanoseconds(Ps t) { return std::to_string(t.count() / 1000) + "." + std::to_string(1000 + t.count() % 1000).substr(1) + " ns"; }

void PinViolations::at_least(const char* rule, SimTime t, SimTime since, Ps limit) {
    if (t - since >= limit) return;
    add(rule, t, nanoseconds(t - since) + "; at least " + nanoseconds(limit));
}

void PinViolations::add(const char* rule, SimTime t, std::string text) {
    ++count_;
    if (kept_.size() < kKept) kept_.push_back({rule, t, std::move(text)});
}

std::string PinViolations::report() const {
    std::string text;
    for (const PinViolation& v : kept_) text += nanoseconds(v.time.time_since_epoch()) + ": " + v.rule + ": " + v.text + "\n";
    if (count_ > kept_.size()) text += "and " + std::to_string(count_ - kept_.size()) + " more\n";
    return text;
}

}  // namespace ssdtlm
