// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/precondition.h"

#include <algorithm>
#include <cmath>

#include "common/address/sequential_layout.h"
#include "common/random/random.h"

namespace ssdtlm {

namespace {
constexpr std::uint64_t kStream = 0x7072656670726566;  // of the seed: independent of what the workload draws
}

Preconditioner::Preconditioner(Ftl& ftl)
    : ftl_(ftl), geometry_(ftl.geometry()), units_per_page_(ftl.geometry().units_per_page()) {
    moves_.reserve(geometry_.units_per_block());
}

void Preconditioner::run() {
    const FtlConfig& config = ftl_.config();
    if (config.initial_state == InitialState::fresh) return;
    const auto units = static_cast<std::uint64_t>(config.fill * static_cast<double>(ftl_.logical_units()));
    lay_out(std::min(units, ftl_.logical_units()));
    if (config.initial_state == InitialState::random && units != 0)
        overwrite(units, static_cast<std::uint64_t>(std::llround(config.overwrite * static_cast<double>(units))));
}

void Preconditioner::lay_out(std::uint64_t units) {
    SSDTLM_CHECK(ftl_.counters_.host_pages_allocated == 0, "lay-out of a device that is in use");
    if (units == 0) return;
    const auto& sequence = ftl_.cursor_.sequence();
    const std::uint64_t pages = (units + units_per_page_ - 1) / units_per_page_;
    const SequentialLayout layout(geometry_, sequence, units);
    ftl_.map_.lay_out(layout);
    ftl_.spare_.lay_out(layout, ftl_.codec_);
    std::vector<std::uint64_t> pages_of;
    for (const PlaneId plane : sequence) pages_of.push_back(layout.pages_in(plane));
    fill_blocks(pages_of, units);
    ftl_.cursor_.move_to(pages);
    ftl_.mapped_units_ = units;
    ftl_.counters_.host_units = units;
    ftl_.counters_.host_pages_allocated = ftl_.counters_.host_pages = pages;
}

void Preconditioner::fill_blocks(const std::vector<std::uint64_t>& pages, std::uint64_t units) {
    const auto& sequence = ftl_.cursor_.sequence();
    const std::uint64_t planes = sequence.size(), per_block = geometry_.pages_per_block;
    const std::uint64_t pads =
        (pages[0] == 0 ? 0 : (units + units_per_page_ - 1) / units_per_page_ * units_per_page_ - units);
    const std::uint64_t last =
        ((units + units_per_page_ - 1) / units_per_page_ - 1) % planes;  // position of the padded page
    for (std::uint64_t i = 0; i < planes; ++i) {
        ftl_.blocks_.fill_host(sequence[i], pages[i]);
        const auto valid = static_cast<std::uint32_t>(pages[i] * units_per_page_ - (i == last ? pads : 0));
        ftl_.valid_.fill(idx(geometry_.ppa_of(PageAddress{sequence[i], 0, 0}, 0)), valid);
        ftl_.cursor_.set_able(sequence[i], ftl_.blocks_.can_take_host_page(sequence[i]));
    }
    // Block by block over the positions: the order in which unit-by-unit writing fills them.
    for (std::uint64_t block = 0; block * per_block < pages[0]; ++block) {
        for (std::uint64_t i = 0; i < planes; ++i) {
            if (pages[i] <= block * per_block) continue;
            const std::uint64_t here = std::min(pages[i] - block * per_block, per_block);
            const bool has_last = i == last && pages[i] <= (block + 1) * per_block;
            const BlockId b = geometry_.block_id(sequence[i], static_cast<std::uint32_t>(block));
            const auto valid = static_cast<std::uint32_t>(here * units_per_page_ - (has_last ? pads : 0));
            ftl_.blocks_[b].valid = valid;
            if (here < per_block) continue;
            const std::uint64_t pages_then = ((block + 1) * per_block - 1) * planes + i + 1;
            ftl_.policy_->sealed(b, valid, std::min(pages_then * units_per_page_, units));
        }
    }
}

void Preconditioner::overwrite(std::uint64_t units, std::uint64_t writes) {
    // The draws run ahead of the writes, so that the table lookups of several writes overlap in the host's memory.
    constexpr std::uint64_t kAhead = 64, kHalf = kAhead / 2;
    Random random(ftl_.seed_, kStream);
    Lpa drawn[kAhead];
    const auto draw = [&](std::uint64_t i) {
        drawn[i % kAhead] = Lpa{static_cast<std::uint32_t>(random.below(units))};
        ftl_.prefetch(drawn[i % kAhead]);
    };
    for (std::uint64_t i = 0; i < kAhead; ++i) draw(i);
    for (std::uint64_t i = 0; i < kHalf; ++i) ftl_.prefetch_old_place(drawn[i % kAhead]);
    Spare out[kMaxUnitsPerPage];
    for (std::uint64_t i = 0; i < writes;) {
        PageAddress a;
        SSDTLM_CHECK(ftl_.allocate_host_page(a), "no plane takes a host page although GC is not behind");
        const std::uint32_t first = idx(geometry_.ppa_of(a, 0));
        for (std::uint32_t s = 0; s < units_per_page_; ++s) {
            out[s] = kPadding;
            if (i == writes) continue;
            const Lpa lpa = drawn[i % kAhead];
            out[s] = ftl_.codec_.make(lpa, 1);
            ftl_.map_unit(lpa, Ppa{first + s});
            draw(i + kAhead);
            ftl_.prefetch_old_place(drawn[(i + kHalf) % kAhead]);
            ++i;
        }
        ftl_.spare_.program_page(a, out);
        ftl_.host_page_programmed(a);
        if (a.page == 0) {  // it opened a block
            while (ftl_.gc_soft(a.plane) && collect(a.plane)) {
            }
        }
    }
}

bool Preconditioner::collect(PlaneId plane) {
    const BlockId victim = ftl_.select_victim(plane);
    if (victim == kNoBlock) return false;
    moves_.clear();
    const std::uint32_t first = idx(victim) * geometry_.units_per_block();
    std::uint32_t slots = 0;
    for (std::uint32_t page = 0; ftl_.next_valid_page(victim, page, slots); ++page) {
        for (; slots != 0; slots &= slots - 1) {
            const Ppa from{first + page * units_per_page_ + static_cast<unsigned>(__builtin_ctz(slots))};
            const Spare spare = ftl_.spare_.at(from);
            ftl_.prefetch(ftl_.codec_.lpa(spare));
            moves_.push_back({spare, from});
        }
    }
    Spare out[kMaxUnitsPerPage];
    for (std::size_t i = 0; i < moves_.size(); i += units_per_page_) {
        const PageAddress a = ftl_.allocate_gc_page(plane);
        const std::uint32_t to = idx(geometry_.ppa_of(a, 0));
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(units_per_page_, moves_.size() - i));
        for (std::uint32_t s = 0; s < units_per_page_; ++s) out[s] = s < n ? moves_[i + s].spare : kPadding;
        ftl_.spare_.program_page(a, out);
        for (std::uint32_t s = 0; s < n; ++s)
            ftl_.commit_move(ftl_.codec_.lpa(out[s]), moves_[i + s].from, Ppa{to + s});
        ftl_.gc_page_programmed(a);
    }
    ftl_.spare_.erase(victim);
    ftl_.block_erased(victim);
    return true;
}

}  // namespace ssdtlm
