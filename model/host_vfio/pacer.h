// SPDX-License-Identifier: Apache-2.0
// How simulated time goes with that of the wall. Free: the model runs as fast as it can. Paced: so many simulated
// nanoseconds a nanosecond of the wall. Where a guest's clock is slaved to the model's, it is published in a shared
// page (tools/guest_clock): it goes no further than the model allows, and stands while one side has something to tell
// the other. Then neither of them sees that the model, or the host, is slow.
#pragma once

#include <cstdint>
#include <string>

#include "common/units/units.h"
#include "guest_clock/clock_page.h"
#include "host_vfio/fd.h"

namespace ssdtlm::vfio {

/// CLOCK_MONOTONIC.
std::int64_t wall_now();

class Pacer {
public:
    enum class Mode : std::uint8_t { wall, free };

    /// `clock_file`: gets the page of a guest's clock; empty: there is none. UserError where it cannot be written.
    /// `socket`: the address of the guest's peer.
    Pacer(Mode mode, double rate, const std::string& clock_file, const std::string& socket = {});
    ~Pacer();
    Pacer(const Pacer&) = delete;
    Pacer& operator=(const Pacer&) = delete;

    bool is_free() const { return mode_ == Mode::free; }
    /// There is a guest's clock.
    bool is_master() const { return page_ != nullptr; }
    /// Both stand together now, and go on from here.
    void start(SimTime model, std::int64_t wall);
    /// Time stands until the next start.
    void stop(std::int64_t wall);
    bool started() const { return started_; }
    /// Where the model should be. Free: where it is.
    SimTime model_at(std::int64_t wall) const;
    /// When the wall will be there; free: now.
    std::int64_t wall_at(SimTime model, std::int64_t wall) const;
    /// The model is there: how far behind it is, is noted.
    void look(SimTime model, std::int64_t wall);

    // Of a guest's clock; nothing without one.

    /// It may go that far.
    void allow(SimTime model, std::int64_t wall);
    /// So many bytes of the guest's messages have been taken in all: it stands no longer for their sake.
    void taken(std::uint64_t bytes, std::int64_t wall);
    /// It stands, until `go`, so that something can be told to the guest.
    void hold(std::int64_t wall) { publish(wall, 0, line_.limit_ns); }
    void go(std::int64_t wall) { publish(wall, rate_, line_.limit_ns); }
    bool message_under_way() const { return page_ != nullptr && guest_clock::message_under_way(*page_); }

    std::int64_t most_behind_ns() const { return most_behind_; }
    double mean_behind_ns() const { return looked_ns_ > 0 ? behind_area_ / looked_ns_ : 0; }
    /// Of the wall, in which the guest's clock stood because the model was behind.
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
    guest_clock::Page* page_ = nullptr;  // null: no guest's clock
    bool started_ = false;
    SimTime model0_{};  // when the clock was clock0_
    std::int64_t clock0_ = 0;
    guest_clock::Line line_;  // what is published
    std::int64_t looked_at_ = 0;
    std::int64_t most_behind_ = 0, stood_ = 0;
    double behind_area_ = 0, looked_ns_ = 0;
};

}  // namespace ssdtlm::vfio
