// SPDX-License-Identifier: Apache-2.0
// The waiting commands and programs of the firmware, and the one order in which they are resumed when something has
// changed: 1. commands whose units, or whose deallocation, have become durable, 2. flushes, 3. programs without a flash
// page, 4. writes without room in the buffer. Each is in order of arrival. Last, new programs are formed from all
// remaining units. A command whose map answers late waits here as well, and the answer resumes it. Waiters are
// independent of each other.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ports/command.h"
#include "controller/ports/map_port.h"
#include "controller/ports/program_job.h"

namespace ssdtlm {

/// Tries again what has to wait. True: it is done. False: it stays first in its queue, and those behind it are not
/// asked.
using Attempt = ThenOf<bool>;

class WaitQueues final {
public:
    enum class For : std::uint8_t { flush, page, room, journal, count };

    /// `partitions` of the flash and `parts` of the room in the buffer have queues of their own. So a wait for one of
    /// them does not delay waits for others.
    WaitQueues(Agenda& agenda, MapPort& map, std::uint32_t partitions = 1, std::uint32_t parts = 1)
        : agenda_(agenda), map_(map), for_page_of_(partitions - 1), for_room_of_(parts - 1) {}

    // --- Waiting ---
    /// Joins a queue, whose first one tries again when its condition may have come true.
    void wait(For condition, const Attempt& attempt) { queue(condition).push_back(attempt); }
    /// As wait(), for a page of this partition.
    void wait_for_page(std::uint32_t partition, const Attempt& attempt) { of_partition(partition).push_back(attempt); }
    bool anybody_for_page(std::uint32_t partition) const { return !of_partition(partition).empty(); }
    /// As wait(), for room in this part of the buffer.
    void wait_for_room(std::uint32_t part, const Attempt& attempt) { of_part(part).push_back(attempt); }
    bool anybody_for_room(std::uint32_t part) const { return !of_part(part).empty(); }
    /// True: somebody waits for room in any part.
    bool anybody_for_room() const {
        return !queue(For::room).empty() || (__builtin_expect(!for_room_of_.empty(), 0) && count_for_room() != 0);
    }
    std::size_t count_for_room() const;
    bool anybody(For condition) const { return !queue(condition).empty(); }
    std::size_t count(For condition) const { return queue(condition).size(); }
    /// Number of those who wait for a page, of all partitions.
    std::size_t count_for_page() const;
    /// Sets what durable() calls for each command of release().
    void on_durable(const ThenOf<void, std::uint32_t>& then) { durable_ = then; }
    /// Sets what release() with a status calls at once.
    void on_failed(const ThenOf<void, std::uint32_t, CommandStatus>& then) { failed_ = then; }
    /// Sets what is called at the end of each settle().
    void on_settled(const Then& then) { work_ = then; }

    // --- What changes ---
    /// A unit that this command (index) waits for has become durable, or need not any more. This takes effect in
    /// durable().
    void release(std::uint32_t command) { released_.push_back(command); }
    /// A unit that this command waits for will never be durable: the command ends with this status.
    void release(std::uint32_t command, CommandStatus status) {
        failed_(command, status);
        release(command);
    }
    /// Resumes those who wait for durability. `by`: the program that made it true; null when it was something else.
    void durable(const ProgramJob* by) {
        if (released_.empty() && queue(For::flush).empty() && queue(For::journal).empty()) return;
        resume_durable(by);
    }
    /// Flash pages may have become available: a block was freed, or became worth collecting.
    void pages_changed() {
        pages_changed_ = true;
        settle();
    }
    /// Room, units or pages have changed. Resumes all waiters that can continue, in order. A call within a settle()
    /// makes that one begin again.
    void settle() {
        durable(nullptr);
        if (settling_) {
            again_ = true;
            return;
        }
        settling_ = true;
        do {
            again_ = false;
            if (pages_changed_) {
                pages_changed_ = false;
                resume(queue(For::page));
                for (Queue& q : for_page_of_) resume(q);
            }
            if (!queue(For::room).empty()) resume(queue(For::room));
            for (Queue& q : for_room_of_) resume(q);
            work_();
        } while (again_);
        settling_ = false;
    }
    /// Charges a command with its wait for durability, from its last mark to now. Use it within durable() only.
    void charge_durability(Timeline& timeline) const;

    // --- The map ---
    /// Asks the map for a command. True: answered, `places` are written. False: the command waits (stage `mapping`),
    /// and `answered` gets the answer.
    bool ask_map(Command& c, const MapExtent& extent, MapUse use, Ppa* places, const MapThen& answered) {
        if (__builtin_expect(map_.translate(extent, use, places, MapThen::to<&WaitQueues::map_answered>(this, c.index)),
                             1))
            return true;
        wait_for_map(c, answered);
        return false;
    }
    std::uint32_t waiting_for_map() const { return map_waiters_; }

    /// Work under way that will wake those who wait.
    struct UnderWay {
        bool programs = false;  ///< a program that ends by itself, or the collection of a block for one without a page
        bool data = false;      ///< data on its way from the host to room in the buffer
        bool merges = false;    ///< reads of the rest of units
    };
    /// Throws CheckFailed if somebody waits and nothing under way will wake it. Call it between two events.
    void check_waiters(const UnderWay& under_way) const;
    std::string dump() const;

private:
    struct MapWaiter {
        MapThen answered;  // empty: does not wait
        Command* command = nullptr;
    };
    using Queue = std::deque<Attempt>;

    Queue& queue(For c) { return queues_[static_cast<std::size_t>(c)]; }
    const Queue& queue(For c) const { return queues_[static_cast<std::size_t>(c)]; }
    Queue& of_partition(std::uint32_t partition) {
        return partition == 0 ? queue(For::page) : for_page_of_[partition - 1];
    }
    const Queue& of_partition(std::uint32_t partition) const {
        return partition == 0 ? queue(For::page) : for_page_of_[partition - 1];
    }
    Queue& of_part(std::uint32_t part) { return part == 0 ? queue(For::room) : for_room_of_[part - 1]; }
    const Queue& of_part(std::uint32_t part) const { return part == 0 ? queue(For::room) : for_room_of_[part - 1]; }
    void resume(Queue& q);
    void resume_durable(const ProgramJob* by);
    void wait_for_map(Command& c, const MapThen& answered);
    void map_answered(std::uint32_t command, const Ppa* places);

    Agenda& agenda_;
    MapPort& map_;
    std::array<Queue, static_cast<std::size_t>(For::count)> queues_;
    std::vector<Queue> for_page_of_;  // by partition, from 1 on; partition 0 has the queue of the deallocations
    std::vector<Queue> for_room_of_;  // by part of the buffer, from 1 on
    std::vector<std::uint32_t> released_;
    ThenOf<void, std::uint32_t> durable_;
    ThenOf<void, std::uint32_t, CommandStatus> failed_;
    Then work_;
    const ProgramJob* by_ = nullptr;
    std::vector<MapWaiter> of_map_;  // by command
    std::uint32_t map_waiters_ = 0;
    bool pages_changed_ = false;
    bool settling_ = false;
    bool again_ = false;
    bool resuming_durable_ = false;
};

}  // namespace ssdtlm
