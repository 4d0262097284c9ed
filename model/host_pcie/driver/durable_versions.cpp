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
    if (h.empty()) h.push_back({0, 0, losses_, static_cast<std::uint8_t>(before), true, false, false});
    if (h.size() >= kMany) merge(h);
    h.push_back({operation, kRuns, losses_, static_cast<std::uint8_t>(version), false, false, false});
}

/// Merges ended operations with the same version into one entry. This entry is removed no earlier than the last of
/// them.
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
        same->merged = true;
    }
    h = std::move(merged);
}

void DurableVersions::forget_before(History& h, Token begun) {
    h.erase(std::remove_if(h.begin(), h.end(), [begun](const Operation& o) { return o.ended < begun; }), h.end());
}

void DurableVersions::end(Token operation, std::uint32_t unit, bool ok, bool durable) {
    const auto found = units_.find(unit);
    SSDTLM_CHECK(found != units_.end(), "end of an operation that was never begun");
    History& h = found->second;
    const auto o = std::find_if(h.begin(), h.end(),
                                [operation](const Operation& x) { return x.begun == operation && x.ended == kRuns; });
    SSDTLM_CHECK(o != h.end(), "end of an operation that was never begun");
    o->ended = clock_;
    o->ok = ok;
    if (!ok || !durable) return;
    forget_before(h, operation);
    if (is_settled(h)) close(unit);
}

void DurableVersions::flush_ended(Token flush) {
    for (auto& [unit, h] : units_) {
        Token last = 0;
        for (const Operation& o : h)
            if (o.ok && o.loss == losses_ && o.ended < flush) last = std::max(last, o.begun);
        forget_before(h, last);
    }
    close_settled();
}

/// Removes the history of a mapping unit, which now has only one possible version.
void DurableVersions::close(std::uint32_t unit) {
    const std::uint32_t first = unit - unit % blocks_;
    for (std::uint32_t u = first; u < first + blocks_; ++u) {
        const auto found = units_.find(u);
        if (found != units_.end() && !is_settled(found->second)) return;
    }
    for (std::uint32_t u = first; u < first + blocks_; ++u) units_.erase(u);
}

void DurableVersions::close_settled() {
    if (blocks_ == 1) {
        for (auto unit = units_.begin(); unit != units_.end();)
            unit = is_settled(unit->second) ? units_.erase(unit) : std::next(unit);
        return;
    }
    std::vector<std::uint32_t> settled;
    for (const auto& [unit, h] : units_)
        if (is_settled(h)) settled.push_back(unit);
    for (const std::uint32_t unit : settled) close(unit);
}

std::uint32_t DurableVersions::possible(std::uint32_t unit, std::uint32_t only) const {
    const auto found = units_.find(unit);
    return found == units_.end() ? 1u << only : versions_of(found->second);
}

// --------------------------------------------------------------------------------------------------------------- The
// rule for all blocks of a mapping unit.

/// True: once `then` had taken effect, a later operation of its own history had replaced `o`.
bool DurableVersions::replaced_by(const History& h, const Operation& o, const Operation& then) {
    return std::any_of(h.begin(), h.end(), [&](const Operation& y) {
        if (o.ended >= y.begun) return false;
        return y.begun == then.begun || (y.ok && !y.merged && y.loss == then.loss && y.ended < then.begun);
    });
}

/// The unit has this version. Removes the versions of the other blocks that are impossible then. Returns false if a
/// block has none left.
bool DurableVersions::narrow(std::uint32_t unit, std::uint32_t version) {
    const History& h = units_.at(unit);
    const std::uint32_t first = unit - unit % blocks_;
    bool possible = true;
    for (std::uint32_t u = first; u < first + blocks_; ++u) {
        const auto other = units_.find(u);
        if (u == unit || other == units_.end()) continue;
        History& left = other->second;
        const History before = left;
        const auto ruled_out = [&](const Operation& x) {
            return std::none_of(h.begin(), h.end(), [&](const Operation& o) {
                if (o.version != version) return false;
                return o.merged || x.merged || (!replaced_by(before, x, o) && !replaced_by(h, o, x));
            });
        };
        left.erase(std::remove_if(left.begin(), left.end(), ruled_out), left.end());
        if (!left.empty()) continue;
        possible = false;
        left = before;
    }
    return possible;
}

void DurableVersions::narrow_by_what_is_known() {
    if (blocks_ == 1) return;
    for (const auto& [unit, h] : units_) {
        const std::uint32_t versions = versions_of(h);
        if ((versions & (versions - 1)) == 0) narrow(unit, h.front().version);
    }
}

bool DurableVersions::found(std::uint32_t unit, std::uint32_t version) {
    const auto found = units_.find(unit);
    if (found == units_.end()) return true;
    History& h = found->second;
    if ((versions_of(h) >> version & 1u) == 0) return false;
    const bool possible = narrow(unit, version);
    h.erase(std::remove_if(h.begin(), h.end(), [version](const Operation& o) { return o.version != version; }),
            h.end());
    // Many operations use up the versions. If two operations have this version, nobody knows which of them is there.
    for (const Operation& o : h) {
        h.front().merged = h.front().merged || h.size() > 1;
        h.front().begun = std::max(h.front().begun, o.begun);
        h.front().ended = std::max(h.front().ended, o.ended);
    }
    h.resize(1);
    h.front().read = true;
    close(unit);
    return possible;
}

}  // namespace ssdtlm
