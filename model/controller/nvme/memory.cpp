// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/memory.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

void NvmeMemory::state(Snapshot& s) {
    s(former, namespaces, errors, self_tests);
    sanitize.exchange(s);
    s(events, uncorrectable);
    s.require(uncorrectable.end() <= namespaces.drive_blocks(), "a block marked as unreadable behind the last one");
}

void NvmeMemory::after_power_loss(SimTime now, std::uint64_t power_cycles, const DriveFacts& drive) {
    clock.restart(now);
    changed.clear();
    if (self_tests.running() != SelfTest::none) {
        SelfTestResult r;
        r.test = self_tests.running();
        r.outcome = SelfTestResult::aborted_by_reset;
        r.hours = former.power_on_hours(now);
        self_tests.end(r);
    }
    for (std::uint32_t id = 1; id <= namespaces.most(); ++id) {
        if (namespaces.remaining(id) != 0) {  // an interrupted format: the old blocks stay, some deallocated
            std::vector<std::uint8_t> event(12);
            store(event.data(), id);
            event[4] = namespaces.remaining(id);
            event[5] = 1;  // failed
            events.add(PersistentEvents::format_completion, std::move(event), clock.field(now));
            namespaces.set_remaining(id, 0);
        }
        namespaces.set_busy(id, kStSuccess);
    }
    // NVMe 1.4 §5.14.1.13, Power-on or Reset: the firmware's revision and the state of the controller at the start.
    std::vector<std::uint8_t> event(8 + 36, 0);
    std::fill_n(event.begin(), 8, std::uint8_t{' '});
    std::copy_n(drive.firmware.begin(), std::min<std::size_t>(drive.firmware.size(), 8), event.begin());
    store(event.data() + 8 + 16, static_cast<std::uint32_t>(power_cycles));
    store(event.data() + 8 + 20, static_cast<std::uint64_t>(now.time_since_epoch() / 1ms));
    store(event.data() + 8 + 28, clock.field(now));
    events.add(PersistentEvents::power_on_or_reset, std::move(event), clock.field(now));
}

}  // namespace ssdtlm
