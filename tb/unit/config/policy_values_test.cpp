// SPDX-License-Identifier: Apache-2.0
// Parameters of a policy of one's own that are lists or text: read, checked, shown and documented as those of the
// model, whatever kind of policy it is, and read by its maker.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/ftl/victims/victim_policy.h"
#include "controller/scheduler/scheduler_registry.h"
#include "sim/config/config_show.h"
#include "sim/config/parameters.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What the makers were given last.
struct Given {
    std::vector<std::int64_t> counts, times;
    std::string note;
} given;

std::vector<PolicyParameter> parameters() {
    return {policy_integers("counts", {1, 2, 4}).range("1", "1000").says("Counts").from("assumed"),
            policy_quantities("times", Dimension::time, {}).range("1ns", "1ms").says("Times").from("assumed"),
            policy_text("note", "as it came").says("A note").from("assumed")};
}
template <class Registry, class Setup>
typename Registry::Policy policy() {
    return {"of_lists", "a policy of lists and text", parameters(), [](const Setup&, const PolicySettings& own) {
                given = {own.numbers("counts"), own.numbers("times"), own.text("note")};
                return nullptr;
            }};
}
const VictimPolicies::Registered kVictims{policy<VictimPolicies, VictimPolicySetup>()};
const SchedulerPolicies::Registered kScheduler{policy<SchedulerPolicies, SchedulerSetup>()};

constexpr const char* kTables[] = {"gc.of_lists", "scheduler.of_lists"};

const SsdParameter& parameter(const std::string& key) {
    return ssd_parameters().at(static_cast<std::size_t>(parameter_index(key)));
}

SsdConfig loaded(const std::vector<std::string>& assignments) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    for (const auto& a : assignments) loader.add_assignment(a);
    return loader.finish().config;
}

TEST(PolicyValues, ReachTheMakerOfAnyKindOfPolicy) {
    const std::vector<std::string> own = {".counts=[3, 1, 2, 1000]", ".times=[\"5ns\", \"2us\"]",
                                          ".note=\"a, [b] = c\""};
    std::vector<std::string> all;
    for (const std::string table : kTables)
        for (const std::string& o : own) all.push_back(table + o);
    const SsdConfig c = loaded(all);
    const auto expect_own = [] {
        EXPECT_THAT(given.counts, ElementsAre(3, 1, 2, 1000));
        EXPECT_THAT(given.times, ElementsAre(5'000, 2'000'000));
        EXPECT_EQ(given.note, "a, [b] = c");
    };
    given = {};
    SchedulerPolicies::instance().make("scheduler.policy", "of_lists", {c.scheduler, {}}, c.scheduler.policies);
    expect_own();
    given = {};
    VictimPolicies::instance().make("gc.policy", "of_lists", VictimPolicySetup{SuperblockShape(c.nand.geometry), 1, 0},
                                    c.ftl.gc_policies);
    expect_own();
}

TEST(PolicyValues, HaveDefaults) {
    const SsdConfig c = loaded({});
    SchedulerPolicies::instance().make("scheduler.policy", "of_lists", {c.scheduler, {}}, c.scheduler.policies);
    EXPECT_THAT(given.counts, ElementsAre(1, 2, 4));
    EXPECT_THAT(given.times, IsEmpty());
    EXPECT_EQ(given.note, "as it came");
}

TEST(PolicyValues, OneValueIsAListOfOne) {
    const SsdConfig c = loaded({"scheduler.of_lists.counts=7", "scheduler.of_lists.times=[]"});
    SchedulerPolicies::instance().make("scheduler.policy", "of_lists", {c.scheduler, {}}, c.scheduler.policies);
    EXPECT_THAT(given.counts, ElementsAre(7));
    EXPECT_THAT(given.times, IsEmpty());
}

/// What `config show` writes is read back as the same.
TEST(PolicyValues, AreShownAsTheyAreRead) {
    const SsdConfig c = loaded({"scheduler.of_lists.counts=[5]", "scheduler.of_lists.times=[\"5ns\"]",
                                "scheduler.of_lists.note=\"q\\\"uote\\\\\""});
    for (const char* leaf : {"counts", "times", "note"}) {
        const SsdParameter& p = parameter(std::string("scheduler.of_lists.") + leaf);
        const std::string text = to_toml(p, p.get(c));
        const SsdConfig again = loaded({p.key + "=" + text});
        EXPECT_EQ(p.get(again), p.get(c)) << text;
    }
    EXPECT_EQ(to_toml(parameter("scheduler.of_lists.counts"), parameter("scheduler.of_lists.counts").get(c)), "[5]");
}

TEST(PolicyValues, AreCheckedEach) {
    EXPECT_THAT(problems_with({"scheduler.of_lists.counts=[1, 0, 5, 1001]"}),
                ElementsAre(HasSubstr("scheduler.of_lists.counts: 0 is out of range; 1..1000"),
                            HasSubstr("1001 is out of range; 1..1000")));
    EXPECT_THAT(problems_with({"scheduler.of_lists.counts=[1, \"two\"]"}),
                ElementsAre(HasSubstr("a whole number, 1..1000")));
    EXPECT_THAT(problems_with({"scheduler.of_lists.times=[\"5ns\", 7]"}),
                ElementsAre(::testing::AllOf(HasSubstr("7 has no unit"), HasSubstr("write for example \"1ns\""))));
    for (const std::string note : {"7", "[\"a\"]"})  // of an assignment text needs no quotes
        EXPECT_THAT(problems_of(good_device() + "[scheduler.of_lists]\nnote = " + note + "\n"),
                    ElementsAre(::testing::AllOf(HasSubstr("scheduler.of_lists.note"), HasSubstr("a string"),
                                                 HasSubstr("put it in quotes"))));
}

TEST(PolicyValues, AreDocumented) {
    const auto schema = nlohmann::json::parse(config_schema());
    const std::string text = schema.dump(), page = config_reference();
    for (const std::string table : kTables) EXPECT_THAT(page, HasSubstr("[" + table + "]"));
    EXPECT_THAT(page, HasSubstr("| `counts` | 1..1000; a list |"));
    EXPECT_THAT(page, HasSubstr("| `note` | a string |"));
    EXPECT_THAT(text, HasSubstr("of_lists"));
}

}  // namespace
}  // namespace ssdtlm
