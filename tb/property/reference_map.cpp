// SPDX-License-Identifier: Apache-2.0
#include "property/reference_map.h"

#include <algorithm>
#include <tuple>

#include "common/report/error.h"

namespace ssdtlm {

namespace {
// Visits to states: for a read, which is right if that is not enough, and to find out about one operation. Where
// dozens of operations on a unit may have been done, to try all their orders takes hours.
constexpr std::size_t kMostOfRead = 50'000;
constexpr std::size_t kMostTried = 500;

std::string name_of(ReferenceMap::Value v) {
    return v == ReferenceMap::kUnreadable ? "unreadable" : std::to_string(v);
}
}  // namespace

/// Goes through the orders in which a unit's operations can have been done, loss of power by loss of power. Each of
/// these leaves what the unit was at some moment before, though the drive and its host went on to others. Atoms that no
/// read speaks of are left out, and so are those for which another one stands: it was the same at first, the same was
/// done to it, and the reads have found the same. What changes nothing else is left out as well: many such operations
/// have too many orders to try.
class ReferenceMap::Search {
public:
    Search(const Unit& u, const Question& q, std::uint32_t life, std::size_t most)
        : u_(u),
          q_(q),
          life_(life),
          most_(most),
          seen_in_read_(u.base.size(), false),
          leaves_(u.operations.size(), false) {
        for (std::uint32_t a = 0; a < q.atoms; ++a)
            if (q.found[a] != kUnreadable) seen_in_read_[q.first + a] = true;
        for (const Sight& s : u.sights)
            for (std::size_t a = 0; a < s.found.size(); ++a)
                if (s.found[a] != kUnreadable) seen_in_read_[s.first + a] = true;
        std::set<std::vector<Value>> kinds;
        for (std::uint32_t a = 0; a < seen_in_read_.size(); ++a)
            if (seen_in_read_[a] && !kinds.insert(all_about(a)).second) seen_in_read_[a] = false;
        for (std::size_t i = 0; i < leaves_.size(); ++i)
            leaves_[i] = (u.operations[i].cut || u.operations[i].erasure) && !is_seen(u.operations[i]);
    }
    bool run() {
        State s{u_.base, nothing_done(), 0};
        for (std::size_t a = 0; a < s.image.size(); ++a)
            if (!seen_in_read_[a]) s.image[a] = 0;
        return from(s);
    }

private:
    struct State {
        Image image;
        std::vector<bool> done;  ///< of this life
        std::uint32_t life;
        bool operator<(const State& o) const { return std::tie(life, done, image) < std::tie(o.life, o.done, o.image); }
    };
    /// What its history can be follows from this. The pieces of an erasure differ in nothing but the atom.
    std::vector<Value> all_about(std::uint32_t atom) const {
        std::vector<Value> about{u_.base[atom]};
        for (std::size_t i = 0; i < u_.operations.size(); ++i) {
            const Operation& o = u_.operations[i];
            if (!o.covers(atom)) continue;
            if (o.erasure)
                about.insert(about.end(), {0, o.begun, o.cut, o.durable});
            else
                about.insert(about.end(), {1, i});
        }
        for (const Sight& s : u_.sights) add_found(s.first, s.found.data(), s.found.size(), atom, about);
        add_found(q_.first, q_.found, q_.atoms, atom, about);
        return about;
    }
    static void add_found(std::uint32_t first, const Value* found, std::size_t atoms, std::uint32_t atom,
                          std::vector<Value>& about) {
        const bool in = atom >= first && atom < first + atoms;
        about.insert(about.end(), {in, in ? found[atom - first] : 0});
    }
    /// Atoms that could not be read show nothing.
    bool shows(const Image& image, std::uint32_t first, const Value* found, std::uint32_t atoms) const {
        for (std::uint32_t a = 0; a < atoms; ++a)
            if (seen_in_read_[first + a] && found[a] != image[first + a] && found[a] != kUnreadable) return false;
        return true;
    }
    /// Each visit counts, of a state that was there before as well: where much overlaps these are the most.
    bool tried_enough() { return ++tried_ > most_; }
    std::vector<bool> nothing_done() const { return std::vector<bool>(u_.operations.size(), false); }
    bool from(const State& s) {
        if (tried_enough()) return true;
        if (!seen_.insert(s).second || !fits_sights(s)) return false;
        const bool last = s.life == life_;
        if (last && all_done_before(q_.begun, s) && shows(s.image, q_.first, q_.found, q_.atoms)) return true;
        // The loss of power that ends this life may leave this, whatever else was done before it came.
        if (!last && all_durable_done(s) && goes_on(s) && from({s.image, nothing_done(), s.life + 1})) return true;
        for (std::size_t i = 0; i < u_.operations.size(); ++i)
            if (!leaves_[i] && !(last && u_.operations[i].begun > q_.ended) && can_be_next(i, s) && from(behind(i, s)))
                return true;
        return false;
    }
    /// To the end of this life, with all that has ended in it.
    bool goes_on(const State& s) {
        if (tried_enough()) return true;
        if (stuck_.count(s) != 0 || !fits_sights(s)) return false;
        if (all_done_before(kRuns, s)) return true;
        for (std::size_t i = 0; i < u_.operations.size(); ++i)
            if (!leaves_[i] && !u_.operations[i].cut && can_be_next(i, s) && goes_on(behind(i, s))) return true;
        stuck_.insert(s);
        return false;
    }
    bool can_be_next(std::size_t i, const State& s) const {
        const Operation& o = u_.operations[i];
        return !s.done[i] && o.life == s.life && all_done_before(o.begun, s) && !(o.over && done_behind(o.ended, s));
    }
    bool done_behind(Moment at, const State& s) const {
        for (std::size_t i = 0; i < s.done.size(); ++i)
            if (s.done[i] && u_.operations[i].begun > at) return true;
        return false;
    }
    State behind(std::size_t i, State s) const {
        const Operation& o = u_.operations[i];
        for (std::uint32_t a = o.first; a < o.first + o.atoms; ++a)
            if (seen_in_read_[a]) o.change(s.image[a]);
        s.done[i] = true;
        return s;
    }
    bool all_done_before(Moment at, const State& s) const {
        for (std::size_t i = 0; i < s.done.size(); ++i) {
            const Operation& o = u_.operations[i];
            if (o.life == s.life && o.ended < at && !o.cut && !leaves_[i] && !s.done[i]) return false;
        }
        return true;
    }
    bool all_durable_done(const State& s) const {
        for (std::size_t i = 0; i < s.done.size(); ++i)
            if (u_.operations[i].life == s.life && u_.operations[i].durable && !leaves_[i] && !s.done[i]) return false;
        return true;
    }
    /// Where all is done that a sight has behind it, and nothing more, the unit is as it was seen.
    bool fits_sights(const State& state) const {
        for (const Sight& s : u_.sights) {
            if (s.life != state.life) continue;
            bool there = true;
            for (std::size_t i = 0; i < state.done.size() && there; ++i)
                if (u_.operations[i].life == s.life && !leaves_[i])
                    there = state.done[i] == (u_.operations[i].begun < s.at);
            if (there && !shows(state.image, s.first, s.found.data(), static_cast<std::uint32_t>(s.found.size())))
                return false;
        }
        return true;
    }
    bool is_seen(const Operation& o) const {
        return std::find(seen_in_read_.begin() + o.first, seen_in_read_.begin() + o.first + o.atoms, true) !=
               seen_in_read_.begin() + o.first + o.atoms;
    }

    const Unit& u_;
    const Question& q_;
    const std::uint32_t life_;
    const std::size_t most_;
    std::vector<bool> seen_in_read_;  // by atom, without those for which another one stands
    std::vector<bool> leaves_;        // by operation: it need not be tried
    std::set<State> seen_, stuck_;
    std::size_t tried_ = 0;
};

ReferenceMap::Unit& ReferenceMap::touch(std::uint64_t unit) {
    if (unit >= units_) throw CheckFailed("the reference map has no unit " + std::to_string(unit));
    Unit& u = touched_[unit];
    if (u.base.empty()) u.base.assign(atoms_, unit < filled_ ? initial_ : 0);
    return u;
}

ReferenceMap::Moment ReferenceMap::begin(std::uint64_t unit, std::uint32_t first, std::uint32_t atoms, Value value,
                                         bool spares) {
    Operation o;
    o.begun = ++clock_;
    o.first = first;
    o.atoms = atoms;
    o.value = value;
    o.life = life_;
    o.spares = spares;
    touch(unit).operations.push_back(o);
    return o.begun;
}

ReferenceMap::Moment ReferenceMap::begin_erasure(std::uint64_t unit) {
    const Moment begun = begin(unit, 0, atoms_, 0);
    touch(unit).operations.back().erasure = true;
    return begun;
}

void ReferenceMap::end(std::uint64_t unit, Moment begun, bool durable) {
    Unit& u = touch(unit);
    for (Operation& o : u.operations) {
        if (o.begun != begun) continue;
        o.ended = ++clock_;
        o.durable = durable;
        if (durable) {
            forget_what_is_covered(u, begun);
            outlives(u, begun);
            settle(u);
        }
        return;
    }
    throw CheckFailed("the reference map knows nothing of what has ended");
}

void ReferenceMap::give_up(std::uint64_t unit, Moment begun, bool perhaps, bool over) {
    std::vector<Operation>& all = touch(unit).operations;
    const auto o = std::find_if(all.begin(), all.end(), [begun](const Operation& a) { return a.begun == begun; });
    if (o == all.end()) throw CheckFailed("the reference map knows nothing of what was given up");
    ++clock_;
    if (perhaps)
        cut(touch(unit), static_cast<std::size_t>(o - all.begin()), clock_, over);
    else
        all.erase(o);
}

/// It may not have been done. An erasure falls into one operation for each atom.
void ReferenceMap::cut(Unit& u, std::size_t operation, Moment ended, bool over) {
    Operation& o = u.operations[operation];
    o.ended = ended;
    o.cut = true;
    o.over = over;
    if (!o.erasure || o.atoms == 1) return;
    const Operation whole = o;
    o.atoms = 1;
    std::vector<Operation> others(whole.atoms - 1, o);
    for (std::uint32_t a = 1; a < whole.atoms; ++a) others[a - 1].first = whole.first + a;
    u.operations.insert(u.operations.begin() + static_cast<std::ptrdiff_t>(operation) + 1, others.begin(),
                        others.end());
}

void ReferenceMap::end_flush(Moment begun) {
    ++clock_;
    for (auto& [unit, u] : touched_) {
        outlives(u, begun);
        settle(u);
    }
}

void ReferenceMap::fail_flush() {
    for (auto& [unit, u] : touched_)
        for (Operation& o : u.operations) o.at_risk = o.at_risk || (o.life == life_ && !o.durable);
}

/// What is durable and gives the whole unit a value makes all the same that came before it.
void ReferenceMap::forget_what_is_covered(Unit& u, Moment begun) const {
    const auto by = std::find_if(u.operations.begin(), u.operations.end(),
                                 [begun](const Operation& o) { return o.begun == begun; });
    if (by->first != 0 || by->atoms != atoms_ || by->spares || !reads_.empty()) return;
    u.operations.erase(std::remove_if(u.operations.begin(), u.operations.end(),
                                      [this, begun](const Operation& o) {
                                          return o.life != life_ || (o.ended < begun && (!o.cut || o.over));
                                      }),
                       u.operations.end());
}

/// What had ended before that moment is durable: in the flash by itself, or because the unit is as it was at one
/// moment.
void ReferenceMap::outlives(Unit& u, Moment at) const {
    for (Operation& o : u.operations)
        if (o.life == life_ && o.ended < at && !o.cut && !o.at_risk) o.durable = true;
}

/// What is durable, together with nothing else, and older than each read under way, is the unit's base.
void ReferenceMap::settle(Unit& u) {
    const Moment oldest = reads_.empty() ? kRuns : *reads_.begin();
    while (!u.operations.empty()) {
        const Operation& o = u.operations.front();
        if (!o.durable || o.ended > oldest || (u.operations.size() > 1 && u.operations[1].begun < o.ended)) break;
        for (std::uint32_t a = o.first; a < o.first + o.atoms; ++a) o.change(u.base[a]);
        u.operations.erase(u.operations.begin());
    }
    const Moment first = u.operations.empty() ? kRuns : u.operations.front().begun;
    u.sights.erase(std::remove_if(u.sights.begin(), u.sights.end(), [first](const Sight& s) { return s.at < first; }),
                   u.sights.end());
}

void ReferenceMap::power_lost() {
    ++clock_;
    reads_.clear();
    for (auto& [unit, u] : touched_) {
        for (std::size_t i = 0; i < u.operations.size(); ++i)
            if (u.operations[i].ended == kRuns) cut(u, i, clock_, false);
    }
    ++life_;
}

bool ReferenceMap::can_be(const Unit& u, const Question& q, std::size_t most) const {
    return Search(u, q, life_, most).run();
}

/// What may have been done, and is over, was done if what was found says so, or was not. Where many may have been done
/// that stays open: a no takes a look at all their orders.
void ReferenceMap::find_out(Unit& u, const Question& q) const {
    for (std::size_t i = 0; i < u.operations.size(); ++i) {
        const Operation o = u.operations[i];
        if (!o.cut || !o.over || o.life != life_ || o.ended > q.begun) continue;
        u.operations[i].cut = false;
        const bool can_be_done = can_be(u, q, kMostTried);
        u.operations.erase(u.operations.begin() + static_cast<std::ptrdiff_t>(i));
        const bool can_be_left_out = can_be(u, q, kMostTried);
        if (!can_be_done && can_be_left_out) {
            --i;
            continue;
        }
        u.operations.insert(u.operations.begin() + static_cast<std::ptrdiff_t>(i), o);
        u.operations[i].cut = can_be_left_out;
    }
}

bool ReferenceMap::may_be_unreadable(std::uint64_t unit, std::uint32_t atom) const {
    const auto at = touched_.find(unit);
    return at != touched_.end() &&
           (at->second.base[atom] == kUnreadable ||
            std::any_of(at->second.operations.begin(), at->second.operations.end(),
                        [atom](const Operation& o) { return o.value == kUnreadable && o.covers(atom); }));
}

bool ReferenceMap::must_be_unreadable(std::uint64_t unit, std::uint32_t atom) const {
    const auto at = touched_.find(unit);
    return at != touched_.end() && must_be_unreadable(at->second, atom);
}

/// Something has made it so and has ended, and nothing that ended later has written there.
bool ReferenceMap::must_be_unreadable(const Unit& u, std::uint32_t atom) {
    Moment since = u.base[atom] == kUnreadable ? 1 : 0;
    for (const Operation& o : u.operations)
        if (o.value == kUnreadable && o.covers(atom) && !o.cut && o.ended != kRuns) since = std::max(since, o.begun);
    return since != 0 && std::none_of(u.operations.begin(), u.operations.end(), [=](const Operation& o) {
               return o.value != kUnreadable && !o.spares && o.covers(atom) && o.ended > since;
           });
}

std::string ReferenceMap::read(std::uint64_t unit, std::uint32_t first, const Image& found, Moment begun) {
    const Moment ended = ++clock_;
    Unit& u = touch(unit);
    const auto atoms = static_cast<std::uint32_t>(found.size());
    bool quiet = true, here = false, sure = true;
    for (const Operation& o : u.operations) {
        sure = sure && (o.life != life_ || !o.cut);
        quiet = quiet && (o.life != life_ || o.ended < begun);
        here = here || o.life == life_;
    }
    bool fits = true;
    for (std::uint32_t a = 0; a < atoms; ++a)
        fits = fits && (found[a] == kUnreadable ? may_be_unreadable(unit, first + a)
                                                : !quiet || !must_be_unreadable(u, first + a));
    if (quiet)
        fits = fits && can_be(u, {first, found.data(), atoms, begun, ended}, kMostOfRead);
    else
        for (std::uint32_t a = 0; a < atoms && fits; ++a)
            fits = found[a] == kUnreadable || can_be(u, {first + a, found.data() + a, 1, begun, ended}, kMostOfRead);
    if (!fits) {
        std::string text = "unit " + std::to_string(unit) + ", atoms from " + std::to_string(first) + " on, has";
        for (const Value v : found) text += " " + name_of(v);
        return text + (quiet ? "" : " (with something under way)") + ", but " + describe(unit);
    }
    if (u.operations.empty()) return "";
    ++open_reads_;
    if (!quiet) return "";
    find_out(u, {first, found.data(), atoms, begun, ended});
    sure = std::none_of(u.operations.begin(), u.operations.end(),
                        [this](const Operation& o) { return o.life == life_ && o.cut; });
    if (!here && first == 0 && atoms == atoms_) {  // what the loss of power has left
        u.base = found;
        u.operations.clear();
        u.sights.clear();
    } else if (sure) {
        u.sights.push_back({begun, life_, first, found});
    }
    return "";
}

bool ReferenceMap::is_initial(std::uint64_t unit) const {
    const auto at = touched_.find(unit);
    if (at == touched_.end()) return true;
    const Value initial = unit < filled_ ? initial_ : 0;
    return at->second.operations.empty() &&
           std::all_of(at->second.base.begin(), at->second.base.end(), [initial](Value v) { return v == initial; });
}

bool ReferenceMap::knows(std::uint64_t unit, Value value) const {
    const auto at = touched_.find(unit);
    if (at == touched_.end()) return value == (unit < filled_ ? initial_ : 0);
    const Unit& u = at->second;
    return std::find(u.base.begin(), u.base.end(), value) != u.base.end() ||
           std::any_of(u.operations.begin(), u.operations.end(),
                       [value](const Operation& o) { return o.value == value; });
}

std::string ReferenceMap::describe(std::uint64_t unit) const {
    const auto at = touched_.find(unit);
    if (at == touched_.end()) return "was never touched";
    std::string text = "it was";
    for (const Value v : at->second.base) text += " " + name_of(v);
    for (const Operation& o : at->second.operations) {
        text += "; then atoms " + std::to_string(o.first) + " to " + std::to_string(o.first + o.atoms - 1) +
                " became " + name_of(o.value) + (o.spares ? " where they could be read" : "") + " (moments " +
                std::to_string(o.begun) + " to " + (o.ended == kRuns ? "-" : std::to_string(o.ended)) +
                (o.cut       ? ", cut off"
                 : o.durable ? ", durable"
                             : "");
        text += o.life == life_ ? ")" : ", before loss of power " + std::to_string(o.life + 1) + ")";
    }
    for (const Sight& s : at->second.sights) {
        text += "; read at " + std::to_string(s.at) + " from atom " + std::to_string(s.first) + " on:";
        for (const Value v : s.found) text += " " + name_of(v);
    }
    return text;
}

}  // namespace ssdtlm
