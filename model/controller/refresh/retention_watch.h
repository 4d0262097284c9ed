// SPDX-License-Identifier: Apache-2.0
// Looks at the ages of what the flash holds, at regular intervals (refresh.age, refresh.interval): a step of a core,
// which finds superblocks to be moved. An interval may be longer than simulated time: then there is no look.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "common/snapshot/snapshot.h"
#include "common/tlm/agenda.h"
#include "common/units/age.h"
#include "controller/ports/core_port.h"
#include "controller/refresh/refresh.h"

namespace ssdtlm {

class RetentionWatch {
public:
    /// It is stopped until go_on(). The first look comes one interval after that. `cycles`: cycles of a core for each
    /// look.
    RetentionWatch(Agenda& agenda, Age interval, std::uint64_t cycles, CorePort& cores, Refresh& refresh);

    /// `callback` is called when a look has ended, as somebody may wait until nothing is under way.
    void on_ended(std::function<void()> callback) { ended_ = std::move(callback); }
    /// No more looks begin. One that a core has begun is finished.
    void stop();
    /// Looks go on. The time since stop() does not count.
    void go_on();
    bool under_way() const { return under_way_; }
    /// Time until the next look: `age` less `less`, which is a part of a nanosecond.
    struct Left {
        Age age;
        Ps less{};
    };
    Left left() const { return stopped_ ? left_ : left_at(agenda_.now()); }
    void set_left(const Left& left);

private:
    Left left_at(SimTime now) const;
    SimTime due() const;
    void arm();
    void begin();
    void look();

    Agenda& agenda_;
    const Age interval_;
    const std::uint64_t cycles_;
    CorePort& cores_;
    Refresh& refresh_;
    std::function<void()> ended_;
    SimTime since_{};  // of left_, while it is not stopped
    Left left_;
    Agenda::Entry timer_{};
    bool stopped_ = true, under_way_ = false;
};

}  // namespace ssdtlm
