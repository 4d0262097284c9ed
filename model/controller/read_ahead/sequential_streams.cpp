// SPDX-License-Identifier: Apache-2.0
#include "controller/read_ahead/sequential_streams.h"

#include <algorithm>

namespace ssdtlm {

SequentialStreams::Range SequentialStreams::read(std::uint16_t tenant, std::uint64_t begin, std::uint64_t end) {
    Stream* found = nullptr;
    Stream* oldest = streams_.data();
    for (Stream& s : streams_) {
        if (s.used != 0 && s.tenant == tenant && s.end == begin) found = &s;
        if (s.used < oldest->used) oldest = &s;
    }
    if (found == nullptr) {
        found = oldest;
        *found = Stream{};
        found->tenant = tenant;
    }
    Stream& s = *found;
    s.end = end;
    s.used = ++now_;
    s.reads = std::min(s.reads + 1, trigger_);
    if (s.reads < trigger_) return {};
    const std::uint64_t next = (end + unit_bytes_ - 1) / unit_bytes_;
    if (s.ahead > next && 2 * (s.ahead - next) >= depth_) return {};
    const std::uint64_t first = std::max(s.ahead, next), until = std::min(next + depth_, logical_units_);
    if (first >= until) return {};
    s.ahead = until;
    return {first, until - first};
}

void SequentialStreams::state(Snapshot& s) {
    for (Stream& stream : streams_) s(stream.end, stream.ahead, stream.used, stream.reads, stream.tenant);
    s(now_);
}

}  // namespace ssdtlm
