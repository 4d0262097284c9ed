// SPDX-License-Identifier: Apache-2.0
#include "examples/staging.h"

#include <algorithm>
#include <utility>

#include "controller/ftl/ftl.h"

namespace ssdtlm::examples {

namespace {
constexpr std::uint64_t kMagic = 0x53544147;  // "STAG"
constexpr std::size_t kHeaderWords = 2;

/// Words of the page for so many units: who it is about, the number of the superblock's last page, and a unit in each
/// half of a word.
std::uint64_t words_for(std::uint64_t units) {
    return kHeaderWords + (units + 1) / 2;
}

Lpa listed(const PageContent& words, std::uint32_t i) {
    return Lpa{static_cast<std::uint32_t>(words[kHeaderWords + i / 2] >> (i % 2 * 32))};
}
}  // namespace

Staging::Staging(const FeatureSetup& setup, const StagingConfig& config)
    : in_(setup), config_(config), groups_(setup.ftl.shape().groups()) {
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
        for (std::uint32_t i = 0; i < in_.own.count; ++i) {
            in_.blocks[own(g, i)].state = BlockState::own_free;
            in_.blocks[own(g, i)].stream = in_.own.stream;
            groups_[g].free.push_back(own(g, i));
        }
    in_.host_partitions.push_back(this);
    in_.victims.add(*this, VictimTurn::out_of_turn);
    in_.events.listen(*this, {FtlEvent::page_ended, FtlEvent::superblock_erased});
}

SuperblockId Staging::own(std::uint32_t group, std::uint32_t i) const {
    return SuperblockId{group * in_.ftl.shape().blocks_per_group() + in_.own.first + i};
}

Staging::Group& Staging::group_of(SuperblockId b) {
    return groups_[idx(in_.ftl.shape().group_of(b))];
}

// --- A write partition ---

std::uint32_t Staging::pages() const {
    return in_.ftl.shape().pages();
}

bool Staging::takes_pages(GroupId group) const {
    const Group& g = groups_[idx(group)];
    return in_use_ && (g.open != kNoSuperblock || !g.free.empty());
}

PageAddress Staging::allocate(GroupId group) {
    Group& g = groups_[idx(group)];
    if (g.open == kNoSuperblock) {
        g.open = g.free.front();
        g.free.pop_front();
        in_.blocks[g.open].state = BlockState::own_open;
    }
    BlockRecord& r = in_.blocks[g.open];
    const PageAddress page = in_.ftl.shape().page(g.open, r.write_pointer);
    ++r.programs;
    if (++r.write_pointer == pages()) {
        r.state = BlockState::full;
        g.open = kNoSuperblock;
    }
    return page;
}

std::uint32_t Staging::write_pointer(GroupId group) const {
    const SuperblockId open = groups_[idx(group)].open;
    return open == kNoSuperblock ? 0 : in_.blocks[open].write_pointer;
}

void Staging::sealed(SuperblockId b) {
    in_.blocks[b].state = BlockState::own_sealed;
    group_of(b).sealed.push_back(b);
    ++group_of(b).filled;
    if (config_.contents) full_.push_back(b);
    if (on_full_) on_full_();
}

void Staging::erased(SuperblockId b) {
    in_.blocks.emptied(b);
    in_.blocks[b].state = BlockState::own_free;
    group_of(b).free.push_back(b);
}

void Staging::lost(SuperblockId b) {
    if (group_of(b).open == b) group_of(b).open = kNoSuperblock;
}

void Staging::left_out(SuperblockId b) {
    std::deque<SuperblockId>& free = group_of(b).free;
    free.erase(std::remove(free.begin(), free.end(), b), free.end());
}

void Staging::for_each_free(GroupId group, const std::function<void(SuperblockId)>& visit) const {
    for (const SuperblockId b : groups_[idx(group)].free) visit(b);
}

// --- A source of victims ---

bool Staging::wants(GroupId group, bool idle) const {
    const Group& g = groups_[idx(group)];
    if (g.sealed.empty() || in_.ftl.media().read_only || in_.ftl.gc_hard(group)) return false;
    return idle || g.free.size() < config_.keep_free;
}

/// Moving takes room, so collections that make room have their turns in between.
SuperblockId Staging::take(GroupId group, bool idle) {
    Group& g = groups_[idx(group)];
    const bool others_wait = g.gave_last != 0 && in_.ftl.gc_soft(group);
    g.gave_last = !others_wait && wants(group, idle);
    if (g.gave_last == 0) return kNoSuperblock;
    const SuperblockId b = g.sealed.front();
    g.sealed.pop_front();
    in_.blocks[b].state = BlockState::sealed;
    return b;
}

void Staging::chosen(GroupId, SuperblockId victim, const VictimSource& by) {
    if (&by != this) return;
    ++emptied_;
    moved_ += in_.blocks[victim].valid;
}

// --- A listener ---

void Staging::page_ended(const PageAddress& a, PageEnd end) {
    pages_ += end == PageEnd::programmed && owns(in_.ftl.shape().superblock_of(in_.ftl.geometry().block_of(a)));
}

/// A list goes with the superblock that it is about, and with the one that it is in.
void Staging::superblock_erased(SuperblockId b) {
    contents_.erase(idx(b));
    for (auto c = contents_.begin(); c != contents_.end();)
        c = in_.ftl.shape().superblock_of(in_.ftl.geometry().block_of(c->second)) == b ? contents_.erase(c)
                                                                                       : std::next(c);
}

// --- Pages of its own ---

std::vector<SuperblockId> Staging::take_full() {
    const auto waits = [this](SuperblockId b) { return in_.ftl.gc_hard(in_.ftl.shape().group_of(b)); };
    const auto now = std::stable_partition(full_.begin(), full_.end(), waits);
    const std::vector<SuperblockId> taken(now, full_.end());
    full_.erase(now, full_.end());
    return taken;
}

/// Numbers ascend in each block. A superblock that is full again has another one. Where no loss of power may come the
/// flash keeps no numbers, and all erases are known.
std::uint64_t Staging::last_number(SuperblockId b) const {
    if (!in_.ftl.flash().keeps_records()) return in_.blocks.erases(b);
    const SuperblockShape& shape = in_.ftl.shape();
    std::uint64_t last = 0;
    for (std::uint32_t n = shape.pages() - shape.planes(); n < shape.pages(); ++n)
        last = std::max(last, in_.ftl.flash().record(shape.page(b, n)).number);
    return last;
}

bool Staging::place_contents(SuperblockId of, ContentsPage& page) {
    const SuperblockShape& shape = in_.ftl.shape();
    const NandGeometry& g = in_.ftl.geometry();
    const GroupId group = shape.group_of(of);
    if (in_.blocks[of].state != BlockState::own_sealed || in_.ftl.media().read_only) {
        ++not_listed_;
        return false;
    }
    if (in_.ftl.gc_hard(group)) {
        full_.push_back(of);
        return false;
    }
    page.of = of;
    page.words.assign(words_for(shape.units()), 0);
    page.words[0] = kMagic << 32 | idx(of);
    page.words[1] = last_number(of);
    std::uint32_t unit = 0;
    for (std::uint32_t n = 0; n < shape.pages(); ++n) {
        const PageAddress a = shape.page(of, n);
        for (std::uint32_t slot = 0; slot < g.units_per_page(); ++slot, ++unit) {
            const std::uint64_t spare = idx(in_.ftl.flash().at(g.ppa_of(a, slot)));
            page.words[kHeaderWords + unit / 2] |= spare << (unit % 2 * 32);
        }
    }
    page.at = in_.ftl.allocate_gc_page(group);
    page.record = in_.ftl.draw_record(page.at, PageKind::padding);
    page.record.content = &page.words;
    return true;
}

/// A page that holds no unit counts as padding.
void Staging::contents_ended(const ContentsPage& page, bool programmed) {
    ++in_.counters.gc_padding_pages;
    in_.ftl.page_ended(page.at, programmed ? PageEnd::programmed : PageEnd::failed);
    ++(programmed ? listed_ : not_listed_);
    const bool is_same = in_.blocks[page.of].state == BlockState::own_sealed && last_number(page.of) == page.words[1];
    if (programmed && is_same) contents_[idx(page.of)] = page.at;
}

// --- What it says and remembers ---

FeatureCounters Staging::counters() const {
    return {{"staging_pages", pages_},           {"staging_superblocks_emptied", emptied_},
            {"staging_units_moved", moved_},     {"staging_lists_programmed", listed_},
            {"staging_not_listed", not_listed_}, {"staging_lists_found", found_}};
}

void Staging::state(Snapshot& s) {
    for (Group& g : groups_) s(g.open, g.free, g.sealed, g.filled, g.gave_last);
    s.map(contents_);
    s(in_use_);
    if (!s.reads()) return;
    for (std::uint32_t n = 0; n < groups_.size(); ++n) {
        const auto is = [&](SuperblockId b, BlockState state) {
            s.require(idx(b) / in_.ftl.shape().blocks_per_group() == n && owns(b) && in_.blocks[b].state == state,
                      "a superblock of the staging area that is another's");
        };
        for (const SuperblockId b : groups_[n].free) is(b, BlockState::own_free);
        for (const SuperblockId b : groups_[n].sealed) is(b, BlockState::own_sealed);
        if (groups_[n].open != kNoSuperblock) is(groups_[n].open, BlockState::own_open);
    }
    for (const auto& [of, at] : contents_)
        s.require(of < in_.ftl.shape().superblocks() && idx(at.plane) < in_.ftl.geometry().planes() &&
                      at.block < in_.ftl.geometry().blocks_per_plane && at.page < in_.ftl.geometry().pages_per_block,
                  "a list where there is no page");
    s.require(check().empty(), "a staging area that does not fit its superblocks");
}

std::string Staging::check() const {
    const SuperblockShape& shape = in_.ftl.shape();
    for (std::uint32_t n = 0; n < groups_.size(); ++n) {
        const Group& g = groups_[n];
        std::size_t free = 0, sealed = 0, open = 0;
        for (std::uint32_t i = 0; i < shape.blocks_per_group(); ++i) {
            const SuperblockId b{n * shape.blocks_per_group() + i};
            if (!owns(b)) continue;
            const BlockState state = in_.blocks[b].state;
            free += state == BlockState::own_free;
            sealed += state == BlockState::own_sealed;
            open += state == BlockState::own_open;
        }
        if (free != g.free.size() || sealed != g.sealed.size() || open != (g.open != kNoSuperblock))
            return "staging area of group " + std::to_string(n) + ": " + std::to_string(free) + " free, " +
                   std::to_string(sealed) + " full, " + std::to_string(open) + " open superblocks, its lists have " +
                   std::to_string(g.free.size()) + ", " + std::to_string(g.sealed.size()) + ", " +
                   std::to_string(g.open != kNoSuperblock);
    }
    for (const auto& [of, at] : contents_)
        if (const std::string wrong = check_contents(SuperblockId{of}, at); !wrong.empty()) return wrong;
    return {};
}

/// What the page on the flash says, its superblock holds.
std::string Staging::check_contents(SuperblockId of, const PageAddress& at) const {
    const NandGeometry& g = in_.ftl.geometry();
    const SuperblockShape& shape = in_.ftl.shape();
    // The flash of a victim may be erased already.
    if (in_.blocks[of].state == BlockState::victim ||
        in_.blocks[shape.superblock_of(g.block_of(at))].state == BlockState::victim)
        return {};
    const PageContent* const words = in_.ftl.flash().content(at);
    if (words == nullptr || (*words)[0] != (kMagic << 32 | idx(of)))
        return "staging area: the list of superblock " + std::to_string(idx(of)) + " is not on the flash";
    for (std::uint32_t unit = 0; unit < shape.units(); ++unit) {
        const PageAddress a = shape.page(of, unit / g.units_per_page());
        const std::uint32_t there = idx(in_.ftl.flash().at(g.ppa_of(a, unit % g.units_per_page())));
        // An erase that the power has cut off leaves torn pages.
        if (there != idx(kTorn) && there != idx(listed(*words, unit)))
            return "staging area: unit " + std::to_string(unit) + " of superblock " + std::to_string(idx(of)) + " is " +
                   std::to_string(there) + ", its list says " + std::to_string(idx(listed(*words, unit)));
    }
    return {};
}

// --- After a loss of power ---

std::vector<SuperblockId> Staging::oldest_first(const FoundSuperblocks& found) const {
    std::vector<SuperblockId> all;
    for (std::uint32_t g = 0; g < groups_.size(); ++g)
        for (std::uint32_t i = 0; i < in_.own.count; ++i) all.push_back(own(g, i));
    std::stable_sort(all.begin(), all.end(), [&found](SuperblockId a, SuperblockId b) {
        return found.last_of[idx(a)] < found.last_of[idx(b)];
    });
    return all;
}

/// What was open takes no more pages.
void Staging::found_pages(const FoundSuperblocks& found) {
    for (Group& g : groups_) g.free.clear();
    for (const SuperblockId b : oldest_first(found)) {
        BlockRecord& r = in_.blocks[b];
        if (r.state != BlockState::own_free) continue;  // it has failed
        if (!found.used[idx(b)]) {
            group_of(b).free.push_back(b);
            continue;
        }
        r.state = BlockState::own_sealed;
        r.write_pointer = pages();
        r.cut = in_.ftl.shape().any_block(
            b, [&](BlockId block) { return found.flash.next_page(block) != in_.ftl.geometry().pages_per_block; });
        group_of(b).sealed.push_back(b);
    }
    find_contents(found);
}

/// The records say which are open, full or free, and `free` in which order they are used.
void Staging::found_records(const FoundSuperblocks& found, std::vector<std::vector<SuperblockId>>& free) {
    for (std::uint32_t n = 0; n < groups_.size(); ++n) {
        const auto others =
            std::stable_partition(free[n].begin(), free[n].end(), [this](SuperblockId b) { return owns(b); });
        groups_[n].free.assign(free[n].begin(), others);
        free[n].erase(free[n].begin(), others);
    }
    for (const SuperblockId b : oldest_first(found)) {
        if (in_.blocks[b].state == BlockState::own_sealed) group_of(b).sealed.push_back(b);
        if (in_.blocks[b].state == BlockState::own_open) group_of(b).open = b;
    }
    find_contents(found);
}

/// A list counts as long as its superblock has not been erased since: then it is full, and its last page has the number
/// that the list says.
void Staging::find_contents(const FoundSuperblocks& found) {
    const NandGeometry& g = in_.ftl.geometry();
    for (std::uint32_t b = 0; b < g.blocks(); ++b)
        for (auto page = found.flash.records(BlockId{b}); !page.at_end(); page.next()) {
            const PageAddress at{g.plane_of(BlockId{b}), g.block_in_plane(BlockId{b}), page.page()};
            const PageContent* const words =
                page.record().kind == PageKind::padding ? found.flash.content(at) : nullptr;
            if (words == nullptr || words->size() < kHeaderWords || (*words)[0] >> 32 != kMagic) continue;
            const SuperblockId of{static_cast<std::uint32_t>((*words)[0])};
            const BlockRecord& r = in_.blocks[of];
            if (r.state != BlockState::own_sealed || r.cut || last_number(of) != (*words)[1]) continue;
            contents_[idx(of)] = at;
            ++found_;
        }
}

// --- What a configuration says of it ---

namespace {
class StagingKind final : public FtlFeatureKind {
public:
    StagingKind(const FeatureSite& site, const StagingConfig& own) : FtlFeatureKind(site), own_(own) {}
    bool is_wanted() const override { return own_.blocks != 0; }
    FeatureNeeds needs() const override { return {own_.blocks, 0, 0, true}; }
    void check(std::vector<Problem>& out) const override {
        const auto refuse = [&out](bool wrong, const std::string& key, const std::string& found,
                                   const std::string& allowed, const std::string& repair) {
            if (wrong) out.push_back({key, found + " with a staging area", allowed, repair});
        };
        refuse(own_.keep_free > own_.blocks, "ftl.staging.keep_free", std::to_string(own_.keep_free),
               "at most ftl.staging.blocks = " + std::to_string(own_.blocks), "lower it, or raise ftl.staging.blocks");
        refuse(config_.parity != Parity::none, "ftl.parity", "\"die\"", "\"none\": the area has no parity",
               "set it to \"none\", or ftl.staging.blocks = 0");
        refuse(config_.stream_frontiers != 0, "ftl.stream_frontiers", std::to_string(config_.stream_frontiers),
               "0: the area takes the pages of all streams", "set one of the two to 0");
        refuse(geometry_.two_step, "nand.two_step", "true", "false: the area closes no word line",
               "set it to false, or ftl.staging.blocks = 0");
        const auto mapping = mapping_of(config_, geometry_);
        refuse(mapping->places_by_blocks(), "ftl.mapping", "\"" + config_.mapping + "\"",
               "\"page\" or \"dftl\": log blocks take the pages of the host", "set one of the two");
        const SuperblockShape shape(geometry_, config_.superblock);
        refuse(own_.contents && words_for(shape.units()) * sizeof(std::uint64_t) > geometry_.page_bytes,
               "ftl.staging.contents", "true, " + std::to_string(shape.units()) + " units in a superblock",
               "a page of " + std::to_string(geometry_.page_bytes) + " bytes that names them all",
               "set it to false, or ftl.superblock = \"plane\"");
    }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<Staging>(setup, own_);
    }

private:
    const StagingConfig own_;
};

const FtlFeatureKinds::Registered kStaging{
    {"staging",
     "superblocks that take the host's pages first, and are emptied later",
     {policy_integer("blocks", 0)
          .range("0", "65535")
          .says("Blocks of each plane that form the staging area. 0: none")
          .from("assumed"),
      policy_integer("keep_free", 1)
          .range("1", "65535")
          .says("Free blocks of a plane's area below which the one filled first is emptied while the host is at work")
          .from("assumed")
          .only_with("ftl.staging.blocks != 0"),
      policy_boolean("contents", true)
          .says("A page is programmed for each superblock of the area that is full. It lists the contents")
          .from("assumed")
          .only_with("ftl.staging.blocks != 0")},
     [](const FeatureSite& site, const PolicySettings& own) {
         return std::make_unique<StagingKind>(
             site, StagingConfig{static_cast<std::uint32_t>(own.number("blocks")),
                                 static_cast<std::uint32_t>(own.number("keep_free")), own.flag("contents")});
     }}};
}  // namespace

}  // namespace ssdtlm::examples
