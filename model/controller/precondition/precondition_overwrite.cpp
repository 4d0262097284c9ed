// SPDX-License-Identifier: Apache-2.0
// The random overwrites of preconditioning, and the garbage collection that they take.
#include <algorithm>
#include <vector>

#include "controller/precondition/precondition.h"

namespace ssdtlm {

namespace {
// These streams of the seed are independent of the workload's draws, and of each other.
constexpr std::uint64_t kStream = 0x7072656670726566;
constexpr std::uint64_t kStartStream = 0x7374616767657200;

/// Draws units of a share of the addresses, uniformly among the first `units`. The draws run ahead of the writes,
/// several at a time, so that the table lookups of several writes overlap in the host's memory.
class Draws {
public:
    /// `batch`: how many are drawn at a time, a divisor of kMostAtOnce. It must be 1 where others draw from the same
    /// random numbers in between.
    Draws(const Ftl& ftl, std::uint64_t units, std::uint32_t share, std::uint64_t batch)
        : ftl_(ftl), share_(share), units_(units), batch_(batch) {
        const WritePartitions& partitions = ftl.partitions();
        if (partitions.shares() != 1) within_ = partitions.first_units(share, units);
    }
    bool empty() const { return within_ == 0; }
    void begin(Random& random) {
        for (std::uint64_t i = 0; i < kAhead; ++i) draw(random, i);
        for (std::uint64_t i = 0; i < kHalf; ++i) ftl_.prefetch_old_place(drawn_[i % kAhead]);
    }
    Lpa next() const { return drawn_[taken_ % kAhead]; }
    void taken(Random& random) {
        if (++taken_ % batch_ != 0) return;
        for (std::uint64_t i = 0; i < batch_; ++i) draw(random, taken_ - batch_ + kAhead + i);
        for (std::uint64_t i = 0; i < batch_; ++i)
            ftl_.prefetch_old_place(drawn_[(taken_ - batch_ + kHalf + i) % kAhead]);
    }
    static constexpr std::uint64_t kMostAtOnce = 16;

private:
    static constexpr std::uint64_t kAhead = 64, kHalf = kAhead / 2;
    void draw(Random& random, std::uint64_t i) {
        std::uint64_t unit = 0;
        if (__builtin_expect(ftl_.partitions().shares() == 1, 1)) {
            unit = random.below(units_);
        } else {
            do {  // only the last round has units that are not there
                unit = ftl_.partitions().nth(share_, random.below(within_));
            } while (unit >= units_);
        }
        drawn_[i % kAhead] = Lpa{static_cast<std::uint32_t>(unit)};
        ftl_.prefetch(drawn_[i % kAhead]);
    }

    const Ftl& ftl_;
    std::uint32_t share_;
    std::uint64_t units_, batch_;
    std::uint64_t within_ = 1;
    std::uint64_t taken_ = 0;
    Lpa drawn_[kAhead];
};
}  // namespace

/// Writes host pages of the group's row, with up to `most` units. Returns how many units were written.
template <class Next>
std::uint64_t Preconditioner::write_units(GroupId group, std::uint64_t most, Next&& next) {
    const std::uint64_t wanted = (most + units_per_page_ - 1) / units_per_page_;
    const std::uint32_t n = ftl_.take_host_pages(
        group, static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, row_.size())), row_.data(), 0);
    Spare out[kMaxUnitsPerPage];
    std::uint64_t written = 0;
    for (std::uint32_t p = 0; p < n; ++p) {
        const std::uint32_t first = idx(geometry_.ppa_of(row_[p], 0));
        for (std::uint32_t s = 0; s < units_per_page_; ++s) {
            out[s] = kPadding;
            if (written == most) continue;
            const Lpa lpa = next();
            out[s] = ftl_.codec().make(lpa, 1);
            ftl_.map_unit(lpa, Ppa{first + s});
            ++written;
        }
        image_.flash.program_page(row_[p], out, ftl_.draw_record(row_[p]));
        ftl_.host_page_programmed(row_[p]);
    }
    ftl_.program_owed_at_once();
    return written;
}

void Preconditioner::lay_out_by_pages(std::uint64_t units) {
    WritePartitions& partitions = image_.partitions;
    for (std::uint32_t share = 0; share < partitions.shares(); ++share) {
        std::uint64_t x = 0, all = partitions.first_units(share, units);
        while (all != 0 && partitions.nth(share, all - 1) >= units) --all;
        while (x != all) {
            GroupId group{};
            SSDTLM_CHECK(partitions.cursor(share).next(group), "addresses for which there is no room");
            x += write_units(group, all - x, [&, n = x]() mutable {
                return Lpa{static_cast<std::uint32_t>(partitions.nth(share, n++))};
            });
        }
    }
}

/// Writes page after page, each to its place.
void Preconditioner::lay_out_by_blocks(std::uint64_t units) {
    BlockPlacement& placement = *image_.placement;
    Spare out[kMaxUnitsPerPage];
    for (std::uint64_t first = 0; first < units;) {
        const LogicalPage page = placement.logical().page_of(Lpa{static_cast<std::uint32_t>(first)});
        const auto n =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(placement.logical().units(page), units - first));
        PageAddress a;
        SSDTLM_CHECK(placement.take_pages(page.group, &page, 1, &a) == 1,
                     "an ascending write for which something has to be merged");
        std::fill_n(out, units_per_page_, kPadding);
        for (std::uint32_t s = 0; s < n; ++s, ++first) {
            out[s] = ftl_.codec().make(Lpa{static_cast<std::uint32_t>(first)}, 1);
            ftl_.map_unit(Lpa{static_cast<std::uint32_t>(first)}, geometry_.ppa_of(a, s));
        }
        image_.flash.program_page(a, out, ftl_.draw_record(a));
        ftl_.host_page_programmed(a);
    }
}

/// Writes a page of random units to a group drawn at random, and does the merges that this needs. With block mapping
/// the page has one unit.
void Preconditioner::overwrite_by_blocks(const Overwrites& asked) {
    const auto [units, writes, latest, until_steady] = asked;
    Random random(ftl_.seed(), kStream);
    BlockPlacement& placement = *image_.placement;
    std::vector<Draws> draws;  // by share
    for (std::uint32_t share = 0; share < image_.partitions.shares(); ++share) {
        draws.emplace_back(ftl_, units, share, 1);
        if (!draws.back().empty()) draws.back().begin(random);
    }
    Spare out[kMaxUnitsPerPage];
    Lpa lpas[kMaxUnitsPerPage];
    for (std::uint64_t i = 0; i < writes;) {
        Draws& of_share = draws[random.below(draws.size())];
        if (of_share.empty()) continue;
        const auto n = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(placement.takes_any_units() ? units_per_page_ : 1, writes - i));
        for (std::uint32_t s = 0; s < n; ++s, of_share.taken(random)) lpas[s] = of_share.next();
        i += n;
        // Several units of a page are together by chance.
        const LogicalPage page = placement.logical().page_of(lpas[0]);
        const bool by_block = !placement.takes_any_units(),
                   is_whole = by_block ? placement.logical().units(page) == 1 : units_per_page_ == 1;
        const std::uint32_t slot = by_block ? placement.logical().slot_of(lpas[0]) : 0;
        PageAddress a;
        const auto takes_page = [&] {
            return by_block && !is_whole ? placement.take_part(page, 1u << slot, a)
                                         : placement.take_pages(page.group, is_whole ? &page : nullptr, 1, &a) != 0;
        };
        while (!takes_page()) placement.merge_at_once(page.group);
        std::fill_n(out, units_per_page_, kPadding);
        for (std::uint32_t s = 0; s < n; ++s) {
            out[slot + s] = ftl_.codec().make(lpas[s], 1);
            ftl_.map_unit(lpas[s], geometry_.ppa_of(a, slot + s));
        }
        if (by_block) {
            placement.program_part(page, 1u << slot, a, out);
        } else {
            image_.flash.program_page(a, out, ftl_.draw_record(a));
            ftl_.host_page_programmed(a);
        }
        placement.merge_at_once(page.group);
        if (ends_steady(i) && until_steady) break;
    }
}

void Preconditioner::overwrite(const Overwrites& asked) {
    begin_rounds(asked.units);
    image_.placement != nullptr ? overwrite_by_blocks(asked) : overwrite_in_turn(asked);
    rounds_.end(image_.counters);
}

void Preconditioner::overwrite_in_turn(const Overwrites& asked) {
    const auto [units, writes, latest, until_steady] = asked;
    Random random(ftl_.seed(), kStream);
    std::vector<Draws> draws;  // by share
    for (std::uint32_t share = 0; share < image_.partitions.shares(); ++share) {
        draws.emplace_back(ftl_, units, share,
                           image_.partitions.shares() == 1 && !turns_.empty() ? Draws::kMostAtOnce : 1);
        if (!draws.back().empty()) draws.back().begin(random);
    }

    const SuperblockShape& shape = ftl_.shape();
    std::uint64_t i = 0;
    const auto write_row = [&](GroupId group) {
        Draws& of_share = draws[image_.partitions.share_of(group)];
        i += write_units(group, writes - i, [&] {
            const Lpa lpa = of_share.next();
            of_share.taken(random);
            return lpa;
        });
    };

    Random start(ftl_.seed(), kStartStream);
    std::vector<std::uint32_t> late(shape.groups());
    for (auto& l : late) l = static_cast<std::uint32_t>(start.below(latest + 1));

    const auto& sequence = image_.partitions.sequence();
    const std::uint64_t row_units = std::uint64_t{units_per_page_} * shape.planes();
    std::size_t at = static_cast<std::size_t>((units + row_units - 1) / row_units % sequence.size());
    std::size_t idle = 0;
    std::size_t turn = 0, turns = 0;
    for (bool ended = false; i < writes && !ended; ++turn) {  // write_row() counts them
        if (turn == turns && !turns_.empty()) {
            turn = 0;
            turns = std::min(turns_.size(), sequence.size() - at);
            look_ahead(&sequence[at], turns);
        }
        const GroupId group = sequence[at];
        bool busy = !draws[image_.partitions.share_of(group)].empty();
        if (late[idx(group)] != 0)
            --late[idx(group)];
        else if (busy && ftl_.takes_host_pages(group)) {
            write_row(group);
            ended = ends_steady(i) && until_steady;
        } else if (busy)
            busy = collect_row(group, turns_.empty() ? Turn{} : turns_[turn]);
        idle = busy ? 0 : idle + 1;
        SSDTLM_CHECK(idle <= sequence.size(), "no group takes a host page, and none has a victim");
        at = at + 1 == sequence.size() ? 0 : at + 1;
    }
    image_.partitions.move_to(at);
    for (std::uint32_t g = 0; g < victims_.size(); ++g) image_.begun.leave(GroupId{g}, victims_[g]);
}

/// Finds what the group's next row of GC takes, from this page of its victim on. It finds only the places; whose units
/// they are is read later.
void Preconditioner::next_row(GroupId group, std::uint32_t& page, std::vector<Move>& moves) const {
    const SuperblockId victim = victims_[idx(group)];
    std::size_t left = std::size_t{ftl_.gc_row_left(group)} * units_per_page_;
    std::uint32_t slots = 0;
    while (left != 0 && ftl_.next_valid_page(victim, page, slots)) {
        const PageAddress from = ftl_.shape().page(victim, page);
        for (; slots != 0 && left != 0; slots &= slots - 1, --left)
            moves.emplace_back(kErased, geometry_.ppa_of(from, static_cast<unsigned>(__builtin_ctz(slots))));
        if (slots == 0) ++page;
    }
}

void Preconditioner::look_ahead(const GroupId* groups, std::size_t turns) {
    planned_.clear();
    for (std::size_t i = 0; i < turns; ++i) {
        const GroupId group = groups[i];
        Turn& turn = turns_[i];
        turn.is_planned = victims_[idx(group)] != kNoSuperblock && !ftl_.takes_host_pages(group);
        if (!turn.is_planned) continue;
        turn.first = planned_.size();
        turn.page = pages_[idx(group)];
        next_row(group, turn.page, planned_);
        turn.end = planned_.size();
    }
    constexpr std::uint32_t kLine = 64 / sizeof(Spare);
    for (Move& m : planned_) {
        m.spare = image_.flash.at(m.from);
        ftl_.prefetch(ftl_.codec().lpa(m.spare));
        const Ppa behind{idx(m.from) + kLine};  // for one of the next turns of the group
        if (idx(behind) < ftl_.geometry().units()) image_.flash.prefetch(behind);
    }
}

/// Victims only lose units, so what was planned and is still valid is what comes next.
bool Preconditioner::is_as_planned(const Turn& turn) const {
    if (!turn.is_planned) return false;
    for (std::size_t i = turn.first; i < turn.end; ++i)
        if (!image_.valid.test(planned_[i].from)) return false;
    return true;
}

bool Preconditioner::collect_row(GroupId group, const Turn& turn) {
    SuperblockId& victim = victims_[idx(group)];
    std::uint32_t& page = pages_[idx(group)];
    const Move* moves = nullptr;
    std::size_t count = 0;
    if (is_as_planned(turn)) {
        moves = planned_.data() + turn.first;
        count = turn.end - turn.first;
        page = turn.page;
    } else {
        if (victim == kNoSuperblock) {
            victim = ftl_.select_victim(group);
            if (victim == kNoSuperblock) return false;
            page = 0;
        }
        moves_.clear();
        next_row(group, page, moves_);
        for (Move& m : moves_) m.spare = image_.flash.at(m.from);
        moves = moves_.data();
        count = moves_.size();
    }
    Spare out[kMaxUnitsPerPage];
    for (std::size_t i = 0; i < count; i += units_per_page_) {
        const PageAddress a = ftl_.allocate_moved_page(group);
        const std::uint32_t to = idx(geometry_.ppa_of(a, 0));
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(units_per_page_, count - i));
        for (std::uint32_t s = 0; s < units_per_page_; ++s) out[s] = s < n ? moves[i + s].spare : kPadding;
        image_.flash.program_page(a, out, ftl_.draw_record(a));
        for (std::uint32_t s = 0; s < n; ++s)
            ftl_.commit_move(ftl_.codec().lpa(out[s]), moves[i + s].from, Ppa{to + s});
        ftl_.gc_page_programmed(a);
    }
    ftl_.program_owed_at_once();
    if (ftl_.superblock(victim).valid != 0) return true;
    for (std::uint32_t i = 0; i < ftl_.shape().planes(); ++i) image_.flash.erase(ftl_.shape().block(victim, i));
    ftl_.superblock_erased(victim);
    victim = kNoSuperblock;
    return true;
}

}  // namespace ssdtlm
