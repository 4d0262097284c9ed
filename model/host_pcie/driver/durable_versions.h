// SPDX-License-Identifier: Apache-2.0
// The versions of a mapping unit that a loss of power may leave: the last one known to be on the flash, or one that was
// submitted later. An operation is durable when its own completion says so (a write with FUA), or when a flush that was
// submitted after its completion has completed. Only the durable operations that began last count: results of
// operations that had ended before are overwritten for good. After the loss the unit has one of the versions, and the
// next read shows which.
//
// If the blocks of a mapping unit have versions of their own, this rule holds for each block. One more rule then holds
// for all blocks together: the unit is as it was at one moment, after some operations and before the others. So a
// version that a read finds in one block limits the others. Operations that had ended before the found operation began
// have reached the other blocks as well. Operations that came between two versions of the found block have not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ssdtlm {

class DurableVersions {
public:
    /// Orders begins and ends of operations. An operation is named by the time at which it began.
    using Token = std::uint64_t;

    /// `blocks`: blocks of a mapping unit, if they have versions of their own; then a unit below is one block.
    explicit DurableVersions(std::uint32_t blocks = 1) : blocks_(blocks) {}

    /// A write, a deallocation (version 0) or a flush begins. The returned token names the operation in the calls
    /// below.
    Token begin() { return ++clock_; }
    /// The operation touches this unit and makes it `version`. `before`: the unit's version until then, if nothing is
    /// known of it here.
    void touch(Token operation, std::uint32_t unit, std::uint32_t version, std::uint32_t before);
    /// The command ends. Call it before end() of its units. If it is not `ok`, it may have taken effect or not.
    void ends() { ++clock_; }
    void end(Token operation, std::uint32_t unit, bool ok, bool durable);
    void flush_ended(Token flush);

    /// The versions that the unit may have after a loss of power, a bit each. `only`: its version if nothing is known
    /// of it here.
    std::uint32_t possible(std::uint32_t unit, std::uint32_t only) const;
    /// The power goes, when all operations have ended. Calls visit(unit, possible versions).
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
    /// A read has found what the loss of power has left. False: it does not fit what was found in the mapping unit's
    /// other blocks.
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
    /// False: the loss of power has left the unit open, and it has not been read. The other blocks of its mapping unit
    /// may have narrowed it.
    bool is_settled(const History& h) const {
        const Operation& o = h.front();
        return h.size() == 1 && o.ended != kRuns && (blocks_ == 1 || o.read || o.loss == losses_);
    }
    static void merge(History& h);
    /// Forgets what came before an operation that began at `begun`: it is on the flash.
    static void forget_before(History& h, Token begun);
    static bool replaced_by(const History& h, const Operation& o, const Operation& then);
    bool narrow(std::uint32_t unit, std::uint32_t version);
    void narrow_by_what_is_known();
    void close(std::uint32_t unit);
    void close_settled();

    const std::uint32_t blocks_;
    Token clock_ = 0;
    std::uint32_t losses_ = 0;
    // Units with more than one possible version, or with an operation under way; and the other blocks of their mapping
    // units.
    std::unordered_map<std::uint32_t, History> units_;
};

}  // namespace ssdtlm
