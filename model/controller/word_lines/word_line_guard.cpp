// SPDX-License-Identifier: Apache-2.0
#include "controller/word_lines/word_line_guard.h"

#include <algorithm>

namespace ssdtlm {

void WordLineGuard::submit(FlashTransaction& txn) {
    if (txn.op == FlashOp::program) {
        then_[&txn] = txn.then;
        txn.then = Then::to<&WordLineGuard::programmed>(this, txn);
        ++open_[idx(ftl_.shape().superblock_of(geometry_.block_of(txn.address)))].under_way;
    }
    flash_.submit(txn);
}

void WordLineGuard::programmed(FlashTransaction& txn) {
    SSDTLM_CHECK(txn.status.result == FlashResult::ok, "a failed program of flash that is programmed in two steps");
    const WordLines lines = geometry_.word_lines();
    const BlockId block = geometry_.block_of(txn.address);
    const std::uint32_t b = idx(ftl_.shape().superblock_of(block));
    Open& open = open_[b];
    --open.under_way;
    FlashTransaction* lower = nullptr;
    const bool is_upper = lines.is_upper(txn.address.page), ends = is_upper || txn.record.kind == PageKind::padding;
    if (is_upper) {
        const auto is_below = [&](const FlashTransaction* t) {
            return geometry_.block_of(t->address) == block && t->address.page == lines.below(txn.address.page);
        };
        const auto found = std::find_if(open.held.begin(), open.held.end(), is_below);
        if (found != open.held.end()) {  // else it was padding
            lower = *found;
            open.held.erase(found);
            --held_;
        }
    } else if (txn.record.kind != PageKind::padding) {
        open.held.push_back(&txn);
        ++held_;
    }
    if (open.under_way == 0 && open.held.empty()) open_.erase(b);
    if (lower != nullptr) {
        lower->path->charge(Stage::buffer, agenda_.now());  // where its data have waited
        answer(*lower);
    }
    if (ends) answer(txn);
    if (change_) change_();
}

void WordLineGuard::answer(FlashTransaction& txn) {
    const auto found = then_.find(&txn);
    txn.then = found->second;
    then_.erase(found);
    txn.then();
}

std::uint32_t WordLineGuard::held_in(const Open& open, const ProgramOwner& owner) const {
    return static_cast<std::uint32_t>(std::count_if(
        open.held.begin(), open.held.end(), [&owner](const FlashTransaction* t) { return job_of(*t).by == &owner; }));
}

std::uint32_t WordLineGuard::held_of(const ProgramOwner& owner) const {
    std::uint32_t n = 0;
    for (const auto& [b, open] : open_) n += held_in(open, owner);
    return n;
}

std::uint32_t WordLineGuard::held_of(const ProgramOwner& owner, GroupId group) const {
    std::uint32_t n = 0;
    for (const auto& [b, open] : open_)
        if (ftl_.shape().group_of(SuperblockId{b}) == group) n += held_in(open, owner);
    return n;
}

std::string WordLineGuard::dump() const {
    return "word lines: " + std::to_string(held_) + " lower pages wait for their upper ones\n";
}

}  // namespace ssdtlm
