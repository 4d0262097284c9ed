// SPDX-License-Identifier: Apache-2.0
// The flush of a drive with a protected write buffer when its supply fails and capacitors take over. It writes buffer
// and journal without a command of the host. Data that commands bring in meanwhile were not acknowledged, so it does
// not wait for them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "controller/commands/command_services.h"

namespace ssdtlm {

class PowerFailFlush {
public:
    explicit PowerFailFlush(const CommandServices& services) : services_(services) {}

    /// `callback` is called when the flush has begun in the buffer.
    void on_begun(std::function<void()> callback) { begun_ = std::move(callback); }
    /// Calls `saved` when everything that is in buffer and journal now is in flash, or a read-only drive has given it
    /// up. Call it once in a life of the firmware.
    void start(std::function<void()> saved);
    void check_waiters() const;
    std::string dump() const;

private:
    enum class Step : std::uint8_t { none, begins, buffer, journal, done };
    void begin();
    bool try_end();
    bool is_done() const {
        return step_ == Step::buffer ? services_.buffer.flush_done(generation_)
                                     : services_.journal.is_durable(journal_);
    }

    const CommandServices services_;
    std::function<void()> begun_;  // empty: nobody wants to know
    std::function<void()> saved_;
    Step step_ = Step::none;
    std::uint32_t generation_ = 0;  ///< of the buffer
    std::uint64_t journal_ = 0;     ///< what it demanded of it
};

}  // namespace ssdtlm
