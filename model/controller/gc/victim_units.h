// SPDX-License-Identifier: Apache-2.0
// Units that were read from a victim and are not yet given to a program, oldest first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/address/geometry.h"
#include "controller/gc/move_jobs.h"
#include "controller/ports/core_port.h"
#include "nand/onfi/spare.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

class VictimUnits {
public:
    bool empty() const { return units_.empty(); }
    std::size_t size() const { return units_.size(); }
    void clear() {
        units_.clear();
        bytes_.clear();
    }
    /// Adds a unit. `slot`: where its bytes are in the job, if it has any.
    void add(const Spare& spare, Ppa from, std::uint32_t dram_unit, const FlashJob& job, std::uint32_t slot) {
        units_.push_back({spare, from, dram_unit});
        if (__builtin_expect(job.bytes != nullptr, 0)) bytes_.push_back(job.bytes->page[slot]);
    }
    /// Puts the oldest units, at most `most`, into the page of a program, in the victim's order. Returns how many.
    std::uint32_t give(MoveProgram& program, std::uint32_t most) {
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(most, units_.size() - given_));
        program.units = static_cast<std::uint8_t>(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const Unit& unit = units_[given_ + i];
            program.txn.spare[i] = unit.spare;
            program.from[i] = unit.from;
            program.dram_unit[i] = unit.dram_unit;
        }
        if (__builtin_expect(program.bytes != nullptr, 0))
            for (std::uint32_t i = 0; i < n; ++i) program.bytes->page[i] = std::move(bytes_[given_ + i]);
        given_ += n;
        return n;
    }
    /// True: some units were not given yet.
    bool any_left() const { return given_ < units_.size(); }
    /// Forgets the units that were given.
    void drop_given() {
        const auto n = static_cast<std::ptrdiff_t>(given_);
        units_.erase(units_.begin(), units_.begin() + n);
        if (__builtin_expect(!bytes_.empty(), 0)) bytes_.erase(bytes_.begin(), bytes_.begin() + n);
        given_ = 0;
    }

private:
    struct Unit {
        Spare spare;
        Ppa from;
        std::uint32_t dram_unit;  ///< where it is in the DRAM, in units
    };
    std::vector<Unit> units_;
    std::vector<UnitBytes> bytes_;  // of these; empty: the Spare stands for the data
    std::size_t given_ = 0;         // the first so many
};

/// How long the core of `number` waits for the map's entries of the units that a row moves.
inline Ps wait_for_moved(CorePort& cores, std::uint64_t number, const JobChain<MoveProgram>& row,
                         const SpareCodec& codec) {
    TablePort* const table = cores.table();
    if (__builtin_expect(table == nullptr, 1)) return {};
    for (const MoveProgram* job = row.first(); job != nullptr; job = next_of(*job))
        for (std::uint32_t i = 0; i < job->units; ++i)
            if (job->txn.spare[i] != kPadding) table->want(number, {idx(codec.lpa(job->txn.spare[i])), 1}, true);
    return table->wait();
}

}  // namespace ssdtlm
