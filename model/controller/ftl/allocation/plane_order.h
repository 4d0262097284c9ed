// SPDX-License-Identifier: Apache-2.0
// Page allocation: in which order consecutive host pages go to the planes of the device, or to the groups of planes
// that are written in step (superblock.h). The four letters are channel, way (chip enable), die (LUN) and plane; the
// first letter varies fastest, so CWDP fills all channels before it uses the second chip of any (Hu et al., "Exploring
// and exploiting the multilevel parallelism inside SSDs", 2013; MQSim's Plane_Allocation_Scheme). Dynamic: the position
// comes from the order of programs, never from the logical address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/superblock.h"

namespace ssdtlm {

/// The 24 permutations of C, W, D and P, sorted.
std::vector<std::string> allocation_orders();

/// All planes of the device, each once, in the named order. Throws UserError when the name is none of
/// allocation_orders().
std::vector<PlaneId> plane_sequence(const std::string& order, const NandGeometry& geometry);
/// The order of the planes when each row of a superblock is filled before the next group's: the letter P comes first
/// when the planes of a die are one group.
std::vector<PlaneId> row_sequence(const std::string& order, const NandGeometry& geometry, SuperblockSpan span);

/// Walks round the groups in their order, and skips those that are switched off or held. At first all are on, none is
/// held, and the walk starts at the first group.
class GroupCursor {
public:
    /// `rows`: a row_sequence() of this shape.
    GroupCursor(const std::vector<PlaneId>& rows, const SuperblockShape& shape);

    const std::vector<GroupId>& sequence() const { return sequence_; }
    void set_able(GroupId group, bool able) {
        set(able_, group, able);
        set(open_, group, able && !test(held_, group));
    }
    bool able(GroupId group) const { return test(able_, group); }
    /// A held group is passed over until it is released, whether it is able or not.
    void set_held(GroupId group, bool held) {
        set(held_, group, held);
        set(open_, group, able(group) && !held);
    }
    /// The group's open row is filled in part.
    void set_ragged(GroupId group, bool ragged) {
        if (test(ragged_, group) == ragged) return;
        set(ragged_, group, ragged);
        ragged ? ++ragged_count_ : --ragged_count_;
    }
    std::uint32_t ragged_count() const { return ragged_count_; }
    /// The next group that is on. The walk goes on behind it. False: none is on.
    bool next(GroupId& out) {
        std::size_t at = 0;
        if (!find(open_, at)) return false;
        out = sequence_[at];
        move_to(at + 1);
        return true;
    }
    /// The group with the least load of those that are on; of equals the one that next() would come to first. The walk
    /// goes on behind it. `load`: by group. False: none is on.
    bool next_least(const std::vector<std::uint32_t>& load, GroupId& out);
    /// The next ragged group. The walk stays where it is. False: there is none.
    bool next_ragged(GroupId& out) const {
        std::size_t at = 0;
        if (ragged_count_ == 0 || !find(ragged_, at)) return false;
        out = sequence_[at];
        return true;
    }
    /// Continues at this index of the sequence (modulo its length).
    void move_to(std::size_t position) {
        cursor_ = position < sequence_.size() ? position : position % sequence_.size();
    }
    std::size_t position() const { return cursor_; }
    template <class Archive>
    void state(Archive& s) {
        s.fixed(able_);
        s.fixed(held_);
        s.fixed(open_);
        s.fixed(ragged_);
        s(ragged_count_, cursor_);
        if (!s.reads()) return;
        std::uint32_t ragged = 0;
        for (std::size_t at = 0; at < 64 * open_.size(); ++at) {
            const auto is = [at](const Bits& bits) { return (bits[at / 64] >> (at % 64) & 1) != 0; };
            s.require(is(open_) == (is(able_) && !is(held_)) &&
                          (at < sequence_.size() || !(is(able_) || is(held_) || is(ragged_))),
                      "a group that takes pages, and does not");
            ragged += is(ragged_);
        }
        s.require(ragged == ragged_count_ && cursor_ < sequence_.size(), "a turn of a group that there is not");
    }
    /// True: some group is held.
    bool any_held() const {
        return std::any_of(held_.begin(), held_.end(), [](std::uint64_t bits) { return bits != 0; });
    }

private:
    using Bits = std::vector<std::uint64_t>;  // by position
    void set(Bits& bits, GroupId group, bool on) const {
        const std::uint32_t at = position_of_[idx(group)];
        const std::uint64_t bit = std::uint64_t{1} << (at % 64);
        bits[at / 64] = on ? bits[at / 64] | bit : bits[at / 64] & ~bit;
    }
    bool test(const Bits& bits, GroupId group) const {
        const std::uint32_t at = position_of_[idx(group)];
        return (bits[at / 64] >> (at % 64) & 1) != 0;
    }
    bool find(const Bits& in, std::size_t& at) const {
        std::size_t word = cursor_ / 64;
        std::uint64_t bits = in[word] & ~std::uint64_t{0} << (cursor_ % 64);
        for (std::size_t looked = 0; bits == 0; ++looked) {
            if (looked == in.size()) return false;
            if (++word == in.size()) word = 0;
            bits = in[word];
        }
        at = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
        return true;
    }

    std::vector<GroupId> sequence_;
    std::vector<std::uint32_t> position_of_;  // of a group in the sequence
    Bits able_;
    Bits held_;
    Bits open_;  // able and not held
    Bits ragged_;
    std::uint32_t ragged_count_ = 0;
    std::size_t cursor_ = 0;
};

}  // namespace ssdtlm
