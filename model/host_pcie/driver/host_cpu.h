// SPDX-License-Identifier: Apache-2.0
// The CPU cores of the host: the time that a command takes on them, and when each is free. A core is a serial resource.
// A queue pair belongs to one core, which submits to it and takes its completions. Not modelled: the scheduler of the
// operating system, and other work of the cores. Kernel-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

class HostCpu {
public:
    explicit HostCpu(const HostConfig& config) : config_(config) {}

    /// Gives the cores this many queue pairs. Core c has the pairs c, c + cores, ...
    void deal(std::uint32_t pairs) { cores_.assign(config_.cores == 0 ? pairs : std::min(config_.cores, pairs), {}); }

    /// submits_in_time(): some submission takes CPU time. completes_in_time(): some completion takes CPU time.
    bool submits_in_time() const { return config_.submit_time != Ps{} || config_.submit_page_time.any(); }
    bool completes_in_time() const {
        return config_.completion_time != Ps{} || config_.completion_page_time.any() ||
               (config_.interrupt_time != Ps{} && !polls());
    }
    /// True: the cost of a completion depends on the command.
    bool completes_pages() const { return config_.completion_page_time.any(); }
    bool polls() const { return config_.completion == CompletionBy::poll; }

    Ps submission(const HostRequest& request) const {
        return config_.submit_time + pages(request) * config_.submit_page_time.of(request.op);
    }
    Ps completion(const HostRequest& request) const {
        return config_.completion_time + pages(request) * config_.completion_page_time.of(request.op);
    }

    /// The longest time of submission and completion of a command of this many bytes, with the look or the interrupt
    /// before.
    Ps longest(std::uint32_t bytes) const {
        Ps most{};
        for (const HostOp op : {HostOp::read, HostOp::write}) {
            HostRequest request;
            request.op = op;
            request.bytes = bytes;
            most = std::max(most, submission(request) + completion(request));
        }
        return most + std::max(config_.interrupt_time, config_.poll_time);
    }

    /// Occupies the pair's core for `time`, beginning at `from` or when the core is free. Returns the end.
    SimTime occupy(std::uint32_t pair, SimTime from, Ps time) {
        Core& core = cores_[core_of(pair)];
        core.free = std::max(core.free, from) + time;
        core.busy += time;
        return core.free;
    }
    /// Returns the time at which a polling core sees an entry that is written now, which is the end of its next look. A
    /// free core looks all the time. A busy core looks after its present work.
    SimTime next_look(std::uint32_t pair, SimTime now) const {
        const SimTime free = cores_[core_of(pair)].free;
        const Ps step = config_.poll_time;
        if (step == Ps{} || now < free) return std::max(now, free) + step;
        return free + ((now - free) / step + 1) * step;
    }
    /// The time for which the pair's core is still busy.
    Ps ahead(std::uint32_t pair, SimTime now) const { return std::max(Ps{}, Ps{cores_[core_of(pair)].free - now}); }

    std::uint32_t cores() const { return static_cast<std::uint32_t>(cores_.size()); }
    /// The busy time of a core up to now. Looks that find nothing do not count.
    Ps busy(std::uint32_t core, SimTime now) const {
        return cores_[core].busy - std::max(Ps{}, Ps{cores_[core].free - now});
    }

private:
    struct Core {
        SimTime free{};
        Ps busy{};  // up to free
    };
    std::uint32_t core_of(std::uint32_t pair) const { return pair % cores(); }
    /// Number of pages of the host's memory that the data touch.
    std::int64_t pages(const HostRequest& request) const {
        const bool data = request.op == HostOp::read || request.op == HostOp::write;
        return data ? (config_.buffer_offset + request.bytes + config_.page_bytes - 1) / config_.page_bytes : 0;
    }

    const HostConfig& config_;
    std::vector<Core> cores_;
};

}  // namespace ssdtlm
