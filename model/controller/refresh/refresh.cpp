// SPDX-License-Identifier: Apache-2.0
#include "controller/refresh/refresh.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "controller/ftl/ftl.h"

namespace ssdtlm {

namespace {
class RefreshKind final : public FtlFeatureKind {
public:
    using FtlFeatureKind::FtlFeatureKind;
    bool is_wanted() const override { return config_.refresh_reads != 0 || config_.most_looks() != 0; }
    std::unique_ptr<FtlFeature> make(const FeatureSetup& setup) const override {
        return std::make_unique<Refresh>(setup);
    }
};
}  // namespace

std::unique_ptr<FtlFeatureKind> Refresh::kind(const FeatureSite& site) {
    return std::make_unique<RefreshKind>(site);
}

Refresh::Refresh(const FeatureSetup& setup) : in_(setup), queue_(setup.ftl.shape(), setup.blocks) {
    const FtlConfig& config = in_.ftl.config();
    const SuperblockShape& shape = in_.ftl.shape();
    if (config.refresh_reads != 0) reads_.emplace(config.refresh_reads, shape);
    if (config.most_looks() != 0) ages_.emplace(config.most_looks(), shape.superblocks());
    in_.events.listen(*this, {FtlEvent::superblock_erased});
    if (ages_) in_.events.listen(*this, {FtlEvent::page_drawn});
    in_.victims.add(*this, VictimTurn::out_of_turn);
}

void Refresh::page_read(BlockId block) {
    if (!reads_->read(block)) return;
    const SuperblockId b = in_.ftl.shape().superblock_of(block);
    if (queue_.want(b)) in_.victims.due(in_.ftl.shape().group_of(b));
}

void Refresh::look_at_ages() {
    std::vector<SuperblockId> due;
    ages_->look(in_.blocks, due);
    for (const SuperblockId b : due)
        if (queue_.want(b)) ++in_.counters.aged_superblocks;
    // Where the work takes no time, the first of them may be moved within.
    for (std::uint32_t g = 0; !due.empty() && g < in_.ftl.shape().groups(); ++g)
        if (queue_.wanted(GroupId{g})) in_.victims.due(GroupId{g});
}

void Refresh::start_ages(bool written_now) {
    // They are ordered by the number of the first page. Superblocks that were laid out have none; they come from all
    // groups in turn.
    const SuperblockShape& shape = in_.ftl.shape();
    std::vector<std::tuple<std::uint64_t, std::uint32_t, SuperblockId>> held;
    for (std::uint32_t i = 0; i < shape.superblocks(); ++i) {
        const SuperblockId b{i};
        const BlockRecord& r = in_.blocks[b];
        if (r.write_pointer == 0 || r.state == BlockState::set_apart || r.state == BlockState::retired) continue;
        const PageAddress first = shape.page(b, 0);
        held.emplace_back(in_.ftl.flash().record(first).number, first.block, b);
    }
    std::sort(held.begin(), held.end());
    std::vector<SuperblockId> in_order;
    for (const auto& of_one : held) in_order.push_back(std::get<SuperblockId>(of_one));
    written_now ? ages_->begin_anew(in_order) : ages_->spread(in_order);
}

void Refresh::superblock_erased(SuperblockId b) {
    if (reads_) reads_->erased(b);
    if (ages_) ages_->erased(b);
}

bool Refresh::wants(GroupId group, bool) const {
    return queue_.wanted(group) && !in_.ftl.gc_hard(group) && !in_.ftl.media().read_only;
}

SuperblockId Refresh::take(GroupId group, bool idle) {
    const bool others_wait = queue_.took_last(group) && in_.ftl.gc_soft(group);
    if (others_wait || !wants(group, idle)) return kNoSuperblock;
    const SuperblockId b = queue_.take(group);
    in_.policy.removed(b);
    in_.counters.refresh_victims += in_.ftl.shape().planes();
    in_.counters.refresh_units += in_.blocks[b].valid;
    return b;
}

void Refresh::chosen(GroupId group, SuperblockId victim, const VictimSource& by) {
    if (&by != this) queue_.other(group, victim);
}

void Refresh::state(Snapshot& s) {
    queue_.state(s);
    if (reads_) reads_->state(s);
    if (ages_) ages_->state(s);
}

}  // namespace ssdtlm
