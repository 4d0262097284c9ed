// SPDX-License-Identifier: Apache-2.0
// Which versions of a mapping unit a loss of power may leave: the last one known to be on the flash, and what was
// submitted later. An operation is durable when its own completion says so (a write with FUA), or a flush that was
// submitted after its completion has completed. Of durable operations those count that began last: what had ended
// before is gone for good. After the loss one of the versions is there, and the next read says which.
//
// Where the blocks of a mapping unit have versions of their own, the rule holds for each of them, and one more for all:
// the unit is as it was at one moment, after some operations and before the others. What has been found of one block
// says so much of the others: what had ended before its operation began is there as well, and what came between two of
// its versions is not.
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

    /// `blocks`: of a mapping unit that have versions of their own; then a unit below is one of them.
    explicit DurableVersions(std::uint32_t blocks = 1) : blocks_(blocks) {}

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
    /// The power goes, when all operations have ended: visit(unit, possible versions).
    template <class Visit>
    void power_lost(Visit visit) {
        ++clock_;
        ++losses_;
        narrow_by_what_is_known();
        for (auto& [unit, history] : units_) {
            for (Operation& o : history) o.read = o.read && history.size() == 1;
            visit(unit, versions_of(history));
        }
        close_settled();
    }
    /// A read has found what the loss of power has left. False: not together with what was found of the mapping unit's
    /// others.
    bool found(std::uint32_t unit, std::uint32_t version);
    std::size_t open_units() const { return units_.size(); }

private:
    static constexpr Token kRuns = ~Token{0};
    static constexpr std::size_t kMany = 24;
    struct Operation {
        Token begun = 0;
        Token ended = kRuns;
        std::uint32_t loss = 0;  ///< how often the power had gone before
        std::uint8_t version = 0;
        bool ok = false;
        bool merged = false;  ///< stands for several: says nothing about others
        bool read = false;    ///< is what was found after the last loss
    };
    using History = std::vector<Operation>;
    static std::uint32_t versions_of(const History& h);
    /// What a loss has left is asked about until it is read: the others of its mapping unit may have narrowed it.
    bool is_settled(const History& h) const {
        const Operation& o = h.front();
        return h.size() == 1 && o.ended != kRuns && (blocks_ == 1 || o.read || o.loss == losses_);
    }
    static void merge(History& h);
    /// An operation that began then is on the flash.
    static void forget_before(History& h, Token begun);
    static bool replaced_by(const History& h, const Operation& o, const Operation& then);
    bool narrow(std::uint32_t unit, std::uint32_t version);
    void narrow_by_what_is_known();
    void close(std::uint32_t unit);
    void close_settled();

    const std::uint32_t blocks_;
    Token clock_ = 0;
    std::uint32_t losses_ = 0;
    // Where more than one version is possible, or something runs; and the others of such a mapping unit.
    std::unordered_map<std::uint32_t, History> units_;
};

}  // namespace ssdtlm
