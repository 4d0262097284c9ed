// SPDX-License-Identifier: Apache-2.0
// Many FIFO lists over the blocks of the device; a block is in at most one. 8 bytes per block and per list, no
// allocation after construction, and no branch to unlink: the lists are rings through a sentinel.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/superblock.h"

namespace ssdtlm {

class BlockLists {
public:
    BlockLists(std::uint32_t blocks, std::uint32_t lists) : blocks_(blocks), links_(std::size_t{blocks} + lists) {
        for (std::uint32_t n = 0; n < links_.size(); ++n) links_[n] = Link{n, n};
    }
    void push_back(std::uint32_t list, SuperblockId block) {
        const std::uint32_t end = blocks_ + list, last = links_[end].before;
        links_[idx(block)] = Link{last, end};
        links_[last].after = idx(block);
        links_[end].before = idx(block);
    }
    void remove(SuperblockId block) {
        const Link l = links_[idx(block)];
        links_[l.before].after = l.after;
        links_[l.after].before = l.before;
    }
    /// The block that has been in the list longest; kNoSuperblock when it is empty.
    SuperblockId front(std::uint32_t list) const { return named(links_[blocks_ + list].after); }
    /// The block behind it in its list; kNoSuperblock behind the last.
    SuperblockId after(SuperblockId block) const { return named(links_[idx(block)].after); }
    template <class Archive>
    void state(Archive& s) {
        s.fixed(links_);
    }
    /// lists() returns, after reading a snapshot, the list of each block; kInNone: the block is in no list. An empty
    /// result means that the lists are broken.
    static constexpr std::uint32_t kInNone = 0xFFFFFFFFu;
    std::vector<std::uint32_t> lists() const {
        std::vector<std::uint32_t> list_of(blocks_, kInNone);
        for (std::uint32_t end = blocks_; end < links_.size(); ++end) {
            std::uint32_t before = end;
            for (std::uint32_t n = links_[end].after; n != end; before = n, n = links_[n].after) {
                if (n >= blocks_ || list_of[n] != kInNone || links_[n].before != before) return {};
                list_of[n] = end - blocks_;
            }
            if (links_[end].before != before) return {};
        }
        return list_of;
    }

private:
    struct Link {
        std::uint32_t before = 0, after = 0;
    };
    SuperblockId named(std::uint32_t node) const { return node < blocks_ ? SuperblockId{node} : kNoSuperblock; }

    std::uint32_t blocks_;
    std::vector<Link> links_;  // blocks, then one sentinel per list
};

}  // namespace ssdtlm
