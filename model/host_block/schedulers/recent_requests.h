// SPDX-License-Identifier: Apache-2.0
// Finds merges as the software queues of blk-mq do. A queue looks at its last eight waiting requests, the youngest
// first. A candidate joins the first of them that it touches, behind or before it.
#pragma once

#include <deque>

#include "host_block/schedulers/waiting_requests.h"

namespace ssdtlm {

class RecentRequests {
public:
    static constexpr std::uint32_t kLooksAt = 8;  // blk_bio_list_merge() of Linux, block/blk-merge.c

    void add(Waiting& w, std::uint32_t queue) {
        while (queues_.size() <= queue) queues_.emplace_back();
        queues_[queue].push_back(w);
    }
    void remove(Waiting& w, std::uint32_t queue) { queues_[queue].erase(List::s_iterator_to(w)); }
    Waiting* find(const BlockRequest& candidate, std::uint32_t queue, bool& front) {
        if (queue >= queues_.size()) return nullptr;
        std::uint32_t left = kLooksAt;
        for (auto w = queues_[queue].rbegin(); w != queues_[queue].rend() && left != 0; ++w, --left)
            if (joins(*w->request, candidate, front)) return &*w;
        return nullptr;
    }

private:
    using List = boost::intrusive::list<
        Waiting, boost::intrusive::member_hook<Waiting, boost::intrusive::list_member_hook<>, &Waiting::recent>>;
    std::deque<List> queues_;
};

}  // namespace ssdtlm
