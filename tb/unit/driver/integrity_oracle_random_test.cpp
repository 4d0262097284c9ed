// SPDX-License-Identifier: Apache-2.0
// Random operations against the rules of integrity_oracle.h, written down without any thought of speed.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "unit/driver/oracle_bench.h"

namespace ssdtlm {
namespace {

struct Naive {
    struct Unit {
        std::set<std::uint32_t> before, within;
        int in_flight = 0;
        std::set<std::uint32_t> acceptable() const {
            auto s = before;
            s.insert(within.begin(), within.end());
            return s;
        }
    };
    std::map<std::uint32_t, Unit> units;
    std::map<int, std::map<std::uint32_t, std::set<std::uint32_t>>> reads;  // read -> unit -> seen acceptable

    void note(std::uint32_t u) {
        for (auto& [id, seen] : reads) {
            auto it = seen.find(u);
            if (it == seen.end()) continue;
            const auto a = units[u].acceptable();
            it->second.insert(a.begin(), a.end());
        }
    }
    void begin(std::uint32_t u, std::uint32_t version) {
        Unit& x = units[u];
        if (x.in_flight++ == 0) {
            x.before = x.acceptable();
            x.within.clear();
        }
        x.within.insert(version);
        note(u);
    }
    void end(std::uint32_t u, bool ok) {
        Unit& x = units[u];
        if (!ok) x.within = x.acceptable();
        x.before.clear();
        --x.in_flight;
        note(u);
    }
};

struct Op {
    enum Kind { read, write, trim } kind;
    std::uint64_t slba;
    std::uint32_t blocks;
    int id;
    IntegrityOracle::ReadToken token;
};

void random_against_naive(std::uint64_t seed, std::uint32_t units, std::size_t depth, unsigned bits,
                          std::uint32_t per = 8) {
    SCOPED_TRACE(seed);
    const std::uint32_t filled = units / 2;
    IntegrityOracle::Geometry shape = geometry(units, filled, bits);
    shape.unit_bytes = per * kLba;
    IntegrityOracle o(shape);
    Naive naive;
    for (std::uint32_t u = 0; u < units; ++u) naive.units[u].within = {u < filled ? 1u : 0u};
    Random r(seed);
    std::vector<Op> open;
    std::vector<std::uint32_t> stamped(units);
    int id = 0, wrong = 0, right = 0;
    for (int step = 0; step < 6000; ++step) {
        if (open.size() < depth && r.percent(50)) {
            Op op{};
            op.kind = static_cast<Op::Kind>(r.below(3));
            op.blocks = static_cast<std::uint32_t>(1 + r.below(20));
            op.slba = r.below(units * per - op.blocks + 1);
            op.id = id++;
            const auto first = static_cast<std::uint32_t>(op.slba / per);
            const auto last = static_cast<std::uint32_t>((op.slba + op.blocks - 1) / per);
            Buffer b(op.blocks);
            if (op.kind == Op::read) {
                op.token = o.begin_read(op.blocks, b.data());
                for (auto u = first; u <= last; ++u) naive.reads[op.id][u] = naive.units[u].acceptable();
            } else if (op.kind == Op::write) {
                o.begin_write(op.slba, op.blocks, b.data());
                for (std::uint32_t i = 0; i < op.blocks; ++i) {
                    const auto s = b.at(i);
                    ASSERT_EQ(s.lba, op.slba + i);
                    ASSERT_GE(s.version, 1u);
                    ASSERT_LE(s.version, o.max_version());
                    const auto u = static_cast<std::uint32_t>(s.lba / per);
                    if (i == 0 || s.lba % per == 0) {
                        const auto acceptable = naive.units[u].acceptable();
                        const bool exhausted = acceptable.size() - acceptable.count(0) == o.max_version();
                        ASSERT_TRUE(exhausted || acceptable.count(s.version) == 0);
                        naive.begin(u, s.version);
                        stamped[u] = s.version;
                    }
                    ASSERT_EQ(s.version, stamped[u]);
                }
            } else {
                o.begin_trim(op.slba, op.blocks);
                for (auto u = (op.slba + per - 1) / per; u < (op.slba + op.blocks) / per; ++u)
                    naive.begin(static_cast<std::uint32_t>(u), 0);
            }
            open.push_back(op);
        } else if (!open.empty()) {
            const auto i = r.below(open.size());
            const Op op = open[i];
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
            const auto first = static_cast<std::uint32_t>(op.slba / per);
            const auto last = static_cast<std::uint32_t>((op.slba + op.blocks - 1) / per);
            const bool ok = !r.percent(5);
            if (op.kind == Op::write) {
                o.end_write(op.slba, op.blocks, ok);
                for (auto u = first; u <= last; ++u) naive.end(u, ok);
            } else if (op.kind == Op::trim) {
                o.end_trim(op.slba, op.blocks, ok);
                for (auto u = (op.slba + per - 1) / per; u < (op.slba + op.blocks) / per; ++u)
                    naive.end(static_cast<std::uint32_t>(u), ok);
            } else if (!ok) {
                o.abandon_read();
                naive.reads.erase(op.id);
            } else {
                // Any content at random; mostly an acceptable one. Both models must agree.
                Buffer b(op.blocks);
                bool acceptable = true;
                for (std::uint32_t k = 0; k < op.blocks; ++k) {
                    const auto u = static_cast<std::uint32_t>((op.slba + k) / per);
                    const auto& set = naive.reads[op.id][u];
                    auto v = static_cast<std::uint32_t>(r.below(o.max_version() + 1));
                    if (!r.percent(3)) v = *std::next(set.begin(), static_cast<std::ptrdiff_t>(r.below(set.size())));
                    acceptable = acceptable && set.count(v) != 0;
                    b.set(k, op.slba + k, v);
                }
                naive.reads.erase(op.id);
                bool accepted = true;
                try {
                    o.check_read(op.token, op.slba, op.blocks, b.data(), kReader);
                } catch (const CheckFailed&) {
                    accepted = false;
                }
                ASSERT_EQ(accepted, acceptable) << "read " << op.id << " at step " << step;
                ++(accepted ? right : wrong);
            }
        }
    }
    EXPECT_GT(right, 100);
    EXPECT_GT(wrong, 10);
}

TEST(IntegrityOracle, AgreesWithTheNaiveModelOnRandomOperations) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        random_against_naive(seed, 4, 6, 4);      // hot: nearly everything overlaps
        random_against_naive(seed, 300, 32, 4);   // mild
        random_against_naive(seed, 5000, 64, 3);  // table grows and shrinks
        random_against_naive(seed, 31, 16, 2);
        random_against_naive(seed, 300, 32, 4, 12);  // units of 6 KiB: no power of two
        random_against_naive(seed, 31, 16, 3, 3);
        random_against_naive(seed, 31, 16, 3, 1);
    }
}

}  // namespace
}  // namespace ssdtlm
