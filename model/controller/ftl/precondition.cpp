// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/precondition.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>



namespace ssdtlm {

namespace {
// Of the seed: independent of what the workload draws, and of each other.
constexpr std::uint64_t kStream = 0x7072656670726566;
constexpr std::uint64_t kStartStream = 0x7374616767657200;
constexpr std::uint64_t kScatterStream = 0x7363617474657265;
/// Superblocks of host pages in each group behind a lay-out by formula: enough that what is open, free and being emptied is as in operation.
constexpr std::uint64_t kCycles = 16;
}

Preconditioner::Preconditioner(Ftl& ftl)
    : ftl_(ftl),
      geometry_(ftl.geometry()),
      units_per_page_(ftl.geometry().units_per_page()),
      victims_(ftl.shape().groups(), kNoSuperblock),
      pages_(ftl.shape().groups()) {}

void Preconditioner::run() {
    // The drive has had time: its SLC cache is empty.
    if (ftl_.slc_ != nullptr) ftl_.slc_->use(false);
    fill();
    if (ftl_.slc_ != nullptr) ftl_.slc_->use(true);
    for (std::uint32_t g = 0; g < ftl_.shape_.groups(); ++g) ftl_.update_able(GroupId{g});
}

void Preconditioner::fill() {
    const FtlConfig& config = ftl_.config();
    if (config.initial_state == InitialState::fresh) return;
    const auto units = std::min(static_cast<std::uint64_t>(config.fill * static_cast<double>(ftl_.logical_units())), ftl_.logical_units());
    if (config.initial_state == InitialState::analytic) scatter(units);
    else lay_out(units);
    ftl_.lay_out_translation();
    if (units == 0) return;
    const SuperblockShape& shape = ftl_.shape();
    // A group's cycle is a superblock of host rows and a few of GC. Begun some cycles apart, they are at any point of it.
    if (config.initial_state == InitialState::random) {
        const auto writes = static_cast<std::uint64_t>(std::llround(config.overwrite * static_cast<double>(units)));
        const std::uint64_t rows_each = writes / units_per_page_ / shape.planes() / shape.groups();
        overwrite(units, writes, std::min<std::uint64_t>(8ull * geometry_.pages_per_block, rows_each / 8));
    } else if (config.initial_state == InitialState::analytic) {
        overwrite(units, kCycles * shape.units() * shape.groups(), kCycles / 2 * geometry_.pages_per_block);
    }
}

void Preconditioner::lay_out(std::uint64_t units) {
    SSDTLM_CHECK(ftl_.counters_.host_pages_allocated == 0, "lay-out of a device that is in use");
    if (units == 0) return;
    const std::uint64_t pages = (units + units_per_page_ - 1) / units_per_page_;
    const SequentialLayout layout(geometry_, ftl_.rows_, units);
    ftl_.map_.lay_out(layout);
    ftl_.spare_.lay_out(layout, ftl_.codec_);
    fill_blocks(layout);
    const std::uint32_t per_row = ftl_.shape_.planes();
    ftl_.lanes_.move_to((pages + per_row - 1) / per_row);
    ftl_.mapped_units_ = units;
    ftl_.counters_.host_units = units;
    ftl_.counters_.host_pages_allocated = ftl_.counters_.host_pages = pages;
}

void Preconditioner::fill_blocks(const SequentialLayout& layout) {
    const SuperblockShape& shape = ftl_.shape_;
    const auto& sequence = ftl_.lanes_.sequence();
    const std::uint64_t units = layout.units(), groups = sequence.size(), per_superblock = shape.pages();
    const std::uint64_t pages = (units + units_per_page_ - 1) / units_per_page_, pads = pages * units_per_page_ - units;
    const PlaneId last = ftl_.rows_[(pages - 1) % ftl_.rows_.size()];  // has the padded page
    std::vector<std::uint64_t> pages_of;  // by position in the sequence
    for (std::uint64_t i = 0; i < groups; ++i) {
        const GroupId group = sequence[i];
        std::uint64_t here = 0;
        for (std::uint32_t p = 0; p < shape.planes(); ++p) {
            const PlaneId plane{idx(group) * shape.planes() + p};
            const std::uint32_t in_plane = layout.pages_in(plane);
            here += in_plane;
            ftl_.valid_.fill(idx(geometry_.ppa_of(PageAddress{plane, 0, 0}, 0)),
                             in_plane * units_per_page_ - static_cast<std::uint32_t>(plane == last ? pads : 0));
        }
        pages_of.push_back(here);
        ftl_.blocks_.fill_host(group, here);
        ftl_.update_able(group);
        ftl_.lanes_.cursor(group, 0).set_ragged(group, here % shape.planes() != 0);
    }
    // Superblock by superblock over the positions: the order in which row-by-row writing fills them.
    for (std::uint64_t block = 0; block * per_superblock < pages_of[0]; ++block) {
        for (std::uint64_t i = 0; i < groups; ++i) {
            if (pages_of[i] <= block * per_superblock) continue;
            const GroupId group = sequence[i];
            const std::uint64_t here = std::min(pages_of[i] - block * per_superblock, per_superblock);
            const bool has_last = shape.group_of(last) == group && pages_of[i] <= (block + 1) * per_superblock;
            const SuperblockId b{static_cast<std::uint32_t>(idx(group) * shape.blocks_per_group() + block)};
            const auto valid = static_cast<std::uint32_t>(here * units_per_page_ - (has_last ? pads : 0));
            ftl_.blocks_[b].valid = valid;
            if (here < per_superblock || ftl_.hybrid_ != nullptr) continue;
            const std::uint64_t row = (block + 1) * geometry_.pages_per_block - 1;
            ftl_.policy_->sealed(b, valid, std::min((row * groups + i + 1) * shape.planes() * units_per_page_, units));
        }
    }
    for (std::uint64_t i = 0; i < groups && ftl_.hybrid_ != nullptr; ++i) ftl_.hybrid_->laid_out(sequence[i], pages_of[i]);
}

/// So many free ones, in an order that has nothing to do with their places.
std::vector<SuperblockId> Preconditioner::fill_superblocks(GroupId group, std::uint32_t count, Random& random) {
    std::vector<SuperblockId> filled;
    for (std::uint32_t i = 0; i < count; ++i) filled.push_back(ftl_.blocks_.fill_free(group));
    for (std::size_t i = filled.size(); i > 1; --i) std::swap(filled[i - 1], filled[random.below(i)]);
    return filled;
}

/// Valid units of a superblock among its blocks, each with its share, and what is left over one by one.
void Preconditioner::hold(SuperblockId b, std::uint32_t valid, std::vector<std::uint32_t>& by_block, Random& random) {
    const std::uint32_t planes = ftl_.shape_.planes(), per_block = geometry_.units_per_block();
    ftl_.blocks_[b].valid = valid;
    for (std::uint32_t i = 0; i < planes; ++i) by_block[idx(ftl_.shape_.block(b, i))] = valid / planes;
    for (std::uint32_t left = valid % planes; left != 0;) {
        std::uint32_t& of_block = by_block[idx(ftl_.shape_.block(b, static_cast<std::uint32_t>(random.below(planes))))];
        if (of_block == per_block) continue;
        ++of_block;
        --left;
    }
}

void Preconditioner::scatter(std::uint64_t units) {
    SSDTLM_CHECK(ftl_.counters_.host_pages_allocated == 0, "lay-out of a device that is in use");
    if (units == 0) return;
    const SuperblockShape& shape = ftl_.shape_;
    const std::uint64_t map_pages = (units + std::max(1u, ftl_.entries_per_translation_page()) - 1) / std::max(1u, ftl_.entries_per_translation_page());
    const std::uint64_t map_rows = ftl_.translation_pages() == 0 ? 0 : map_pages / units_per_page_ / shape.groups() + 1;
    const auto for_map = static_cast<std::uint32_t>((map_rows + shape.pages() - 1) / shape.pages());
    // One is open for the host, and one for GC.
    const std::uint32_t free = ftl_.config_.gc_hard_free_blocks + 2 + for_map;
    Random random(ftl_.seed_, kScatterStream);
    std::vector<std::uint32_t> by_block(geometry_.blocks(), ScatteredLayout::kErasedBlock);
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        const GroupId group{g};
        const std::uint64_t here = units / shape.groups() + (g < units % shape.groups());
        const std::uint32_t room = ftl_.free_blocks(group) - free;
        const std::vector<SuperblockId> filled = fill_superblocks(group, room, random);
        const std::vector<std::uint32_t> valid = steady_counts(ftl_.policy_->law(), shape.units(), room, here, random);
        for (std::uint32_t i = 0; i < room; ++i) {
            hold(filled[i], valid[i], by_block, random);
            ftl_.policy_->sealed(filled[i], valid[i], 0);
        }
        ftl_.update_able(group);
    }
    const auto layout = std::make_shared<const ScatteredLayout>(geometry_, std::move(by_block), ftl_.seed_);
    ftl_.map_.lay_out(layout);
    ftl_.spare_.lay_out(layout, ftl_.codec_);
    for (std::uint32_t b = 0; b < geometry_.blocks(); ++b) {
        const std::uint32_t first = b * geometry_.units_per_block();
        layout->for_each_slot(BlockId{b}, [&](std::uint32_t slot) { ftl_.valid_.set(Ppa{first + slot}); });
    }
    ftl_.mapped_units_ = units;
    ftl_.counters_.host_units = units;
    ftl_.counters_.host_pages_allocated = ftl_.counters_.host_pages = (units + units_per_page_ - 1) / units_per_page_;
}

namespace {
/// Units of a share of the addresses, uniformly drawn among the first `units`. The draws run ahead of the writes, so that the table lookups of several
/// writes overlap in the host's memory.
class Draws {
public:
    Draws(const Ftl& ftl, std::uint64_t units, std::uint32_t share) : ftl_(ftl), share_(share), units_(units) {
        const Lanes& lanes = ftl.lanes();
        if (lanes.shares() == 1) return;
        const std::uint64_t per_row = std::uint64_t{ftl.shape().planes()} * ftl.geometry().units_per_page();
        const std::uint64_t round = per_row * lanes.sequence().size(), rounds = (units + round - 1) / round;
        within_ = lanes.nth(share, 0) < units ? rounds * per_row * lanes.groups(share).size() : 0;
    }
    bool empty() const { return within_ == 0; }
    void begin(Random& random) {
        for (std::uint64_t i = 0; i < kAhead; ++i) draw(random, i);
        for (std::uint64_t i = 0; i < kHalf; ++i) ftl_.prefetch_old_place(drawn_[i % kAhead]);
    }
    Lpa next(Random& random) {
        const Lpa lpa = drawn_[taken_ % kAhead];
        draw(random, taken_ + kAhead);
        return lpa;
    }
    void taken() {
        ftl_.prefetch_old_place(drawn_[(taken_ + kHalf) % kAhead]);
        ++taken_;
    }

private:
    static constexpr std::uint64_t kAhead = 64, kHalf = kAhead / 2;
    void draw(Random& random, std::uint64_t i) {
        std::uint64_t unit = 0;
        if (__builtin_expect(ftl_.lanes().shares() == 1, 1)) {
            unit = random.below(units_);
        } else {
            do {  // only the last round has units that are not there
                unit = ftl_.lanes().nth(share_, random.below(within_));
            } while (unit >= units_);
        }
        drawn_[i % kAhead] = Lpa{static_cast<std::uint32_t>(unit)};
        ftl_.prefetch(drawn_[i % kAhead]);
    }

    const Ftl& ftl_;
    std::uint32_t share_;
    std::uint64_t units_;
    std::uint64_t within_ = 1;
    std::uint64_t taken_ = 0;
    Lpa drawn_[kAhead];
};
}  // namespace

/// A page of random units to a group drawn at random, and what has to be merged for it.
void Preconditioner::overwrite_hybrid(std::uint64_t units, std::uint64_t writes) {
    Random random(ftl_.seed_, kStream);
    HybridMap& hybrid = *ftl_.hybrid_;
    std::vector<Draws> draws;  // by share
    for (std::uint32_t share = 0; share < ftl_.lanes_.shares(); ++share) {
        draws.emplace_back(ftl_, units, share);
        if (!draws.back().empty()) draws.back().begin(random);
    }
    Spare out[kMaxUnitsPerPage];
    Lpa lpas[kMaxUnitsPerPage];
    for (std::uint64_t i = 0; i < writes;) {
        Draws& of_share = draws[random.below(draws.size())];
        if (of_share.empty()) continue;
        const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(units_per_page_, writes - i));
        for (std::uint32_t s = 0; s < n; ++s, of_share.taken()) lpas[s] = of_share.next(random);
        i += n;
        // Several units of a page are together by chance.
        const LogicalPage page = hybrid.logical().page_of(lpas[0]);
        const bool is_whole = units_per_page_ == 1;
        PageAddress a;
        while (hybrid.take_pages(page.group, is_whole ? &page : nullptr, 1, &a) == 0) hybrid.merge_at_once(page.group);
        for (std::uint32_t s = 0; s < units_per_page_; ++s) {
            out[s] = s < n ? ftl_.codec_.make(lpas[s], 1) : kPadding;
            if (s < n) ftl_.map_unit(lpas[s], geometry_.ppa_of(a, s));
        }
        ftl_.spare_.program_page(a, out, ftl_.draw_record(a));
        ftl_.host_page_programmed(a);
        hybrid.merge_at_once(page.group);
    }
}

void Preconditioner::overwrite(std::uint64_t units, std::uint64_t writes, std::uint64_t latest) {
    if (ftl_.hybrid_ != nullptr) return overwrite_hybrid(units, writes);
    Random random(ftl_.seed_, kStream);
    std::vector<Draws> draws;  // by share
    for (std::uint32_t share = 0; share < ftl_.lanes_.shares(); ++share) {
        draws.emplace_back(ftl_, units, share);
        if (!draws.back().empty()) draws.back().begin(random);
    }

    const SuperblockShape& shape = ftl_.shape_;
    std::uint64_t i = 0;
    Spare out[kMaxUnitsPerPage];
    std::vector<PageAddress> row(shape.planes());
    const auto write_row = [&](GroupId group) {
        Draws& of_share = draws[ftl_.lanes_.share_of(group)];
        const std::uint64_t wanted = (writes - i + units_per_page_ - 1) / units_per_page_;
        const std::uint32_t n =
            ftl_.take_host_pages(group, static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, shape.planes())), row.data(), 0);
        for (std::uint32_t p = 0; p < n; ++p) {
            const std::uint32_t first = idx(geometry_.ppa_of(row[p], 0));
            for (std::uint32_t s = 0; s < units_per_page_; ++s) {
                out[s] = kPadding;
                if (i == writes) continue;
                const Lpa lpa = of_share.next(random);
                out[s] = ftl_.codec_.make(lpa, 1);
                ftl_.map_unit(lpa, Ppa{first + s});
                of_share.taken();
                ++i;
            }
            ftl_.spare_.program_page(row[p], out, ftl_.draw_record(row[p]));
            ftl_.host_page_programmed(row[p]);
        }
    };

    Random start(ftl_.seed_, kStartStream);
    std::vector<std::uint32_t> late(shape.groups());
    for (auto& l : late) l = static_cast<std::uint32_t>(start.below(latest + 1));

    const auto& sequence = ftl_.lanes_.sequence();
    const std::uint64_t row_units = std::uint64_t{units_per_page_} * shape.planes();
    std::size_t at = static_cast<std::size_t>((units + row_units - 1) / row_units % sequence.size());
    std::size_t idle = 0;
    while (i < writes) {  // write_row() counts them
        const GroupId group = sequence[at];
        bool busy = !draws[ftl_.lanes_.share_of(group)].empty();
        if (late[idx(group)] != 0)
            --late[idx(group)];
        else if (busy && ftl_.takes_host_pages(group))
            write_row(group);
        else if (busy)
            busy = collect_row(group);
        idle = busy ? 0 : idle + 1;
        SSDTLM_CHECK(idle <= sequence.size(), "no group takes a host page, and none has a victim");
        at = at + 1 == sequence.size() ? 0 : at + 1;
    }
    ftl_.lanes_.move_to(at);
    ftl_.begun_ = victims_;
}

bool Preconditioner::collect_row(GroupId group) {
    SuperblockId& victim = victims_[idx(group)];
    std::uint32_t& page = pages_[idx(group)];
    if (victim == kNoSuperblock) {
        victim = ftl_.select_victim(group);
        if (victim == kNoSuperblock) return false;
        page = 0;
    }
    moves_.clear();
    const std::size_t most = std::size_t{ftl_.gc_row_left(group)} * units_per_page_;
    std::uint32_t slots = 0;
    while (moves_.size() < most && ftl_.next_valid_page(victim, page, slots)) {
        const PageAddress from = ftl_.shape_.page(victim, page);
        for (; slots != 0 && moves_.size() < most; slots &= slots - 1) {
            const Ppa unit = geometry_.ppa_of(from, static_cast<unsigned>(__builtin_ctz(slots)));
            const Spare spare = ftl_.spare_.at(unit);
            ftl_.prefetch(ftl_.codec_.lpa(spare));
            moves_.push_back({spare, unit});
        }
        if (slots == 0) ++page;
    }
    Spare out[kMaxUnitsPerPage];
    for (std::size_t i = 0; i < moves_.size(); i += units_per_page_) {
        const PageAddress a = ftl_.allocate_moved_page(group);
        const std::uint32_t to = idx(geometry_.ppa_of(a, 0));
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(units_per_page_, moves_.size() - i));
        for (std::uint32_t s = 0; s < units_per_page_; ++s) out[s] = s < n ? moves_[i + s].spare : kPadding;
        ftl_.spare_.program_page(a, out, ftl_.draw_record(a));
        for (std::uint32_t s = 0; s < n; ++s)
            ftl_.commit_move(ftl_.codec_.lpa(out[s]), moves_[i + s].from, Ppa{to + s});
        ftl_.gc_page_programmed(a);
    }
    if (ftl_.superblock(victim).valid != 0) return true;
    for (std::uint32_t i = 0; i < ftl_.shape_.planes(); ++i) ftl_.spare_.erase(ftl_.shape_.block(victim, i));
    ftl_.superblock_erased(victim);
    victim = kNoSuperblock;
    return true;
}

}  // namespace ssdtlm
