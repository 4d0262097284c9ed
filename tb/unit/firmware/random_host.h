// SPDX-License-Identifier: Apache-2.0
// A host that keeps a device busy with random commands of every kind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "common/random/random.h"
#include "device_under_test.h"

namespace ssdtlm {

struct Mix {
    unsigned read = 40, write = 45, trim = 8, zeroes = 4, flush = 3;  ///< percent
    unsigned fua = 10;                                                ///< percent of the writes
    unsigned whole = 60;                                              ///< percent of transfers in whole mapping units
    unsigned bad = 0;                ///< percent of the writes whose data cannot be read
    std::uint32_t units = 4;         ///< largest transfer
    unsigned hot = 50;               ///< percent of the commands that go to the first 16 units
    std::uint64_t commands = 30000;  ///< half of them for each span of a superblock
};

class RandomHost {
public:
    RandomHost(DeviceUnderTest& device, const Mix& mix, std::uint64_t seed)
        : device_(device), mix_(mix), random_(seed, 9) {}
    void run() {
        device_.on_end = [this](std::uint32_t slot) {
            if (on_end) on_end(slot);
            refill();
        };
        refill();
        device_.drain();
        device_.on_end = nullptr;
        ASSERT_EQ(left_, 0u);
    }
    /// Called for each command that ends.
    std::function<void(std::uint32_t)> on_end;

private:
    void refill() {
        while (left_ > 0 && device_.has_room()) {
            --left_;
            one();
        }
    }
    void one() {
        const std::uint32_t per_unit = device_.blocks_per_unit();
        const std::uint64_t span =
            random_.percent(mix_.hot) ? std::min<std::uint64_t>(16ull * per_unit, device_.blocks()) : device_.blocks();
        const std::uint64_t most = std::min<std::uint64_t>(std::uint64_t{mix_.units} * per_unit, span);
        std::uint64_t n = 1 + random_.below(most);
        std::uint64_t at = random_.below(span - n + 1);
        const auto whole = [&] {
            n = std::max<std::uint64_t>(n / per_unit, 1) * per_unit;
            at = at / per_unit * per_unit;
            if (at + n > device_.blocks()) at = device_.blocks() - n;
        };
        if (random_.percent(mix_.whole)) whole();
        std::uint64_t what = random_.below(100);
        const auto is = [&what](unsigned share) {
            if (what < share) return true;
            what -= share;
            return false;
        };
        const auto blocks = static_cast<std::uint32_t>(n);
        if (is(mix_.read)) {
            device_.read(at, blocks);
        } else if (is(mix_.write)) {
            const bool fua = random_.percent(mix_.fua);
            device_.write(at, blocks, fua, mix_.bad != 0 && random_.percent(mix_.bad));
        } else if (is(mix_.trim)) {
            device_.trim(at, blocks);
        } else if (is(mix_.zeroes)) {
            whole();
            device_.write_zeroes(at, static_cast<std::uint32_t>(n), n % 2 == 1);
        } else {
            device_.flush();
        }
    }
    DeviceUnderTest& device_;
    const Mix mix_;
    Random random_;
    std::uint64_t left_ = mix_.commands;
};

}  // namespace ssdtlm
