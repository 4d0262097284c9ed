// SPDX-License-Identifier: Apache-2.0
// A workload as the host of a FunctionalDrive. Commands follow each other without time between them: if the workload
// waits for an instant, the time jumps there. A request that is larger than a command becomes several commands, as with
// the timed host.
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
        std::uint32_t asked = 0;     ///< bytes that were given to commands
        std::uint32_t commands = 0;  ///< commands under way
    };
    State take();
    FunctionalCommand next_part();

    Workload& workload_;
    const std::uint32_t lba_bytes_, most_bytes_;
    const bool names_streams_;
    Streams streams_;  // gives named streams the numbers that the drive gives them
    SimTime now_{};
    std::vector<Request> requests_;  // by tag
    std::vector<std::uint64_t> free_;
    std::uint64_t tag_ = 0;  // tag of the request that was taken last
    bool parted_ = false;    // a part of that request is not in a command yet
};

}  // namespace ssdtlm
