// SPDX-License-Identifier: Apache-2.0
// A workload as the host of a FunctionalDrive. Its commands come one after the other, without the time between them: a
// moment that it waits for is there when it asks again. A request larger than a command of the drive may be becomes
// several commands, as with the timed host.
#pragma once

#include <vector>

#include "controller/functional/workload_play.h"
#include "controller/nvme/streams.h"
#include "host_pcie/ports/host_request.h"
#include "sim/sim_config.h"

namespace ssdtlm {

class WorkloadHost final : public FunctionalHost {
public:
    /// `workload` must outlive it, and must end by itself.
    WorkloadHost(Workload& workload, const SsdConfig& config);

    State next(FunctionalCommand& command) override;
    void ended(std::uint64_t tag) override;

private:
    struct Request {
        HostRequest whole;
        std::uint32_t asked = 0;     ///< bytes of it that commands have asked for
        std::uint32_t commands = 0;  ///< under way
    };
    State take();
    FunctionalCommand next_part();

    Workload& workload_;
    const std::uint32_t lba_bytes_, most_bytes_;
    const bool names_streams_;
    Streams streams_;  // the drive's numbers of those that are named, by its own rule
    SimTime now_{};
    std::vector<Request> requests_;  // by tag
    std::vector<std::uint64_t> free_;
    std::uint64_t tag_ = 0;  // of the one taken last
    bool parted_ = false;    // some of it was not asked for yet
};

}  // namespace ssdtlm
