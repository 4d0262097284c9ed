// SPDX-License-Identifier: Apache-2.0
// How simulated time goes with that of the wall. Free: the model runs as fast as it can. Paced: so many simulated
// nanoseconds a nanosecond of the wall. Where a guest's clock is slaved to the model's, it is published in a shared
// page, and stands while the model is behind: then neither of them sees that the model is slow.
#pragma once

#include <cstdint>
#include <string>

#include "common/units/units.h"
#include "host_vfio/fd.h"

namespace ssdtlm::vfio {

/// CLOCK_MONOTONIC.
std::int64_t wall_now();

/// What a guest's clock is: base_ns + (CLOCK_MONOTONIC - wall0_ns) * rate. seq is odd while the rest is written, as in
/// a seqlock.
struct ClockPage {
    static constexpr std::uint32_t kBytes = 4096;
    std::uint64_t seq;
    std::int64_t base_ns;
    std::int64_t wall0_ns;
    double rate;
    std::uint64_t version;  ///< 1
};
static_assert(sizeof(ClockPage) == 40);

class Pacer {
public:
    enum class Mode : std::uint8_t { wall, free };
    /// The clock may be that much ahead of the model before it is stopped. assumed: a tenth of a fast read
    static constexpr std::int64_t kAhead = 10'000;

    /// `clock_file`: gets the page of a guest's clock; empty: there is none. UserError where it cannot be written.
    Pacer(Mode mode, double rate, const std::string& clock_file);
    ~Pacer();
    Pacer(const Pacer&) = delete;
    Pacer& operator=(const Pacer&) = delete;

    bool is_free() const { return mode_ == Mode::free; }
    /// Both stand together now, and go on from here.
    void start(SimTime model, std::int64_t wall);
    /// Time stands until the next start.
    void stop(std::int64_t wall);
    bool started() const { return started_; }
    /// Where the model should be. Free: where it is.
    SimTime model_at(std::int64_t wall) const;
    /// When the wall will be there; free, or while the clock stands: now.
    std::int64_t wall_at(SimTime model, std::int64_t wall) const;
    /// The model is there: how far behind it is, is noted, and the clock is stopped or goes on.
    void look(SimTime model, std::int64_t wall);

    std::int64_t most_behind_ns() const { return most_behind_; }
    double mean_behind_ns() const { return looked_ns_ > 0 ? behind_area_ / looked_ns_ : 0; }
    /// Of the wall, in which the guest's clock stood because the model was behind.
    std::int64_t stood_ns() const { return stood_; }
    double rate() const { return rate_; }

private:
    std::int64_t clock_at(std::int64_t wall) const;  // the guest's, from base_ on
    void publish(std::int64_t wall, double rate);

    const Mode mode_;
    const double rate_;
    ClockPage* page_ = nullptr;  // null: no guest's clock
    bool started_ = false;
    SimTime model0_{};  // when the clock was clock0_
    std::int64_t clock0_ = 0;
    std::int64_t base_ = 0, wall0_ = 0;  // what is published
    double now_rate_ = 0;
    std::int64_t looked_at_ = 0;
    std::int64_t most_behind_ = 0, stood_ = 0;
    double behind_area_ = 0, looked_ns_ = 0;
};

}  // namespace ssdtlm::vfio
