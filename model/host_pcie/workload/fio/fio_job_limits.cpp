// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_job_limits.h"

namespace ssdtlm {
namespace {

constexpr Ps kSettling = std::chrono::seconds(2);
constexpr const char* kDirection[] = {"reads", "writes", "trims"};

std::uint64_t per_second(std::uint64_t count, Ps time) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(count) * 1'000'000'000'000u /
                                      static_cast<std::uint64_t>(time.count()));
}

std::string microseconds(Ps time) {
    return std::to_string(time.count() / 1'000'000) + " us";
}

}  // namespace

bool FioJobLimits::any(const FioJob& job) {
    for (std::size_t d = 0; d < kFioDirections; ++d)
        if (job.rate_min[d] != 0 || job.rate_iops_min[d] != 0 || job.max_latency[d] != Ps{0}) return true;
    return false;
}

void FioJobLimits::begin_pass(SimTime now) {
    pass_start_ = now;
    rates_ = {};
}

std::optional<std::string> FioJobLimits::completed(const HostRequest& request, Ps latency, SimTime now) {
    const std::size_t d = fio_index(request.op);
    if (job_.max_latency[d] != Ps{0} && latency > job_.max_latency[d])
        return std::string("a latency of ") + microseconds(latency) + " of " + kDirection[d] +
               " exceeds max_latency=" + microseconds(job_.max_latency[d]);
    Rate& r = rates_[d];
    ++r.ios;
    r.bytes += request.bytes;
    if ((job_.rate_min[d] == 0 && job_.rate_iops_min[d] == 0) || now - pass_start_ < kSettling) return std::nullopt;
    if (r.checked_ios != 0) {
        const Ps spent = now - r.checked_at;
        if (spent < job_.rate_cycle || spent == Ps{0}) return std::nullopt;
        const std::uint64_t bytes = per_second(r.bytes - r.checked_bytes, spent);
        const std::uint64_t ios = per_second(r.ios - r.checked_ios, spent);
        if (bytes < job_.rate_min[d])
            return "rate_min=" + std::to_string(job_.rate_min[d]) + " B/s of " + kDirection[d] + " not met, got " +
                   std::to_string(bytes) + " B/s";
        if (ios < job_.rate_iops_min[d])
            return "rate_iops_min=" + std::to_string(job_.rate_iops_min[d]) + " of " + kDirection[d] +
                   " not met, got " + std::to_string(ios) + " IOPS";
    }
    r.checked_bytes = r.bytes;
    r.checked_ios = r.ios;
    r.checked_at = now;
    return std::nullopt;
}

}  // namespace ssdtlm
