// SPDX-License-Identifier: Apache-2.0
#include "sim/results/die_queues.h"

#include <algorithm>

namespace ssdtlm {

void DieQueues::look(std::uint64_t number) {
    const std::uint64_t left_out = number - number_ - 1;
    for (std::uint32_t i = 0; i < dies_.size(); ++i) {
        Die& die = dies_[i];
        die.sum += left_out * die.last;
        if (left_out != 0) die.most = std::max(die.most, die.last);
        die.last = waiting_(i);
        die.sum += die.last;
        die.most = std::max(die.most, die.last);
    }
    number_ = number;
}

void DieQueues::begin(std::uint64_t number) {
    number_ = begin_ = number;
    for (Die& die : dies_) {
        die.sum = 0;
        die.most = 0;
    }
}

std::vector<DieQueue> DieQueues::queues() const {
    std::vector<DieQueue> all;
    if (looks() == 0) return all;
    for (const Die& die : dies_) all.push_back({static_cast<double>(die.sum) / static_cast<double>(looks()), die.most});
    return all;
}

}  // namespace ssdtlm
