// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/ftl.h"

#include <utility>

#include "controller/ftl/ftl_check.h"

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
      needs_(needs_of(config_, geometry_)),
      mapping_(mapping_of(config_, geometry_)),
      shape_(geometry, config.superblock, row_sequence(config.allocation, geometry, config.superblock),
             config.parity != Parity::none),
      spare_(spare),
      seed_(seed),
      logical_units_(logical_units_of(config, geometry)),
      own_units_(static_cast<std::uint32_t>(needs_.own_units(logical_units_))),
      codec_(logical_units_ + own_units_),
      blocks_(shape_, config.gc_hard_free_blocks, config.spare_blocks, config.free_blocks == FreeBlocks::by_wear,
              set_apart_blocks(config, geometry) + needs_.apart, mapping_->streams(),
              config.gc_frontier == GcFrontier::shared),
      policy_(VictimPolicies::instance().make("gc.policy", config.gc_policy,
                                              {shape_, needs_.reclaim_units(geometry, shape_.planes()), seed},
                                              config.gc_policies)),
      books_(geometry_, shape_, logical_units_, logical_units_ + own_units_, blocks_, *policy_),
      rows_(row_sequence(config.allocation, geometry, config.superblock)),
      partitions_(mapping_->static_dimensions(), rows_, geometry, shape_, config.stream_frontiers,
                  NvmSets(config.nvm_sets, geometry), logical_units_),
      load_(shape_),
      victims_(shape_, blocks_, counters_),
      open_room_(config_, geometry_, shape_, spare_, blocks_),
      begun_(shape_.groups()),
      failed_victims_(inside_, open_room_),
      scarce_victims_(inside_, open_room_),
      policy_victims_(inside_, open_room_),
      gc_stream_(shape_.groups()),
      notes_(make_notes({*this, books_, blocks_, counters_, open_room_})),
      placement_(mapping_->place({*this, blocks_, counters_})),
      set_traffic_(NvmSets(config.nvm_sets, geometry), logical_units_) {
    SSDTLM_CHECK((placement_ != nullptr) == mapping_->places_by_blocks(),
                 "ftl.mapping = " + config.mapping + ": places_by_blocks() and place() do not agree");
    SSDTLM_CHECK(placement_ == nullptr || own_units_ == 0,
                 "ftl.mapping = " + config.mapping + ": a mapping by blocks has no translation pages");
    victims_.add(failed_victims_, VictimTurn::failed);
    victims_.add(begun_, VictimTurn::begun);
    victims_.add(scarce_victims_, VictimTurn::scarce);
    victims_.add(policy_victims_, VictimTurn::by_policy);
    if (config_.placement == Placement::first_idle) load_.count(events_);
    if (set_traffic_.any()) events_.listen(set_traffic_, {FtlEvent::unit_superseded, FtlEvent::page_ended});
    features_ = features_of(inside_);
    if (spare.any_marked_bad()) leave_out_marked();
}

std::uint32_t Ftl::take_host_pages(GroupId group, std::uint32_t most, PageAddress* out, std::uint32_t stream) {
    const std::uint32_t from = blocks_.write_pointer(group, BlockState::open_host, stream), left = row_left(from);
    // A row that was begun beside a partition is completed first.
    const bool one_frontier = config_.gc_frontier == GcFrontier::shared;
    if (__builtin_expect(!host_partitions_.empty(), 0) && (left == shape_.planes() || one_frontier))
        if (HostPartition* const p = partition_for(group)) return take_pages_of(*p, group, most, out);
    const std::uint32_t n = std::min(most, left);
    for (std::uint32_t i = 0; i < n; ++i) out[i] = blocks_.allocate_host(group, stream);
    // A superblock that was opened leaves fewer free ones for the other streams.
    if (blocks_.write_pointer(group, BlockState::open_host, stream) == 0 ||
        __builtin_expect(from == 0 && (partitions_.streams() != 0 || one_frontier), 0))
        update_able(group);
    if (shape_.planes() != 1 && __builtin_expect(!one_frontier, 1))
        partitions_.cursor(group, stream).set_ragged(group, n != left);
    counters_.host_pages_allocated += n;
    events_.pages_handed_out();
    return n;
}

std::uint32_t Ftl::take_pages_of(HostPartition& partition, GroupId group, std::uint32_t most, PageAddress* out) {
    const std::uint32_t from = partition.write_pointer(group), left = row_left(from), n = std::min(most, left);
    for (std::uint32_t i = 0; i < n; ++i) out[i] = partition.allocate(group);
    if (from + n == partition.pages()) update_able(group);
    if (shape_.planes() != 1) partitions_.cursor(group, 0).set_ragged(group, n != left);
    counters_.host_pages_allocated += n;
    return n;
}

std::uint32_t Ftl::units_of(SuperblockId b) const {
    const HostPartition* const p = owner(b);
    return p != nullptr ? p->pages() * geometry_.units_per_page() : shape_.data_units();
}

void Ftl::host_page_programmed(const PageAddress& a) {
    ++counters_.host_pages;
    page_ended(a, PageEnd::programmed);
}

void Ftl::gc_page_programmed(const PageAddress& a) {
    ++counters_.gc_pages;
    page_ended(a, PageEnd::programmed);
}

SuperblockId Ftl::select_victim(GroupId group, bool idle) {
    const SuperblockId victim = victims_.select(group, idle);
    // Without a free block there is room behind stream 0 only, if at all (victims/open_room.h); the last one is for
    // stream 0, as pages of the journal are.
    if (__builtin_expect(partitions_.streams() != 0, 0) && victim != kNoSuperblock)
        gc_stream_[idx(group)] =
            static_cast<std::uint8_t>(blocks_.free_blocks(group) <= 1 ? 0 : host_stream_of(blocks_[victim].stream));
    return victim;
}

PageAddress Ftl::allocate_gc_page(GroupId group, std::uint32_t stream) {
    const bool opens = blocks_.write_pointer(group, BlockState::open_gc, stream) == 0;
    PageAddress a = blocks_.allocate_gc(group, stream);
    while (__builtin_expect(spare_.next_page(geometry_.block_of(a)) > a.page, 0)) a = skip_programmed(a);
    const bool fills =
        config_.gc_frontier == GcFrontier::shared && blocks_.write_pointer(group, BlockState::open_gc, stream) == 0;
    if (opens || fills) update_able(group);
    events_.pages_handed_out();
    return a;
}

/// Where planes differ in what was programmed before the power went.
PageAddress Ftl::skip_programmed(const PageAddress& a) {
    blocks_.page_programmed(shape_.superblock_of(geometry_.block_of(a)));
    return blocks_.allocate_gc(shape_.group_of(a.plane));
}

PageAddress Ftl::allocate_cold_page(GroupId group) {
    const bool opens = blocks_.write_pointer(group, BlockState::open_cold) == 0;
    const PageAddress a = blocks_.allocate_cold(group);
    if (opens) update_able(group);
    events_.pages_handed_out();
    return a;
}

SuperblockId Ftl::let_go_copy(Ppa old) {
    if (__builtin_expect(!books_.entries().is_copy(old), 0))
        return old == kUnmapped ? kNoSuperblock : notes_->let_go(old);
    return books_.let_go(shape_.superblock_of(old));
}

std::uint32_t Ftl::trim(Lpa first, std::uint32_t units) {
    const auto is_gone = [&](std::uint32_t i) {
        return books_.entries().is_deallocated(books_.entry(Lpa{idx(first) + i}));
    };
    std::uint32_t from = 0, end = units;
    while (from != end && is_gone(from)) ++from;
    while (end != from && is_gone(end - 1)) --end;
    if (from == end) return 0;
    // One entry serves all: a unit in between that was never written had no copy either.
    notes_->take(Lpa{idx(first) + from}, end - from, false);
    const std::uint64_t before = books_.mapped_units();
    for (std::uint32_t i = from; i != end; ++i)
        if (!is_gone(i)) notes_->point_to(Lpa{idx(first) + i}, false);
    counters_.trims += before - books_.mapped_units();
    return static_cast<std::uint32_t>(before - books_.mapped_units());
}

SuperblockId Ftl::hand_over_copy(Ppa old) {
    notes_->hand_over(old);
    return let_go_copy(old);
}

bool Ftl::commit_move(Lpa lpa, Ppa from, Ppa to) {
    if (books_.entry(lpa) != from) {
        ++counters_.gc_units_stale;
        return false;
    }
    books_.exchange(lpa, to);
    books_.invalidate(from);
    books_.validate(to);
    ++counters_.gc_units_moved;
    counters_.gc_own_units += is_own(lpa);
    return true;
}

void Ftl::seal(SuperblockId b) {
    events_.superblock_sealed(b);
    if (HostPartition* const p = owner(b)) return p->sealed(b);
    if (__builtin_expect(placement_ != nullptr, 0) && blocks_[b].stream != kGcStream) return placement_->sealed(b);
    policy_->sealed(b, blocks_[b].valid, counters_.host_units);
}

void Ftl::superblock_erased(SuperblockId victim) {
    if (HostPartition* const p = owner(victim))
        p->erased(victim);
    else
        blocks_.erased(victim);
    events_.superblock_erased(victim);
    counters_.blocks_erased += shape_.planes();
    const GroupId group = shape_.group_of(victim);
    update_able(group);
}

FeatureCounters Ftl::feature_counters() const {
    FeatureCounters all;
    for (const auto& feature : features_) add_counters(all, feature->counters());
    return all;
}

FtlImage Ftl::image() {
    return {books_.image(), partitions_, rows_,  *policy_,  victims_,         begun_,          gc_stream_,
            media_,         counters_,   spare_, features_, placement_.get(), host_partitions_};
}

void Ftl::go_on_from(const FtlCounters& earlier, const std::vector<SetCounts>& sets, const MediaHealth& health) {
    counters_ = earlier;
    set_traffic_.go_on_from(sets);
    media_.program_failures = health.program_failures;
    media_.erase_failures = health.erase_failures;
    media_.units_lost = health.units_lost;
}

}  // namespace ssdtlm
