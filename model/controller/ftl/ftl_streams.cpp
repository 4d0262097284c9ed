// SPDX-License-Identifier: Apache-2.0
// Write streams of the host in superblocks of their own: which of them may write to a group, and where what garbage collection moves of
// them goes.
#include "controller/ftl/ftl.h"

namespace ssdtlm {

bool Ftl::takes_all_streams(GroupId group) const {
    bool all = true;
    for (std::uint32_t stream = 0; stream <= lanes_.streams(); ++stream) all = all && takes_host_pages(group, stream);
    return all;
}

void Ftl::update_able(GroupId group) {
    for (std::uint32_t stream = 0; stream <= lanes_.streams(); ++stream)
        lanes_.cursor(group, stream).set_able(group, takes_host_pages(group, stream));
}

void Ftl::hold_host(GroupId group, bool held) {
    for (std::uint32_t stream = 0; stream <= lanes_.streams(); ++stream) lanes_.cursor(group, stream).set_held(group, held);
}

SuperblockId Ftl::select_victim(GroupId group, bool idle) {
    const std::uint64_t refreshed = counters_.refresh_victims;
    const SuperblockId victim = choose_victim(group, idle);
    if (__builtin_expect(read_disturb_ != nullptr, 0) && victim != kNoSuperblock && counters_.refresh_victims == refreshed) read_disturb_->other(group, victim);
    // Without a free block there is room behind stream 0 only, if at all (ftl_scarce.cpp).
    if (__builtin_expect(lanes_.streams() != 0, 0) && victim != kNoSuperblock)
        gc_stream_[idx(group)] = static_cast<std::uint8_t>(blocks_.free_blocks(group) == 0 ? 0 : host_stream_of(blocks_[victim].stream));
    return victim;
}

}  // namespace ssdtlm
