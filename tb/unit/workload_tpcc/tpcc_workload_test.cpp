// SPDX-License-Identifier: Apache-2.0
// The requests of the TPC-C workload against the rules of a database: where each goes, in which order, and what waits
// for what.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tpcc_bench.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr GeneratorSetup kDrive{8_GiB, 512, 1};

TpccConfig small() {
    TpccConfig c;
    c.warehouses = 2;
    c.transactions = 5000;
    c.log_bytes = 16_MiB;
    return c;
}

/// The variants that take another way through the code.
std::vector<TpccConfig> variants() {
    std::vector<TpccConfig> all(5, small());
    all[1].doublewrite = false;
    all[2].page_bytes = 4096;
    all[2].connections = 1;
    all[3].buffer_pool = 1;  // nothing leaves: pages are written because of their age
    all[3].log_bytes = 32_MiB;
    all[3].connections = 32;
    all[4].buffer_pool = 0.03;
    all[4].log_bytes = 128_MiB;
    return all;
}

TEST(TpccWorkload, EachRequestIsInItsArea) {
    for (const TpccConfig& c : variants()) {
        TpccWorkload w(c, kDrive);
        const std::uint64_t doublewrite = c.log_bytes;
        const std::uint64_t tables = doublewrite + 128 * std::uint64_t{c.page_bytes};
        EXPECT_EQ(w.tables_begin(), tables);
        const std::uint64_t end = tables + w.tables().pages() * c.page_bytes;
        ASSERT_LE(end, kDrive.capacity);
        for (const TpccIssue& i : run_tpcc(w)) {
            const HostRequest& r = i.request;
            if (r.op == HostOp::flush) continue;
            ASSERT_EQ(r.offset % 512, 0u);
            ASSERT_GT(r.bytes, 0u);
            if (r.job < c.connections) {
                ASSERT_EQ(r.op, HostOp::read);
                ASSERT_EQ(r.bytes, c.page_bytes);
                ASSERT_GE(r.offset, tables);
                ASSERT_EQ((r.offset - tables) % c.page_bytes, 0u);
                ASSERT_LE(r.offset + r.bytes, end);
            } else if (r.job == w.log_job()) {
                ASSERT_EQ(r.op, HostOp::write);
                ASSERT_LE(r.bytes, 65536u);
                ASSERT_LE(r.offset + r.bytes, c.log_bytes);
            } else {
                ASSERT_EQ(r.job, w.cleaner_job());
                ASSERT_EQ(r.op, HostOp::write);
                ASSERT_GE(r.offset, c.doublewrite ? doublewrite : tables);
                ASSERT_EQ((r.offset - doublewrite) % c.page_bytes, 0u);
                ASSERT_EQ(r.bytes % c.page_bytes, 0u);
                ASSERT_TRUE(r.offset < tables ? r.offset + r.bytes <= tables
                                              : r.bytes == c.page_bytes && r.offset + r.bytes <= end);
            }
        }
    }
}

TEST(TpccWorkload, ItEndsWhenAllTransactionsHave) {
    for (const TpccConfig& c : variants()) {
        TpccWorkload w(c, kDrive);
        EXPECT_EQ(w.progress(SimTime{}), 0);
        const auto issues = run_tpcc(w);
        EXPECT_EQ(w.next(SimTime{1s}).state, Workload::State::done);
        EXPECT_EQ(w.progress(SimTime{}), 1);
        std::uint64_t sum = 0, reads = 0;
        for (const std::uint64_t n : w.counters().transactions) sum += n;
        EXPECT_EQ(sum, c.transactions);
        for (const std::uint64_t n : w.counters().read) reads += n;
        EXPECT_EQ(reads, static_cast<std::uint64_t>(std::count_if(issues.begin(), issues.end(), [](const TpccIssue& i) {
                      return i.request.op == HostOp::read;
                  })));
    }
}

TEST(TpccWorkload, AConnectionReadsOnePageAtATimeAndNoneThatIsBeingWritten) {
    for (const TpccConfig& c : variants()) {
        TpccWorkload w(c, kDrive);
        std::map<std::uint32_t, SimTime> read_until;
        std::map<std::uint64_t, SimTime> written_until;  // place of a page -> end of its write
        std::map<std::uint32_t, std::multiset<SimTime>> under_way;
        for (const TpccIssue& i : run_tpcc(w)) {
            const HostRequest& r = i.request;
            auto& ends = under_way[r.job];
            ends.erase(ends.begin(), ends.upper_bound(i.at));
            ends.insert(i.done);
            ASSERT_LE(ends.size(), w.depth(r.job)) << "job " << r.job;
            if (r.op == HostOp::read) {
                ASSERT_GE(i.at, read_until[r.job]);
                read_until[r.job] = i.done;
                ASSERT_GE(i.at, written_until[r.offset]) << "a page is in memory until it is written";
            } else if (r.job == w.cleaner_job() && r.offset >= w.tables_begin()) {
                ASSERT_GE(i.at, written_until[r.offset]) << "a page is written twice at a time";
                written_until[r.offset] = i.done;
            }
        }
    }
}

TEST(TpccWorkload, TheLogIsWrittenInOrderOnceAround) {
    for (const std::uint32_t lba : {512u, 4096u}) {
        TpccConfig c = small();
        c.transactions = 30'000;  // more than the log holds
        TpccWorkload w(c, {8_GiB, lba, 1});
        std::uint64_t end = 0, bytes = 0;
        bool first = true, wrapped = false;
        SimTime free{};
        bool written = false;
        for (const TpccIssue& i : run_tpcc(w)) {
            const HostRequest& r = i.request;
            if (r.job != w.log_job()) continue;
            ASSERT_GE(i.at, free) << "one at a time";
            free = i.done;
            if (r.op == HostOp::flush) {
                ASSERT_TRUE(written) << "a flush of nothing";
                written = false;
                continue;
            }
            // On from the end of the one before, or once more its last block, which was not full.
            if (!first) {
                ASSERT_TRUE(r.offset == end % c.log_bytes || r.offset + lba == end) << r.offset << " after " << end;
            }
            wrapped = wrapped || (!first && r.offset == 0);
            end = r.offset + r.bytes;
            bytes += r.bytes;
            first = false;
            written = true;
        }
        EXPECT_FALSE(written) << "the last commit was not flushed";
        EXPECT_TRUE(wrapped);
        // Each changed row once, by the clauses: 45 % of new orders 23 on average, payments 4, deliveries 130.
        const auto& t = w.counters().transactions;
        const double rows =
            23.0 * static_cast<double>(t[0]) + 4.0 * static_cast<double>(t[1]) + 130.0 * static_cast<double>(t[3]);
        EXPECT_GT(static_cast<double>(bytes), rows * c.redo_per_row * 0.99);
    }
}

TEST(TpccWorkload, PagesGoToTheDoublewriteAreaAndAreFlushedThereBeforeTheyAreWritten) {
    for (const TpccConfig& c : variants()) {
        TpccWorkload w(c, kDrive);
        std::uint64_t safe = 0;      // pages in the doublewrite area that are flushed
        std::uint64_t copied = 0;    // not yet
        std::uint64_t in_place = 0;  // written since the last flush
        SimTime last_end{};
        std::uint64_t doublewritten = 0, written = 0;
        for (const TpccIssue& i : run_tpcc(w)) {
            const HostRequest& r = i.request;
            if (r.job != w.cleaner_job()) continue;
            if (r.op == HostOp::flush) {
                ASSERT_GE(i.at, last_end) << "a flush before its writes have ended";
                ASSERT_TRUE((copied == 0) != (in_place == 0));
                safe += copied;
                copied = in_place = 0;
                last_end = i.done;
            } else if (r.offset < w.tables_begin()) {
                ASSERT_EQ(in_place, 0u) << "a batch before the last one is flushed";
                ASSERT_EQ(r.offset, c.log_bytes + copied * c.page_bytes) << "one behind the other";
                copied += r.bytes / c.page_bytes;
                doublewritten += r.bytes / c.page_bytes;
                last_end = std::max(last_end, i.done);
            } else {
                if (c.doublewrite) {
                    ASSERT_GE(i.at, last_end - (in_place != 0 ? Ps{20us} : Ps{0}))
                        << "before the flush of the doublewrite area";
                    ASSERT_GT(safe, 0u);
                    --safe;
                }
                ++in_place;
                ++written;
                last_end = std::max(last_end, i.done);
            }
        }
        EXPECT_EQ(in_place, 0u) << "the last batch was not flushed";
        EXPECT_GT(written, 500u);
        EXPECT_EQ(doublewritten, c.doublewrite ? written : 0);
        std::uint64_t counted = 0;
        for (const std::uint64_t n : w.counters().written) counted += n;
        EXPECT_EQ(counted, written);
    }
}

TEST(TpccWorkload, APageIsWrittenAfterTheLogOfItsChanges) {
    for (const TpccConfig& c : variants()) {
        TpccWorkload w(c, kDrive);
        std::uint64_t logged =
            0;  // when the last batch ended: the next one has pages with all that was changed by then
        bool begins = true, in_place = false;
        std::size_t batches = 0;
        run_tpcc(w, {}, [&](const TpccIssue& i) {
            if (i.request.job != w.cleaner_job()) return;
            if (i.request.op == HostOp::flush) {
                if (in_place) logged = w.log().lsn();
                begins = in_place;
                in_place = false;
                return;
            }
            if (begins) {
                EXPECT_GE(w.log().flushed(), logged);
                ++batches;
            }
            begins = false;
            in_place = i.request.offset >= w.tables_begin();
        });
        EXPECT_GT(batches, 10u);
    }
}

TEST(TpccWorkload, ASlowDriveMakesCommitsShareAFlush) {
    TpccConfig c = small();
    const auto flushes = [&](Ps flush) {
        TpccWorkload w(c, kDrive);
        run_tpcc(w, {80us, 20us, flush});
        return w.log().flushes();
    };
    const std::uint64_t quick = flushes(1us);
    EXPECT_LT(flushes(5ms), quick / 3);
    c.connections = 1;  // one at a time: 92 % of transactions commit, and each needs a flush of its own
    const double alone = static_cast<double>(flushes(1us));
    EXPECT_GT(alone / static_cast<double>(c.transactions), 0.92 - 5 * std::sqrt(0.92 * 0.08 / 5000));
}

TEST(TpccWorkload, AFullLogHoldsTransactionsBackUntilPagesAreWritten) {
    // Writes so slow that the log comes round to changes whose pages are not on the drive.
    TpccConfig c = small();
    c.buffer_pool = 1;
    c.log_bytes = 16_MiB;
    c.transactions = 20'000;
    TpccWorkload w(c, kDrive);
    std::uint64_t longest = 0;
    // As run_tpcc(), with a look at each step.
    std::multimap<SimTime, TpccIssue> pending;
    SimTime now{};
    for (;;) {
        const Workload::Next n = w.next(now);
        if (w.pool().checkpoint() != BufferPool::kNone)
            longest = std::max(longest, w.log().lsn() - w.pool().checkpoint());
        if (n.state == Workload::State::ready) {
            const Ps takes = n.request.job == w.cleaner_job() ? Ps{50ms} : Ps{20us};
            pending.emplace(now + takes, TpccIssue{n.request, now, now + takes});
            continue;
        }
        if (pending.empty()) break;
        now = pending.begin()->first;
        const TpccIssue i = pending.begin()->second;
        pending.erase(pending.begin());
        w.completed(i.request, i.at, i.at, now, true);
    }
    EXPECT_LT(longest, c.log_bytes) << "the log was overwritten";
    EXPECT_GT(longest, c.log_bytes * 9 / 10) << "the log was never full";
    EXPECT_EQ(w.progress(now), 1);
}

TEST(TpccWorkload, TheSeedDecides) {
    const auto offsets = [](std::uint64_t seed) {
        TpccWorkload w(small(), {8_GiB, 512, seed});
        std::vector<std::uint64_t> all;
        for (const TpccIssue& i : run_tpcc(w)) all.push_back(i.request.offset);
        return all;
    };
    const auto once = offsets(7);
    EXPECT_EQ(once, offsets(7));
    EXPECT_NE(once, offsets(8));
}

std::vector<std::string> problems(const TpccConfig& c, std::uint64_t capacity) {
    std::vector<std::string> texts;
    try {
        TpccWorkload w(c, {capacity, 512, 1});
    } catch (const UserError& e) {
        for (const Problem& p : e.problems()) texts.push_back(p.text());
    }
    return texts;
}

TEST(TpccWorkload, WhatDoesNotFitIsRefused) {
    TpccConfig c = small();
    const std::uint64_t needs = c.log_bytes + 128 * 16384 + tpcc::Tables::pages(2, 16384) * 16384;
    EXPECT_THAT(problems(c, needs), ElementsAre());
    EXPECT_THAT(problems(c, needs - 512), ElementsAre(HasSubstr("set it to 1 or less")));
    EXPECT_THAT(problems(c, 20_MiB), ElementsAre(HasSubstr("larger device")));
    c.connections = 1024;
    c.redo_per_row = 1000;
    c.buffer_pool = 0.01;
    EXPECT_THAT(problems(c, needs - 512),
                ElementsAre(HasSubstr("workload.tpcc.warehouses: 2 take"), HasSubstr("workload.tpcc.log_size: 16 MiB"),
                            HasSubstr("workload.tpcc.buffer_pool: ")));
}

}  // namespace
}  // namespace ssdtlm
