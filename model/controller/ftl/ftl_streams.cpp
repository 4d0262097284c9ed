// SPDX-License-Identifier: Apache-2.0
// Write streams of the host in superblocks of their own: which of them may write to a group, and where what garbage
// collection moves of them goes.
#include "controller/ftl/ftl.h"

namespace ssdtlm {

bool Ftl::takes_all_streams(GroupId group) const {
    bool all = true;
    for (std::uint32_t stream = 0; stream <= partitions_.streams(); ++stream)
        all = all && takes_host_pages(group, stream);
    return all;
}

void Ftl::update_able(GroupId group) {
    for (std::uint32_t stream = 0; stream <= partitions_.streams(); ++stream)
        partitions_.cursor(group, stream).set_able(group, takes_host_pages(group, stream));
}

void Ftl::hold_host(GroupId group, bool held) {
    for (std::uint32_t stream = 0; stream <= partitions_.streams(); ++stream)
        partitions_.cursor(group, stream).set_held(group, held);
}

}  // namespace ssdtlm
