// SPDX-License-Identifier: Apache-2.0
#include "controller/refresh/retention.h"

#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

Retention::Retention(std::uint32_t most_looks, std::uint32_t superblocks)
    : most_(most_looks), looks_(most_looks + 1), written_(superblocks, kNothing), begun_(most_looks + std::size_t{1}) {
    SSDTLM_CHECK(most_looks >= 1, "an age of no look");
}

void Retention::spread(const std::vector<SuperblockId>& in_order) {
    for (auto& of_look : begun_) of_look.clear();
    for (std::uint64_t i = 0; i < in_order.size(); ++i)
        note(in_order[i], looks_ - most_ + 1 + static_cast<std::uint32_t>(i * most_ / in_order.size()));
}

void Retention::begin_anew(const std::vector<SuperblockId>& held) {
    for (auto& of_look : begun_) of_look.clear();
    for (const SuperblockId b : held) note(b, looks_);
}

void Retention::look(const BlockManager& blocks, std::vector<SuperblockId>& due) {
    ++looks_;
    const auto sort_out = [&](SuperblockId b) {
        const BlockState state = blocks[b].state;
        if (state == BlockState::sealed)
            due.push_back(b);
        else if (state == BlockState::open_host || state == BlockState::open_gc || state == BlockState::open_cold ||
                 state == BlockState::open_map || state == BlockState::full)
            not_full_.push_back(b);
    };
    for (const SuperblockId b : std::exchange(not_full_, {}))
        if (age(b) > most_) sort_out(b);
    for (const SuperblockId b : std::exchange(begun_[(looks_ - most_) % begun_.size()], {}))
        if (age(b) == most_) sort_out(b);
}

void Retention::state(Snapshot& s) {
    s(looks_, begun_, not_full_);
    s.fixed(written_);
    s.require(begun_.size() == most_ + std::size_t{1}, "ages up to another one");
    if (!s.reads()) return;
    s.require(looks_ > most_, "fewer looks at ages than there were");
    for (const std::uint32_t look : written_) s.require(look <= looks_, "a look at ages that is still to come");
    const auto exist = [&](const std::vector<SuperblockId>& list) {
        for (const SuperblockId b : list)
            s.require(idx(b) < written_.size(), "the age of a superblock that there is not");
    };
    for (const auto& of_look : begun_) exist(of_look);
    exist(not_full_);
}

}  // namespace ssdtlm
