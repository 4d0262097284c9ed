// SPDX-License-Identifier: Apache-2.0
#include "controller/mount/mount.h"

#include <algorithm>
#include <utility>

#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {

namespace {
/// What has to come out of a page to know what it is; a device without a spare area keeps that with the data.
std::uint32_t spare_bytes(const NandGeometry& g) {
    return std::clamp<std::uint32_t>(g.spare_bytes, 1, g.page_bytes);
}
}  // namespace

Mount::Mount(const MountPeers& peers)
    : peers_(peers),
      geometry_(peers_.geometry),
      from_(geometry_.blocks(), geometry_.pages_per_block),
      next_block_(geometry_.dies()),
      readers_(std::size_t{geometry_.dies()} * peers.reads_per_die) {}

void Mount::start(std::function<void()> done, std::vector<bool> skips, GoOnAt go_on_at, std::vector<bool> likely_slc) {
    done_ = std::move(done);
    skips_ = std::move(skips);
    go_on_at_ = std::move(go_on_at);
    likely_slc_ = std::move(likely_slc);
    for (std::uint32_t i = 0; i < readers_.size(); ++i) {
        Reader& r = readers_[i];
        r.txn.op = FlashOp::read;
        r.txn.cls = FlashClass::mapping_read;
        r.txn.die = DieId{i / peers_.reads_per_die};
        r.txn.then = Then::to<&Mount::page_read>(this, r);
        if (!next_block(r)) continue;
        ++at_work_;
        read(r, false);
    }
}

/// False: all blocks of the die are somebody's.
bool Mount::next_block(Reader& r) {
    std::uint32_t& next = next_block_[idx(r.txn.die)];
    for (; next != geometry_.planes_per_die * geometry_.blocks_per_plane; ++next) {
        r.txn.address =
            PageAddress{PlaneId{idx(r.txn.die) * geometry_.planes_per_die + next % geometry_.planes_per_die},
                        next / geometry_.planes_per_die, 0};
        if (!skips_.empty() && skips_[idx(geometry_.block_of(r.txn.address))]) continue;
        ++next;
        // Blocks of the SLC cache's own are never in the other mode.
        r.txn.slc = peers_.slc.holds(r.txn.address);
        r.mode_known = peers_.slc.modes == nullptr || r.txn.slc;
        return true;
    }
    return false;
}

/// Reads in the mode that the block is likely to be in, as far as it has such a page.
void Mount::first_try(Reader& r) const {
    if (!r.mode_known)
        r.txn.slc = !likely_slc_.empty() && likely_slc_[idx(geometry_.block_of(r.txn.address))] &&
                    r.txn.address.page < peers_.slc.pages;
}

/// True: the page told nothing, and may do in the other mode.
bool Mount::try_other_mode(Reader& r) const {
    const bool told_nothing = r.txn.status.result == FlashResult::ok && r.txn.spare[0] == kTorn;
    // Erased cells have no mode either.
    r.mode_known = r.mode_known || (!told_nothing && r.txn.spare[0] != kErased);
    if (r.mode_known || !told_nothing || r.tried_both || r.txn.address.page >= peers_.slc.pages) return false;
    r.txn.slc = !r.txn.slc;
    return r.tried_both = true;
}

void Mount::read(Reader& r, bool whole) {
    if (!whole && !r.tried_both) first_try(r);
    r.whole = whole;
    r.txn.path = nullptr;
    r.txn.spare_only = !whole;
    r.txn.data_bytes = whole ? geometry_.page_bytes : spare_bytes(geometry_);
    peers_.flash.submit(r.txn);
}

void Mount::page_read(Reader& r) {
    ++reads_;
    ++on_core_;
    peers_.cores.run(idx(r.txn.die), peers_.page_cycles, CoreStep::mount, Then::to<&Mount::go_on>(this, r));
}

void Mount::go_on(Reader& r) {
    --on_core_;
    if (!r.whole && try_other_mode(r)) return read(r, false);
    r.tried_both = false;
    if (!r.whole) look(r);
    const bool is_new = r.txn.address.page != 0 || r.next == 1;
    const auto is_journal = [&] {
        return peers_.spare.content(r.txn.address) != nullptr &&
               peers_.spare.record(r.txn.address).kind == PageKind::journal;
    };
    if (is_new && !r.whole && r.next != 0 && r.readable && is_journal()) return read(r, true);
    r.txn.address.page = r.next;
    if ((r.next != 0 && r.next < pages_of(r)) || next_block(r)) return read(r, false);
    if (--at_work_ != 0) return;
    const std::function<void()> done = std::move(done_);
    done();
}

/// Looks at a page's spare area and decides which page of the block is the next one.
void Mount::look(Reader& r) {
    const PageAddress& page = r.txn.address;
    const std::uint32_t b = idx(geometry_.block_of(page));
    r.readable = r.txn.status.result == FlashResult::ok;
    r.next = r.readable && r.txn.spare[0] == kErased ? 0 : page.page + 1;  // behind a torn page there may be others
    if (page.page != 0) return;
    if (go_on_at_ && r.next != 0)
        r.next = go_on_at_(BlockId{b}, r.readable && r.txn.spare[0] != kTorn, peers_.spare.record(page));
    from_[b] = r.next <= 1 ? 0 : r.next;
}

std::string Mount::dump() const {
    return over() ? ""
                  : "search for the map: " + std::to_string(reads_) + " pages read, " + std::to_string(at_work_) +
                        " blocks being read\n";
}

Ps Mount::longest(const NandConfig& nand, Ps decode_time, std::uint32_t reads, Ps page_time,
                  std::uint32_t pages_twice) {
    const NandGeometry& g = nand.geometry;
    const OnfiBusTiming timing(nand);
    const Ps command = timing.issue(FlashOp::read, 1) + timing.select() + timing.turnaround();
    const auto bus = [&](std::uint32_t bytes, bool spare_only) {
        return (command + timing.burst(bytes, spare_only).out) * g.dies_per_channel();
    };
    const Ps array = timing.busy_delay() + *std::max_element(nand.t_read.begin(), nand.t_read.end()) + decode_time;
    const std::int64_t blocks = std::int64_t{g.planes_per_die} * g.blocks_per_plane;
    const std::int64_t pages = blocks * (g.pages_per_block + pages_twice);
    return (pages * (array + bus(spare_bytes(g), true)) + blocks * (array + bus(g.page_bytes, false))) * reads +
           static_cast<std::int64_t>(g.pages() + g.blocks() + std::uint64_t{g.blocks()} * pages_twice) * page_time;
}

}  // namespace ssdtlm
