// SPDX-License-Identifier: Apache-2.0
// The tables of the checkpoints by themselves: books through pages and back, where pages go over many checkpoints with
// failures and starts, and which anchor takes the next root record.
#include "controller/checkpoint/checkpoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/ftl/ftl_check.h"

namespace ssdtlm {
namespace {

struct Shape {
    NandGeometry g;
    FtlConfig c;
};

Shape shape_of(Random& random) {
    Shape s;
    s.g.channels = static_cast<std::uint32_t>(1 + random.below(2));
    s.g.ways = static_cast<std::uint32_t>(1 + random.below(2));
    s.g.planes_per_die = static_cast<std::uint32_t>(1 + random.below(2));
    s.g.pages_per_block = static_cast<std::uint32_t>(4 + random.below(13));
    s.g.page_bytes = 4096;
    s.g.unit_bytes = 512;
    s.g.blocks_per_plane = static_cast<std::uint32_t>(60 + random.below(60));
    s.c.superblock = random.percent(50) ? SuperblockSpan::die : SuperblockSpan::plane;
    s.c.checkpoint_interval_bytes = 1;
    s.c.gc_soft_free_blocks = 4;
    s.c.gc_hard_free_blocks = 2;
    return s;
}

TEST(CheckpointBooks, GoThroughWordsAndBack) {
    Random random(1, 1);
    const auto word = [&](std::uint64_t most) { return static_cast<std::uint32_t>(random.below(most)); };
    for (int i = 0; i < 200; ++i) {
        CheckpointBooks b;
        b.sequence = random.below(1u << 20);
        b.number = random.below(std::uint64_t{1} << 50);
        b.clean = random.percent(50);
        b.read_only = random.percent(50);
        for (std::uint64_t n = random.below(20); n != 0; --n)
            b.superblocks.push_back({static_cast<BlockState>(random.below(12)),
                                     static_cast<std::uint8_t>(random.below(5)), random.percent(50), random.percent(50),
                                     word(1u << 31), random.below(std::uint64_t{1} << 60), word(1u << 20)});
        for (std::uint64_t n = random.below(20); n != 0; --n) b.blocks.push_back({word(1u << 20), word(1u << 31)});
        const std::uint64_t remembering = 1 + random.below(3);  // features
        for (std::uint64_t n = random.below(5); n != 0; --n) {
            b.groups.push_back({random.percent(50) ? kNoSuperblock : SuperblockId{word(1000)}, {}});
            b.groups.back().remembered.clear();
            for (std::uint64_t f = 0; f != remembering; ++f) b.groups.back().remembered.push_back(word(100));
        }
        for (std::uint64_t n = random.below(20); n != 0; --n)
            b.note_pages.push_back({PlaneId{word(1u << 19)}, word(1u << 24), word(1u << 20)});
        for (std::uint64_t n = random.below(5); n != 0; --n)
            b.failed.emplace_back(SuperblockId{word(1u << 30)}, word(1u << 20));
        for (std::uint64_t n = random.below(20); n != 0; --n)
            b.map.push_back({PlaneId{word(1u << 19)}, word(1u << 24), word(1u << 20)});
        const std::uint64_t translation_pages = random.percent(50) ? 1 + random.below(300) : 0;
        b.dirty.resize(div_ceil(translation_pages, 64));
        std::vector<bool> dirty(translation_pages);
        for (std::uint32_t page = 0; page < translation_pages; ++page)
            if ((dirty[page] = random.percent(20))) b.set_dirty(page);
        const std::vector<std::uint64_t> words = b.encode();
        const auto back = CheckpointBooks::decode(words);
        ASSERT_TRUE(back);
        EXPECT_EQ(back->encode(), words);
        EXPECT_EQ(back->sequence, b.sequence);
        EXPECT_EQ(back->number, b.number);
        EXPECT_EQ(back->clean, b.clean);
        EXPECT_EQ(back->read_only, b.read_only);
        ASSERT_EQ(back->superblocks.size(), b.superblocks.size());
        for (std::size_t n = 0; n < b.superblocks.size(); ++n) {
            EXPECT_EQ(back->superblocks[n].state, b.superblocks[n].state);
            EXPECT_EQ(back->superblocks[n].cut, b.superblocks[n].cut);
            EXPECT_EQ(back->superblocks[n].bad, b.superblocks[n].bad);
            EXPECT_EQ(back->superblocks[n].last, b.superblocks[n].last);
        }
        ASSERT_EQ(back->groups.size(), b.groups.size());
        for (std::size_t n = 0; n < b.groups.size(); ++n) {
            EXPECT_EQ(back->groups[n].begun, b.groups[n].begun);
            EXPECT_EQ(back->groups[n].remembered, b.groups[n].remembered);
        }
        ASSERT_EQ(back->map.size(), b.map.size());
        for (std::size_t n = 0; n < b.map.size(); ++n) EXPECT_EQ(pack_place(back->map[n]), pack_place(b.map[n]));
        for (std::uint32_t page = 0; page < translation_pages; ++page)
            EXPECT_EQ(back->is_dirty(page), dirty[page]) << page;
        // Without its last word it is none.
        const std::vector<std::uint64_t> cut(words.begin(), words.end() - 1);
        try {
            EXPECT_FALSE(CheckpointBooks::decode(cut));
        } catch (const Panic&) {
        }
    }
}

/// A root record names all pages of the books: to the last word of it.
TEST(CheckpointLayout, ARootRecordMayBeFull) {
    std::uint32_t full = 0, refused = 0;
    for (std::uint32_t blocks = 40; blocks < 4000; ++blocks) {
        Random random(1);
        Shape s = shape_of(random);
        s.g.page_bytes = 512;
        s.g.blocks_per_plane = blocks;
        s.c.user_capacity_bytes = most_logical_units(s.c, s.g) * s.g.unit_bytes;
        const CheckpointLayout layout(s.c, s.g);
        const std::uint32_t words = layout.most_book_pages() + CheckpointLayout::kRootWords;
        const auto problems = check_ftl(s.c, s.g);
        const bool is_refused = std::any_of(problems.begin(), problems.end(),
                                            [](const Problem& p) { return p.where == "ftl.checkpoint_interval"; });
        ASSERT_EQ(is_refused, words > layout.words_per_page()) << blocks;
        full += words == layout.words_per_page();
        refused += is_refused;
    }
    EXPECT_GT(full, 0u);
    EXPECT_GT(refused, 0u);
}

/// The flash, as far as these tables go: what was erased and programmed, and what the newest complete checkpoint needs.
struct Model {
    explicit Model(const Shape& s)
        : g(s.g),
          layout(s.c, s.g),
          units(most_logical_units(s.c, s.g)),
          checkpoints(layout, s.g, units),
          next(s.g.blocks()) {}

    void erase(SuperblockId b) {
        for (std::uint32_t p = 0; p < layout.shape().planes(); ++p) {
            const std::uint32_t block = idx(layout.shape().block(b, p));
            next[block] = 0;
            for (std::uint32_t page = 0; page < g.pages_per_block; ++page)
                ASSERT_EQ(needed.count(std::uint64_t{block} << 32 | page), 0u)
                    << "a page of the newest complete checkpoint is erased";
        }
    }
    void program(const PageAddress& a) { ASSERT_EQ(next[idx(g.block_of(a))]++, a.page) << "out of order"; }
    void complete(const Checkpoints::Attempt& a) {
        needed.clear();
        for (const PageAddress& at : a.books.map) needed.insert(key(at));
        for (const PageAddress& at : a.root.books) needed.insert(key(at));
        root = a.root;
        books = a.books;
    }
    std::uint64_t key(const PageAddress& a) const { return std::uint64_t{idx(g.block_of(a))} << 32 | a.page; }
    /// False: there is no anchor any more.
    bool write_root(Random& random, bool fails) {
        for (;;) {
            PageAddress at;
            SuperblockId first = kNoSuperblock;
            if (!checkpoints.root_place(at, first)) return false;
            if (first == kNoSuperblock) {
                checkpoints.root_taken();
                program(at);
                if (fails && random.percent(20)) continue;
                newest_root = key(at);
                return true;
            }
            EXPECT_NE(newest_root >> 32, idx(layout.shape().block(first, 0))) << "the newest root record is erased";
            const bool ok = !fails || !random.percent(5);
            if (ok) erase(first);
            checkpoints.root_erased(ok);
        }
    }

    const NandGeometry g;
    const CheckpointLayout layout;
    const std::uint64_t units;
    Checkpoints checkpoints;
    std::vector<std::uint32_t> next;
    std::set<std::uint64_t> needed;
    std::uint64_t newest_root = ~std::uint64_t{0};
    CheckpointRoot root;
    CheckpointBooks books;
};

TEST(Checkpoints, NeverLoseTheNewestCompleteOneAndAlwaysFindRoom) {
    std::uint64_t complete = 0, whole = 0, abandoned = 0, starts = 0, without_room = 0, pages = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed, 2);
        const Shape s = shape_of(random);
        const bool fails = seed % 4 == 0;
        auto m = std::make_unique<Model>(s);
        ASSERT_GT(m->checkpoints.map_pages(), 1u);
        for (int i = 0; i < 200; ++i) {
            std::vector<MapPage> changed;
            const std::uint64_t share = random.percent(20) ? 100 : random.below(30);
            for (std::uint32_t p = 0; p < m->checkpoints.map_pages(); ++p)
                if (!m->checkpoints.latest() || random.percent(static_cast<unsigned>(share)))
                    changed.push_back({p, checkpoint_page(CheckpointPage::map, p, m->checkpoints.next_sequence())});
            CheckpointBooks books;
            books.note_pages.resize(random.below(s.g.pages() / 8));
            books.map.resize(m->checkpoints.map_pages());
            const Checkpoints::Room room = m->checkpoints.room(changed.size(), books.encode().size());
            if (room == Checkpoints::Room::none) {
                EXPECT_TRUE(fails) << "no room";
                ++without_room;
                break;
            }
            if (room == Checkpoints::Room::for_all) {
                changed.clear();
                for (std::uint32_t p = 0; p < m->checkpoints.map_pages(); ++p)
                    changed.push_back({p, checkpoint_page(CheckpointPage::map, p, m->checkpoints.next_sequence())});
                ++whole;
            }
            const Checkpoints::Attempt& a = m->checkpoints.begin(std::move(books), std::move(changed));
            for (const SuperblockId b : a.erases) m->erase(b);
            const bool breaks = random.percent(20);
            const std::size_t most = breaks ? random.below(a.pages.size()) : a.pages.size();
            for (std::size_t p = 0; p < most; ++p) m->program(a.pages[p].at);
            if (::testing::Test::HasFailure()) return;
            pages += most;
            if (breaks) {
                if (fails && random.percent(5))
                    m->checkpoints.fail(m->layout.shape().superblock_of(s.g.block_of(a.pages[most].at)));
                m->checkpoints.give_up();
                ++abandoned;
            } else {
                if (!m->write_root(random, fails)) break;
                m->complete(a);
                m->checkpoints.complete();
                ++complete;
            }
            if (m->checkpoints.latest() &&
                random.percent(10)) {  // the power goes; what it was at is not known any more
                auto next = std::make_unique<Model>(s);
                const std::uint32_t anchor =
                    m->newest_root >> 32 == idx(m->layout.shape().block(m->layout.superblock(1), 0));
                next->checkpoints.found(m->books, m->root, anchor, m->next[m->newest_root >> 32]);
                next->next = m->next;
                next->needed = m->needed;
                next->newest_root = m->newest_root;
                next->root = m->root;
                next->books = m->books;
                m = std::move(next);
                ++starts;
            }
        }
    }
    const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
    std::printf(
        "%llu complete, %llu of them whole, %llu given up, %llu starts, %llu pages; %llu times failures had left no "
        "room\n",
        n(complete), n(whole), n(abandoned), n(starts), n(pages), n(without_room));
    EXPECT_GT(complete, 5000u);
    EXPECT_GT(complete, 3 * whole);
    EXPECT_GT(starts, 200u);
}

}  // namespace
}  // namespace ssdtlm
