// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/durable_versions.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

std::uint32_t DurableVersions::versions_of(const History& h) {
    std::uint32_t versions = 0;
    for (const Operation& o : h) versions |= 1u << o.version;
    return versions;
}

void DurableVersions::touch(Token operation, std::uint32_t unit, std::uint32_t version, std::uint32_t before) {
    History& h = units_[unit];
    if (h.empty()) h.push_back({0, 0, static_cast<std::uint8_t>(before), true});
    if (h.size() >= kMany) merge(h);
    h.push_back({operation, kRuns, static_cast<std::uint8_t>(version), false});
}

/// Of ended operations that made the unit the same version one stands for all: forgotten no earlier than the last of them.
void DurableVersions::merge(History& h) {
    History merged;
    for (const Operation& o : h) {
        const auto same = std::find_if(merged.begin(), merged.end(), [&o](const Operation& m) {
            return m.version == o.version && m.ended != kRuns && o.ended != kRuns;
        });
        if (same == merged.end()) {
            merged.push_back(o);
            continue;
        }
        const Token last = std::max(same->ended, o.ended);
        if (o.begun > same->begun) *same = o;
        same->ended = last;
    }
    h = std::move(merged);
}

bool DurableVersions::forget_before(History& h, Token begun) {
    h.erase(std::remove_if(h.begin(), h.end(), [begun](const Operation& o) { return o.ended < begun; }), h.end());
    return h.size() == 1;
}

void DurableVersions::end(Token operation, std::uint32_t unit, bool ok, bool durable) {
    const auto found = units_.find(unit);
    SSDTLM_CHECK(found != units_.end(), "end of an operation that was never begun");
    History& h = found->second;
    const auto o = std::find_if(h.begin(), h.end(), [operation](const Operation& x) { return x.begun == operation && x.ended == kRuns; });
    SSDTLM_CHECK(o != h.end(), "end of an operation that was never begun");
    o->ended = clock_;
    o->ok = ok;
    if (ok && durable && forget_before(h, operation)) units_.erase(found);
}

void DurableVersions::flush_ended(Token flush) {
    for (auto unit = units_.begin(); unit != units_.end();) {
        History& h = unit->second;
        Token last = 0;
        for (const Operation& o : h)
            if (o.ok && o.ended < flush) last = std::max(last, o.begun);
        unit = forget_before(h, last) ? units_.erase(unit) : std::next(unit);
    }
}

std::uint32_t DurableVersions::possible(std::uint32_t unit, std::uint32_t only) const {
    const auto found = units_.find(unit);
    return found == units_.end() ? 1u << only : versions_of(found->second);
}

}  // namespace ssdtlm
