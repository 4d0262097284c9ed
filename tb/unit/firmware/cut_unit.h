// SPDX-License-Identifier: Apache-2.0
// What a host does until the power goes; what it has submitted for one unit, and how far of that is on the flash for
// good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ssdtlm {

/// When the power goes, and what the host does.
enum class Cuts {
    anywhere,
    behind_erases,   ///< few units that are written and deallocated one by one, a flush behind many: records that soon
                     ///< are of no use
    behind_failures  ///< and few flushes; behind erases that follow a failed program of what was deallocated, and pages
                     ///< of the journal take long
};

/// What was submitted for it.
struct Unit {
    std::vector<std::uint32_t>
        versions;             ///< in order; 0: has none, deallocated; versions[0]: what the last start found
    std::size_t durable = 0;  ///< index of
    std::size_t acknowledged = 0;
    std::uint32_t before = 0;  ///< the last version written in an earlier life
    bool writing = false;      ///< one write or deallocation of a unit at a time: their order is known

    bool is_deallocated() const { return versions.back() == 0; }
    std::uint32_t last_written() const {
        for (std::size_t i = versions.size(); i-- != 0;)
            if (versions[i] != 0) return versions[i];
        return before;
    }
    void is_durable(std::uint32_t version) {
        for (std::size_t i = versions.size(); i-- > durable;)
            if (versions[i] == version) {
                durable = i;
                return;
            }
    }
    /// The latest that it may be: the last durable one or one behind it. None: this version may not be found.
    std::optional<std::size_t> which(std::uint32_t found) const {
        for (std::size_t i = versions.size(); i-- > durable;)
            if (versions[i] == found) return i;
        return {};
    }
};

}  // namespace ssdtlm
