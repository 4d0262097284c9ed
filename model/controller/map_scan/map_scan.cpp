// SPDX-License-Identifier: Apache-2.0
#include "controller/map_scan/map_scan.h"

#include <algorithm>
#include <utility>

#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {

namespace {
/// What has to come out of a page to know what it is; a device without a spare area keeps that with the data.
std::uint32_t spare_bytes(const NandGeometry& g) { return std::clamp<std::uint32_t>(g.spare_bytes, 1, g.page_bytes); }
}  // namespace

MapScan::MapScan(const NandGeometry& geometry, const SpareArea& spare, FlashPort& flash, std::uint32_t reads_per_die)
    : geometry_(geometry),
      spare_(spare),
      flash_(flash),
      reads_per_die_(reads_per_die),
      next_block_(geometry.dies()),
      readers_(std::size_t{geometry.dies()} * reads_per_die) {}

void MapScan::start(std::function<void()> done) {
    done_ = std::move(done);
    for (std::uint32_t i = 0; i < readers_.size(); ++i) {
        Reader& r = readers_[i];
        r.txn.op = FlashOp::read;
        r.txn.cls = FlashClass::mapping_read;
        r.txn.die = DieId{i / reads_per_die_};
        r.txn.client = this;
        r.txn.cookie = i;
        if (!next_block(r)) continue;
        ++at_work_;
        read(r, false);
    }
}

/// False: all blocks of the die are somebody's.
bool MapScan::next_block(Reader& r) {
    const std::uint32_t block = next_block_[idx(r.txn.die)];
    if (block == geometry_.planes_per_die * geometry_.blocks_per_plane) return false;
    ++next_block_[idx(r.txn.die)];
    r.txn.address = PageAddress{PlaneId{idx(r.txn.die) * geometry_.planes_per_die + block % geometry_.planes_per_die},
                                block / geometry_.planes_per_die, 0};
    return true;
}

void MapScan::read(Reader& r, bool whole) {
    r.whole = whole;
    r.txn.path = nullptr;
    r.txn.data_bytes = whole ? geometry_.page_bytes : spare_bytes(geometry_);
    flash_.submit(r.txn);
}

void MapScan::flash_done(FlashTransaction& txn) {
    ++reads_;
    go_on(readers_[txn.cookie]);
}

void MapScan::go_on(Reader& r) {
    PageAddress& page = r.txn.address;
    const bool readable = r.txn.status.result == FlashResult::ok;
    const bool ends = readable && r.txn.spare[0] == kErased;  // behind a torn page there may be others
    if (!ends && readable && !r.whole && spare_.content(page) != nullptr) return read(r, true);
    if ((!ends && ++page.page != geometry_.pages_per_block) || next_block(r)) return read(r, false);
    if (--at_work_ != 0) return;
    const std::function<void()> done = std::move(done_);
    done();
}

std::string MapScan::dump() const {
    return over() ? "" : "search for the map: " + std::to_string(reads_) + " pages read, " + std::to_string(at_work_) + " blocks being read\n";
}

Ps MapScan::longest(const NandConfig& nand, Ps decode_time, std::uint32_t reads) {
    const NandGeometry& g = nand.geometry;
    const OnfiBusTiming timing(nand);
    const Ps command = timing.issue(FlashOp::read, 1) + timing.select() + timing.turnaround();
    const auto bus = [&](std::uint32_t bytes) { return (command + timing.burst(bytes).out) * g.dies_per_channel(); };
    const Ps array = timing.busy_delay() + *std::max_element(nand.t_read.begin(), nand.t_read.end()) + decode_time;
    const std::int64_t blocks = std::int64_t{g.planes_per_die} * g.blocks_per_plane;
    return (blocks * g.pages_per_block * (array + bus(spare_bytes(g))) + blocks * (array + bus(g.page_bytes))) * reads;
}

}  // namespace ssdtlm
