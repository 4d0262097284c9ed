// SPDX-License-Identifier: Apache-2.0
// Merges of a mapping by blocks (ftl/mapping/block_placement.h) in time. For each group, one run of copies follows the
// other. Rows of pages are read ahead, from wherever their units are, and programmed in ascending order, each row as
// one multi-plane operation. The rest that was read for a page of the host (block mapping) waits here for that page. A
// merge begins when the host's programs in the group's log blocks have ended. Superblocks that hold nothing any more
// are erased first, as soon as nobody reads them and nothing in them is needed. BlockPlacement decides what to merge
// and where to.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/host_program.h"
#include "controller/ports/organ.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

class MergeEngine final : public Organ {
public:
    /// All members must outlive the engine. The Ftl must have a BlockPlacement.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        DramPort& dram;
        FlashPort& flash;
        PageWriter& writer;
        FlashJobs& jobs;
    };
    MergeEngine(const FirmwareConfig& firmware, const FtlConfig& config, const Peers& peers);

    /// `callback` is called when a page of the host, or of the journal, may find room that it did not find before.
    void on_room(std::function<void()> callback) { room_ = std::move(callback); }
    /// `callback` is called when an erase waits: for reads, for newer copies, or for the journal.
    void on_erase_waits(std::function<void(SuperblockId)> callback) { erase_waits_ = std::move(callback); }

    /// A merge or an erase of the group is wanted now, or what it waited for may have happened.
    void check(GroupId group);
    /// A page of the host has been placed. The units that were read for it go into it.
    void join(HostProgram& host);
    /// That page has been programmed. Its copied units get their new places in the map.
    void joined(const HostProgram& host);
    void let_go(SuperblockId b) {
        if (placement_.dead(peers_.ftl.shape().group_of(b)) == b) check(peers_.ftl.shape().group_of(b));
    }
    bool busy(GroupId group) const {
        const Group& g = groups_[idx(group)];
        return g.running || placement_.demanded(group) || placement_.erasing(group) ||
               (g.asked && placement_.dead(group) != kNoSuperblock);
    }
    /// Number of groups in which something is merged or erased, or waits for it.
    std::uint32_t active() const;
    /// Throws CheckFailed if a group waits for an event that will never come. Call it between two events. It looks at
    /// every group.
    void check_waiters() const override;
    std::string dump() const override;

private:
    struct Read : FlashJob {
        std::uint64_t row = 0;                                 ///< number of the row
        std::array<std::uint32_t, kMaxUnitsPerPage> in_row{};  ///< place of unit i in the row
        std::uint32_t dram_unit = 0;                           ///< where the first unit is in the DRAM, in units
    };
    struct Program : ProgramJob {
        std::array<Ppa, kMaxUnitsPerPage> from{};  ///< old place of the unit in this slot
    };
    struct Unit {
        Spare spare = kPadding;
        Ppa from = kUnmapped;
        std::uint32_t dram_unit = 0;
    };
    struct Row {
        std::uint32_t pages = 0;
        std::uint32_t reads = 0;       ///< that have not ended
        std::vector<Unit> units;       ///< by page and slot
        std::vector<UnitBytes> bytes;  ///< of these; empty: the Spare stands for the data
    };
    struct Group {
        bool asked = false;  ///< false: what is to be erased waits. A start found it, or the drive is read-only and its
                             ///< journal may have no page
        bool running = false;  ///< a run, or what comes next is being decided
        bool issuing = false;  ///< a core places the first row
        bool abandoned =
            false;  ///< a program of the run has failed: what is under way ends, and nothing more of it is placed
        std::uint32_t steps = 0;      ///< of the cores
        std::uint32_t in_flight = 0;  ///< reads, programs and erases, with the DRAM or the flash
        std::uint32_t erases = 0;     ///< of the superblock that is being erased, blocks
        bool erase_failed = false;    ///< of one of them
        std::uint32_t cursor = 0;     ///< page of the logical block to read next
        std::uint32_t pages = 0;      ///< read or being programmed
        std::uint64_t number = 0;     ///< of the run, from 1: the owner of its flash work
        std::uint64_t first_row = 0;  ///< number of rows.front()
        std::deque<Row> rows;         ///< read, or being read
        Row rest;                     ///< read, for the page of the host that waits for it
    };

    void begin(std::uint64_t group);
    void pump(GroupId group);
    void start_row(GroupId group);
    void drop_rows(GroupId group);
    void run_ended(GroupId group);
    void find_units(GroupId group, Row& row) const;
    void issue(FlashJob& first);
    Row& row_of(const Read& job) {
        Group& g = groups_[idx(group_of(job))];
        return g.rows[job.row - g.first_row];
    }
    void page_read(Read& job);
    void read_done(Read& job);
    void read_failed(Read& job);
    void end_read(Read& job);
    void place_row(std::uint64_t group);
    void place_page(GroupId group, Row& row, std::uint32_t page);
    bool add_unit(FlashJob& job, Row& row, std::uint32_t unit, std::uint32_t slot);
    void programmed(Program& job);
    void program_done(Program& job);
    void try_erase(GroupId group);
    void erased(FlashJob& job);
    void erase_done(FlashJob& job);
    GroupId group_of(const FlashJob& job) const { return peers_.ftl.shape().group_of(job.txn.address.plane); }
    void prepare(FlashJob& job, FlashOp op, FlashClass cls, const PageAddress& a, const Then& then);
    void step(GroupId group, std::uint64_t cycles, CoreStep what, const Then& next) {
        ++groups_[idx(group)].steps;
        peers_.cores.run(idx(group), cycles, what, next);
    }

    const FirmwareConfig& firmware_;
    const Peers peers_;
    BlockPlacement& placement_;
    const NandGeometry geometry_;
    const SpareCodec codec_;
    const std::uint32_t most_pages_;  // of a group, read and not yet programmed
    std::vector<Group> groups_;
    JobPool<Read> reads_;
    JobPool<Program> programs_;
    JobPool<FlashJob> erases_;
    std::function<void()> room_;
    std::function<void(SuperblockId)> erase_waits_;
    std::uint64_t runs_ = 0;
};

}  // namespace ssdtlm
