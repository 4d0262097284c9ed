// SPDX-License-Identifier: Apache-2.0
// Relates simulated time to wall time. In mode free the model runs as fast as it can. In mode wall it runs at a fixed
// number of simulated nanoseconds per nanosecond of the wall. With a guest's clock that follows the model, the clock is
// published in a shared page (tools/guest_clock). It advances only as far as the model allows. It stands still while a
// message between the two sides is under way. So neither side notices that the model, or the host, is slow.
#pragma once

#include <cstdint>
#include <string>

#include "common/units/units.h"
#include "guest_clock/clock_page.h"
#include "host_vfio/fd.h"

namespace ssdtlm::vfio {

/// Returns CLOCK_MONOTONIC.
std::int64_t wall_now();

class Pacer {
public:
    enum class Mode : std::uint8_t { wall, free };

    /// `clock_file` gets the page of a guest's clock; if it is empty there is none. Throws UserError if it cannot be
    /// written. `socket` is the address of the guest's peer.
    Pacer(Mode mode, double rate, const std::string& clock_file, const std::string& socket = {});
    ~Pacer();
    Pacer(const Pacer&) = delete;
    Pacer& operator=(const Pacer&) = delete;

    bool is_free() const { return mode_ == Mode::free; }
    /// True if there is a guest's clock.
    bool is_master() const { return page_ != nullptr; }
    /// Starts the clocks at this point. They advance together from here on.
    void start(SimTime model, std::int64_t wall);
    /// Stops simulated time until the next start.
    void stop(std::int64_t wall);
    bool started() const { return started_; }
    /// Returns the time that the model should have reached. In mode free it is the present one.
    SimTime model_at(std::int64_t wall) const;
    /// Returns the wall time that belongs to `model`. In mode free it is now.
    std::int64_t wall_at(SimTime model, std::int64_t wall) const;
    /// Records how far the model, which is at `model`, is behind.
    void look(SimTime model, std::int64_t wall);

    // The functions below have an effect only with a guest's clock.

    /// Allows the guest's clock to advance to `model`.
    void allow(SimTime model, std::int64_t wall);
    /// Records that `bytes` bytes of the guest's messages have been taken in all. The clock no longer stands for them.
    void taken(std::uint64_t bytes, std::int64_t wall);
    /// Stops the guest's clock until `go`, so that something can be reported to the guest.
    void hold(std::int64_t wall) { publish(wall, 0, line_.limit_ns); }
    void go(std::int64_t wall) { publish(wall, rate_, line_.limit_ns); }
    bool message_under_way() const { return page_ != nullptr && guest_clock::message_under_way(*page_); }

    std::int64_t most_behind_ns() const { return most_behind_; }
    double mean_behind_ns() const { return looked_ns_ > 0 ? behind_area_ / looked_ns_ : 0; }
    /// Wall time for which the guest's clock stood because the model was behind.
    std::int64_t stood_ns() const { return stood_; }
    double rate() const { return rate_; }

private:
    std::int64_t gone(std::int64_t wall) const { return page_ != nullptr ? guest_clock::gone(*page_, wall) : wall; }
    std::int64_t clock_at(std::int64_t wall) const;
    std::int64_t clock_at_gone(std::int64_t gone) const;
    std::int64_t clock_of(SimTime model) const { return clock0_ + (model - model0_).count() / 1000; }
    void publish(std::int64_t wall, double rate, std::int64_t limit);

    const Mode mode_;
    const double rate_;
    guest_clock::Page* page_ = nullptr;  // null: there is no guest's clock
    bool started_ = false;
    SimTime model0_{};  // model time at clock0_
    std::int64_t clock0_ = 0;
    guest_clock::Line line_;  // the published line
    std::int64_t looked_at_ = 0;
    std::int64_t most_behind_ = 0, stood_ = 0;
    double behind_area_ = 0, looked_ns_ = 0;
};

}  // namespace ssdtlm::vfio
