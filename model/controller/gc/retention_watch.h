// SPDX-License-Identifier: Apache-2.0
// Looks at the ages of what the flash holds, at regular intervals (refresh.age, refresh.interval): a step of a core, which finds superblocks to be moved.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "common/snapshot/snapshot.h"
#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/core_port.h"

namespace ssdtlm {

class RetentionWatch {
public:
    /// Stopped, until go_on(): the first look comes one interval after that. `cycles` of a core for each.
    RetentionWatch(Agenda& agenda, Ps interval, std::uint64_t cycles, CorePort& cores, Ftl& ftl);

    /// Called when a look has ended: somebody may wait until nothing is under way.
    void on_ended(std::function<void()> callback) { ended_ = std::move(callback); }
    /// No more looks; one that a core has begun is finished.
    void stop();
    /// Time stood still since.
    void go_on();
    bool under_way() const { return under_way_; }
    /// Until the next look.
    Ps left() const { return stopped_ ? left_ : next_ - agenda_.now(); }
    void set_left(Ps left);

private:
    void arm();
    void begin(std::uint64_t);
    void look(std::uint64_t);

    Agenda& agenda_;
    const Ps interval_;
    const std::uint64_t cycles_;
    CorePort& cores_;
    Ftl& ftl_;
    std::function<void()> ended_;
    SimTime next_{};
    Ps left_;  // while stopped
    Agenda::Entry timer_{};
    bool stopped_ = true, under_way_ = false;
};

}  // namespace ssdtlm
