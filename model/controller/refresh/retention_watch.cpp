// SPDX-License-Identifier: Apache-2.0
#include "controller/refresh/retention_watch.h"

#include <algorithm>

namespace ssdtlm {

RetentionWatch::RetentionWatch(Agenda& agenda, Age interval, std::uint64_t cycles, CorePort& cores, Refresh& refresh)
    : agenda_(agenda), interval_(interval), cycles_(cycles), cores_(cores), refresh_(refresh), left_{interval, {}} {}

RetentionWatch::Left RetentionWatch::left_at(SimTime now) const {
    if (due() <= now) return {};
    const Ps waited = now - since_ + left_.less;
    const Age whole = Age::of(waited);
    return {left_.age - whole, waited - whole.at_most()};
}

SimTime RetentionWatch::due() const {
    const SimTime due = after(since_, left_.age);
    return due == kNever ? due : due - left_.less;
}

void RetentionWatch::stop() {
    if (stopped_) return;
    left_ = left_at(agenda_.now());
    stopped_ = true;
    agenda_.cancel(timer_);
}

void RetentionWatch::go_on() {
    if (!stopped_) return;
    stopped_ = false;
    since_ = agenda_.now();
    if (!under_way_) arm();
}

void RetentionWatch::set_left(const Left& left) {
    left_ = left;
    if (stopped_) return;
    agenda_.cancel(timer_);
    since_ = agenda_.now();
    arm();
}

void RetentionWatch::arm() {
    if (due() != kNever)
        timer_ = agenda_.post_cancellable(std::max(due(), agenda_.now()), Then::to<&RetentionWatch::begin>(this));
}

void RetentionWatch::begin() {
    since_ = due();
    left_ = {interval_, {}};
    under_way_ = true;
    cores_.run(0, cycles_, CoreStep::refresh_look, Then::to<&RetentionWatch::look>(this));
}

void RetentionWatch::look() {
    under_way_ = false;
    refresh_.look_at_ages();
    if (!stopped_) arm();
    if (ended_) ended_();
}

}  // namespace ssdtlm
