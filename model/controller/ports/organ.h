// SPDX-License-Identifier: Apache-2.0
// A part of the firmware that has work of its own beside the commands. The firmware asks all of its organs in turn; it
// has those that the configuration asks for.
#pragma once

#include <string>

namespace ssdtlm {

class Organ {
public:
    virtual ~Organ() = default;
    /// It has nothing under way, nor will it by itself.
    virtual bool idle() const { return true; }
    /// It has something under way whose end lets those go on who wait for pages, for room or for durability.
    virtual bool under_way() const { return false; }
    /// A block has failed, or the drive is read-only.
    virtual void media_changed() {}
    /// A block came free: what found no page may now.
    virtual void block_freed() {}
    /// Nobody waits for nothing. CheckFailed with a sentence. Between two events.
    virtual void check_waiters() const = 0;
    /// Its state, as lines for the watchdog and for panics.
    virtual std::string dump() const = 0;
};

}  // namespace ssdtlm
