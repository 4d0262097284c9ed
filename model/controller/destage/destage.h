// SPDX-License-Identifier: Apache-2.0
// Turns dirty units into programmed pages. It forms programs of a row of pages, takes flash pages for them, and reports
// to waiting commands when their units are in flash. The units of a failed program are still in the buffer, and get
// another page.
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
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/host_program.h"
#include "controller/ports/map_updates.h"
#include "controller/ports/organ.h"
#include "controller/read_cache/read_cache.h"
#include "controller/wait_queues/wait_queues.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class Destage final : public Organ, public ProgramOwner {
public:
    /// All members must outlive it.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        WriteBuffer& buffer;
        PageWriter& writer;
        GcEngine& gc;
        FlashJobs& jobs;
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
    bool idle() const override { return programs() == 0; }
    /// Programs that wait for a page.
    std::uint32_t without_page() const;
    std::uint32_t without_page(std::uint32_t partition) const;
    const RowChoice& choice() const { return choice_; }
    /// `then` is called when somebody may begin to wait for programs that do not end by themselves.
    void on_wait(const Then& then) { on_wait_ = then; }
    /// True: there is a program that ends by itself, or a collection that will give a page to a program without one.
    bool under_way() const override;
    bool is_awaited(const ProgramJob& program, std::uint32_t held) const override;
    std::uint64_t units_mapped() const { return units_mapped_; }
    /// Units that were deallocated between leaving the dirty queue and taking a flash page.
    std::uint64_t units_discarded() const { return units_discarded_; }
    /// Units that were never mapped, because a read-only drive had no page left.
    std::uint64_t units_given_up() const { return units_given_up_; }
    void check_waiters() const override;
    std::string dump() const override;
    template <class Archive>
    void state(Archive& s) {
        choice_.state(s);
        s(collecting_);
    }

private:
    void form();
    void form_row(std::uint32_t partition);
    std::uint64_t reorder_cycles(std::uint32_t units) const;
    Ps wait_for_entries(std::uint64_t number, const JobChain<HostProgram>& row) const;
    void issue(HostProgram& row);
    bool bring_in(HostProgram& row);
    void brought_in(HostProgram& row);
    void done_with_map(const HostProgram& job) const;
    void tell_map(const HostProgram& job) const;
    void place_or_wait(HostProgram* jobs);
    bool place_again(std::uint32_t partition);
    HostProgram* place(HostProgram* jobs);
    bool is_wanted(const HostProgram& job) const;
    std::uint32_t partition_of(const HostProgram& job) const;
    void submit(HostProgram& job, const PageAddress& page, bool of_gc);
    void program_done(HostProgram& job);
    void lose(Lpa lpa) const;
    void let_go_old(const HostProgram& job, std::uint32_t unit);
    void keep_in_cache(const HostProgram& job, std::uint32_t unit) const;
    void finish(HostProgram& job, bool placed = true);
    void program_failed(HostProgram& job);
    void give_up(HostProgram* jobs);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    const SpareCodec codec_;
    const std::uint32_t units_per_page_;
    Peers peers_;
    JobPool<HostProgram> jobs_;
    RowChoice choice_;
    std::unique_ptr<LogicalRows> logical_rows_;  ///< null: pages are put anywhere
    std::vector<PageAddress> row_;               ///< of the place() at hand
    std::vector<Lpa> units_;                     ///< of the bring_in() at hand,
    std::vector<WorkTag> whose_;                 ///< and whose each is
    std::uint32_t issuing_ = 0;                  ///< rows that a core is working on, not yet offered to the FTL
    std::vector<std::deque<HostProgram*>> without_page_;  ///< by partition: what is left of rows, and waits for a page
    std::uint64_t rows_formed_ = 0;
    Then on_wait_;             ///< empty: each program ends by itself
    const bool reorders_;      ///< the buffer does
    bool collecting_ = false;  ///< GC has looked at every group once
    std::uint64_t units_mapped_ = 0;
    std::uint64_t units_discarded_ = 0;
    std::uint64_t units_given_up_ = 0;
};

}  // namespace ssdtlm
