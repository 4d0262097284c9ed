// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_rate.h"

#include <cmath>

namespace ssdtlm {
namespace {

Ps exact(std::uint64_t count, std::uint64_t per_second) {
    __extension__ using Wide = unsigned __int128;
    return Ps{static_cast<std::int64_t>(static_cast<Wide>(count) * 1'000'000'000'000u / per_second)};
}

}  // namespace

void FioRate::restart(SimTime epoch) {
    epoch_ = epoch;
    count_ = {0, 0, 0};
    thought_ = {};
    next_ = {epoch, epoch, epoch};
}

FioRate::Turn FioRate::turn(HostOp op, SimTime now, FioGenerator& generator) const {
    SimTime when = next_[fio_index(op)];
    if (when <= now || !job_.mixed()) return {op, when};
    const HostOp other = op == HostOp::read ? HostOp::write : HostOp::read;
    const std::uint32_t share = other == HostOp::read ? job_.rwmix_read : 100 - job_.rwmix_read;
    const SimTime other_when = next_[fio_index(other)];
    if (share != 0 && other_when < when) {
        op = other;
        when = other_when;
    }
    generator.override_direction(op);
    return {op, when};
}

void FioRate::issued(HostOp op, std::uint32_t bytes) {
    const std::size_t d = fio_index(op);
    if (job_.rate[d] == 0 && job_.rate_iops[d] == 0) return;
    if (job_.rate_process == FioRateProcess::poisson) {
        const double ios = job_.rate_iops[d] != 0
                               ? static_cast<double>(job_.rate_iops[d])
                               : static_cast<double>(job_.rate[d]) / static_cast<double>(job_.bs_min[d]);
        next_[d] += thought_[d] + Ps{static_cast<std::int64_t>(-std::log1p(-poisson_.unit()) / ios * 1e12)};
        thought_[d] = Ps{0};
        return;
    }
    const bool by_bytes = job_.rate[d] != 0;
    count_[d] += by_bytes ? bytes : 1;
    next_[d] = epoch_ + thought_[d] + exact(count_[d], by_bytes ? job_.rate[d] : job_.rate_iops[d]);
}

// Counts the amount that was possible in a think time as done, as handle_thinktime() of fio 3.33 does. If that is a
// block or more, it counts one block less, so that the next I/O comes at once.
void FioRate::thought(HostOp op, Ps time) {
    const std::size_t d = fio_index(op);
    if (job_.rate[d] == 0 && job_.rate_iops[d] == 0) return;
    const Ps per_block = job_.rate[d] != 0 ? exact(job_.bs_min[d], job_.rate[d]) : exact(1, job_.rate_iops[d]);
    thought_[d] += time;
    if (job_.rate_process == FioRateProcess::linear && per_block <= time) thought_[d] -= per_block;
}

}  // namespace ssdtlm
