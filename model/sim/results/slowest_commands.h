// SPDX-License-Identifier: Apache-2.0
// Keeps the slowest commands of each operation in the measured window, and the commands that were asked for by number.
// For each it has the path through the device and the reasons of its waits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/latency/critical_path.h"
#include "host_pcie/ports/completion_observer.h"

namespace ssdtlm {

class SlowestCommands final : public CompletionObserver {
public:
    static constexpr std::size_t kOps = 4;  ///< HostOp
    struct Kept {
        HostRequest request;
        std::uint64_t number =
            0;             ///< of the command, by arrival at the firmware; the last to end, if a request has several
        SimTime issued{};  ///< from the start of the workload
        Ps total{};
        std::vector<PathStep> path;  ///< times from the start of the workload
        bool slow = false;           ///< true: among the slowest; false: it was asked for
    };
    /// Keeps `count` commands of each operation; of equal ones those with the lower numbers. `asked`: numbers of
    /// commands that are kept however long they take, measured or not. `occupancy` must be recording.
    SlowestCommands(std::uint32_t count, const std::vector<std::uint64_t>& asked, const Occupancy& occupancy);

    void on_complete(const HostRequest& request, SimTime issued, SimTime, SimTime now, const Timeline& timeline,
                     bool measured) override {
        const Ps total = now - issued;
        if (__builtin_expect(total >= least_[static_cast<std::size_t>(request.op)], 0) && measured)
            consider(request, issued, total, timeline);
        if (__builtin_expect(!asked_.empty(), 0)) answer(request, issued, total, timeline);
    }

    /// The commands, ordered by operation, then the slowest first, then by number.
    std::vector<Kept> all() const;

private:
    void consider(const HostRequest& request, SimTime issued, Ps total, const Timeline& timeline);
    void answer(const HostRequest& request, SimTime issued, Ps total, const Timeline& timeline);
    Kept kept(const HostRequest& request, SimTime issued, Ps total, const Timeline& timeline) const;

    const std::uint32_t count_;
    const std::vector<std::uint64_t> asked_;  // ascending
    const Occupancy& occupancy_;
    std::array<Ps, kOps> least_{};                 // latency from which on a command is considered
    std::array<std::vector<Kept>, kOps> slowest_;  // heaps: the first is the next to be removed
    std::vector<Kept> answered_;
};

}  // namespace ssdtlm
