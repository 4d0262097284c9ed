// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/ftl.h"

#include <string>

#include "controller/ftl/ftl_check.h"
#include "controller/ftl/precondition.h"

namespace ssdtlm {

namespace {
/// Before any member is sized by them.
const FtlConfig& checked(const FtlConfig& config, const NandGeometry& geometry) {
    auto problems = check_ftl(config, geometry);
    if (!problems.empty()) throw UserError(std::move(problems));
    return config;
}
}  // namespace

Ftl::Ftl(const FtlConfig& config, const NandGeometry& geometry, SpareArea& spare, std::uint64_t seed)
    : config_(checked(config, geometry)),
      geometry_(geometry),
      spare_(spare),
      seed_(seed),
      logical_units_(logical_units_of(config, geometry)),
      codec_(logical_units_),
      block_of_(geometry.units_per_block()),
      map_(logical_units_, geometry),
      valid_(geometry.units()),
      blocks_(geometry, config.gc_hard_free_blocks),
      cursor_(plane_sequence(config.allocation, geometry)),
      policy_(make_victim_policy(config.gc_policy, {geometry, geometry.units_per_page(), seed})) {}

BlockId Ftl::select_victim(PlaneId plane) {
    const BlockId victim = policy_->select(plane, counters_.host_units);
    if (victim == kNoBlock) return kNoBlock;
    blocks_.make_victim(victim);
    ++counters_.victims;
    counters_.victim_valid_units += blocks_[victim].valid;
    return victim;
}

bool Ftl::next_valid_page(BlockId block, std::uint32_t& page, std::uint32_t& slot_mask) const {
    if (page >= geometry_.pages_per_block || blocks_[block].valid == 0) return false;
    const std::uint32_t per_page = geometry_.units_per_page();
    const std::uint32_t first = idx(block) * geometry_.units_per_block(), end = first + geometry_.units_per_block();
    const std::uint32_t found = valid_.find(first + page * per_page, end);
    if (found == end) return false;
    page = (found - first) / per_page;
    slot_mask = valid_.bits(first + page * per_page, per_page);
    return true;
}

void Ftl::block_erased(BlockId block) {
    blocks_.erased(block);
    ++counters_.blocks_erased;
    const PlaneId plane = geometry_.plane_of(block);
    cursor_.set_able(plane, blocks_.can_take_host_page(plane));
}

void Ftl::precondition() {
    Preconditioner(*this).run();
}

void Ftl::refuse(Ppa p, const char* what) const {
    const PageAddress a = geometry_.page_of(p);
    const BlockRecord& r = blocks_[geometry_.block_of(a)];
    panic("Ftl", "unit " + std::to_string(idx(p)) + " (plane " + std::to_string(idx(a.plane)) + ", block " +
                     std::to_string(a.block) + ", page " + std::to_string(a.page) + ", slot " +
                     std::to_string(geometry_.slot_of(p)) + ") is " + what + "; its block is " + name_of(r.state) +
                     ", " + std::to_string(r.valid) + " units valid, " + std::to_string(r.write_pointer) +
                     " pages handed out, " + std::to_string(r.programs) + " programs running");
}

}  // namespace ssdtlm
