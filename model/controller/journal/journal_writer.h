// SPDX-License-Identifier: Apache-2.0
// Writes the pages of the journal: full ones at once, the open one when a flush or the erase of a block waits for it,
// or when it says that a block has failed. For a full page, a flush or a failed block it takes a flash page where free
// blocks allow it. For an erase it takes one of the group whose garbage collection waits, because that group gets a
// free block for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/journal/notes.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/organ.h"
#include "controller/wait_queues/wait_queues.h"

namespace ssdtlm {

class JournalWriter final : public Organ, public ProgramOwner {
public:
    /// All must outlive it.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        PageWriter& writer;
        GcEngine& gc;
        FlashJobs& jobs;
        WaitQueues& wait_queues;
    };
    JournalWriter(const FirmwareConfig& costs, const Peers& peers);

    /// True: units may be deallocated. False: a full page waits to be written; WaitQueues::pages_changed() follows when
    /// it is written.
    bool takes_note() const { return !notes_.journal().any_full(); }
    /// Asks for everything noted until now to be written. Returns the argument for is_durable().
    std::uint64_t demand();
    bool is_durable(std::uint64_t demanded) const { return notes_.journal().is_durable(demanded) || given_up_; }
    /// True: the demanded notes will never be in flash, because a read-only drive had no page left. is_durable() is
    /// true all the same, as there is nothing to wait for.
    bool is_lost(std::uint64_t demanded) const { return given_up_ && !notes_.journal().is_durable(demanded); }
    /// A unit was deallocated while a command (index) waited for its durability. Calls WaitQueues::release(command)
    /// when the deallocation is durable, now or later.
    void release_when_durable(std::uint32_t command);
    /// Garbage collection waits to erase this victim. Writes the page that it waits for, if that is not being written.
    void demand_for(SuperblockId victim);
    /// A block came free: a page that found none may find one now.
    void block_freed() override {
        if (__builtin_expect(waits_for_block_, 0)) place();
    }
    /// True: a flush waits, or a command whose deallocation is to be durable.
    bool is_awaited(const ProgramJob&, std::uint32_t) const override {
        return peers_.wait_queues.anybody(WaitQueues::For::flush) ||
               peers_.wait_queues.anybody(WaitQueues::For::journal);
    }
    /// True: nothing is being written, and no core works on it.
    bool idle() const override { return programs_ + issuing_ == 0; }
    /// True: there is a program that ends by itself, or a collection that will give a page to a program without one.
    bool under_way() const override { return !idle() || (waits_for_block_ && peers_.gc.active() != 0); }
    void check_waiters() const override;
    std::string dump() const override;
    template <class Archive>
    void state(Archive& s) {
        s(demanded_, given_up_);
    }

private:
    struct Job : ProgramJob {
        Journal::Id page = 0;
    };
    static constexpr std::uint64_t kAnyGroup = ~std::uint64_t{0};

    bool try_release(std::uint64_t what);
    void due();
    void begin_due();
    void begin(std::uint64_t group);
    void issue(std::uint64_t group);
    void place();
    Journal::Id next() const;
    bool place_at_once(GroupId group);
    bool place_one(GroupId group);
    void submit(Job& job, GroupId group);
    void program_done(Job& job);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    const Peers peers_;
    Notes& notes_;
    JobPool<Job> jobs_;
    std::uint64_t demanded_ = 0;  ///< the open page is to be written if its turn is not above
    std::uint32_t issuing_ = 0;   ///< steps given to a core
    std::uint32_t urgent_ = 0;    ///< of those, for an erase
    std::uint32_t programs_ = 0;
    bool waits_for_block_ = false;  ///< in a group that can spare it
    bool given_up_ = false;         ///< the drive is read-only, and there was no page left
    std::vector<SuperblockId> freed_;
};

}  // namespace ssdtlm
