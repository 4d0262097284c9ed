// SPDX-License-Identifier: Apache-2.0
// A host that carries out a case: it decides what is submitted, and has data and their check of its own. How commands
// get to the drive and back is its port's. What it writes is of its own making (each write a number, in each of its
// logical blocks a text that follows from number and place), Write Zeroes included; after a loss of power nothing is
// submitted again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda.h"
#include "property/block_contents.h"
#include "property/block_tags.h"
#include "property/case_port.h"
#include "property/drive_case.h"
#include "property/reference_map.h"

namespace ssdtlm {

class CaseHost : public CasePortClient {
public:
    struct Drive {
        std::uint32_t unit_bytes, lba_bytes;
        std::uint64_t units, filled;
        bool bytes, durable_writes;
        bool durable_trims;  ///< capacitors protect the journal, too
        bool caches_filled;  ///< what the drive holds at the start is in part in its write buffer only
        bool loses_pages;    ///< any read may find that the flash has lost what it is for
        std::uint32_t version_bits;
        std::uint64_t seed;
    };
    struct Counts {
        std::uint64_t done[DriveOp::kKinds] = {};
        std::uint64_t cut_off = 0, looked_at = 0, cuts = 0, under_load = 0;  ///< cuts with commands under way
        std::uint64_t resets_under_load = 0;
        std::uint64_t failed = 0, lost = 0;  ///< lost: of those that failed, on a drive that loses pages
        std::uint64_t aborted = 0, beyond = 0, broken = 0, copies = 0, compares = 0, pairs = 0, unreadable = 0,
                      erased = 0, in_erasure = 0, resets_in_erasure = 0, metadata_checked = 0, wrong_guards = 0,
                      other_references = 0;
    };

    CaseHost(Agenda& agenda, const Drive& drive, std::uint32_t depth, const std::vector<DriveOp>& ops);
    CaseHost(const CaseHost&) = delete;
    CaseHost& operator=(const CaseHost&) = delete;

    /// Before start(). The port outlives the simulation.
    void set_port(CasePort& port) { port_ = &port; }

    /// Called with false when the power goes, and with true when it is back; see NvmeDriver.
    void set_power_switch(std::function<bool(bool)> f) { power_switch_ = std::move(f); }
    void drive_is_off() {
        if (std::exchange(power_waits_, false)) power_returns();
    }
    /// Whether the drive's flash has failed so often that it is.
    void set_is_read_only(std::function<bool()> f) { is_read_only_ = std::move(f); }
    /// All is done, and the drive shut down.
    void set_on_end(std::function<void()> f) { on_end_ = std::move(f); }
    void start();
    bool ended() const { return ended_; }
    std::string where() const;
    const Counts& counts() const { return counts_; }
    const ReferenceMap& reference() const { return map_; }

    void command_ended(std::uint32_t slot, CaseEnd end, const std::string& status) override;
    void flush_failed() override;
    void erasure_goes_on() override;
    void erasure_ended(Erasure end) override;
    void room() override { go_on(0); }

private:
    static constexpr Ps kOff{20'000'000};  // 20 us
    /// Of a command under way, the part of a unit that it touches.
    struct Part {
        std::uint64_t unit;
        std::uint32_t first, blocks;
        ReferenceMap::Moment begun;
    };
    struct Slot {
        CaseCommand command;
        bool busy = false;
        bool read_only = false;  ///< the drive was, when it was submitted
        ReferenceMap::Moment begun = 0;
        std::vector<Part> parts;
        std::uint8_t* data = nullptr;
        std::uint8_t* metadata = nullptr;  ///< null: its blocks have none
        DriveOp then;                      ///< what is done with that which this read finds; else a read
        std::vector<Part> held;            ///< of a copy or compare: nothing else may change what these hold
        bool has_others = false;           ///< compare: with other data than are there; write: its compare has failed
        std::uint32_t second = 0;          ///< compare of a pair: the slot of its write
        bool is_piece = false;             ///< of a unit that is looked at block by block
        bool has_wrong_guard = false;      ///< write: of its last block
    };
    /// A unit that is looked at block by block, as some of them cannot be read.
    struct Pieces {
        std::uint32_t next = 0, to_end = 0;  ///< blocks
        ReferenceMap::Image found;
        ReferenceMap::Moment begun = 0;
        bool lost = false;  ///< one was on a page that the flash has lost
    };
    /// What is to be done next.
    enum class Stage : std::uint8_t { starts, works, looks, last_look, ends };

    void bring_up();
    void started();
    void go_on(std::uint64_t);
    bool next_op();
    bool next_look();
    bool next_piece();
    void piece_ended(const Slot& s, ReferenceMap::Value found, bool lost);
    bool any_unreadable(std::uint64_t unit) const;
    std::uint32_t submit(const DriveOp& op, bool is_piece = false);
    void touch(Slot& s, std::uint64_t lba, std::uint64_t blocks) const;
    bool too_many_there(const Slot& s) const;
    bool is_held(const std::vector<Part>& parts) const;
    bool changes_there(const std::vector<Part>& parts) const;
    bool may_be_unreadable(const Slot& s) const;
    void go_on_with(const Slot& read);
    void submit_second(std::uint32_t first);
    void erase(const DriveOp& op);
    void forget_erasure();
    void begin(Slot& s);
    void give_room(Slot& s, std::uint32_t slot);
    void store_metadata(Slot& s, ReferenceMap::Value value) const;
    void protect(Slot& s, ReferenceMap::Value value);
    void protect_copy(CaseCommand& c, ReferenceMap::Value source, ReferenceMap::Value value);
    std::string check_metadata(const Slot& s, std::uint64_t lba, ReferenceMap::Value value);
    static bool checks_guards(const Slot& s) { return (s.command.protection.checks & CaseProtection::kGuard) != 0; }
    void ended_well(Slot& s);
    void failed(Slot& s, CaseEnd end, const std::string& status);
    bool may_fail(const Slot& s, CaseEnd end);
    std::string what_is_known(const std::vector<Part>& parts) const;
    void check_read(Slot& s);
    void drop_commands();
    void forget(Slot& s);
    void reset();
    void cut_power();
    void power_returns();
    void wait(Ps time);
    std::uint32_t blocks_per_unit() const { return drive_.unit_bytes / drive_.lba_bytes; }

    Agenda& agenda_;
    const Drive drive_;
    const std::uint32_t depth_;
    const std::vector<DriveOp>& ops_;
    CasePort* port_ = nullptr;
    std::vector<Slot> slots_;  // of the port
    BlockContents contents_;
    BlockTags tags_{contents_, drive_.lba_bytes};
    Random random_{3};          // of what is checked
    bool tags_copied_ = false;  ///< blocks may have the reference tags of others
    ReferenceMap map_;
    bool initial_at_risk_;                       // no flush has made durable what was in the buffer at the start
    std::optional<Pieces> pieces_;               // of unit look_at_
    std::vector<ReferenceMap::Moment> erasing_;  // by unit: Format NVM or Sanitize is under way
    std::uint32_t pair_reads_ = 0;               // under way: each has room for one command more
    bool flush_failed_ = false;
    std::uint64_t transfers_failed_ = 0;
    std::function<bool(bool)> power_switch_;
    std::function<bool()> is_read_only_;
    bool was_read_only_ = false;  ///< before a loss of power: what it had given up stays lost, though a start may know
                                  ///< nothing of the block that had failed
    std::function<void()> on_end_;
    Stage stage_ = Stage::starts;
    std::size_t next_ = 0;       // of ops_
    std::uint64_t look_at_ = 0;  // next unit
    std::uint32_t under_way_ = 0;
    bool waits_ = false;  // for its own entry of the agenda
    Agenda::Entry timer_, pause_;
    bool powered_ = true, power_waits_ = false, serves_ = false, going_on_ = false, ended_ = false, shut_down_ = false;
    const DriveOp* cut_by_ = nullptr;  // the operation that takes the power away or resets, until the drive is back
    std::uint32_t cuts_left_ = 0;      // of that operation
    Counts counts_;
};

}  // namespace ssdtlm
