// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "common/containers/key_table.h"
#include "common/containers/sparse_array.h"
#include "common/random/random.h"

namespace ssdtlm {
namespace {

struct Count {
    std::uint32_t key = 0;
    std::uint32_t count = 7;
};

TEST(KeyTable, AgreesWithAMapOnRandomTraffic) {
    for (const std::uint32_t keys : {3u, 60u, 4000u}) {
        KeyTable<Count, 64> t;
        std::map<std::uint32_t, std::uint32_t> m;
        Random r(5);
        for (int i = 0; i < 100000; ++i) {
            // Also neighbours and far apart, so that probe paths wrap round the end of the table.
            const auto key = static_cast<std::uint32_t>(r.below(keys)) * (i % 2 == 0 ? 1u : 0x01000001u);
            if (r.percent(52)) {
                bool fresh = false;
                auto& e = t.insert(key, fresh);
                ASSERT_EQ(e.key, key);
                ASSERT_EQ(fresh, m.count(key) == 0);
                if (fresh) {
                    ASSERT_EQ(e.count, 7u);
                }
                e.count = m[key] = static_cast<std::uint32_t>(i);
            } else if (auto* e = t.find(key)) {
                ASSERT_EQ(e->count, m.at(key));
                t.erase(*e);
                m.erase(key);
            } else {
                ASSERT_EQ(m.count(key), 0u);
            }
            ASSERT_EQ(t.size(), m.size());
        }
        for (const auto& [key, v] : m) ASSERT_EQ(t.find(key)->count, v);
    }
}

TEST(KeyTable, KnowsTheLowestAndTheHighestKey) {
    KeyTable<Count, 2> t;
    bool fresh = false;
    for (const std::uint32_t key : {0u, 0xFFFFFFFEu, 1u}) t.insert(key, fresh).count = key;
    for (const std::uint32_t key : {0u, 0xFFFFFFFEu, 1u}) EXPECT_EQ(t.find(key)->count, key);
    EXPECT_EQ(t.find(2), nullptr);
}

TEST(SparseArray, AgreesWithAVector) {
    constexpr std::size_t n = 100'000;  // several marks, and a last one that is not full
    SparseArray<std::uint32_t> a(n, "test");
    std::vector<std::uint32_t> model(n);
    Random r(11);
    for (std::uint32_t i = 1; i <= 40; ++i) {
        const std::size_t at = i == 1 ? 0 : i == 2 ? n - 1 : r.below(n);
        a.at_write(at) += i;
        model[at] += i;
        a.prefetch(at);
        a.prefetch(n - 1 - at);
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], model[i]) << i;
}

TEST(SparseArray, KeepsItsContentOnTheWayToHugePages) {
    constexpr std::size_t n = (std::size_t{5} << 20) + 77;  // ten huge pages and a bit
    using Words = SparseArray<std::uint32_t>;
    for (const auto writes : {Words::Writes::random, Words::Writes::sequential}) {
        Words a(n, "test", writes);
        SparseArray<std::uint8_t> bytes(n, "test", static_cast<SparseArray<std::uint8_t>::Writes>(writes));
        std::vector<std::uint32_t> model(n);
        Random r(12);
        for (std::uint32_t i = 1; i <= 20'000; ++i) {  // every chunk many times, and more than it waits for
            const std::size_t at = r.below(n);
            a.at_write(at) = model[at] = i;
            bytes.at_write(at) = static_cast<std::uint8_t>(i);
        }
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(a[i], model[i]) << i;
            ASSERT_EQ(bytes[i], static_cast<std::uint8_t>(model[i])) << i;
        }
    }
}

std::size_t resident_bytes() {
    std::size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kQuarantine =
    std::size_t{256} << 20;  // AddressSanitizer keeps so much of what is given back (quarantine_size_mb, its default)
#else
constexpr std::size_t kQuarantine = 0;
#endif

// A long trace with few commands touches all parts of the tables: none of them gets a page for itself.
TEST(SparseArray, TakesMemoryForWhatIsWritten) {
    constexpr std::size_t n = std::size_t{1} << 27;  // 512 MiB
    SparseArray<std::uint32_t> a(n, "test");
    const std::size_t before = resident_bytes();
    for (const std::size_t writes : {std::size_t{6000}, std::size_t{400'000}, std::size_t{8'000'000}}) {
        for (std::size_t i = 0; i < writes; ++i) a.at_write(i * (n / writes)) = 1;
        const std::size_t taken = resident_bytes() - before;
        std::printf("[   FIGURE ] %zu scattered writes into 512 MiB: %zu KiB\n", writes, taken >> 10);
        EXPECT_LE(taken, writes * 32 + (8 << 20) + kQuarantine) << "a table that is at least a quarter full";
    }
}

// As a table, on the way out of it, and behind that.
TEST(SparseArray, KeepsItsContentOnTheWayOutOfTheTable) {
    constexpr std::size_t n = 1 << 20;
    SparseArray<std::uint32_t> a(n, "test");
    SparseArray<std::uint8_t> bytes(n, "test");
    std::vector<std::uint32_t> model(n);
    Random r(13);
    for (std::uint32_t i = 1; i <= 300'000; ++i) {
        const std::size_t at = r.below(n);
        std::uint32_t& written = a.at_write(at);
        ASSERT_EQ(written, model[at]) << "before write " << i;
        written = model[at] = i % 7;  // zeros too
        bytes.at_write(at) = static_cast<std::uint8_t>(model[at]);
        const std::size_t other = i % 2 == 0 ? at : r.below(n);
        a.prefetch(other);
        ASSERT_EQ(a[other], model[other]) << "after write " << i;
        ASSERT_EQ(bytes[other], model[other]) << "after write " << i;
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], model[i]) << i;
}

}  // namespace
}  // namespace ssdtlm
