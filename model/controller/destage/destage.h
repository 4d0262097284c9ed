// SPDX-License-Identifier: Apache-2.0
// From dirty units to programmed pages: forms programs of a row of pages, takes flash pages for them, and tells those
// who wait when their units are in flash. The units of a failed program, which are in the buffer still, get another
// page.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/data/unit_data.h"
#include "controller/destage/logical_rows.h"
#include "controller/destage/row_choice.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/journal/journal_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/flash_job.h"
#include "controller/ports/map_updates.h"
#include "controller/program_queue/program_queue.h"
#include "controller/read_cache/read_cache.h"
#include "controller/wait_queues/wait_queues.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class Destage final {
public:
    /// All members must outlive it.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        WriteBuffer& buffer;
        ProgramQueue& feed;
        GcEngine& gc;
        FlashJobPool& jobs;
        WaitQueues& wait_queues;
        JournalWriter& journal;
        UnitData* bytes = nullptr;      ///< null: signatures stand for the data
        MapUpdates* map = nullptr;      ///< null: the map is all in memory
        ReadCache* cache = nullptr;     ///< null: what leaves the buffer is not kept
        MergeEngine* merges = nullptr;  ///< null: pages are put anywhere
    };
    Destage(const FirmwareConfig& costs, const FtlConfig& config, const Peers& peers);

    /// Programs that are formed and not finished.
    std::uint32_t programs() const { return choice_.programs(); }
    /// Programs that wait for a page.
    std::uint32_t without_page() const;
    std::uint32_t without_page(std::uint32_t partition) const;
    const RowChoice& choice() const { return choice_; }
    /// `then` is called when somebody may begin to wait for programs that do not end by themselves.
    void on_wait(const Then& then) { on_wait_ = then; }
    /// True: there is a program that ends by itself, or a collection that will give a page to a program without one.
    bool under_way() const;
    std::uint64_t units_mapped() const { return units_mapped_; }
    /// Units that were deallocated between leaving the dirty queue and taking a flash page.
    std::uint64_t units_discarded() const { return units_discarded_; }
    /// Units that were never mapped, because a read-only drive had no page left.
    std::uint64_t units_given_up() const { return units_given_up_; }
    void check_waiters() const;
    std::string dump() const;
    template <class Archive>
    void state(Archive& s) {
        choice_.state(s);
        s(collecting_);
    }

private:
    void form();
    void form_row(std::uint32_t partition);
    std::uint64_t reorder_cycles(std::uint32_t units) const;
    Ps wait_for_entries(std::uint64_t number, const JobChain& row) const;
    void issue(FlashJob& row);
    bool bring_in(FlashJob& row);
    void brought_in(FlashJob& row);
    void done_with_map(const FlashJob& job) const;
    void tell_map(const FlashJob& job) const;
    void place_or_wait(FlashJob* jobs);
    bool place_again(std::uint32_t partition);
    FlashJob* place(FlashJob* jobs);
    bool is_wanted(const FlashJob& job) const;
    std::uint32_t partition_of(const FlashJob& job) const;
    void submit(FlashJob& job, const PageAddress& page, bool of_gc);
    void programmed(FlashJob& job);
    void program_done(FlashJob& job);
    void lose(Lpa lpa) const;
    void let_go_old(const FlashJob& job, std::uint32_t unit);
    void keep_in_cache(const FlashJob& job, std::uint32_t unit) const;
    void finish(FlashJob& job, bool placed = true);
    void program_failed(FlashJob& job);
    void give_up(FlashJob* jobs);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    const SpareCodec codec_;
    const std::uint32_t units_per_page_;
    Peers peers_;
    RowChoice choice_;
    std::unique_ptr<LogicalRows> logical_rows_;        ///< null: pages are put anywhere
    std::vector<PageAddress> row_;                     ///< of the place() at hand
    std::vector<Lpa> units_;                           ///< of the bring_in() at hand,
    std::vector<WorkTag> whose_;                       ///< and whose each is
    std::uint32_t issuing_ = 0;                        ///< rows that a core is working on, not yet offered to the FTL
    std::vector<std::deque<FlashJob*>> without_page_;  ///< by partition: what is left of rows, and waits for a page
    std::uint64_t rows_formed_ = 0;
    Then on_wait_;             ///< empty: each program ends by itself
    const bool reorders_;      ///< the buffer does
    bool collecting_ = false;  ///< GC has looked at every group once
    std::uint64_t units_mapped_ = 0;
    std::uint64_t units_discarded_ = 0;
    std::uint64_t units_given_up_ = 0;
};

}  // namespace ssdtlm
