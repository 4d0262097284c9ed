// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/deallocate_command.h"

#include <algorithm>

#include "controller/commands/command_dump.h"

namespace ssdtlm {

/// Parts that wait for a page leave their ranges as they are, because the host may write there by then. Parts in a core
/// or the map end soon.
void DeallocateCommand::let_go() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
        State& s = states_[i];
        if (s.command == nullptr || !(s.waits_for_page || s.is_done)) continue;
        if (s.waits_for_page) give_up(s);
        services_.ends.let_go(*s.command);
    }
}

void DeallocateCommand::give_up(State& s) {
    s.remaining = 0;
    s.command->status = CommandStatus::aborted;
}

void DeallocateCommand::start(Command& c) {
    if (c.index >= states_.size()) states_.resize(c.index + 1u);
    if (c.op == IoOp::write_zeroes) c.ranges.assign(1, LbaRange{c.slba, c.blocks});
    std::uint64_t units = 0;
    for (const LbaRange& r : c.ranges)
        units += std::uint64_t{r.blocks} * services_.extents.lba_bytes / services_.extents.unit_bytes;
    states_[c.index] = State{&c, static_cast<std::uint32_t>(c.ranges.size()), {}, 0, false, false};
    Ps waits{};
    if (TablePort* const table = services_.cores.table()) {
        for (const LbaRange& r : c.ranges) {
            const MapExtent whole = whole_units(r);
            table->want(c.index, {idx(whole.first), whole.units}, true);
        }
        waits = table->wait();
    }
    services_.cores.run(c, services_.costs.other_command + services_.costs.map_update * units, CoreStep::deallocate,
                        Then::to<&DeallocateCommand::begin>(this, c.index), waits);
}

void DeallocateCommand::begin(std::uint64_t command) {
    State& s = states_[command];
    Command& c = *s.command;
    if (c.op == IoOp::write_zeroes && (services_.extents.first_byte(c) % services_.extents.unit_bytes != 0 ||
                                       c.bytes % services_.extents.unit_bytes != 0)) {
        c.status = CommandStatus::not_possible;  // see README: zeroing part of a mapping unit is not modelled
        s.remaining = 0;
    }
    if (services_.media.read_only) {
        c.status = CommandStatus::read_only;
        s.remaining = 0;
    }
    go_on(s);
}

// Each range is removed at one time. Its units in the buffer, and their newest copies in flash, are then invalid.
void DeallocateCommand::go_on(State& s) {
    Command& c = *s.command;
    while (s.remaining != 0) {
        if (__builtin_expect(!services_.journal.takes_note(), 0)) {
            if (aborts_) {
                give_up(s);
                break;
            }
            s.waits_for_page = true;
            services_.wait_queues.wait(WaitQueues::For::page,
                                       Attempt::to<&DeallocateCommand::try_again>(this, c.index));
            services_.wait_queues.pages_changed();
            return;
        }
        s.extent = whole_units(c.ranges[c.ranges.size() - s.remaining]);
        --s.remaining;
        if (s.extent.units == 0) continue;
        if (!services_.wait_queues.ask_map(c, s.extent, MapUse::remove, nullptr,
                                           MapThen::to<&DeallocateCommand::answered>(this, c.index))) {
            services_.wait_queues.pages_changed();
            return;
        }
        remove(s.extent);
    }
    if (c.op == IoOp::write_zeroes && (c.fua || options_.write_through) && !options_.power_protected &&
        c.status == CommandStatus::success) {
        s.journal = services_.journal.demand();
        if (!try_end(s)) {
            s.is_done = true;
            services_.wait_queues.wait(WaitQueues::For::journal,
                                       Attempt::to<&DeallocateCommand::try_end_later>(this, c.index));
            if (__builtin_expect(aborts_, 0)) services_.ends.let_go(c);
        }
    } else {
        end(s);
    }
    services_.wait_queues.pages_changed();
}

/// Forced zeros end as a flush of the journal does.
bool DeallocateCommand::try_end(State& s) {
    if (!services_.journal.is_durable(s.journal)) return false;
    if (services_.journal.is_lost(s.journal)) s.command->status = CommandStatus::write_fault;
    end(s);
    return true;
}

bool DeallocateCommand::try_end_later(std::uint64_t command) {
    State& s = states_[command];
    if (!services_.journal.is_durable(s.journal)) return false;
    services_.wait_queues.charge_durability(*s.command->timeline);
    return try_end(s);
}

void DeallocateCommand::end(State& s) {
    Command& c = *s.command;
    s.command = nullptr;
    services_.ends.complete(c);
}

bool DeallocateCommand::try_again(std::uint64_t command) {
    if (!services_.journal.takes_note()) return false;
    State& s = states_[command];
    s.waits_for_page = false;
    s.command->timeline->charge(Stage::buffer, services_.agenda.now());
    go_on(s);
    return true;
}

void DeallocateCommand::answered(std::uint32_t command, const Ppa*) {
    State& s = states_[command];
    remove(s.extent);
    go_on(s);
}

// A write that waits until its units are in flash ends when their deallocation is in flash.
void DeallocateCommand::remove(const MapExtent& extent) {
    if (!services_.buffer.empty())
        for (std::uint32_t i = 0; i < extent.units; ++i) services_.buffer.drop(Lpa{idx(extent.first) + i}, dropped_);
    if (services_.cache != nullptr) services_.cache->drop(extent.first, extent.units);
    services_.map.unmap(extent);
    for (const std::uint32_t waiter : dropped_) services_.journal.release_when_durable(waiter);
    dropped_.clear();
}

MapExtent DeallocateCommand::whole_units(const LbaRange& range) const {
    const std::uint64_t begin = range.slba * services_.extents.lba_bytes;
    const std::uint64_t end = begin + std::uint64_t{range.blocks} * services_.extents.lba_bytes;
    const std::uint64_t first = div_ceil(begin, services_.extents.unit_bytes);
    const std::uint64_t last = std::max(first, end / services_.extents.unit_bytes);
    return {Lpa{static_cast<std::uint32_t>(first)}, static_cast<std::uint32_t>(last - first), 0};
}

std::string DeallocateCommand::dump() const {
    return dump_commands(states_);
}

}  // namespace ssdtlm
