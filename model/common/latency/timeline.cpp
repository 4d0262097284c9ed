// SPDX-License-Identifier: Apache-2.0
#include "common/latency/timeline.h"

#include <algorithm>

namespace ssdtlm {

const char* stage_name(Stage s) {
    static constexpr const char* kNames[kStageCount] = {"block_queue",
                                                        "host_queue",
                                                        "submit",
                                                        "arbitration",
                                                        "fetch",
                                                        "firmware_wait",
                                                        "firmware",
                                                        "mapping",
                                                        "buffer",
                                                        "die_wait_host_read",
                                                        "die_wait_host_write",
                                                        "die_wait_gc",
                                                        "die_wait_mapping",
                                                        "die_wait_erase",
                                                        "die_wait_rmw",
                                                        "die_wait_fold",
                                                        "die_wait_relocation",
                                                        "die_wait_merge",
                                                        "die_wait_journal",
                                                        "die_wait_parity",
                                                        "die_wait_padding",
                                                        "die_wait_checkpoint",
                                                        "scheduler",
                                                        "channel_wait",
                                                        "channel",
                                                        "array",
                                                        "ecc",
                                                        "host_transfer",
                                                        "completion"};
    return kNames[static_cast<std::size_t>(s)];
}

Timeline& Timeline::operator=(const Timeline& other) {
    start_ = other.start_;
    last_ = other.last_;
    number_ = other.number_;
    first_ = other.first_;
    steps_ = other.steps_;
    limit_ = other.limit_;
    owned_ = other.owned_;
    if (owned_ != 0) flow_ = other.flow_;
    rest_ = other.rest_;
    std::copy(other.steps_log_.begin() + first_, other.steps_log_.begin() + steps_, steps_log_.begin() + first_);
    return *this;
}

void Timeline::append(const Timeline& part) {
    SSDTLM_CHECK(part.start_ == last_, "appended latency part leaves a gap");
    last_ = part.last_;
    if (__builtin_expect(part.owned_ != 0, 0)) return append_owned(part);
    for (std::uint32_t i = part.first_; i < part.steps_; ++i) log(what(part.steps_log_[i]), value(part.steps_log_[i]));
    for (std::size_t i = 0; i < part.rest_.size(); ++i)
        if (part.rest_[i] != 0) log_sum(i, static_cast<std::uint64_t>(part.rest_[i]));
}

/// Appends a part that knows the flow of each wait. For waits in no step, the sums by stage include those by flow and
/// stage.
void Timeline::append_owned(const Timeline& part) {
    owned_ = 1;
    for (std::uint32_t i = part.first_; i < part.steps_; ++i)
        log_for(what(part.steps_log_[i]), value(part.steps_log_[i]), part.flow_[i]);
    for (std::size_t i = 0; i < part.rest_.size() && i < kStageCount; ++i)
        if (part.rest_[i] != 0 && !is_flash_wait(static_cast<Stage>(i)))
            log_sum(i, static_cast<std::uint64_t>(part.rest_[i]));
    part.for_each_rest([&](Stage s, std::uint8_t flow, std::int64_t ps) {
        log_sum(static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(ps), flow);
    });
}

void Timeline::log_for(std::uint64_t what, std::uint64_t value, std::uint8_t flow) {
    if (steps_ < limit_ && fits(value)) {
        flow_[steps_] = flow;
        steps_log_[steps_++] = value << kWhatBits | what;
    } else {
        log_sum(what, value, flow);
    }
}

void Timeline::charge_wait(Stage s, SimTime until, std::uint8_t flow) {
    const auto d = (until - last_).count();
    SSDTLM_CHECK(d >= 0, "latency mark goes back in time");
    if (d == 0) return;
    owned_ = 1;
    last_ = until;
    log_for(static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(d), flow);
}

Ps Timeline::of(Stage s) const {
    const auto stage = static_cast<std::size_t>(s);
    std::int64_t ps = rest_.empty() ? 0 : rest_[stage];
    for (std::uint32_t i = first_; i < steps_; ++i)
        if (what(steps_log_[i]) == stage) ps += static_cast<std::int64_t>(value(steps_log_[i]));
    return Ps{ps};
}

__attribute__((noinline)) void Timeline::precede_slowly(SimTime issued, SimTime submitted) {
    put_in_front(Stage::submit, submitted);
    put_in_front(Stage::host_queue, issued);
}

/// If there is no room for the step, the last steps move to the sums, as only the first steps are kept.
void Timeline::put_in_front(Stage s, SimTime from) {
    const auto d = (start_ - from).count();
    SSDTLM_CHECK(d >= 0, "latency mark goes back in time");
    if (d == 0) return;
    start_ = from;
    const auto ps = static_cast<std::uint64_t>(d);
    while (steps_ > first_ && (!fits(ps) || steps_ - first_ >= static_cast<int>(kSteps))) {
        const std::uint64_t last = steps_log_[--steps_];
        log_sum(what(last), value(last), owned_ != 0 ? flow_[steps_] : std::uint8_t{0});
    }
    if (!fits(ps)) return log_sum(static_cast<std::uint64_t>(s), ps);
    SSDTLM_CHECK(first_ > 0, "the host's part of a latency comes once");
    steps_log_[--first_] = ps << kWhatBits | static_cast<std::uint64_t>(s);
}

__attribute__((noinline, cold)) void Timeline::log_sum(std::uint64_t what, std::uint64_t value, std::uint8_t flow) {
    limit_ = steps_;
    if (what == kOperation) return;
    if (rest_.empty()) rest_.assign(kStageCount, 0);
    rest_[what] += static_cast<std::int64_t>(value);
    if (owned_ == 0 || !is_flash_wait(static_cast<Stage>(what))) return;
    const std::size_t at = (flow + std::size_t{1}) * kStageCount + what;
    if (at >= rest_.size()) rest_.resize((flow + std::size_t{2}) * kStageCount);
    rest_[at] += static_cast<std::int64_t>(value);
}

}  // namespace ssdtlm
