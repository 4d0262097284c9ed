// SPDX-License-Identifier: Apache-2.0
#include "controller/slc/slc_feature.h"

#include "controller/ftl/ftl.h"
#include "controller/slc/slc_recovery.h"

namespace ssdtlm {

namespace {
class SlcKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return config_.slc.any(); }
    FeatureNeeds needs() const override { return {config_.slc.blocks, config_.slc.dynamic_blocks != 0, 0, true}; }
    void check(std::vector<Problem>& out) const override {
        const std::pair<const char*, std::uint32_t> keys[] = {{"slc.blocks", config_.slc.blocks},
                                                              {"slc.dynamic_blocks", config_.slc.dynamic_blocks}};
        for (const auto& [key, blocks] : keys) {
            if (blocks != 0 && config_.stream_frontiers != 0)
                out.push_back({"ftl.stream_frontiers",
                               std::to_string(config_.stream_frontiers) +
                                   " streams with superblocks of their own, with " + key + " = " +
                                   std::to_string(blocks),
                               "0 with an SLC cache, which takes the pages of all streams", "set one of the two to 0"});
            if (blocks != 0 && (geometry_.bits_per_cell < 2 || geometry_.slc_pages_per_block() == 0))
                out.push_back({key,
                               std::to_string(blocks) + " blocks for an SLC cache, with " +
                                   std::to_string(geometry_.bits_per_cell) + " bits per cell and " +
                                   std::to_string(geometry_.pages_per_block) + " pages per block",
                               "cells of 2 bits or more and a page for each", "set " + std::string(key) + " = 0"});
        }
    }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<SlcFeature>(setup);
    }
};
}  // namespace

std::unique_ptr<FtlFeatureKind> SlcFeature::kind(const FeatureSite& site) {
    return std::make_unique<SlcKind>(site);
}

SlcFeature::SlcFeature(const FeatureSetup& setup)
    : in_(setup),
      cache_(setup.ftl.config(), setup.ftl.geometry(), setup.ftl.shape(), setup.blocks),
      pace_(setup.ftl.shape(), setup.ftl.config().slc.fold_rate_percent, setup.ftl.config().gc_max_inflight_pages,
            [this](GroupId group, bool folds) { return (folds || wants(group, false)) && is_short(group); }),
      folded_last_(setup.ftl.shape().groups()) {
    SSDTLM_CHECK(in_.own.stream == kSlcStream, "the SLC cache is not the first feature");
    in_.slc = cache_.region();
    in_.host_partitions.push_back(this);
    in_.events.listen(*this, {FtlEvent::page_ended});
    in_.victims.add(*this, VictimTurn::out_of_turn);
    in_.victims.add(last_resort_, VictimTurn::last);
}

/// Free ones are few, and a dynamic superblock gives one back. What is moved takes one more at most.
bool SlcFeature::must_fold(GroupId group) const {
    return cache_.sealed_dynamic(group) != 0 && in_.ftl.gc_soft(group) && in_.blocks.free_blocks(group) != 0;
}

bool SlcFeature::is_short(GroupId group) const {
    const SlcConfig& config = in_.ftl.config().slc;
    return cache_.free_blocks(group) < config.fold_free_blocks ||
           (config.dynamic_blocks != 0 && in_.ftl.gc_soft(group));
}

bool SlcFeature::wants(GroupId group, bool idle) const {
    if (in_.ftl.media().read_only || cache_.sealed_blocks(group) == 0) return false;
    if (must_fold(group)) return true;
    if (in_.ftl.gc_hard(group)) return false;
    // What the host has written again meanwhile costs nothing to be rid of.
    const std::uint32_t free = cache_.free_blocks(group);
    return idle || free < in_.ftl.config().slc.fold_free_blocks || (free == 0 && cache_.valid_in_oldest(group) == 0);
}

SuperblockId SlcFeature::take(GroupId group, bool idle) {
    std::uint8_t& last = folded_last_[idx(group)];
    const bool others_wait = last && in_.ftl.gc_soft(group);
    last = !others_wait && wants(group, idle);
    if (!last) return kNoSuperblock;
    const SuperblockId b = cache_.oldest(group, must_fold(group));
    cache_.take(b);
    return b;
}

SuperblockId SlcFeature::LastResort::take(GroupId group, bool idle) {
    return slc_.must_fold(group) ? slc_.take(group, idle) : kNoSuperblock;
}

void SlcFeature::chosen(GroupId, SuperblockId victim, const VictimSource& by) {
    if (!by.is_counted() || !owns(victim)) return;
    in_.counters.slc_victims += in_.ftl.shape().planes();
    in_.counters.slc_units_folded += in_.blocks[victim].valid;
}

void SlcFeature::found_pages(const FoundSuperblocks& found) {
    SlcRecovery(cache_, in_.blocks, in_.ftl.shape(), found.flash, found.last_of).from_pages(found.used);
}

void SlcFeature::found_records(const FoundSuperblocks& found, std::vector<std::vector<SuperblockId>>& free) {
    SlcRecovery(cache_, in_.blocks, in_.ftl.shape(), found.flash, found.last_of).from_records(free);
}

void SlcFeature::state(Snapshot& s) {
    cache_.state(s);
    s.fixed(folded_last_);
    for (const std::uint8_t last : folded_last_) s.require(last <= 1, "neither yes nor no");
}

}  // namespace ssdtlm
