// SPDX-License-Identifier: Apache-2.0
// A feature from outside of the model, in this file only: it listens to all events, is a source of victims, and has its
// part of snapshots and of checkpoints' books. The core is told nothing of it but by its registration.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "controller/checkpoint/checkpoint_books.h"
#include "controller/ftl/events.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/victims/victim_source.h"
#include "controller/ftl/victims/victims.h"
#include "controller/mount/recovery.h"
#include "controller/snapshot/ftl_state.h"
#include "support/memory_snapshot.h"
#include "unit/ftl/ftl_fixture.h"

namespace ssdtlm {
namespace {

using test::Device;

/// Has every third superblock that is sealed collected out of turn.
class ThirdSealed final : public FtlFeature, private FtlListener, private VictimSource {
public:
    static bool asked_for;
    explicit ThirdSealed(const FeatureSetup& setup) : in_(setup), wanted_(setup.ftl.shape().groups()) {
        in_.events.listen(*this, {FtlEvent::page_drawn, FtlEvent::page_ended, FtlEvent::superblock_sealed,
                                  FtlEvent::superblock_erased, FtlEvent::unit_superseded});
        in_.victims.add(*this, VictimTurn::out_of_turn);
    }

    std::uint64_t drawn = 0, programmed = 0, failed = 0, sealed = 0, erased = 0, superseded = 0;
    std::uint64_t given = 0, by_others = 0;
    std::uint32_t wanted(GroupId group) const { return static_cast<std::uint32_t>(wanted_[idx(group)].size()); }

    void state(Snapshot& s) override {
        s.fixed(wanted_);
        s(sealed);
    }
    bool remembers() const override { return true; }
    std::uint32_t remembered(GroupId group) const override { return 7 + idx(group); }
    std::string check() const override {
        for (const auto& of_group : wanted_)
            for (const SuperblockId b : of_group)
                if (in_.ftl.superblock(b).state != BlockState::sealed) return "a wanted superblock that is not sealed";
        return {};
    }

private:
    void page_drawn(const PageAddress&, SuperblockId, std::uint64_t) override { ++drawn; }
    void page_ended(const PageAddress&, PageEnd end) override { ++(end == PageEnd::programmed ? programmed : failed); }
    void superblock_sealed(SuperblockId b) override {
        if (++sealed % 3 == 0) wanted_[idx(in_.ftl.shape().group_of(b))].push_back(b);
    }
    void superblock_erased(SuperblockId) override { ++erased; }
    void unit_superseded(Lpa) override { ++superseded; }
    bool wants(GroupId group, bool) const override { return !wanted_[idx(group)].empty() && !in_.ftl.gc_hard(group); }
    SuperblockId take(GroupId group, bool idle) override {
        if (!wants(group, idle)) return kNoSuperblock;
        std::vector<SuperblockId>& list = wanted_[idx(group)];
        const SuperblockId b = list.front();
        list.erase(list.begin());
        in_.policy.removed(b);
        return b;
    }
    void chosen(GroupId group, SuperblockId victim, const VictimSource& by) override {
        if (&by == this) {
            ++given;
            return;
        }
        ++by_others;
        std::vector<SuperblockId>& list = wanted_[idx(group)];
        list.erase(std::remove(list.begin(), list.end(), victim), list.end());
    }

    const FeatureSetup in_;
    std::vector<std::vector<SuperblockId>> wanted_;  // by group
};
bool ThirdSealed::asked_for = false;

class ThirdSealedKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return ThirdSealed::asked_for; }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<ThirdSealed>(setup);
    }
};
const FtlFeatureKinds::Registered registered{
    {"third_sealed",
     "has every third superblock that is sealed collected out of turn",
     {},
     [](const FeatureSite& site, const PolicySettings&) { return std::make_unique<ThirdSealedKind>(site); }}};

class FeatureSeam : public testing::TestWithParam<SuperblockSpan> {
protected:
    FeatureSeam() { ThirdSealed::asked_for = true; }
    ~FeatureSeam() override { ThirdSealed::asked_for = false; }
    static void write(Device& d, Random& random, std::uint32_t units) {
        for (std::uint32_t i = 0; i < units; ++i) {
            std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(d.ftl.logical_units()))}};
            while (!d.write(unit))
                for (std::uint32_t g = 0; g < d.ftl.shape().groups(); ++g) d.collect(GroupId{g});
            if (random.percent(10)) d.ftl.trim(Lpa{static_cast<std::uint32_t>(random.below(d.ftl.logical_units()))});
            const GroupId group = d.last_group();
            if (d.ftl.wants_collection(group)) d.collect(group);
        }
    }
    static ThirdSealed& of(const Device& d) { return *d.ftl.feature<ThirdSealed>(); }
};

TEST_P(FeatureSeam, IsThereOnlyWhereItIsAskedFor) {
    const NandGeometry g = test::small_geometry();
    EXPECT_NE(Device(test::small_config(g, 0.6, GetParam()), g).ftl.feature<ThirdSealed>(), nullptr);
    ThirdSealed::asked_for = false;
    EXPECT_EQ(Device(test::small_config(g, 0.6, GetParam()), g).ftl.feature<ThirdSealed>(), nullptr);
}

TEST_P(FeatureSeam, HearsEachEventAndGivesVictims) {
    const NandGeometry g = test::small_geometry();
    Device d(test::small_config(g, 0.6, GetParam()), g);
    Random random(3);
    write(d, random, 20000);
    const ThirdSealed& f = of(d);
    const FtlCounters& c = d.ftl.counters();
    EXPECT_EQ(f.drawn, c.pages_programmed());
    EXPECT_EQ(f.programmed, f.drawn);
    EXPECT_EQ(f.failed, 0u);
    EXPECT_EQ(f.superseded, c.host_units);
    EXPECT_EQ(f.erased * d.ftl.shape().planes(), c.blocks_erased);
    EXPECT_EQ((f.given + f.by_others) * d.ftl.shape().planes(), c.victims);
    EXPECT_GT(f.given, f.sealed / 10);
    EXPECT_GT(f.by_others, 100u);
    EXPECT_NO_THROW(d.ftl.verify_books());
}

TEST_P(FeatureSeam, LosesNothingOverLossesOfPower) {
    const NandGeometry g = test::small_geometry();
    const FtlConfig c = test::small_config(g, 0.5, GetParam());
    Device d(c, g);
    Random random(4);
    std::uint64_t given = 0;
    for (std::uint32_t cut = 0; cut < 20; ++cut) {
        write(d, random, 1500);
        d.write_journal(d.last_group());
        given += of(d).given;
        Ftl found(c, g, d.flash, 1);
        Recovery(found).from_all_pages();
        found.verify_books();
        ASSERT_EQ(found.mapped_units(), d.ftl.mapped_units());
        for (std::uint32_t l = 0; l < d.ftl.logical_units(); ++l) ASSERT_EQ(found.lookup(Lpa{l}), d.ftl.lookup(Lpa{l}));
        ASSERT_EQ(found.feature<ThirdSealed>()->wanted(GroupId{0}), 0u);
    }
    EXPECT_GT(given, 100u);
}

TEST_P(FeatureSeam, HasItsPartOfASnapshot) {
    const NandGeometry g = test::small_geometry();
    const FtlConfig c = test::small_config(g, 0.6, GetParam());
    Device a(c, g), b(c, g);
    Random random(5);
    std::uint32_t wanted = 0;
    for (std::uint32_t i = 0; i < 200 && wanted == 0; ++i) {
        std::vector<Lpa> unit{Lpa{static_cast<std::uint32_t>(random.below(a.ftl.logical_units()))}};
        for (std::uint32_t n = 0; n < 40; ++n, unit.assign(1, Lpa{n}))
            if (!a.write(unit)) break;
        for (std::uint32_t group = 0; group < a.ftl.shape().groups(); ++group) wanted += of(a).wanted(GroupId{group});
    }
    ASSERT_GT(wanted, 0u);
    MemorySnapshot saved;
    FtlState::exchange(a.ftl, a.flash, saved);
    MemorySnapshot read(saved.data);
    FtlState::exchange(b.ftl, b.flash, read);
    EXPECT_EQ(of(b).sealed, of(a).sealed);
    for (std::uint32_t group = 0; group < a.ftl.shape().groups(); ++group)
        EXPECT_EQ(of(b).wanted(GroupId{group}), of(a).wanted(GroupId{group}));
    EXPECT_NO_THROW(b.ftl.verify_books());
}
INSTANTIATE_TEST_SUITE_P(Spans, FeatureSeam, testing::Values(SuperblockSpan::plane, SuperblockSpan::die));

// The books of a checkpoint have a number of each group from each feature that remembers one.
TEST(FeatureSeamBooks, KeepTheNumbersOfSeveralFeatures) {
    CheckpointBooks books;
    for (std::uint32_t group = 0; group < 3; ++group)
        books.groups.push_back({SuperblockId{group}, {10 + group, 20 + group, 30 + group}});
    const auto read = CheckpointBooks::decode(books.encode());
    ASSERT_TRUE(read);
    ASSERT_EQ(read->groups.size(), 3u);
    for (std::uint32_t group = 0; group < 3; ++group) {
        EXPECT_EQ(read->groups[group].begun, SuperblockId{group});
        EXPECT_EQ(read->groups[group].remembered, (std::vector<std::uint32_t>{10 + group, 20 + group, 30 + group}));
    }
}

}  // namespace
}  // namespace ssdtlm
