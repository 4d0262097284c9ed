// SPDX-License-Identifier: Apache-2.0
// Every command of the firmware ends here.
#pragma once

#include <cstdint>

#include "common/tlm/then.h"
#include "controller/ports/command.h"

namespace ssdtlm {

/// Counts the commands that have begun and ended, and passes their ends to the front end.
class CommandEnds {
public:
    void bind(CompletionSink& sink) { sink_ = &sink; }
    /// `each` is called when a command has left the firmware. `last` follows if no other command is under way.
    void on_end(const Then& each, const Then& last) {
        each_ = each;
        last_ = last;
    }
    void begun() { ++begun_; }
    void complete(Command& c) {
        ++ended_;
        if (__builtin_expect(each_.function != nullptr, 0)) {
            each_();
            if (under_way() == 0) last_();
        }
        sink_->complete(c);
    }
    /// See CompletionSink.
    void let_go(Command& c) { sink_->let_go(c); }
    std::uint64_t all_begun() const { return begun_; }
    std::uint32_t under_way() const { return static_cast<std::uint32_t>(begun_ - ended_); }

private:
    CompletionSink* sink_ = nullptr;
    Then each_, last_;
    std::uint64_t begun_ = 0, ended_ = 0;
};

}  // namespace ssdtlm
