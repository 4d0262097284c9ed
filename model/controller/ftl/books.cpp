// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/books.h"

#include <string>

namespace ssdtlm {

/// A unit is mapped if it has a copy, or had one that cannot be read.
void Books::count(Lpa lpa, Ppa old, Ppa to) {
    if (idx(lpa) >= host_units_) return;
    const auto is_lost = [this](Ppa e) { return entries_.is_note(e) && entries_.says_lost(e); };
    const auto is_mapped = [&](Ppa e) { return entries_.is_copy(e) || is_lost(e); };
    mapped_units_ += is_mapped(to);
    mapped_units_ -= is_mapped(old);
    lost_units_ += is_lost(to);
    lost_units_ -= is_lost(old);
}

bool Books::next_valid_page(SuperblockId victim, std::uint32_t& page, std::uint32_t& slot_mask) const {
    if (page >= shape_.pages() || blocks_[victim].valid == 0) return false;
    const std::uint32_t per_page = geometry_.units_per_page(), per_block = geometry_.units_per_block();
    const std::uint32_t row = shape_.row_of(page), in_row = shape_.plane_in_group(page);
    std::uint32_t next = shape_.pages();
    for (std::uint32_t k = 0; k < shape_.planes(); ++k) {
        const std::uint32_t i = in_row + k < shape_.planes() ? in_row + k : in_row + k - shape_.planes();
        const std::uint32_t first = idx(shape_.block(victim, i)) * per_block;
        const std::uint32_t from = first + (row + (i < in_row ? 1 : 0)) * per_page, end = first + per_block;
        const std::uint32_t found = from < end ? valid_.find(from, end) : end;
        if (found == end) continue;
        const std::uint32_t found_row = (found - first) / per_page, n = found_row * shape_.planes() + i;
        if (n >= next) continue;
        next = n;
        slot_mask = valid_.bits(first + found_row * per_page, per_page);
        if (found_row == row) break;  // none is nearer
    }
    if (next == shape_.pages()) return false;
    page = next;
    return true;
}

SuperblockId Books::let_go(SuperblockId b) {
    BlockRecord& r = blocks_[b];
    SSDTLM_CHECK(r.superseded > 0, "a newer copy is there that was not awaited");
    return --r.superseded == 0 ? b : kNoSuperblock;
}

void Books::refuse(Ppa p, const char* what) const {
    const PageAddress a = geometry_.page_of(p);
    const BlockRecord& r = blocks_[shape_.superblock_of(p)];
    panic("Ftl", "unit " + std::to_string(idx(p)) + " (plane " + std::to_string(idx(a.plane)) + ", block " +
                     std::to_string(a.block) + ", page " + std::to_string(a.page) + ", slot " +
                     std::to_string(geometry_.slot_of(p)) + ") is " + what + "; its superblock is " + name_of(r.state) +
                     ", " + std::to_string(r.valid) + " units valid, " + std::to_string(r.write_pointer) +
                     " pages handed out, " + std::to_string(r.programs) + " programs running");
}

}  // namespace ssdtlm
