// SPDX-License-Identifier: Apache-2.0
// Which versions of a mapping unit a loss of power may leave: the last one known to be on the flash, and what was submitted
// later. An operation is durable when its own completion says so (a write with FUA), or a flush that was submitted after
// its completion has completed. Of durable operations those count that began last: what had ended before is gone for good.
// After the loss one of the versions is there, and the next read says which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ssdtlm {

class DurableVersions {
public:
    /// Orders begins and ends of operations: an operation is named by when it began.
    using Token = std::uint64_t;

    /// A write or deallocation (version 0) or a flush begins. It is the operation that the calls below name.
    Token begin() { return ++clock_; }
    /// It touches this unit, to make it `version`; before, it had `before` if nothing is known of it here.
    void touch(Token operation, std::uint32_t unit, std::uint32_t version, std::uint32_t before);
    /// The command ends; not `ok`: it may have taken effect or not. Call before end() of its units.
    void ends() { ++clock_; }
    void end(Token operation, std::uint32_t unit, bool ok, bool durable);
    void flush_ended(Token flush);

    /// A bit per version that the unit may have after a loss of power; `only`: if nothing is known of it here.
    std::uint32_t possible(std::uint32_t unit, std::uint32_t only) const;
    /// The power goes, when all operations have ended: visit(unit, possible versions) for those with more than one.
    template <class Visit>
    void power_lost(Visit visit) {
        const Token now = ++clock_;
        for (auto unit = units_.begin(); unit != units_.end();) {
            const std::uint32_t versions = versions_of(unit->second);
            unit->second.clear();
            for (std::uint32_t v = 0; v < 32; ++v)
                if ((versions >> v & 1u) != 0) unit->second.push_back({now, now, static_cast<std::uint8_t>(v), false});
            visit(unit->first, versions);
            unit = unit->second.size() == 1 ? units_.erase(unit) : std::next(unit);
        }
    }
    /// A read has found what the loss of power has left.
    void found(std::uint32_t unit) { units_.erase(unit); }
    std::size_t open_units() const { return units_.size(); }

private:
    static constexpr Token kRuns = ~Token{0};
    static constexpr std::size_t kMany = 24;
    struct Operation {
        Token begun = 0;
        Token ended = kRuns;
        std::uint8_t version = 0;
        bool ok = false;
    };
    using History = std::vector<Operation>;
    static std::uint32_t versions_of(const History& h);
    static void merge(History& h);
    /// An operation that began then is on the flash. True: nothing else is possible any more.
    static bool forget_before(History& h, Token begun);

    Token clock_ = 0;
    std::unordered_map<std::uint32_t, History> units_;  // where more than one version is possible, or something runs
};

}  // namespace ssdtlm
