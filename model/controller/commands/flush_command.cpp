// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/flush_command.h"

#include <utility>

#include "common/report/error.h"
#include "controller/commands/command_dump.h"

namespace ssdtlm {

void FlushCommand::let_go() {
    for (State& s : states_) {
        if (s.command == nullptr || s.command->ends_work) continue;
        s.unheard = true;
        services_.ends.let_go(*s.command);
    }
}

void FlushCommand::start(Command& c) {
    if (c.index >= states_.size()) states_.resize(c.index + 1u);
    states_[c.index] = State{};
    states_[c.index].command = &c;
    states_[c.index].unheard = aborts_ || c.ends_work;
    if (__builtin_expect(aborts_, 0) && !c.ends_work) services_.ends.let_go(c);
    services_.cores.run(c, services_.costs.other_command, CoreStep::flush,
                        Then::to<&FlushCommand::begin>(this, c.index));
}

void FlushCommand::begin(std::uint64_t command) {
    if (power_protected_ && !states_[command].command->ends_work) {
        const State ended = std::exchange(states_[command], State{});
        if (told_ != services_.buffer.given_up()) ended.command->status = CommandStatus::write_fault;
        if (!ended.unheard) told_ = services_.buffer.given_up();
        return services_.ends.complete(*ended.command);
    }
    states_[command].generation = services_.buffer.begin_flush();
    if (buffer_begun_) buffer_begun_();
    states_[command].remaining = 1;
    states_[command].order = ++begun_;
    states_[command].given_up = told_;
    states_[command].journal = services_.journal.demand();
    states_[command].deallocated = services_.buffer.deallocated();
    services_.wait_queues.wait(WaitQueues::For::flush, Attempt::to<&FlushCommand::try_end>(this, command));
    services_.wait_queues.settle();
}

bool FlushCommand::is_done(const State& s) const {
    return s.buffer_done ? services_.journal.is_durable(s.journal) : services_.buffer.flush_done(s.generation);
}

bool FlushCommand::try_end(std::uint64_t command) {
    State& s = states_[command];
    if (!is_done(s)) return false;
    if (!s.buffer_done) {
        s.buffer_done = true;
        // Units that it waited for may have been deallocated. They are then durable when their deallocation is.
        if (services_.buffer.deallocated() != s.deallocated) s.journal = services_.journal.demand();
        if (!is_done(s)) return false;
    }
    Command& c = *s.command;
    const std::uint64_t given_up = services_.buffer.given_up();
    if (!s.unheard) told_ = given_up;
    if (given_up != s.given_up || services_.journal.is_lost(s.journal)) c.status = CommandStatus::write_fault;
    s = State{};
    services_.wait_queues.charge_durability(*c.timeline);
    if (c.ends_work && shutdown_)
        shutdown_(c);
    else
        services_.ends.complete(c);
    return true;
}

void FlushCommand::check_waiters() const {
    const State* first = nullptr;
    for (const State& s : states_)
        if (s.remaining != 0 && (first == nullptr || s.order < first->order)) first = &s;
    if (first != nullptr && is_done(*first)) throw CheckFailed("firmware: a flush that is done was not completed");
}

std::string FlushCommand::dump() const {
    return dump_commands(states_);
}

}  // namespace ssdtlm
