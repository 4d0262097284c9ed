// SPDX-License-Identifier: Apache-2.0
// A scheduler policy: on each die, programs of host data go before everything else, so that the write buffer drains.
#pragma once

#include "controller/scheduler/class_queues.h"

namespace ssdtlm::examples {

class WriteFirst final : public ClassQueueScheduler {
public:
    using ClassQueueScheduler::ClassQueueScheduler;

private:
    std::uint8_t choose(const DieWork& work) const override {
        const std::uint32_t writes = 1u << static_cast<unsigned>(FlashClass::host_write);
        return oldest(work, (work.waiting & writes) != 0 ? writes : work.waiting);
    }
};

}  // namespace ssdtlm::examples
