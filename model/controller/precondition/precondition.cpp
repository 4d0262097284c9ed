// SPDX-License-Identifier: Apache-2.0
#include "controller/precondition/precondition.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "controller/precondition/steady_state.h"

namespace ssdtlm {

namespace {
// This stream of the seed is independent of all others.
constexpr std::uint64_t kScatterStream = 0x7363617474657265;
/// Superblocks of host pages in each group that are written behind a lay-out by formula. They are enough to bring open,
/// free and half emptied superblocks into the state of operation.
constexpr std::uint64_t kCycles = 16;
/// The size of a round: a tenth of the overwritten units.
std::uint64_t round_of(std::uint64_t units) {
    return std::max<std::uint64_t>(units / 10, 1);
}
}  // namespace

Preconditioner::Preconditioner(Ftl& ftl, std::size_t turns_ahead)
    : ftl_(ftl),
      image_(ftl.image()),
      geometry_(ftl.geometry()),
      units_per_page_(ftl.geometry().units_per_page()),
      row_(ftl.shape().planes()),
      turns_(turns_ahead),
      victims_(ftl.shape().groups(), kNoSuperblock),
      pages_(ftl.shape().groups()) {}

OverwriteRounds Preconditioner::run() {
    for (const auto& feature : image_.features) feature->lay_out_begins();
    fill();
    for (const auto& feature : image_.features) feature->lay_out_ended();
    for (std::uint32_t g = 0; g < ftl_.shape().groups(); ++g) ftl_.update_able(GroupId{g});
    return rounds_;
}

void Preconditioner::fill() {
    const FtlConfig& config = ftl_.config();
    if (config.initial_state == InitialState::fresh) return;
    const auto units = std::min(static_cast<std::uint64_t>(config.fill * static_cast<double>(ftl_.logical_units())),
                                ftl_.logical_units());
    if (config.initial_state == InitialState::analytic)
        scatter(units);
    else if (image_.placement != nullptr && image_.flash.any_marked_bad())
        lay_out_by_blocks(units);
    else if (image_.partitions.has_ranges() || image_.flash.any_marked_bad() || ftl_.shape().parity_planes() != 0)
        lay_out_by_pages(units);
    else
        lay_out(units);
    for (const auto& feature : image_.features) feature->lay_out_own_units();
    if (units == 0) return;
    const SuperblockShape& shape = ftl_.shape();
    // A group's cycle is a superblock of host rows and a few of GC. Begun some cycles apart, they are at any point of
    // it.
    if (config.initial_state == InitialState::random) {
        Overwrites asked{units,
                         static_cast<std::uint64_t>(std::llround(config.overwrite * static_cast<double>(units)))};
        std::uint64_t least = asked.writes;
        if (config.until == OverwriteUntil::steady) {
            asked.until_steady = true;
            asked.writes = round_of(units) * config.most_rounds;
            least = round_of(units) * Steadiness::kWindow;
        }
        const std::uint64_t rows_each = least / units_per_page_ / shape.planes() / shape.groups();
        asked.latest = std::min<std::uint64_t>(8ull * geometry_.pages_per_block, rows_each / 8);
        overwrite(asked);
    } else if (config.initial_state == InitialState::analytic) {
        overwrite({units, kCycles * shape.units() * shape.groups(), kCycles / 2 * geometry_.pages_per_block});
    }
}

void Preconditioner::begin_rounds(std::uint64_t units) {
    std::uint64_t free = 0;  // superblocks that the host may use
    for (std::uint32_t g = 0; g < ftl_.shape().groups(); ++g)
        free += std::max(ftl_.free_blocks(GroupId{g}), ftl_.config().gc_hard_free_blocks) -
                ftl_.config().gc_hard_free_blocks;
    rounds_ = OverwriteRounds(round_of(units), free * ftl_.shape().data_units(), units_per_page_, image_.counters);
}

void Preconditioner::lay_out(std::uint64_t units) {
    SSDTLM_CHECK(image_.counters.host_pages_allocated == 0, "lay-out of a device that is in use");
    if (units == 0) return;
    const std::uint64_t pages = (units + units_per_page_ - 1) / units_per_page_;
    const SequentialLayout layout(geometry_, image_.rows, units);
    image_.map.lay_out(layout);
    image_.flash.lay_out(layout, ftl_.codec());
    fill_blocks(layout);
    const std::uint32_t per_row = ftl_.shape().planes();
    image_.partitions.move_to((pages + per_row - 1) / per_row);
    image_.mapped_units = units;
    image_.counters.host_units = units;
    image_.counters.host_pages_allocated = image_.counters.host_pages = pages;
}

void Preconditioner::fill_blocks(const SequentialLayout& layout) {
    const SuperblockShape& shape = ftl_.shape();
    const auto& sequence = image_.partitions.sequence();
    const std::uint64_t units = layout.units(), groups = sequence.size(), per_superblock = shape.pages();
    const std::uint64_t pages = (units + units_per_page_ - 1) / units_per_page_, pads = pages * units_per_page_ - units;
    const PlaneId last = image_.rows[(pages - 1) % image_.rows.size()];  // has the padded page
    std::vector<std::uint64_t> pages_of;                                 // by position in the sequence
    for (std::uint64_t i = 0; i < groups; ++i) {
        const GroupId group = sequence[i];
        std::uint64_t here = 0;
        for (std::uint32_t p = 0; p < shape.planes(); ++p) {
            const PlaneId plane{idx(group) * shape.planes() + p};
            const std::uint32_t in_plane = layout.pages_in(plane);
            here += in_plane;
            image_.valid.fill(idx(geometry_.ppa_of(PageAddress{plane, 0, 0}, 0)),
                              in_plane * units_per_page_ - static_cast<std::uint32_t>(plane == last ? pads : 0));
        }
        pages_of.push_back(here);
        image_.blocks.fill_host(group, here);
        ftl_.update_able(group);
        image_.partitions.cursor(group, 0).set_ragged(
            group, here % shape.planes() != 0 && ftl_.config().gc_frontier == GcFrontier::own);
    }
    // Goes superblock by superblock over the positions, the order in which row-by-row writing fills them.
    for (std::uint64_t block = 0; block * per_superblock < pages_of[0]; ++block) {
        for (std::uint64_t i = 0; i < groups; ++i) {
            if (pages_of[i] <= block * per_superblock) continue;
            const GroupId group = sequence[i];
            const std::uint64_t here = std::min(pages_of[i] - block * per_superblock, per_superblock);
            const bool has_last = shape.group_of(last) == group && pages_of[i] <= (block + 1) * per_superblock;
            const SuperblockId b{static_cast<std::uint32_t>(idx(group) * shape.blocks_per_group() + block)};
            const auto valid = static_cast<std::uint32_t>(here * units_per_page_ - (has_last ? pads : 0));
            image_.blocks[b].valid = valid;
            if (here < per_superblock || image_.placement != nullptr) continue;
            const std::uint64_t row = (block + 1) * geometry_.pages_per_block - 1;
            image_.policy.sealed(b, valid, std::min((row * groups + i + 1) * shape.planes() * units_per_page_, units));
        }
    }
    for (std::uint64_t i = 0; i < groups && image_.placement != nullptr; ++i)
        image_.placement->laid_out(sequence[i], pages_of[i]);
}

/// Fills this many free superblocks and returns them in random order.
std::vector<SuperblockId> Preconditioner::fill_superblocks(GroupId group, std::uint32_t count, Random& random) {
    std::vector<SuperblockId> filled;
    for (std::uint32_t i = 0; i < count; ++i) filled.push_back(image_.blocks.fill_free(group));
    for (std::size_t i = filled.size(); i > 1; --i) std::swap(filled[i - 1], filled[random.below(i)]);
    return filled;
}

/// Splits a superblock's valid units among its blocks: each gets its share, and the rest is given out one by one.
void Preconditioner::hold(SuperblockId b, std::uint32_t valid, std::vector<std::uint32_t>& by_block, Random& random) {
    const std::uint32_t planes = ftl_.shape().planes(), per_block = geometry_.units_per_block();
    image_.blocks[b].valid = valid;
    for (std::uint32_t i = 0; i < planes; ++i) by_block[idx(ftl_.shape().block(b, i))] = valid / planes;
    for (std::uint32_t left = valid % planes; left != 0;) {
        std::uint32_t& of_block =
            by_block[idx(ftl_.shape().block(b, static_cast<std::uint32_t>(random.below(planes))))];
        if (of_block == per_block) continue;
        ++of_block;
        --left;
    }
}

void Preconditioner::scatter(std::uint64_t units) {
    SSDTLM_CHECK(image_.counters.host_pages_allocated == 0, "lay-out of a device that is in use");
    if (units == 0) return;
    const SuperblockShape& shape = ftl_.shape();
    const std::uint64_t own_rows =
        ftl_.own_units() == 0 ? 0 : ftl_.needs().own_units(units) / units_per_page_ / shape.groups() + 1;
    const auto for_own = static_cast<std::uint32_t>((own_rows + shape.pages() - 1) / shape.pages());
    // One is open for the host, and one for GC.
    const std::uint32_t free = ftl_.config().gc_hard_free_blocks + 2 + for_own;
    Random random(ftl_.seed(), kScatterStream);
    std::vector<std::uint32_t> by_block(geometry_.blocks(), ScatteredLayout::kErasedBlock);
    for (std::uint32_t g = 0; g < shape.groups(); ++g) {
        const GroupId group{g};
        const std::uint64_t here = units / shape.groups() + (g < units % shape.groups());
        const std::uint32_t room = ftl_.free_blocks(group) - free;
        const std::vector<SuperblockId> filled = fill_superblocks(group, room, random);
        const std::vector<std::uint32_t> valid = steady_counts(image_.policy.law(), shape.units(), room, here, random);
        for (std::uint32_t i = 0; i < room; ++i) {
            hold(filled[i], valid[i], by_block, random);
            image_.policy.sealed(filled[i], valid[i], 0);
        }
        ftl_.update_able(group);
    }
    const auto layout = std::make_shared<const ScatteredLayout>(geometry_, std::move(by_block), ftl_.seed());
    image_.map.lay_out(layout);
    image_.flash.lay_out(layout, ftl_.codec());
    for (std::uint32_t b = 0; b < geometry_.blocks(); ++b) {
        const std::uint32_t first = b * geometry_.units_per_block();
        layout->for_each_slot(BlockId{b}, [&](std::uint32_t slot) { image_.valid.set(Ppa{first + slot}); });
    }
    image_.mapped_units = units;
    image_.counters.host_units = units;
    image_.counters.host_pages_allocated = image_.counters.host_pages = (units + units_per_page_ - 1) / units_per_page_;
}

}  // namespace ssdtlm
