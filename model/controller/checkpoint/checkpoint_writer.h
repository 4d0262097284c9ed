// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints of the map: erases the superblocks that the next one needs, programs its pages, waits until
// everything that it names is in flash, and writes the root record that makes it a complete one. It does so in the
// background, each time the host has written a set amount, and at a shutdown. If a program fails meanwhile whose data
// the checkpoint locates, the checkpoint is begun again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/ftl.h"
#include "controller/journal/journal_writer.h"
#include "controller/map/cached/cached_map.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/flash_job.h"
#include "controller/ports/organ.h"

namespace ssdtlm {

class CheckpointWriter final : public Organ {
public:
    /// All must outlive it.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        PageWriter& writer;
        FlashPort& flash;
        FlashJobs& jobs;
        JournalWriter& journal;
        CachedMap* map;  ///< null: it is all in memory
    };
    /// Precondition: the FTL has checkpoints.
    CheckpointWriter(const FirmwareConfig& costs, const FtlConfig& config, const Peers& peers);

    /// True: nothing is being written, nor will it be before something else changes.
    bool idle() const override { return state_ == State::idle || state_ == State::settling; }
    /// `callback` is called when it may have become idle().
    void on_idle(std::function<void()> callback) { on_idle_ = std::move(callback); }
    /// True: it begins no checkpoint by itself from now on. False: it may again.
    void hold_off(bool on) { held_off_ = on; }
    /// Writes a clean checkpoint, which says that nothing is written after it. `done` is called whether it succeeds or
    /// not. Precondition: idle(), and nothing is under way in the drive.
    void write_clean(std::function<void()> done);
    /// True: the newest root record is that of a clean checkpoint.
    bool clean() const { return checkpoints_.clean(); }
    /// Writes a root record that says that the drive works, before anything else is written. A drive that cannot write
    /// it becomes read-only. Precondition: clean() and idle().
    void write_working(std::function<void()> done);
    /// Throws CheckFailed if it waits for an event that will never come. Call it between two events.
    void check_waiters() const override;
    std::string dump() const override;
    template <class Archive>
    void state(Archive& s) {
        s(due_at_, given_up_);
    }

private:
    enum class State : std::uint8_t {
        idle,
        erasing,   ///< what the attempt needs
        writing,   ///< its pages
        settling,  ///< they are in flash; what it names is not
        root       ///< an anchor is erased, or a root record written
    };
    static constexpr std::uint32_t kMostTries = 4;  // at a shutdown

    void program_ended();
    void look();
    bool is_due() const;
    void begin();
    void read_map();
    void erase(SuperblockId b);
    void issue_erases(FlashJob& first) { submit_all(peers_.flash, first); }
    void go_on();
    void issue_pages(std::uint64_t pages);
    void add(const PageAddress& at, PageKind kind, const PageContent& content);
    void abandon(bool again);
    void try_root();
    void write_root();
    void issue_root();
    void root_done(bool ok);
    void end();
    void erased(FlashJob& job);
    void erase_done(FlashJob& job);
    void program_done(ProgramJob& job);
    void ended(bool ok, bool erased, const PageAddress& at);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    const Peers peers_;
    CheckpointFeature& feature_;
    Checkpoints& checkpoints_;
    JobPool<FlashJob> erases_;
    JobPool<ProgramJob> programs_;
    const std::uint64_t interval_units_;  // 0: none but at a shutdown
    const std::uint32_t row_pages_;
    State state_ = State::idle;
    std::uint64_t due_at_ = 0;     // units of the host
    std::uint64_t turn_ = 0;       // of the journal, which has to be durable
    std::uint32_t in_flight_ = 0;  // erases and programs, and the reads of the map as one
    bool issuing_ = false;         // a core works on some
    std::size_t next_page_ = 0;    // of the attempt
    bool broken_ = false;          // one of its own has failed
    bool look_posted_ = false;
    bool is_clean_ = false;  // the attempt
    bool held_off_ = false;
    bool given_up_ = false;  // no anchor is left
    std::uint32_t tries_ = 0;
    bool works_ = false;  // the root record says no more than that
    PageContent root_;
    std::uint64_t root_number_ = 0;
    std::function<void()> done_, on_idle_;
};

}  // namespace ssdtlm
