// SPDX-License-Identifier: Apache-2.0
// Pages that have taken their places and are not programmed yet. A checkpoint names them as if they were programmed. So
// it is complete only when all that were under way when it was taken have ended well.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/events.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class ProgramsInFlight final : public FtlListener {
public:
    struct Move {
        Lpa lpa;
        Ppa from, to;
    };
    ProgramsInFlight(const NandGeometry& geometry, std::uint32_t superblocks, const SpareCodec& codec)
        : geometry_(geometry), codec_(codec), last_of_(superblocks) {}

    void page_drawn(const PageAddress& a, SuperblockId b, std::uint64_t number) override {
        pages_[key(a)];
        last_of_[idx(b)] = number;
    }
    void units_moving(const PageAddress& a, const Spare* units, const Ppa* from, std::uint32_t count,
                      PageContent& /*content*/) override {
        for (std::uint32_t i = 0; i < count; ++i)
            if (units[i] != kPadding)
                pages_.at(key(a)).push_back({codec_.lpa(units[i]), from[i], geometry_.ppa_of(a, i)});
    }
    void page_ended(const PageAddress& a, PageEnd end) override {
        pages_.erase(key(a));
        awaited_.erase(key(a));
        disturbed_ = disturbed_ || end != PageEnd::programmed;
        if (on_end_) on_end_();
    }
    void on_end(std::function<void()> callback) { on_end_ = std::move(callback); }

    bool none() const { return pages_.empty(); }
    /// Starts to wait for the pages that are under way now.
    void await() {
        awaited_.clear();
        for (const auto& [page, moves] : pages_) awaited_.insert(page);
        disturbed_ = false;
    }
    bool awaited_ended() const { return awaited_.empty(); }
    /// A program has failed since await(). Its data go to another place.
    bool disturbed() const { return disturbed_; }
    template <class Visit>
    void for_each_move(Visit&& visit) const {
        for (const auto& [page, moves] : pages_)
            for (const Move& move : moves) visit(move);
    }

    /// Number of the page that took its place last in the superblock.
    std::uint64_t last_of(SuperblockId b) const { return last_of_[idx(b)]; }
    void set_last_of(SuperblockId b, std::uint64_t number) { last_of_[idx(b)] = number; }
    /// Precondition: none().
    template <class Archive>
    void state(Archive& s) {
        s.fixed(last_of_);
    }

private:
    std::uint64_t key(const PageAddress& a) const {
        return std::uint64_t{idx(geometry_.block_of(a))} * geometry_.pages_per_block + a.page;
    }

    const NandGeometry geometry_;
    const SpareCodec codec_;
    std::unordered_map<std::uint64_t, std::vector<Move>> pages_;
    std::unordered_set<std::uint64_t> awaited_;
    bool disturbed_ = false;
    std::function<void()> on_end_;
    std::vector<std::uint64_t> last_of_;
};

}  // namespace ssdtlm
