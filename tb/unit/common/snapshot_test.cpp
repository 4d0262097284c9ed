// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "common/containers/sparse_array.h"
#include "common/random/random.h"
#include "common/report/error.h"
#include "common/snapshot/snapshot_file.h"

namespace ssdtlm {
namespace {

struct Inner {
    std::uint32_t a = 0;
    bool b = false;
    void state(Snapshot& s) { s(a, b); }
};

struct Memory {
    std::uint64_t number = 0;
    double real = 0;
    std::vector<std::uint16_t> plain;
    std::vector<bool> bits;
    std::vector<Inner> inner;
    std::deque<std::uint32_t> queue;
    std::unordered_map<std::uint32_t, std::uint64_t> map;
    std::set<std::uint64_t> set;
    std::vector<std::pair<std::uint32_t, std::vector<std::uint8_t>>> pairs;
    std::vector<std::uint32_t> table = std::vector<std::uint32_t>(5);
    SparseArray<std::uint32_t> sparse{100000, "test"};
    Random random{1};

    void state(Snapshot& s) {
        s.section("memory");
        s(number, real, plain, bits, inner, queue, pairs, sparse, random);
        s.map(map);
        s.set(set);
        s.fixed(table);
    }
};

void fill(Memory& m) {
    m.number = 0x0123456789ABCDEFu;
    m.real = 0.1;
    for (std::uint16_t i = 0; i < 1000; ++i) m.plain.push_back(static_cast<std::uint16_t>(i * i));
    for (int i = 0; i < 131; ++i) m.bits.push_back(i % 3 == 0);
    for (std::uint32_t i = 0; i < 7; ++i) m.inner.push_back({i, i % 2 == 0});
    m.queue = {3, 1, 2};
    for (std::uint32_t i = 0; i < 100; ++i) m.map[i * 7919] = i;
    m.set = {5, 1, 1000000007};
    m.pairs = {{1, {1, 2}}, {2, {}}};
    m.table[3] = 3;
    m.sparse.at_write(3) = 7;
    m.sparse.at_write(20000) = 0;  // written, and zero
    m.sparse.at_write(99999) = 8;
    m.random.next();
}

class SnapshotTest : public ::testing::Test {
protected:
    void TearDown() override { std::remove(path_.c_str()); }
    void write() const {
        Memory m;
        fill(m);
        write(m);
    }
    void write(Memory& m) const {
        SnapshotWriter s(path_, "a = 1\nb = 2\n");
        s(m);
        s.finish();
    }
    std::string file() const {
        std::ifstream f(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(f), {}};
    }
    void put(const std::string& bytes) const {
        std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    void read() const {
        SnapshotReader s(path_);
        Memory m;
        s(m);
        s.finish();
    }
    /// What is said of the file; empty: nothing.
    std::string said() const {
        try {
            read();
        } catch (const UserError& e) {
            return e.what();
        }
        return {};
    }
    const std::string path_ =
        ::testing::TempDir() + "snapshot_test." + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SnapshotTest, IsReadAsItWasWritten) {
    write();
    SnapshotReader s(path_);
    EXPECT_EQ(s.text(), "a = 1\nb = 2\n");
    Memory m, was;
    fill(was);
    s(m);
    s.finish();
    EXPECT_EQ(m.number, was.number);
    EXPECT_EQ(m.real, was.real);
    EXPECT_EQ(m.plain, was.plain);
    EXPECT_EQ(m.bits, was.bits);
    ASSERT_EQ(m.inner.size(), was.inner.size());
    for (std::size_t i = 0; i < m.inner.size(); ++i) {
        EXPECT_EQ(m.inner[i].a, was.inner[i].a);
        EXPECT_EQ(m.inner[i].b, was.inner[i].b);
    }
    EXPECT_EQ(m.queue, was.queue);
    EXPECT_EQ(m.map, was.map);
    EXPECT_EQ(m.set, was.set);
    EXPECT_EQ(m.pairs, was.pairs);
    EXPECT_EQ(m.table, was.table);
    for (std::size_t i = 0; i < 100000; ++i) ASSERT_EQ(m.sparse[i], was.sparse[i]) << i;
    EXPECT_EQ(m.random.next(), was.random.next());
}

TEST_F(SnapshotTest, SameMemorySameFile) {
    write();
    const std::string once = file();
    Memory m;
    fill(m);
    m.map.rehash(10000);  // in another order
    write(m);
    EXPECT_EQ(file(), once);
}

TEST_F(SnapshotTest, CutAnywhereItIsRefused) {
    write();
    const std::string whole = file();
    for (std::size_t size = 0; size < whole.size(); size += size < 64 || size + 64 > whole.size() ? 1 : 17) {
        put(whole.substr(0, size));
        const std::string said = this->said();
        ASSERT_NE(said, "") << size << " of " << whole.size() << " bytes";
        ASSERT_NE(said.find(path_), std::string::npos) << said;
    }
}

TEST_F(SnapshotTest, ChangedAnywhereItIsRefused) {
    write();
    const std::string whole = file();
    int unchanged = 0;
    Random random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string damaged = whole;
        damaged[random.below(damaged.size())] ^= static_cast<char>(1u << random.below(8));
        put(damaged);
        if (!said().empty()) continue;
        // A zstd frame has a few bits that change nothing of what is unpacked: an unused one, a larger window (RFC
        // 8878, 3.1.1.1).
        ++unchanged;
        SnapshotReader s(path_);
        Memory m, was;
        fill(was);
        s(m);
        s.finish();
        ASSERT_EQ(m.plain, was.plain);
        ASSERT_EQ(m.table, was.table);
        for (std::size_t j = 0; j < 100000; ++j) ASSERT_EQ(m.sparse[j], was.sparse[j]) << j;
    }
    EXPECT_LT(unchanged, 10);
}

TEST_F(SnapshotTest, WhatIsNoneIsRefused) {
    EXPECT_NE(said().find("No such file"), std::string::npos);
    put("hello");
    EXPECT_NE(said(), "");
}

TEST_F(SnapshotTest, OfAnotherOrganOrSizeItIsRefused) {
    write();
    SnapshotReader other(path_);
    EXPECT_THROW(other.section("cache"), UserError);
    SnapshotReader larger(path_);
    Memory m;
    m.table.resize(6);
    EXPECT_THROW(larger(m), UserError);
    SnapshotReader half(path_);
    half.section("memory");
    EXPECT_THROW(half.finish(), UserError);
}

TEST_F(SnapshotTest, WhatIsNotFinishedLeavesTheEarlierOne) {
    write();
    const std::string once = file();
    {
        SnapshotWriter s(path_, "");
        std::uint64_t number = 1;
        s(number);
    }
    EXPECT_EQ(file(), once);
    EXPECT_FALSE(std::ifstream(path_ + ".part").good());
    EXPECT_THROW(SnapshotWriter("/no/such/folder/file", ""), OutputError);
}

}  // namespace
}  // namespace ssdtlm
