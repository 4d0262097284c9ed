// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/die_tracker.h"

#include <algorithm>

namespace ssdtlm {

DieTracker::DieTracker(const NandConfig& nand, std::uint16_t channel, bool joins)
    : independent_plane_read_(nand.independent_plane_read),
      planes_(nand.geometry.planes_per_die),
      row_(joins ? planes_ : 1),
      dies_(nand.geometry.dies_per_channel()) {
    SSDTLM_CHECK(dies_.size() <= kMaxDiesPerChannel, "more dies per channel than a grant query can name");
    ready_.channel = channel;
    ready_.idle_dies = ~std::uint64_t{0} >> (64 - dies_.size());
    if (independent_plane_read_)
        for (std::uint32_t p = 0; p < planes_; ++p) ready_.idle_read_planes[p] = ready_.idle_dies;
}

std::uint64_t DieTracker::dies_with_idle_plane() const {
    std::uint64_t dies = 0;
    for (const std::uint64_t planes : ready_.idle_read_planes) dies |= planes;
    return dies;
}

void DieTracker::occupy_planes(std::uint32_t die, const FlashTransaction& txn) {
    for (std::uint32_t p = 0; p < planes_; ++p)
        if (txn.op != FlashOp::read || p == txn.plane) ready_.idle_read_planes[p] &= ~bit(die);
}

/// The end of a read frees its own plane, because reads of other planes may still run beside it. The end of any other
/// operation frees all planes if nothing else runs.
void DieTracker::release_planes(std::uint32_t die, const FlashTransaction& txn) {
    if (txn.op == FlashOp::read) {
        ready_.idle_read_planes[txn.plane] |= bit(die);
    } else if (dies_[die].running == 0) {
        for (std::uint32_t p = 0; p < planes_; ++p) ready_.idle_read_planes[p] |= bit(die);
    }
}

/// Returns those of the dies for which nothing but programs waits.
std::uint64_t DieTracker::only_programs(std::uint64_t dies) const {
    std::uint64_t only = 0;
    for (; dies != 0; dies &= dies - 1)
        if (const Die& d = dies_[static_cast<std::size_t>(__builtin_ctzll(dies))]; d.waiting == d.programs)
            only |= dies & (~dies + 1);
    return only;
}

GrantQuery DieTracker::beside(std::uint64_t dies, ClassSet classes) const {
    GrantQuery query;
    query.channel = ready_.channel;
    query.classes = classes;
    for (std::uint32_t d = 0; d < dies_.size(); ++d) {
        if ((dies & suspended_ & bit(d)) == 0) continue;
        if (dies_[d].running == 0) query.idle_dies |= bit(d);
        for (std::uint32_t p = 0; p < planes_ && independent_plane_read_; ++p)
            if (dies_[d].active[p] == nullptr) query.idle_read_planes[p] |= bit(d);
    }
    return query;
}

bool DieTracker::anything_runs() const {
    return std::any_of(dies_.begin(), dies_.end(), [](const Die& d) { return d.running != 0; });
}

std::uint32_t DieTracker::waiting() const {
    std::uint32_t n = 0;
    for (const Die& d : dies_) n += d.waiting;
    return n;
}

std::string DieTracker::inconsistency() const {
    for (std::uint32_t d = 0; d < dies_.size(); ++d) {
        const Die& die = dies_[d];
        const auto active = static_cast<std::uint32_t>(std::count_if(
            die.active.begin(), die.active.end(), [](const FlashTransaction* t) { return t != nullptr; }));
        const bool is_free = die.running == 0 && (suspended_ & bit(d)) == 0;
        const auto behind = static_cast<std::uint32_t>(std::count_if(
            die.behind.begin(), die.behind.end(), [](const FlashTransaction* t) { return t != nullptr; }));
        if (behind != die.waits_behind || (behind != 0 && die.running == 0) || die.programs > die.waiting ||
            (die.register_free && (behind != 0 || die.running == 0 || (suspended_ & bit(d)) != 0)))
            return "die " + std::to_string(d) + " has " + std::to_string(behind) +
                   " pages in cache registers, but is counted with " + std::to_string(die.waits_behind) + ", " +
                   std::to_string(die.running) + " planes with work and its registers " +
                   (die.register_free ? "free" : "taken");
        if (active != die.running || is_free != idle(d) || (die.waiting == 0) != ((waiting_ & bit(d)) == 0))
            return "die " + std::to_string(d) + " has " + std::to_string(active) +
                   " planes with work, but is counted with " + std::to_string(die.running);
    }
    return {};
}

std::string DieTracker::dump(SimTime now) const {
    std::string text;
    for (std::size_t d = 0; d < dies_.size(); ++d) {
        const Die& die = dies_[d];
        if (die.waiting == 0 && die.running == 0) continue;
        text += "  die " + std::to_string(d) + ": waiting " + std::to_string(die.waiting);
        for (std::size_t p = 0; p < kMaxPlanes; ++p) {
            const FlashTransaction* txn = die.active[p];
            if (txn == nullptr) continue;
            text += "; plane " + std::to_string(p) + " " + onfi_operation(txn->op).name + " block " +
                    std::to_string(txn->address.block) + " page " + std::to_string(txn->address.page) + " since " +
                    std::to_string((now - txn->queued_at).count()) + " ps";
        }
        if (die.waits_behind != 0) text += "; " + std::to_string(die.waits_behind) + " pages in cache registers";
        text += "\n";
    }
    return text;
}

}  // namespace ssdtlm
