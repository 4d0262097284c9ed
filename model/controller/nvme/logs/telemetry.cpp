// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/logs/telemetry.h"

#include <fmt/format.h>

#include <string>

namespace ssdtlm {

using namespace nvme;

void write_telemetry(const AdminContext& c, std::uint8_t lid, std::vector<std::uint8_t>& page) {
    constexpr std::size_t kBlock = 512;
    const NvmeCounters& n = c.counters;
    std::string text = fmt::format(
        "time_ps {}\nreads {}\nwrites {}\nflushes {}\ndeallocates {}\nwrite_zeroes {}\nadmin {}\nrefused {}\n"
        "failed {}\nmedia_errors {}\nbytes_read {}\nbytes_written {}\ndoorbells {}\nfetches {}\nsqes {}\ncqes {}\n"
        "interrupts {}\nresets {}\nunsafe_shutdowns {}\npower_cycles {}\n",
        c.now.time_since_epoch().count(), n.reads, n.writes, n.flushes, n.deallocates, n.write_zeroes, n.admin,
        n.refused, n.failed, n.media_errors, n.bytes_read, n.bytes_written, n.doorbells, n.fetches, n.sqes, n.cqes,
        n.interrupts, n.resets, n.unsafe_shutdowns, n.power_cycles);
    text.resize((text.size() + kBlock - 1) / kBlock * kBlock, '\0');
    page.assign(kBlock, 0);
    std::uint8_t* const d = page.data();
    d[0] = lid;
    const auto last = static_cast<std::uint16_t>(lid == kLogTelemetryHost ? text.size() / kBlock : 0);
    for (const std::size_t area : {8u, 10u, 12u}) store(d + area, last);  // areas 2 and 3 add nothing
    page.insert(page.end(), text.begin(), text.end());
}

}  // namespace ssdtlm
