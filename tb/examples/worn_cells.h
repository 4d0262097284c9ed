// SPDX-License-Identifier: Apache-2.0
// Failures of one's own: wrong bits grow with the erases of a block and with the age of what it holds. Each retry, with
// better read voltages, finds half as many. Programs and erases do not fail.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "common/units/age.h"
#include "nand/array/array_faults.h"

namespace ssdtlm::examples {

class WornCells final : public ArrayFaults {
public:
    struct Law {
        std::int64_t per_kilocycle = 0;  ///< wrong bits of a code word after 1,000 erases
        std::int64_t per_year = 0;       ///< and for each year of age
        Age at_start;                    ///< age of what the drive holds when a run begins
    };
    explicit WornCells(const Law& law) : law_(law) {}

    Kinds kinds() const override { return {true, false, false}; }
    bool program_fails(const ArrayWork& work) override {
        if (work.page.page == 0) programmed_[block_of(work.page)] = work.now;
        return false;
    }
    bool erase_fails(const ArrayWork&) override { return false; }
    std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t again) override {
        const auto programmed = programmed_.find(block_of(work.page));
        const Age age = programmed == programmed_.end() ? law_.at_start + Age::of(work.now.time_since_epoch())
                                                        : Age::of(work.now - programmed->second);
        const double years = age.in_seconds() / Age::years(1).in_seconds();
        const double bits =
            (static_cast<double>(law_.per_kilocycle) * work.cycle / 1000 + static_cast<double>(law_.per_year) * years) /
            static_cast<double>(1u << std::min(again, 16u));
        return static_cast<std::uint16_t>(std::min(bits, 65'535.0));
    }
    void state(Snapshot& s) override { s.map(programmed_); }

private:
    static std::uint64_t block_of(const PageAddress& page) { return std::uint64_t{idx(page.plane)} << 32 | page.block; }

    const Law law_;
    std::unordered_map<std::uint64_t, SimTime> programmed_;  // blocks: when their first page was
};

}  // namespace ssdtlm::examples
