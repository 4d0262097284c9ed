// SPDX-License-Identifier: Apache-2.0
// FAST by itself, for one group of planes: pages and merges as the paper has them, written without the model's tables
// and without its code. Counts only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ssdtlm::test {

class FastSimulation {
public:
    struct Counts {
        std::uint64_t direct = 0, switches = 0, partial = 0, full = 0, blocks = 0, empty = 0, pages = 0, units = 0,
                      erased = 0;
    };
    /// `units`: of the group; `logs`: random ones.
    FastSimulation(int units, int units_per_page, int pages_per_block, int logs)
        : units_(units),
          per_page_(units_per_page),
          per_block_(units_per_page * pages_per_block),
          pages_(pages_per_block),
          logs_(logs),
          data_(units / per_block_ + 1, -1) {}

    /// All units of this page of the group.
    void write_page(int page) {
        const int block = page / pages_, at = page % pages_;
        if (at == 0) {
            end_sequential();
            sequential_ = next_id_++;
            block_ = block;
            next_ = 0;
        } else if (sequential_ < 0 || block_ != block || next_ != at) {
            std::vector<int> all;
            for (int u = page * per_page_; u < std::min(units_, (page + 1) * per_page_); ++u) all.push_back(u);
            return write_any(all);
        }
        for (int u = page * per_page_; u < std::min(units_, (page + 1) * per_page_); ++u) where_[u] = sequential_;
        if (++next_ == pages_of(block)) complete(false);
    }
    /// A page of other units.
    void write_any(const std::vector<int>& units) {
        if (random_.empty() || pages_written_ == pages_) {
            if (static_cast<int>(random_.size()) == logs_) full_merge();
            random_.push_back({next_id_++, {}});
            pages_written_ = 0;
        }
        for (const int u : units) {
            where_[u] = random_.back().first;
            random_.back().second.push_back(u);
        }
        ++pages_written_;
    }
    void trim(int unit) { where_.erase(unit); }
    const Counts& counts() const { return n_; }

private:
    int pages_of(int block) const {
        return (std::min(units_, (block + 1) * per_block_) - block * per_block_ + per_page_ - 1) / per_page_;
    }
    /// Copies the pages from `first` to the last one with a unit. Whether there were any.
    bool copy(int block, int first, int to) {
        int last = -1;
        for (int u = block * per_block_; u < std::min(units_, (block + 1) * per_block_); ++u)
            if (where_.count(u) != 0) last = (u - block * per_block_) / per_page_;
        if (last < first) return false;
        n_.pages += static_cast<std::uint64_t>(last - first + 1);
        for (int u = block * per_block_ + first * per_page_; u < std::min(units_, (block + 1) * per_block_); ++u) {
            const auto found = where_.find(u);
            if (found == where_.end()) continue;
            found->second = to;
            ++n_.units;
        }
        return true;
    }
    void complete(bool copied) {
        ++(copied ? n_.partial : data_[static_cast<std::size_t>(block_)] < 0 ? n_.direct : n_.switches);
        becomes_data(block_, sequential_);
        sequential_ = -1;
    }
    void becomes_data(int block, int id) {
        n_.erased += std::exchange(data_[static_cast<std::size_t>(block)], id) >= 0;
    }
    void end_sequential() {
        if (sequential_ >= 0) complete(copy(block_, next_, sequential_));
    }
    void full_merge() {
        const auto [id, written] = random_.front();
        std::vector<int> blocks;  // in the order of their first unit that is still there
        // A unit that was written twice into the log counts where its newest copy is.
        std::set<int> seen;
        std::vector<int> newest;
        for (std::size_t i = written.size(); i-- > 0;)
            if (seen.insert(written[i]).second) newest.insert(newest.begin(), written[i]);
        for (const int u : newest) {
            const auto found = where_.find(u);
            if (found == where_.end() || found->second != id) continue;
            if (std::find(blocks.begin(), blocks.end(), u / per_block_) == blocks.end())
                blocks.push_back(u / per_block_);
        }
        for (const int block : blocks) {
            const int to = next_id_++;
            copy(block, 0, to);
            ++n_.blocks;
            becomes_data(block, to);
            if (sequential_ >= 0 && block_ == block) {
                sequential_ = -1;
                ++n_.erased;
            }
        }
        ++(blocks.empty() ? n_.empty : n_.full);
        ++n_.erased;
        random_.pop_front();
    }

    const int units_, per_page_, per_block_, pages_, logs_;
    std::map<int, int> where_;  // the block that holds each unit
    std::vector<int> data_;
    int sequential_ = -1, block_ = 0, next_ = 0;
    std::deque<std::pair<int, std::vector<int>>> random_;
    int pages_written_ = 0;
    int next_id_ = 0;
    Counts n_;
};

}  // namespace ssdtlm::test
