// SPDX-License-Identifier: Apache-2.0
// What a drive may hold, by rules of its own: for each mapping unit all that was done to it, and the question whether
// what a read has found can have come about. It shares nothing with the host's IntegrityOracle, and answers by trying
// out the orders in which the drive can have taken what was under way together.
//
// - A unit is some atoms (logical blocks; where contents are signatures, the unit itself), each with a value; 0 is what
//   was deallocated or never written.
// - What ended before something else began was done before it. What overlaps was done in either order, in the same one
//   for all atoms of the unit.
// - A read finds each atom as it was at some moment between its begin and its end; all of them at one moment if nothing
//   was under way.
// - After a loss of power a unit is as it was at one moment: all that is durable was done, and of the rest a part that
//   leaves out nothing that came before it.
// - An atom that was made unreadable stays so over losses of power, whatever else they leave of its unit, until
//   something is written there. A deallocation leaves it as it is.
// - An erasure that was cut off or has failed has changed some atoms and others not.
// - What a read has found, it is.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ssdtlm {

class ReferenceMap {
public:
    using Value = std::uint64_t;
    using Moment = std::uint64_t;
    using Image = std::vector<Value>;
    /// Of an atom that cannot be read.
    static constexpr Value kUnreadable = ~Value{0};

    /// `initial`: of all atoms of the units below `filled`; above it they are 0.
    ReferenceMap(std::uint64_t units, std::uint32_t atoms, std::uint64_t filled, Value initial)
        : units_(units), filled_(filled), atoms_(atoms), initial_(initial) {}

    /// Something that gives these atoms of a unit this value begins. `spares`: but not those that cannot be read.
    Moment begin(std::uint64_t unit, std::uint32_t first, std::uint32_t atoms, Value value, bool spares = false);
    /// The whole unit begins to become 0. Where that is given up or cut off, each atom has become 0 or not.
    Moment begin_erasure(std::uint64_t unit);
    /// It ends; `durable`: it outlives a loss of power from now on.
    void end(std::uint64_t unit, Moment begun, bool durable);
    /// It ends, and was not done; `perhaps`: or it was, at any time from then on; `over`: or before this moment.
    void give_up(std::uint64_t unit, Moment begun, bool perhaps, bool over = false);
    /// What had ended when a flush began is durable when it has ended.
    Moment begin_flush() { return ++clock_; }
    void end_flush(Moment begun);
    /// The drive has said once that it gave up what was not durable: no later flush speaks of that.
    void fail_flush();
    /// What has not ended will not.
    void power_lost();

    Moment begin_read() {
        reads_.insert(++clock_);
        return clock_;
    }
    void end_read(Moment begun) { reads_.erase(begun); }
    /// Before its end. Empty, or what is wrong with these atoms of a unit, of which some could perhaps not be read.
    std::string read(std::uint64_t unit, std::uint32_t first, const Image& found, Moment begun);

    /// Values that the unit may have, or may have had since it was last known.
    bool knows(std::uint64_t unit, Value value) const;
    /// The same for one atom.
    bool may_be_unreadable(std::uint64_t unit, std::uint32_t atom) const;
    /// It was made so, and nothing has been written there since.
    bool must_be_unreadable(std::uint64_t unit, std::uint32_t atom) const;
    std::uint64_t units() const { return units_; }
    std::uint32_t atoms() const { return atoms_; }
    /// Nothing of it can be lost.
    bool is_durable(std::uint64_t unit) const {
        const auto at = touched_.find(unit);
        return at == touched_.end() || at->second.operations.empty();
    }
    /// It is as at the start, as far as can be said.
    bool is_initial(std::uint64_t unit) const;
    /// Reads that had more than one right answer.
    std::uint64_t open_reads() const { return open_reads_; }
    std::string describe(std::uint64_t unit) const;

private:
    static constexpr Moment kRuns = ~Moment{0};
    struct Operation {
        Moment begun = 0, ended = kRuns;
        std::uint32_t first = 0, atoms = 0;
        Value value = 0;
        std::uint32_t life = 0;  ///< losses of power before
        bool spares = false;     ///< atoms that cannot be read stay as they are
        bool durable = false;
        bool cut = false;      ///< it may not have been done: its end is the loss of power, or it was given up
        bool over = false;     ///< and if it was, then before its end
        bool erasure = false;  ///< if it is cut, each atom was erased by itself or not
        bool at_risk = false;  ///< not durable when a flush failed: never by a flush

        bool covers(std::uint32_t atom) const { return atom >= first && atom < first + atoms; }
        void change(Value& atom) const {
            if (!spares || atom != kUnreadable) atom = value;
        }
    };
    /// At that moment, with nothing under way, a read found this.
    struct Sight {
        Moment at = 0;
        std::uint32_t life = 0, first = 0;
        Image found;
    };
    struct Unit {
        Image base;                         ///< before the first of `operations`
        std::vector<Operation> operations;  ///< by begin
        std::vector<Sight> sights;
    };
    struct Question {
        std::uint32_t first;
        const Value* found;
        std::uint32_t atoms;
        Moment begun, ended;
    };
    class Search;

    Unit& touch(std::uint64_t unit);
    static void cut(Unit& u, std::size_t operation, Moment ended, bool over);
    void outlives(Unit& u, Moment at) const;
    void forget_what_is_covered(Unit& u, Moment begun) const;
    void settle(Unit& u);
    static bool must_be_unreadable(const Unit& u, std::uint32_t atom);
    /// `most`: of so many states that were tried in vain it makes true.
    bool can_be(const Unit& u, const Question& q, std::size_t most) const;
    void find_out(Unit& u, const Question& q) const;

    const std::uint64_t units_, filled_;
    const std::uint32_t atoms_;
    const Value initial_;
    Moment clock_ = 0;
    std::uint32_t life_ = 0;
    std::uint64_t open_reads_ = 0;
    std::set<Moment> reads_;  // under way
    std::unordered_map<std::uint64_t, Unit> touched_;
};

}  // namespace ssdtlm
