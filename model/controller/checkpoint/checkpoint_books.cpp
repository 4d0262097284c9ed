// SPDX-License-Identifier: Apache-2.0
#include "controller/checkpoint/checkpoint_books.h"

#include "common/report/error.h"

namespace ssdtlm {

namespace {
constexpr std::uint64_t kMagic = 0x53434B50;  // "SCKP"
constexpr std::uint32_t kFixedWords = 10;
constexpr std::uint32_t kSuperblockWords = 3;

constexpr unsigned kPageBits = 20, kBlockBits = 24;

/// Reads words one after the other.
class Reader {
public:
    explicit Reader(const std::vector<std::uint64_t>& words) : words_(words) {}
    std::uint64_t next() {
        SSDTLM_CHECK(at_ < words_.size(), "the books of a checkpoint end too early");
        return words_[at_++];
    }

private:
    const std::vector<std::uint64_t>& words_;
    std::size_t at_ = 0;
};
}  // namespace

std::uint64_t pack_place(const PageAddress& a) {
    return (std::uint64_t{idx(a.plane)} << kBlockBits | a.block) << kPageBits | a.page;
}

PageAddress unpack_place(std::uint64_t word) {
    return {PlaneId{static_cast<std::uint32_t>(word >> (kBlockBits + kPageBits))},
            static_cast<std::uint32_t>(word >> kPageBits & ((1u << kBlockBits) - 1)),
            static_cast<std::uint32_t>(word & ((1u << kPageBits) - 1))};
}

PageContent checkpoint_page(CheckpointPage kind, std::uint32_t index, std::uint64_t sequence) {
    return {kMagic << 32 | index, sequence << 8 | static_cast<std::uint64_t>(kind)};
}

bool is_checkpoint_page(const PageContent* content, CheckpointPage kind, std::uint32_t index, std::uint64_t sequence) {
    return content != nullptr && content->size() >= CheckpointLayout::kHeaderWords &&
           (*content)[0] == (kMagic << 32 | index) && ((*content)[1] & 0xFF) == static_cast<std::uint64_t>(kind) &&
           (*content)[1] >> 8 <= sequence;
}

std::uint64_t CheckpointBooks::words_of(const SuperblockShape& shape, const NandGeometry& g, std::uint64_t map_pages,
                                        std::uint64_t note_pages, std::uint64_t own_units) {
    // A superblock that has failed is named a second time.
    return kFixedWords + std::uint64_t{shape.superblocks()} * (kSuperblockWords + 1) + g.blocks() + shape.groups() +
           map_pages + note_pages + div_ceil(own_units, std::uint64_t{64});
}

std::vector<std::uint64_t> CheckpointBooks::encode() const {
    const std::uint64_t more = groups.empty() ? 0 : groups.front().remembered.size() - 1;
    std::vector<std::uint64_t> w{
        sequence,           number,        std::uint64_t{clean} | std::uint64_t{read_only} << 1 | more << 8,
        superblocks.size(), blocks.size(), groups.size(),
        note_pages.size(),  failed.size(), map.size(),
        dirty.size()};
    for (const Superblock& s : superblocks) {
        w.push_back(std::uint64_t{s.write_pointer} << 32 | std::uint64_t{s.stream} << 16 | std::uint64_t{s.bad} << 9 |
                    std::uint64_t{s.cut} << 8 | static_cast<std::uint64_t>(s.state));
        w.push_back(s.last);
        w.push_back(s.free_turn);
    }
    for (const Block& b : blocks) w.push_back(std::uint64_t{b.erases} << 32 | b.next_page);
    for (const Group& g : groups) {
        w.push_back(std::uint64_t{g.remembered.front()} << 32 | idx(g.begun));
        w.insert(w.end(), g.remembered.begin() + 1, g.remembered.end());
    }
    for (const PageAddress& a : note_pages) w.push_back(pack_place(a));
    for (const auto& [b, page] : failed) w.push_back(std::uint64_t{page} << 32 | idx(b));
    for (const PageAddress& a : map) w.push_back(pack_place(a));
    w.insert(w.end(), dirty.begin(), dirty.end());
    return w;
}

std::optional<CheckpointBooks> CheckpointBooks::decode(const std::vector<std::uint64_t>& words) {
    if (words.size() < kFixedWords) return std::nullopt;
    Reader r(words);
    CheckpointBooks c;
    c.sequence = r.next();
    c.number = r.next();
    const std::uint64_t flags = r.next();
    c.clean = (flags & 1) != 0;
    c.read_only = (flags & 2) != 0;
    c.superblocks.resize(r.next());
    c.blocks.resize(r.next());
    c.groups.resize(r.next());
    c.note_pages.resize(r.next());
    c.failed.resize(r.next());
    c.map.resize(r.next());
    c.dirty.resize(r.next());
    for (Superblock& s : c.superblocks) {
        const std::uint64_t first = r.next();
        s.state = static_cast<BlockState>(first & 0xFF);
        s.cut = (first >> 8 & 1) != 0;
        s.bad = (first >> 9 & 1) != 0;
        s.stream = static_cast<std::uint8_t>(first >> 16);
        s.write_pointer = static_cast<std::uint32_t>(first >> 32);
        s.last = r.next();
        s.free_turn = static_cast<std::uint32_t>(r.next());
    }
    for (Block& b : c.blocks) {
        const std::uint64_t word = r.next();
        b = {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }
    for (Group& g : c.groups) {
        const std::uint64_t word = r.next();
        g = {SuperblockId{static_cast<std::uint32_t>(word)}, {static_cast<std::uint32_t>(word >> 32)}};
        for (std::uint64_t i = 0; i < flags >> 8; ++i) g.remembered.push_back(static_cast<std::uint32_t>(r.next()));
    }
    for (PageAddress& a : c.note_pages) a = unpack_place(r.next());
    for (auto& [b, page] : c.failed) {
        const std::uint64_t word = r.next();
        b = SuperblockId{static_cast<std::uint32_t>(word)};
        page = static_cast<std::uint32_t>(word >> 32);
    }
    for (PageAddress& a : c.map) a = unpack_place(r.next());
    for (std::uint64_t& word : c.dirty) word = r.next();
    return c;
}

PageContent CheckpointRoot::encode() const {
    PageContent w = checkpoint_page(CheckpointPage::root, 0, sequence);
    w.insert(w.end(), {number, std::uint64_t{clean}, words, books.size()});
    for (const PageAddress& a : books) w.push_back(pack_place(a));
    return w;
}

std::optional<CheckpointRoot> CheckpointRoot::decode(const PageContent* content) {
    if (!is_checkpoint_page(content, CheckpointPage::root, 0, ~std::uint64_t{0} >> 8)) return std::nullopt;
    const PageContent& w = *content;
    CheckpointRoot root{w[1] >> 8, w[2], w[3] != 0, w[4], {}};
    for (std::uint64_t i = 0; i < w[5]; ++i) root.books.push_back(unpack_place(w[6 + i]));
    return root;
}

}  // namespace ssdtlm
