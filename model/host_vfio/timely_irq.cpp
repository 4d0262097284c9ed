// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/timely_irq.h"

#include <algorithm>
#include <ctime>

namespace ssdtlm::vfio {

namespace {

/// The wall time in ns between two checks that the guest has seen an interrupt, and the longest wait for it: assumed.
constexpr std::int64_t kHeardStep = 20'000;
constexpr std::int64_t kHeardLimit = 20'000'000;

void sleep_for(std::int64_t ns) {
    const timespec time{0, static_cast<long>(ns)};
    ::nanosleep(&time, nullptr);
}

}  // namespace

void tell(Irqs& irqs, std::uint32_t vector, SimTime now, Pacer& pacer) {
    if (!pacer.is_master() || !pacer.started()) {
        irqs.message(vector);
        return;
    }
    // The guest may be sending a message at the same time. It is handled after this one.
    std::int64_t wall = wall_now();
    for (; !pacer.message_under_way(); wall = wall_now()) {
        const std::int64_t left = pacer.wall_at(now, wall) - wall;
        if (left <= 0) break;
        sleep_for(std::min(left, kHeardStep));
    }
    pacer.hold(wall);
    irqs.message(vector);
    for (const std::int64_t end = wall + kHeardLimit; !irqs.is_read(vector) && wall < end; wall = wall_now())
        sleep_for(kHeardStep);
    pacer.go(wall);
}

}  // namespace ssdtlm::vfio
