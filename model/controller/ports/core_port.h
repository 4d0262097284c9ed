// SPDX-License-Identifier: Apache-2.0
// The embedded cores as the firmware's organs see them: a step is given to a core, with what comes next when the
// core has done its cycles.
#pragma once

#include <cstdint>

#include "common/tlm/agenda.h"
#include "common/units/units.h"
#include "controller/ports/command.h"
#include "controller/ports/table_port.h"

namespace ssdtlm {

/// What a core works on.
enum class CoreStep : std::uint8_t {
    read_command,
    read_issue,
    write_command,
    flush,
    deallocate,
    program_issue,
    program_done,
    gc_victim,
    gc_read_issue,
    gc_program_issue,
    gc_program_done,
    gc_erase_issue,
    gc_erase_done,
    journal_issue,
    journal_done,
    parity_issue,
    parity_done,
    padding_issue,  ///< of pages that close word lines
    padding_done,
    map_read,  ///< of a translation page
    map_write,
    map_write_done,
    checkpoint_issue,
    checkpoint_done,
    mount,        ///< of what a page says when the drive starts
    refresh_look  ///< at the ages of superblocks
};

class CorePort {
public:
    static constexpr std::uint64_t kNoCommand = 0;
    struct Slot {
        SimTime start;
        SimTime end;
    };
    virtual ~CorePort() = default;
    /// Gives a step of `cycles` to a core, behind all steps that it has. Steps with the same `number` run on the same
    /// core. A step of zero cycles is done by hardware: it takes no time and does not wait. `step` and `command` (its
    /// number) are for observers only. `waits` is added to the step: the core waits that long for the DRAM.
    virtual Slot reserve(std::uint64_t number, std::uint64_t cycles, CoreStep step, std::uint64_t command = kNoCommand,
                         Ps waits = {}) = 0;
    /// The map's table as the cores see it. Null: access to the table is part of a step's cycles.
    TablePort* table() const { return table_; }
    void set_table(TablePort* table) { table_ = table; }
    /// How long the next step of `number` waits for these entries. The step looks at them, or `changes` them.
    Ps wait_for(std::uint64_t number, TableSpan entries, bool changes) {
        if (__builtin_expect(table_ == nullptr, 1)) return {};
        table_->want(number, entries, changes);
        return table_->wait();
    }

    /// Calls `next` at `end`, or at once if `end` is now.
    void then(SimTime end, const Then& next) {
        if (end == agenda_.now())
            next();
        else
            agenda_.post(end, next);
    }
    /// Runs a step for a command and charges it to the command. `next` is called at its end.
    void run(Command& c, std::uint64_t cycles, CoreStep step, const Then& next, Ps waits = {}) {
        const Slot slot = reserve(c.index, cycles, step, c.timeline->number(), waits);
        c.timeline->charge(Stage::firmware_wait, slot.start);
        c.timeline->charge(Stage::firmware, slot.end);
        then(slot.end, next);
    }
    /// Runs a step that serves no command.
    Slot run(std::uint64_t number, std::uint64_t cycles, CoreStep step, const Then& next, Ps waits = {}) {
        const Slot slot = reserve(number, cycles, step, kNoCommand, waits);
        then(slot.end, next);
        return slot;
    }

protected:
    explicit CorePort(Agenda& agenda) : agenda_(agenda) {}
    Agenda& agenda_;

private:
    TablePort* table_ = nullptr;
};

}  // namespace ssdtlm
