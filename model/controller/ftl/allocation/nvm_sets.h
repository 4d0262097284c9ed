// SPDX-License-Identifier: Apache-2.0
// NVM Sets (NVM Express Base Specification, "NVM Sets"): parts of the flash that share no plane, each with a range of
// the logical addresses, so that what is written to one range never takes a plane of another one, nor, unless sets
// divide the planes of a die, one of its dies. Written as "C0-3, C4-7W0-1, C4-7W2-3": the channels (C), ways (W), dies
// of a chip (D) and planes of a die (P) of each set; a dimension that is not named is taken whole. The ranges follow
// each other in the order of the sets, each in proportion to its planes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/report/error.h"

namespace ssdtlm {

/// Channel, way, die of a chip, plane of a die: how sets and orders name them.
inline constexpr char kDimensionLetters[] = "CWDP";

class NvmSets {
public:
    NvmSets() = default;
    /// Reads the sets from a text. An empty text means no sets. Precondition: check() finds nothing.
    NvmSets(const std::string& text, const NandGeometry& geometry);

    bool any() const { return !names_.empty(); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
    const std::string& name(std::uint32_t set) const { return names_[set]; }
    std::uint32_t of(PlaneId plane) const { return set_of_plane_[idx(plane)]; }
    /// Splits this number of logical units. Returns where the range of each set begins and, as the last element, where
    /// the last one ends.
    std::vector<std::uint64_t> ranges(std::uint64_t units) const;
    /// True: some set takes only a part of a die's planes. Superblocks that join the planes of a die rule this out.
    bool names_planes() const { return names_planes_; }

    /// Adds the errors in the text of this key to `out`.
    static void check(std::vector<Problem>& out, const char* key, const std::string& text,
                      const NandGeometry& geometry);

private:
    std::vector<std::string> names_;
    std::vector<std::uint32_t> set_of_plane_, planes_;
    bool names_planes_ = false;
};

}  // namespace ssdtlm
