// SPDX-License-Identifier: Apache-2.0
// Stands between the firmware and the flash of a drive whose rows have parity (../ftl/parity). It models hardware that
// adds up (XOR) what is programmed into a row, and gives the sum to the row's parity pages when they are programmed.
// When a page cannot be read, it reads the other pages of the row, whose sum is the missing page. What was programmed
// into a row before the engine existed (by preconditioning, or in an earlier life) it takes from the flash in no time.
// Contents are represented by the Spare of each unit, and by its bytes if the flash keeps them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/ftl/ftl.h"
#include "controller/parity/row_parity.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

class ParityEngine final : public FlashPort {
public:
    struct Counters {
        std::uint64_t rebuilt = 0;  ///< pages that could not be read, and were rebuilt
        std::uint64_t not_rebuilt =
            0;  ///< that could not: another page of the row cannot be read, or the row is without parity
        std::uint64_t reads = 0;  ///< pages read for it
        Counters& operator+=(const Counters& o) {
            rebuilt += o.rebuilt;
            not_rebuilt += o.not_rebuilt;
            reads += o.reads;
            return *this;
        }
    };
    /// Both arguments must outlive it. Precondition: the FTL has the feature RowParity.
    ParityEngine(FlashPort& flash, Ftl& ftl);

    void submit(FlashTransaction& txn) override;
    const Counters& counters() const { return counters_; }
    std::string dump() const;

private:
    /// The sum of a row's pages in one plane number of all dies, by slot.
    struct Sum {
        std::array<Spare, kMaxUnitsPerPage> spare{};
        std::array<UnitBytes, kMaxUnitsPerPage> bytes{};
    };
    using Rows = std::unordered_map<std::uint32_t, std::vector<Sum>>;  // by row; by plane of a die
    struct Asked {
        FlashTransaction* txn = nullptr;
        Then then;
    };
    struct Rebuild;
    struct Part {
        FlashTransaction txn;
        Rebuild* of = nullptr;
        std::array<UnitBytes, kMaxUnitsPerPage> bytes{};
    };
    /// One page that is being rebuilt.
    struct Rebuild {
        std::uint32_t asked = 0;                   ///< of its read, which has failed
        std::vector<std::unique_ptr<Part>> parts;  ///< the row's other pages, that for parity last; used again
        std::uint32_t left = 0;                    ///< of these, still being read
    };

    void pass_program(FlashTransaction& txn);
    std::vector<Sum>& sums_of(SuperblockId b, std::uint32_t row);
    void add(Sum& sum, const Spare* spare, const UnitBytes* bytes) const;
    void ended(std::uint32_t asked);
    void answer(std::uint32_t asked);
    Rebuild& take_rebuild();
    bool begin(std::uint32_t asked);
    void part_read(Part& part);
    void end(Rebuild& r, const FlashTransaction& last);
    bool is_sum(const Rebuild& r) const;
    void give_bytes(const Sum& sum, FlashTransaction& txn) const;

    FlashPort& flash_;
    Ftl& ftl_;
    const NandGeometry geometry_;
    const SuperblockShape& shape_;
    std::unordered_map<std::uint32_t, Rows> rows_;  // by superblock: those that are being written
    std::unordered_map<std::uint32_t, std::set<std::uint32_t>>
        broken_;                // by superblock: rows in which a program has failed
    std::vector<Asked> asked_;  // of reads and programs that were passed on
    std::vector<std::uint32_t> free_asked_;
    std::vector<std::unique_ptr<Rebuild>> rebuilds_;
    std::vector<Rebuild*> free_rebuilds_;
    Counters counters_;
};

}  // namespace ssdtlm
