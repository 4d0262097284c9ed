// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/flush_command.h"

#include "common/report/error.h"
#include "controller/commands/command_dump.h"
#include "host_pcie/protocol/nvme.h"

namespace ssdtlm {

void FlushCommand::start(Command& c) {
    if (c.index >= states_.size()) states_.resize(c.index + 1u);
    states_[c.index] = State{&c, 0, 0, 0};
    s_.cores.run<&FlushCommand::begin>(this, c, s_.costs.other_command, CoreStep::flush);
}

void FlushCommand::begin(std::uint64_t command) {
    states_[command].generation = s_.buffer.begin_flush();
    states_[command].remaining = 1;
    states_[command].given_up = s_.buffer.given_up();
    s_.waiters.wait<&FlushCommand::try_end>(Waiters::For::flush, this, command);
    s_.waiters.settle();
}

bool FlushCommand::try_end(std::uint64_t& command) {
    State& s = states_[command];
    if (!s_.buffer.flush_done(s.generation)) return false;
    Command& c = *s.command;
    if (s_.buffer.given_up() != s.given_up) c.status = nvme::kStWriteFault;
    s = State{};
    s_.waiters.charge_durability(*c.timeline);
    s_.ends.complete(c);
    return true;
}

void FlushCommand::check_waiters() const {
    for (const State& s : states_)
        if (s.remaining != 0 && s_.buffer.flush_done(s.generation)) throw CheckFailed("firmware: a flush that is done was not completed");
}

std::string FlushCommand::dump() const { return dump_commands(states_); }

}  // namespace ssdtlm
