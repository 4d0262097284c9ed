// SPDX-License-Identifier: Apache-2.0
#include "sim/results/block_log.h"

#include <fmt/format.h>

namespace ssdtlm {

BlockLog::BlockLog(const HostDriver& driver, std::vector<std::string> names, std::ostream& out)
    : driver_(driver), names_(std::move(names)), out_(out) {
    out_ << "time_us,context,name,requests,tags,starved,command_us,limit\n";
}

void BlockLog::look(SimTime at) {
    std::vector<ContextUse> now = driver_.block_uses();
    before_.resize(now.size());
    const double time = static_cast<double>((at - before_at_).count());
    const Nass* const nass = driver_.block()->nass();
    for (std::size_t i = 0; i < now.size() && time > 0; ++i) {
        const ContextUse d = now[i] - before_[i];
        if (d.requests_ps == 0) continue;
        out_ << fmt::format(
            "{:.6f},{},{},{:.6f},{:.6f},{:.6f},{},{}\n", static_cast<double>(at.time_since_epoch().count()) * 1e-6, i,
            i < names_.size() ? names_[i] : "", static_cast<double>(d.requests_ps) / time,
            static_cast<double>(d.tags_ps) / time, static_cast<double>(d.starved_ps) / time,
            d.commands == 0
                ? ""
                : fmt::format("{:.6f}", static_cast<double>(d.latency_ps) * 1e-6 / static_cast<double>(d.commands)),
            nass == nullptr ? "" : std::to_string(nass->limit(static_cast<std::uint32_t>(i))));
    }
    before_ = std::move(now);
    before_at_ = at;
}

}  // namespace ssdtlm
