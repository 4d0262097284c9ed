// SPDX-License-Identifier: Apache-2.0
// What deadline and mq-deadline share: the parameters, and the direction of a request (reads, or everything else).
#pragma once

#include <array>
#include <vector>

#include "common/config/policy_registry.h"
#include "host_block/ports/block_request.h"

namespace ssdtlm {

inline constexpr std::size_t kReads = 0, kWrites = 1;
inline std::size_t direction(const BlockRequest& r) {
    return r.op == HostOp::read ? kReads : kWrites;
}

struct DeadlineSettings {
    std::array<Ps, 2> expire;
    std::uint32_t fifo_batch;
    std::uint32_t writes_starved;
    bool front_merges;
};

inline std::vector<PolicyParameter> deadline_parameters() {
    const char* const source = "Linux Documentation/block/deadline-iosched.rst";
    return {policy_quantity("read_expire", Dimension::time, 500'000'000'000)
                .range("1us", "100s")
                .says("Age at which a read begins the next batch of reads")
                .from(source),
            policy_quantity("write_expire", Dimension::time, 5'000'000'000'000)
                .range("1us", "100s")
                .says("Age at which a write begins the next batch of writes")
                .from(source),
            policy_integer("fifo_batch", 16)
                .range("1", "65536")
                .says("Requests of a batch, which go by rising addresses")
                .from(source),
            policy_integer("writes_starved", 2)
                .range("0", "65536")
                .says("Batches of reads that may go before writes that wait")
                .from(source),
            policy_boolean("front_merges", true)
                .says("Requests are also merged with one that they lie before")
                .from(source)};
}
inline DeadlineSettings deadline_settings(const PolicySettings& own) {
    return {{Ps{own.number("read_expire")}, Ps{own.number("write_expire")}},
            static_cast<std::uint32_t>(own.number("fifo_batch")),
            static_cast<std::uint32_t>(own.number("writes_starved")),
            own.flag("front_merges")};
}

}  // namespace ssdtlm
