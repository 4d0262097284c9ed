// SPDX-License-Identifier: Apache-2.0
// The end of a normal shutdown: when everything is flushed, garbage collection ends what it is at, and a checkpoint is
// written that says that nothing comes after it. Commands that come all the same, because the host goes on without
// switching the drive off, or after a start from such a checkpoint, wait until the flash says that the drive works
// again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "common/tlm/agenda.h"
#include "controller/checkpoint/checkpoint_writer.h"
#include "controller/gc/gc_engine.h"
#include "controller/journal/journal_writer.h"
#include "controller/ports/command.h"
#include "controller/wait_queues/wait_queues.h"

namespace ssdtlm {

class CleanShutdown {
public:
    /// All must outlive it.
    struct Peers {
        Agenda& agenda;
        CheckpointWriter& writer;
        GcEngine& gc;
        JournalWriter& journal;
        WaitQueues& wait_queues;
        CachedMap* map;                          ///< null: it is all in memory
        bool writes;                             ///< a checkpoint at a shutdown
        std::function<bool()> is_quiet;          ///< no other organ has anything under way
        std::function<void(Command&)> submit;    ///< for commands that have waited
        std::function<void(Command&)> complete;  ///< for that of a shutdown
    };
    explicit CleanShutdown(Peers peers);

    /// Takes a command that may not go on yet. False: it may go on.
    bool holds(Command& c) {
        if (__builtin_expect(!stopped_ && !peers_.writer.clean(), 1)) return false;
        return hold(c);
    }
    /// The flush of a shutdown has ended. CleanShutdown will complete its command.
    void flushed(Command& c);
    bool idle() const { return !stopping() && held_.empty(); }
    /// True: a checkpoint that nobody else waits for is on its way.
    bool under_way() const {
        return stopping() && (peers_.gc.active() != 0 || !peers_.writer.idle() || settles_ ||
                              (peers_.map != nullptr && !peers_.map->idle()));
    }
    std::string dump() const;

private:
    bool stopping() const { return command_ != nullptr; }
    bool hold(Command& c);
    void look_again();
    void stop_collection();
    void begin();
    void settle();
    bool try_write();
    void write();
    void written();
    void works_again();
    void release();

    const Peers peers_;
    Command* command_ = nullptr;  // of the shutdown; null: none, or it has ended
    std::deque<Command*> held_;
    bool stopped_ = false;  // nothing is collected
    bool settles_ = false;  // in an event that is to come
    bool reopening_ = false;
    bool map_written_ = false;  // since collection has ended
};

}  // namespace ssdtlm
