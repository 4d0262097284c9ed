// SPDX-License-Identifier: Apache-2.0
// The map from flash alone: all pages are gone through in the order in which they took their places, as the number in the
// out-of-band area of each says, and the last one that holds a unit has it.
#include <algorithm>
#include <queue>
#include <vector>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

namespace {
struct Next {
    std::uint64_t number;
    std::uint32_t block;
    bool operator>(const Next& o) const { return number != o.number ? number > o.number : block > o.block; }
};
}  // namespace

void Ftl::recover() {
    SSDTLM_CHECK(mapped_units_ == 0 && counters_.host_pages_allocated == 0, "recovery into an FTL that is in use");
    const std::uint32_t per_page = geometry_.units_per_page();
    std::vector<PageRecords::Cursor> pages;
    std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next;
    std::vector<bool> used(shape_.superblocks());
    std::vector<std::uint64_t> last_of(shape_.superblocks());
    for (std::uint32_t b = 0; b < geometry_.blocks(); ++b) {
        pages.push_back(spare_.records(BlockId{b}));
        if (pages[b].at_end()) continue;
        next.push({pages[b].record().number, b});
        used[idx(shape_.superblock_of(BlockId{b}))] = true;
    }
    while (!next.empty()) {
        const std::uint32_t b = next.top().block;
        next.pop();
        PageRecords::Cursor& at = pages[b];
        last_number_ = std::max(last_number_, at.record().number);
        std::uint64_t& last = last_of[idx(shape_.superblock_of(BlockId{b}))];
        last = std::max(last, at.record().number);
        const std::uint32_t first = idx(BlockId{b}) * geometry_.units_per_block() + at.page() * per_page;
        for (std::uint32_t s = 0; s < per_page && at.record().kind == PageKind::user; ++s) {
            const Spare spare = spare_.at(Ppa{first + s});
            if (spare != kPadding && spare != kTorn) map_.exchange(codec_.lpa(spare), Ppa{first + s});
        }
        at.next();
        if (!at.at_end()) next.push({at.record().number, b});
    }
    blocks_.restart(used);
    for (std::uint64_t l = 0; l < logical_units_; ++l) {
        const Ppa p = map_.lookup(Lpa{static_cast<std::uint32_t>(l)});
        if (p == kUnmapped) continue;
        ++mapped_units_;
        valid_.set(p);
        ++blocks_[shape_.superblock_of(p)].valid;
    }
    // The oldest first, which is what a policy that looks at age goes by.
    std::vector<std::uint32_t> sealed;
    for (std::uint32_t n = 0; n < shape_.superblocks(); ++n)
        if (used[n]) sealed.push_back(n);
    std::stable_sort(sealed.begin(), sealed.end(), [&last_of](std::uint32_t a, std::uint32_t b) { return last_of[a] < last_of[b]; });
    for (const std::uint32_t n : sealed) {
        const SuperblockId b{n};
        for (std::uint32_t i = 0; i < shape_.planes(); ++i)
            blocks_[b].cut = blocks_[b].cut || spare_.next_page(shape_.block(b, i)) != geometry_.pages_per_block;
        policy_->sealed(b, blocks_[b].valid, 0);
    }
    for (std::uint32_t g = 0; g < shape_.groups(); ++g) cursor_.set_able(GroupId{g}, blocks_.can_take_host_page(GroupId{g}));
}

}  // namespace ssdtlm
