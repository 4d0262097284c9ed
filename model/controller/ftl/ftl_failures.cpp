// SPDX-License-Identifier: Apache-2.0
// Failed programs and erases, and units that cannot be read any more.
#include "controller/ftl/ftl.h"

namespace ssdtlm {

/// As a table from the factory says; spare ones, which are the last of a group, first, and last those that are set
/// apart.
void Ftl::leave_out_marked() {
    for (const bool set_apart : {false, true})
        for (std::uint32_t n = shape_.superblocks(); n-- != 0;) {
            const SuperblockId b{n};
            if ((blocks_[b].state == BlockState::set_apart) != set_apart ||
                !shape_.any_block(b, [this](BlockId block) { return spare_.is_marked_bad(block); }))
                continue;
            SSDTLM_CHECK(blocks_.leave_out(b), "more blocks that the factory has marked than spare ones");
            if (HostPartition* const p = owner(b)) p->left_out(b);
            if (!set_apart) continue;
            for (const auto& feature : features_) feature->set_apart_left_out(b);
        }
    for (std::uint32_t g = 0; g < shape_.groups(); ++g) update_able(GroupId{g});
}

bool Ftl::finds_reason(GroupId group) const {
    return !media_.read_only && (gc_soft(group) || blocks_.failed_of(group, placement_ != nullptr) != kNoSuperblock);
}

void Ftl::host_page_failed(const PageAddress& a) {
    ++counters_.host_pages;
    page_ended(a, PageEnd::failed);
}

void Ftl::gc_page_failed(const PageAddress& a) {
    ++counters_.gc_pages;
    page_ended(a, PageEnd::failed);
}

/// The superblock of a page whose program has failed takes no more pages.
void Ftl::close_failed(const PageAddress& a) {
    const SuperblockId b = shape_.superblock_of(geometry_.block_of(a));
    const GroupId group = shape_.group_of(b);
    ++media_.program_failures;
    HostPartition* const p = owner(b);
    const std::uint32_t stream = host_stream_of(blocks_[b].stream);
    const bool was_open =
        (p != nullptr ? p->open_block(group) : blocks_.open_block(group, BlockState::open_host, stream)) == b;
    if (blocks_.fail(b)) {
        if (p != nullptr) p->lost(b);
        if (placement_ != nullptr)
            placement_->failed(b);
        else if (was_open && shape_.planes() != 1)
            partitions_.cursor(group, stream).set_ragged(group, false);
        replace(b);
    }
}

/// It is lost to its group.
void Ftl::replace(SuperblockId failed) {
    const GroupId group = shape_.group_of(failed);
    notes_->failed(failed);
    media_.blocks_retired += shape_.planes();
    const HostPartition* const p = owner(failed);
    if ((p != nullptr && !p->is_replaced(failed)) || blocks_.add_spare(group)) {
        update_spare();
        update_able(group);
        if (media_changed_) media_changed_();
    } else {
        become_read_only();
    }
}

void Ftl::update_spare() {
    media_.available_spare = static_cast<std::uint8_t>(blocks_.spares_left());
}

void Ftl::become_read_only() {
    // Nothing is collected any more, so what is left may take what the buffer holds.
    media_.read_only = true;
    media_.available_spare = 0;
    if (placement_ != nullptr) placement_->refuse_merges();
    blocks_.give_up_reserve();
    for (std::uint32_t g = 0; g < shape_.groups(); ++g) update_able(GroupId{g});
    if (media_changed_) media_changed_();
    notes_->look_again();
}

void Ftl::refuse_writes() {
    if (!media_.read_only) become_read_only();
}

void Ftl::unmap_failed(Lpa lpa, Ppa at) {
    if (books_.exchange(lpa, books_.entries().note(kDetachedNote, false)) != at)
        books_.refuse(at, "not where the unit of a failed program was mapped");
    books_.invalidate(at);
}

void Ftl::map_again(Lpa lpa, Ppa to) {
    if (books_.exchange(lpa, to) != books_.entries().note(kDetachedNote, false))
        books_.refuse(to, "given to a unit that is mapped elsewhere");
    books_.validate(to);
}

void Ftl::superblock_not_erased(SuperblockId victim) {
    ++media_.erase_failures;
    counters_.blocks_erased += shape_.planes();
    blocks_.retire(victim);
    if (HostPartition* const p = owner(victim)) p->lost(victim);
    replace(victim);
}

void Ftl::superblock_emptied(SuperblockId victim) {
    blocks_.retire(victim);
    const GroupId group = shape_.group_of(victim);
    update_able(group);
}

void Ftl::lose(Lpa lpa) {
    if (lookup(lpa) == kLost) return;
    notes_->take(lpa, 1, true);
    notes_->point_to(lpa, true);
    ++media_.units_lost;
}

bool Ftl::lose_copy(Ppa at) {
    if (!books_.is_valid(at)) return false;
    lose(codec_.lpa(spare_.at(at)));
    return true;
}

}  // namespace ssdtlm
