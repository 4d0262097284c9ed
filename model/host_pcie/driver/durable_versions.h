// SPDX-License-Identifier: Apache-2.0
// Knows the versions of a mapping unit that a loss of power may leave: the last one that is known to be on the flash,
// or one that was submitted later. An operation is durable when its own completion says so (a write with FUA). It is
// also durable when a flush that was submitted after its completion has completed. Durable operations overwrite the
// results of operations that had ended before they began. After the loss the unit has one of the versions, and the next
// read shows which.
//
// If the blocks of a mapping unit have versions of their own, this rule holds for each block. One more rule then holds
// for all blocks together: the unit is in its state at one instant, after some operations and before the others. So a
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
    /// Orders the begins and ends of operations. The token of an operation's begin names the operation.
    using Token = std::uint64_t;

    /// `blocks`: blocks of a mapping unit, if they have versions of their own. A unit in the functions below is then
    /// one block.
    explicit DurableVersions(std::uint32_t blocks = 1) : blocks_(blocks) {}

    /// A write, a deallocation (version 0) or a flush begins. The returned token names the operation in the calls
    /// below.
    Token begin() { return ++clock_; }
    /// The operation changes this unit to `version`. `before`: the version until then, for a unit without a history
    /// here.
    void touch(Token operation, std::uint32_t unit, std::uint32_t version, std::uint32_t before);
    /// The command ends. Call it before end() of its units. An operation that is not `ok` may or may not have taken
    /// effect.
    void ends() { ++clock_; }
    void end(Token operation, std::uint32_t unit, bool ok, bool durable);
    void flush_ended(Token flush);

    /// The versions that the unit may have after a loss of power, one bit each. `only`: the version of a unit without a
    /// history here.
    std::uint32_t possible(std::uint32_t unit, std::uint32_t only) const;
    /// The power is lost. Calls visit(unit, possible versions). Precondition: all operations have ended.
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
    /// A read has found this version after a loss of power. Returns false if it does not fit the versions found in
    /// other blocks of the mapping unit.
    bool found(std::uint32_t unit, std::uint32_t version);
    std::size_t open_units() const { return units_.size(); }

private:
    static constexpr Token kRuns = ~Token{0};
    static constexpr std::size_t kMany = 24;
    struct Operation {
        Token begun = 0;
        Token ended = kRuns;
        std::uint32_t loss = 0;  ///< number of losses of power before it
        std::uint8_t version = 0;
        bool ok = false;
        bool merged = false;  ///< stands for several operations, so it does not limit other blocks
        bool read = false;    ///< a read has found it after the last loss
    };
    using History = std::vector<Operation>;
    static std::uint32_t versions_of(const History& h);
    /// False: the unit may have several versions, or the last loss of power left it open and no read has shown its
    /// version.
    bool is_settled(const History& h) const {
        const Operation& o = h.front();
        return h.size() == 1 && o.ended != kRuns && (blocks_ == 1 || o.read || o.loss == losses_);
    }
    static void merge(History& h);
    /// Forgets operations that ended before `begun`, because a durable operation has begun then.
    static void forget_before(History& h, Token begun);
    static bool replaced_by(const History& h, const Operation& o, const Operation& then);
    bool narrow(std::uint32_t unit, std::uint32_t version);
    void narrow_by_what_is_known();
    void close(std::uint32_t unit);
    void close_settled();

    const std::uint32_t blocks_;
    Token clock_ = 0;
    std::uint32_t losses_ = 0;
    // The units with more than one possible version, or with an operation under way, and the other blocks of their
    // mapping units.
    std::unordered_map<std::uint32_t, History> units_;
};

}  // namespace ssdtlm
