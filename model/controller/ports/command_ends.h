// SPDX-License-Identifier: Apache-2.0
// Where the firmware's commands end.
#pragma once

#include <cstdint>

#include "controller/ports/command.h"

namespace ssdtlm {

/// Is told when the host's commands leave the firmware.
class CommandWatch {
public:
    virtual void one_ended() = 0;
    virtual void last_ended() = 0;  ///< after that

protected:
    ~CommandWatch() = default;
};

/// Counts commands.
class CommandEnds {
public:
    void bind(CompletionSink& sink) { sink_ = &sink; }
    void set_watch(CommandWatch* watch) { watch_ = watch; }
    void begun() { ++begun_; }
    void complete(Command& c) {
        ++ended_;
        if (__builtin_expect(watch_ != nullptr, 0)) {
            watch_->one_ended();
            if (under_way() == 0) watch_->last_ended();
        }
        sink_->complete(c);
    }
    /// See CompletionSink.
    void let_go(Command& c) { sink_->let_go(c); }
    std::uint64_t all_begun() const { return begun_; }
    std::uint32_t under_way() const { return static_cast<std::uint32_t>(begun_ - ended_); }

private:
    CompletionSink* sink_ = nullptr;
    CommandWatch* watch_ = nullptr;
    std::uint64_t begun_ = 0, ended_ = 0;
};

}  // namespace ssdtlm
