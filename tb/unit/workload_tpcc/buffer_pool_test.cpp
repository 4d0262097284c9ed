// SPDX-License-Identifier: Apache-2.0
// The buffer pool against a plain one with a list, and against the hit ratio of LRU under independent references.
#include "host_pcie/workload/tpcc/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"

namespace ssdtlm {
namespace {

/// The same rules, written for clarity: a list by use, a map of changes.
struct PlainPool {
    PlainPool(std::size_t frames, std::size_t reserve) : frames_(frames), reserve_(reserve) {}
    std::size_t free() const { return frames_ - recent_.size() - leaving_.size(); }
    bool lookup(std::uint64_t page) {
        const auto at = std::find(recent_.begin(), recent_.end(), page);
        if (at == recent_.end() && leaving_.erase(page) == 0) return false;
        if (at != recent_.end()) recent_.erase(at);
        recent_.push_front(page);
        return true;
    }
    bool take(std::uint64_t page) {
        if (free() == 0) return false;
        recent_.push_front(page);
        return true;
    }
    void change(std::uint64_t page, std::uint64_t lsn) { changed_.emplace(page, lsn); }
    std::vector<std::uint64_t> make_room(std::size_t most) {
        std::vector<std::uint64_t> writes;
        for (auto at = recent_.rbegin(); at != recent_.rend() && free() + leaving_.size() < reserve_;) {
            const std::uint64_t page = *at;
            const bool changed = changed_.count(page) != 0;
            if (changed && writing_.count(page) != 0) {
                ++at;
                continue;
            }
            if (changed && writes.size() >= most) break;
            at = std::list<std::uint64_t>::reverse_iterator(recent_.erase(std::next(at).base()));
            if (changed) begin_write(page, writes);
            if (writing_.count(page) != 0) leaving_.insert(page);
        }
        return writes;
    }
    std::vector<std::uint64_t> write_older(std::uint64_t lsn, std::size_t most) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> aged;
        for (const auto& [page, at] : changed_)
            if (at < lsn && writing_.count(page) == 0) aged.emplace_back(at, page);
        std::stable_sort(aged.begin(), aged.end());
        std::vector<std::uint64_t> writes;
        for (const auto& [at, page] : aged)
            if (writes.size() < most) begin_write(page, writes);
        return writes;
    }
    void written(std::uint64_t page) {
        writing_.erase(page);
        leaving_.erase(page);
        if (writing_.empty()) oldest_writing_ = BufferPool::kNone;
    }
    std::uint64_t oldest_change() const {
        std::uint64_t oldest = BufferPool::kNone;
        for (const auto& [page, at] : changed_) oldest = std::min(oldest, at);
        return oldest;
    }
    void begin_write(std::uint64_t page, std::vector<std::uint64_t>& writes) {
        oldest_writing_ = std::min(oldest_writing_, changed_.at(page));
        changed_.erase(page);
        writing_.insert(page);
        writes.push_back(page);
    }

    std::size_t frames_, reserve_;
    std::list<std::uint64_t> recent_;
    std::map<std::uint64_t, std::uint64_t> changed_;  // page -> LSN
    std::set<std::uint64_t> writing_, leaving_;
    std::uint64_t oldest_writing_ = BufferPool::kNone;
};

TEST(BufferPool, DoesWhatAPlainOneDoes) {
    Random random(11);
    for (int round = 0; round < 40; ++round) {
        const std::uint64_t pages = 20 + random.below(100);
        const auto frames = static_cast<std::uint32_t>(4 + random.below(pages / 2));
        const auto reserve = static_cast<std::uint32_t>(1 + random.below(frames - 1));
        BufferPool pool(pages, frames, reserve);
        PlainPool plain(frames, reserve);
        std::uint64_t lsn = 0;
        for (int step = 0; step < 3000; ++step) {
            const std::uint64_t page = random.below(pages);
            const std::size_t most = 1 + random.below(8);
            std::vector<std::uint64_t> writes;
            switch (random.below(8)) {
                case 0:
                    pool.make_room(writes, most);
                    ASSERT_EQ(writes, plain.make_room(most));
                    break;
                case 1: {
                    const std::uint64_t limit = random.below(lsn + 1);
                    pool.write_older(limit, writes, most);
                    ASSERT_EQ(writes, plain.write_older(limit, most)) << "round " << round << " step " << step;
                    break;
                }
                case 2:
                case 3:
                    if (plain.writing_.empty()) break;
                    {
                        const auto any = std::next(plain.writing_.begin(),
                                                   static_cast<std::ptrdiff_t>(random.below(plain.writing_.size())));
                        const std::uint64_t done = *any;
                        plain.written(done);
                        pool.written(done);
                    }
                    break;
                default: {
                    const bool there = plain.lookup(page);
                    ASSERT_EQ(pool.lookup(page), there);
                    const bool taken = !there && plain.take(page);
                    if (!there) {
                        ASSERT_EQ(pool.take(page), taken);
                    }
                    if ((there || taken) && random.percent(50)) {
                        plain.change(page, lsn);
                        pool.change(page, lsn);
                        ++lsn;
                    }
                    break;
                }
            }
            ASSERT_EQ(pool.free(), plain.free());
            ASSERT_EQ(pool.oldest_change(), plain.oldest_change());
            ASSERT_EQ(pool.checkpoint(), std::min(plain.oldest_writing_, plain.oldest_change()));
        }
    }
}

TEST(BufferPool, HitsAreThoseOfLruUnderIndependentReferences) {
    // Che, Tung, Wang (2002): a page of probability p is there with 1 - exp(-p t), where these sum up to the frames in
    // use.
    constexpr std::uint64_t kPages = 4000;
    constexpr std::uint32_t kFrames = 800;
    std::vector<double> p(kPages);
    double all = 0;
    for (std::uint64_t i = 0; i < kPages; ++i) all += p[i] = 1 / std::pow(static_cast<double>(i + 1), 0.7);
    for (double& x : p) x /= all;
    const auto there = [&](double t) {
        double sum = 0;
        for (const double x : p) sum += 1 - std::exp(-x * t);
        return sum;
    };
    double low = 0, high = 1e6;
    for (int i = 0; i < 100; ++i) (there((low + high) / 2) < kFrames ? low : high) = (low + high) / 2;
    double expected = 0;
    for (const double x : p) expected += x * (1 - std::exp(-x * low));

    std::vector<double> sums(kPages);
    double sum = 0;
    for (std::uint64_t i = 0; i < kPages; ++i) sums[i] = sum += p[i];
    Random random(5);
    BufferPool pool(kPages, kFrames, 1);
    std::vector<std::uint64_t> none;
    int hits = 0;
    constexpr int kDraws = 400'000;
    for (int i = -100'000; i < kDraws; ++i) {
        const auto page =
            static_cast<std::uint64_t>(std::lower_bound(sums.begin(), sums.end() - 1, random.unit()) - sums.begin());
        const bool hit = pool.lookup(page);
        if (!hit) {
            if (pool.free() == 0) pool.make_room(none, 0);
            ASSERT_TRUE(pool.take(page));
        }
        hits += i >= 0 && hit;
    }
    EXPECT_NEAR(hits / static_cast<double>(kDraws), expected, 0.005);
}

}  // namespace
}  // namespace ssdtlm
