// SPDX-License-Identifier: Apache-2.0
// Conditions under which parameters act, and the notes on those that do not.
#include "sim/config/effect_notes.h"

#include <gmock/gmock.h>

#include "common/config/condition.h"
#include "sim/config/parameters.h"
#include "unit/config/config_fixture.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> notes_with(const std::vector<std::string>& assignments, const std::string& text = "") {
    ConfigLoader loader;
    loader.add_text(good_device() + text, "d.toml");
    for (const auto& a : assignments) loader.add_assignment(a);
    return notes_on_effect(loader.finish());
}

TEST(Condition, TermsValuesAndEmptyOnes) {
    const auto holds = [](const std::string& condition, const std::string& a, const std::string& b) {
        return condition_holds(condition, [&](const std::string& key) { return key == "a" ? a : b; });
    };
    EXPECT_TRUE(holds("a = 1", "1", ""));
    EXPECT_FALSE(holds("a = 1", "2", ""));
    EXPECT_TRUE(holds("a = 1|2", "2", ""));
    EXPECT_FALSE(holds("a != 1|2", "2", ""));
    EXPECT_FALSE(holds("a != none", "", ""));
    EXPECT_TRUE(holds("a = none", "", ""));
    EXPECT_TRUE(holds("a = 1 or b != none", "2", "x"));
    EXPECT_EQ(condition_text("a = 1|2 or b != none or c != 0s"), "a = 1 or 2, or b set, or c other than 0s");
    EXPECT_THROW(holds("a 1", "", ""), Panic);
}

/// A condition names parameters, and values that they can have.
TEST(Condition, OfAllParametersCanBeRead) {
    const SsdConfig standard;
    for (const SsdParameter& p : ssd_parameters())
        for (const std::string& condition : p.conditions) {
            condition_holds(condition, [&](const std::string& key) {
                EXPECT_GE(parameter_index(key), 0) << p.key << ": " << condition;
                return std::string();
            });
            EXPECT_THAT(condition_text(condition), ::testing::Not(IsEmpty()));
        }
}

TEST(EffectNotes, OfTheCommandLineWhateverItsValue) {
    EXPECT_THAT(notes_with({}), IsEmpty());
    EXPECT_THAT(notes_with({"wear.each=8"}),
                ElementsAre("--set wear.each=8 has no effect: wear.each acts only with wear.most_spread other than 0"));
    EXPECT_THAT(notes_with({"wear.each=9", "wear.most_spread=3"}), IsEmpty());
}

TEST(EffectNotes, OfAFileWhereItIsNotTheDefault) {
    EXPECT_THAT(notes_with({}, "[wear]\neach = 8\n"), IsEmpty());
    EXPECT_THAT(
        notes_with({}, "[wear]\neach = 9\n"),
        ElementsAre(
            "d.toml:13:8: wear.each = 9 has no effect: wear.each acts only with wear.most_spread other than 0"));
}

TEST(EffectNotes, OfAPolicyThatIsNotChosen) {
    EXPECT_THAT(
        notes_with({"gc.d_choices.choices=3"}),
        ElementsAre(
            "--set gc.d_choices.choices=3 has no effect: gc.d_choices.choices acts only with gc.policy = d_choices"));
    EXPECT_THAT(notes_with({"gc.d_choices.choices=3", "gc.policy=d_choices"}), IsEmpty());
    EXPECT_THAT(notes_with({"host.tenants=by_job", "host.queue_priorities=[0,3]"}),
                ElementsAre("--set host.queue_priorities=[0,3] has no effect: host.queue_priorities acts only with "
                            "host.arbitration = weighted, or nvme.latency_targets set, or scheduler.policy = "
                            "priority_classes or weighted_priorities"));
}

TEST(EffectNotes, OfLimitsThatLimitNothing) {
    EXPECT_THAT(notes_with({"nvme.max_transfer=64MiB"}),
                ElementsAre("--set nvme.max_transfer=64MiB acts as 32MiB: the driver sends no larger command"));
    EXPECT_THAT(notes_with({"nvme.max_queue_pairs=16"}),
                ElementsAre("--set nvme.max_queue_pairs=16 acts as 8: the driver asks for host.queue_pairs"));
    EXPECT_THAT(notes_with({"nvme.max_transfer=512KiB", "nvme.max_queue_pairs=8"}), IsEmpty());
}

/// Orders by tenant, priority or deadline act as read_first where no command has any.
TEST(EffectNotes, OfOrdersWhereCommandsAreNobodys) {
    const std::string whose = "frontend.kind = \"sata\" has one queue, and the drive cannot tell whose a command is";
    for (const char* policy : {"weighted", "weighted_priorities", "priority_classes", "earliest_deadline"})
        EXPECT_THAT(
            notes_with({"frontend.kind=sata", "host.tenants=by_job", std::string("scheduler.policy=") + policy}),
            ElementsAre(std::string("--set scheduler.policy=") + policy + " acts as read_first: " + whose));
    EXPECT_THAT(notes_with({"frontend.kind=sata", "scheduler.policy=fifo"}), IsEmpty());
    EXPECT_THAT(
        notes_with({"scheduler.policy=weighted"}),
        ElementsAre("--set scheduler.policy=weighted acts as read_first: host.tenants = one: commands belong to "
                    "no tenant"));
    EXPECT_THAT(notes_with({"scheduler.policy=weighted", "host.tenants=by_job"}), IsEmpty());
    EXPECT_THAT(
        notes_with({"scheduler.policy=earliest_deadline"}),
        ElementsAre("--set scheduler.policy=earliest_deadline acts as read_first: nvme.latency_targets gives no "
                    "deadline"));
}

TEST(EffectNotes, OfAnOptionThatALaterOneReplaces) {
    EXPECT_THAT(notes_with({"nand.t_read=50us", "nand.t_read=60us"}),
                ElementsAre("--set nand.t_read=50us has no effect: --set nand.t_read=60us comes after it"));
    EXPECT_THAT(notes_with({"nand.t_read=60us"}, "[nand]\nt_read = \"50us\"\n"), IsEmpty());
}

}  // namespace
}  // namespace ssdtlm
