// SPDX-License-Identifier: Apache-2.0
#include "common/tlm/then.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace ssdtlm {
namespace {

static_assert(std::is_trivially_copyable_v<Then> && sizeof(Then) == 3 * sizeof(void*));

struct Job {
    int times = 0;
};

class Organ {
public:
    void plain() { seen.push_back(1); }
    void number(std::uint64_t n) { seen.push_back(n); }
    void narrow(std::uint8_t n) { seen.push_back(n); }
    void of_job(Job& job) { ++job.times; }
    void told(Job& job, bool well) { job.times += well ? 10 : 100; }
    bool tries(std::uint32_t n, int limit) { return static_cast<int>(n) < limit; }

    std::vector<std::uint64_t> seen;
};

class Heir final : public Organ {};

TEST(Then, CallsTheMethodOfItsObjectWithItsArgument) {
    Organ organ;
    Then::to<&Organ::plain> (&organ)();
    Then::to<&Organ::number>(&organ, ~std::uint64_t{0})();
    Then::to<&Organ::narrow>(&organ, 200)();
    EXPECT_EQ(organ.seen, (std::vector<std::uint64_t>{1, ~std::uint64_t{0}, 200}));
}

TEST(Then, AnObjectIsTheArgumentOfAMethodThatTakesAReference) {
    Organ organ;
    Job first, second;
    const Then then = Then::to<&Organ::of_job>(&organ, second);
    then();
    Then copy = then;
    copy();
    EXPECT_EQ(first.times, 0);
    EXPECT_EQ(second.times, 2);
}

TEST(Then, IsToldMoreWhenItIsCalledAndAnswers) {
    Organ organ;
    Job job;
    const auto then = ThenOf<void, bool>::to<&Organ::told>(&organ, job);
    then(true);
    then(false);
    EXPECT_EQ(job.times, 110);
    const auto attempt = ThenOf<bool, int>::to<&Organ::tries>(&organ, 7);
    EXPECT_TRUE(attempt(8));
    EXPECT_FALSE(attempt(7));
}

TEST(Then, AMethodOfABaseIsCalledOfTheHeir) {
    Heir heir;
    Then::to<&Organ::number>(&heir, 9)();
    EXPECT_EQ(heir.seen, std::vector<std::uint64_t>{9});
}

TEST(Then, NothingMayFollow) {
    Organ organ;
    EXPECT_FALSE(Then{});
    EXPECT_TRUE(Then::to<&Organ::plain>(&organ));
}

}  // namespace
}  // namespace ssdtlm
