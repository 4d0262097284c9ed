// SPDX-License-Identifier: Apache-2.0
// Page allocation: in which order consecutive host pages go to the planes of the device. The four letters are channel,
// way (chip enable), die (LUN) and plane; the first letter varies fastest, so CWDP fills all channels before it uses
// the second chip of any (Hu et al., "Exploring and exploiting the multilevel parallelism inside SSDs", 2013; MQSim's
// Plane_Allocation_Scheme). Dynamic: the position comes from the order of programs, never from the logical address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"

namespace ssdtlm {

/// The 24 permutations of C, W, D and P, sorted.
std::vector<std::string> allocation_orders();

/// All planes of the device, each once, in the named order. UserError when the name is none of allocation_orders().
std::vector<PlaneId> plane_sequence(const std::string& order, const NandGeometry& geometry);

/// Walks round a plane sequence and skips the planes that are switched off. Fresh: all on, at the first plane.
class PlaneCursor {
public:
    explicit PlaneCursor(std::vector<PlaneId> sequence);

    const std::vector<PlaneId>& sequence() const { return sequence_; }
    void set_able(PlaneId plane, bool able) {
        const std::uint32_t at = position_of_[idx(plane)];
        const std::uint64_t bit = std::uint64_t{1} << (at % 64);
        if (able) {
            able_[at / 64] |= bit;
        } else {
            able_[at / 64] &= ~bit;
        }
    }
    bool able(PlaneId plane) const {
        const std::uint32_t at = position_of_[idx(plane)];
        return (able_[at / 64] >> (at % 64) & 1) != 0;
    }
    /// The next plane that is on; the walk goes on behind it. false: none is.
    bool next(PlaneId& out) {
        std::size_t word = cursor_ / 64;
        std::uint64_t bits = able_[word] & ~std::uint64_t{0} << (cursor_ % 64);
        for (std::size_t looked = 0; bits == 0; ++looked) {
            if (looked == able_.size()) return false;
            if (++word == able_.size()) word = 0;
            bits = able_[word];
        }
        const std::size_t at = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
        out = sequence_[at];
        move_to(at + 1);
        return true;
    }
    /// Continues at this index of the sequence (modulo its length).
    void move_to(std::size_t position) {
        cursor_ = position < sequence_.size() ? position : position % sequence_.size();
    }
    std::size_t position() const { return cursor_; }

private:
    std::vector<PlaneId> sequence_;
    std::vector<std::uint32_t> position_of_;  // of a plane in the sequence
    std::vector<std::uint64_t> able_;         // by position
    std::size_t cursor_ = 0;
};

}  // namespace ssdtlm
