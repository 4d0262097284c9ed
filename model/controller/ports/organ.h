// SPDX-License-Identifier: Apache-2.0
// A part of the firmware that has work of its own beside the commands. The firmware asks all of its organs in turn. The
// configuration decides which organs it has.
#pragma once

#include <string>

namespace ssdtlm {

class Organ {
public:
    virtual ~Organ() = default;
    /// True: it has nothing under way, nor will it by itself.
    virtual bool idle() const { return true; }
    /// True: it has something under way. When that ends, those who wait for pages, room or durability can go on.
    virtual bool under_way() const { return false; }
    /// A block has failed, or the drive is read-only.
    virtual void media_changed() {}
    /// A block came free: whoever found no page may find one now.
    virtual void block_freed() {}
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two events.
    virtual void check_waiters() const = 0;
    /// Its state, as lines for the watchdog and for panics.
    virtual std::string dump() const = 0;
};

}  // namespace ssdtlm
