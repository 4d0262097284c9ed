// SPDX-License-Identifier: Apache-2.0
// Flush: ends when everything that was in the buffer and in the journal when it began is in flash; later writes do not
// delay it. If the flash took no more pages for some of it, or for what was there since the flush before, it ends with
// a write fault. Where capacitors protect buffer and journal it waits for nothing, except for the flush of a shutdown.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "controller/commands/command_services.h"

namespace ssdtlm {

class FlushCommand {
public:
    FlushCommand(const CommandServices& services, bool power_protected)
        : services_(services), power_protected_(power_protected) {}

    /// `callback` is called when a flush has begun in the buffer.
    void on_begun(std::function<void()> callback) { buffer_begun_ = std::move(callback); }
    /// The flush of a shutdown is not completed here but passed to `callback`.
    void on_shutdown(std::function<void(Command&)> callback) { shutdown_ = std::move(callback); }
    void start(Command& c);
    /// See CommandSink. The flush of a shutdown is not aborted, as somebody asks for its end.
    void abort_waits(bool aborts) { aborts_ = aborts; }
    void let_go();
    void check_waiters() const;
    std::string dump() const;

private:
    struct State {
        Command* command = nullptr;
        std::uint32_t generation = 0;   ///< of the buffer
        std::uint32_t remaining = 0;    ///< 1 while it waits
        std::uint64_t given_up = 0;     ///< by the buffer, as a flush has told before it began
        std::uint64_t journal = 0;      ///< what it demanded of it
        std::uint64_t deallocated = 0;  ///< units of the buffer, before it began
        bool buffer_done = false;
        bool unheard = false;  ///< the host does not hear how it ends: a reset came first, or it is that of a shutdown
        std::uint64_t order = 0;  ///< they end in the order in which they began to wait
    };
    void begin(std::uint64_t command);
    bool is_done(const State& s) const;
    bool try_end(std::uint64_t command);

    const CommandServices services_;
    const bool power_protected_;
    bool aborts_ = false;
    std::vector<State> states_;  // by command
    std::uint64_t begun_ = 0;
    std::uint64_t told_ =
        0;  // units given up by the buffer that a flush knew of when it ended, and the host has heard of its end
    std::function<void()> buffer_begun_;      // empty: nobody wants to know
    std::function<void(Command&)> shutdown_;  // empty: it is completed as others
};

}  // namespace ssdtlm
