// SPDX-License-Identifier: Apache-2.0
#include "controller/wait_queues/wait_queues.h"

#include "common/report/error.h"
#include "controller/wait_queues/program_path.h"

namespace ssdtlm {

__attribute__((noinline)) void WaitQueues::resume(Queue& q) {
    while (!q.empty()) {
        const Attempt first = q.front();  // who is resumed may join the queue again
        q.pop_front();
        if (first()) continue;
        q.push_front(first);
        return;
    }
}

std::size_t WaitQueues::count_for_page() const {
    std::size_t n = count(For::page);
    for (const Queue& q : for_page_of_) n += q.size();
    return n;
}

std::size_t WaitQueues::count_for_room() const {
    std::size_t n = count(For::room);
    for (const Queue& q : for_room_of_) n += q.size();
    return n;
}

/// A command that ends may begin another one, which takes no time and comes here again. The call under way goes on
/// with whatever it releases.
void WaitQueues::resume_durable(const ProgramJob* by) {
    if (resuming_durable_) return;
    resuming_durable_ = true;
    by_ = by;
    do {
        for (std::size_t i = 0; i < released_.size(); ++i) durable_(released_[i]);
        released_.clear();
        resume(queue(For::journal));
        if (released_.empty()) resume(queue(For::flush));
    } while (!released_.empty());
    by_ = nullptr;
    resuming_durable_ = false;
}

void WaitQueues::charge_durability(Timeline& timeline) const {
    if (by_ != nullptr)
        charge_program(timeline, *by_, agenda_.now());
    else
        timeline.charge(Stage::buffer, agenda_.now());
}

void WaitQueues::wait_for_map(Command& c, const MapThen& answered) {
    if (c.index >= of_map_.size()) of_map_.resize(c.index + 1u);
    MapWaiter& w = of_map_[c.index];
    SSDTLM_CHECK(!w.answered, "command asks the map while it waits for it");
    w = {answered, &c};
    ++map_waiters_;
}

void WaitQueues::map_answered(std::uint32_t command, const Ppa* places) {
    SSDTLM_CHECK(command < of_map_.size() && of_map_[command].answered,
                 "the map answers a command that does not wait for it");
    const MapWaiter w = of_map_[command];
    of_map_[command] = {};
    --map_waiters_;
    w.command->timeline->charge(Stage::mapping, agenda_.now());
    w.answered(places);
}

void WaitQueues::check_waiters(const UnderWay& under_way) const {
    const auto require = [](bool ok, std::size_t who, const char* what) {
        if (!ok) throw CheckFailed("firmware: " + std::to_string(who) + what);
    };
    require(released_.empty(), released_.size(), " commands whose units became durable were not told");
    require(!settling_ && !pages_changed_, count_for_page(),
            " programs wait for a page, and were not told that there may be some");
    require(count_for_page() == 0 || under_way.programs, count_for_page(),
            " programs or deallocations wait for a free block, no group is collected, and no other program runs");
    require(!anybody_for_room() || under_way.programs || under_way.data || under_way.merges, count_for_room(),
            " commands wait for room in the buffer, and no program, no data on its way and no merge will give it");
    require(!anybody(For::flush) || under_way.programs || under_way.merges, count(For::flush),
            " flushes wait, and no program and no merge is under way");
    require(!anybody(For::journal) || under_way.programs, count(For::journal),
            " commands wait for a deallocation to be durable, and no program is under way");
    std::uint32_t of_map = 0;
    for (const MapWaiter& w : of_map_) of_map += w.answered ? 1 : 0;
    require(of_map == map_waiters_, of_map,
            (" commands wait for the map, and " + std::to_string(map_waiters_) + " are counted").c_str());
}

std::string WaitQueues::dump() const {
    return "waiting: " + std::to_string(map_waiters_) + " commands for the map, " + std::to_string(count(For::flush)) +
           " flushes, " + std::to_string(count_for_page()) + " programs or deallocations for a free page, " +
           std::to_string(count_for_room()) + " commands for room in the buffer\n";
}

}  // namespace ssdtlm
