// SPDX-License-Identifier: Apache-2.0
#include "controller/gc/retention_watch.h"

#include <algorithm>

namespace ssdtlm {

RetentionWatch::RetentionWatch(Agenda& agenda, Ps interval, std::uint64_t cycles, CorePort& cores, Ftl& ftl)
    : agenda_(agenda), interval_(interval), cycles_(cycles), cores_(cores), ftl_(ftl), left_(interval) {}

void RetentionWatch::stop() {
    if (stopped_) return;
    left_ = std::max(left(), Ps{});
    stopped_ = true;
    agenda_.cancel(timer_);
}

void RetentionWatch::go_on() {
    if (!stopped_) return;
    stopped_ = false;
    next_ = agenda_.now() + left_;
    if (!under_way_) arm();
}

void RetentionWatch::set_left(Ps left) {
    left_ = left;
    if (stopped_) return;
    agenda_.cancel(timer_);
    next_ = agenda_.now() + left;
    arm();
}

void RetentionWatch::arm() { timer_ = agenda_.post_cancellable<&RetentionWatch::begin>(std::max(next_, agenda_.now()), this); }

void RetentionWatch::begin(std::uint64_t) {
    next_ += interval_;
    under_way_ = true;
    cores_.run<&RetentionWatch::look>(this, 0, cycles_, CoreStep::refresh_look, 0);
}

void RetentionWatch::look(std::uint64_t) {
    under_way_ = false;
    ftl_.look_at_ages();
    if (!stopped_) arm();
    if (ended_) ended_();
}

}  // namespace ssdtlm
