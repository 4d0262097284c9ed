// SPDX-License-Identifier: Apache-2.0
// Writes block.csv: the figures of each context of the block layer in each interval of the time series.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "host_pcie/driver/host_driver.h"

namespace ssdtlm {

/// A row has the end of the interval from the start of the workload (us); the context; mean requests in the block layer
/// and below; mean commands in the drive; the share of the interval in which a request waited and the context had no
/// tag; mean latency of its commands from dispatch (us; empty without one); and the limit that NASS has set at its end
/// (empty without NASS). Rows of contexts that had no request in the interval are left out.
class BlockLog {
public:
    /// Writes the header. `names`: names of the contexts.
    BlockLog(const HostDriver& driver, std::vector<std::string> names, std::ostream& out);
    /// Call it at the end of an interval. `at`: the time since the start of the workload.
    void look(SimTime at);

private:
    const HostDriver& driver_;
    const std::vector<std::string> names_;
    std::ostream& out_;
    std::vector<ContextUse> before_;
    SimTime before_at_{};
};

}  // namespace ssdtlm
