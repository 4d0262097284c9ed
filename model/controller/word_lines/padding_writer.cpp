// SPDX-License-Identifier: Apache-2.0
#include "controller/word_lines/padding_writer.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

PaddingWriter::PaddingWriter(const FirmwareConfig& costs, const Peers& peers)
    : costs_(costs),
      geometry_(peers.ftl.geometry()),
      peers_(peers),
      lines_(*peers.ftl.feature<OpenWordLines>()),
      jobs_(peers.jobs) {
    peers_.guard.on_change([this] { look(); });
}

/// Called within the steps of others. It decides afterwards, when they have done their work.
void PaddingWriter::look() {
    if (posted_ || peers_.guard.held() == 0) return;
    posted_ = true;
    peers_.agenda.post(peers_.agenda.now(), Then::to<&PaddingWriter::decide>(this));
}

void PaddingWriter::decide() {
    posted_ = false;
    if (issuing_ != 0 || pages_ != 0) return;  // their end looks again
    std::vector<SuperblockId> chosen;
    for (const auto& [b, open] : peers_.guard.open())
        if (closes(SuperblockId{b}, open)) chosen.push_back(SuperblockId{b});
    issuing_ = static_cast<std::uint32_t>(chosen.size());
    for (const SuperblockId b : chosen)
        peers_.cores.run(idx(peers_.ftl.shape().group_of(b)), costs_.flash_issue, CoreStep::padding_issue,
                         Then::to<&PaddingWriter::issue>(this, idx(b)));
}

bool PaddingWriter::closes(SuperblockId b, const WordLineGuard::Open& open) const {
    return open.under_way == 0 && !open.held.empty() && lines_.is_quiet(b) && is_wanted(b, open);
}

bool PaddingWriter::is_wanted(SuperblockId b, const WordLineGuard::Open& open) const {
    if (drains_ || peers_.gc.any_erase_waits()) return true;
    const GroupId group = peers_.ftl.shape().group_of(b);
    for (const FlashTransaction* const lower : open.held) {
        const ProgramJob& job = WordLineGuard::job_of(*lower);
        if (job.by != nullptr && job.by->is_awaited(job, peers_.guard.held_of(*job.by))) return true;
    }
    const std::uint32_t of_gc = peers_.guard.held_of(peers_.gc, group);
    return peers_.ftl.superblock(b).state == BlockState::open_gc && of_gc != 0 &&
           peers_.gc.waits_for_programs(group, of_gc);
}

// It takes a row at a time, so that it can become one multi-plane operation.
void PaddingWriter::issue(std::uint64_t superblock) {
    const SuperblockId b{static_cast<std::uint32_t>(superblock)};
    --issuing_;
    const auto open = peers_.guard.open().find(idx(b));
    std::uint32_t lower = 0;
    bool any = false;
    if (open != peers_.guard.open().end())
        for (const FlashTransaction* t : open->second.held) {
            any = true;
            lower = std::max(lower, t->address.page);
        }
    while (any && lines_.is_missing(b, lower)) {
        submit(lines_.take(b));
        const std::uint32_t handed_out = peers_.ftl.superblock(b).write_pointer;
        if (peers_.ftl.shape().plane_in_group(handed_out) == 0) peers_.writer.hand_over();
    }
    look();
}

void PaddingWriter::submit(const OpenWordLines::Page& page) {
    ProgramJob& job = jobs_.acquire();
    // In the class of its neighbours: pages of a block go to the die in their order.
    const FlashClass cls = page.of_host ? FlashClass::host_write : FlashClass::gc_write;
    peers_.writer.set_up(job, {page.at, cls, FlashCause::padding, page.record}, CoreStep::padding_done,
                         Then::to<&PaddingWriter::program_done>(this, job));
    peers_.writer.add_whole(job);
    ++pages_;
}

/// Its superblock may be a candidate now.
void PaddingWriter::program_done(ProgramJob& job) {
    const PageAddress at = job.txn.address;
    lines_.programmed({at, job.txn.record, job.txn.cls == FlashClass::host_write});
    jobs_.release(job);
    --pages_;
    peers_.gc.check(at.plane);
    peers_.wait_queues.pages_changed();
    look();
}

void PaddingWriter::check_waiters() const {
    if (posted_ || issuing_ != 0 || pages_ != 0) return;
    for (const auto& [b, open] : peers_.guard.open())
        if (closes(SuperblockId{b}, open))
            throw CheckFailed("word lines: somebody waits for lower pages of superblock " + std::to_string(b) +
                              ", and nobody closes their word lines");
}

std::string PaddingWriter::dump() const {
    return peers_.guard.dump() +
           (pages_ != 0 ? "word lines: " + std::to_string(pages_) + " pages of padding being programmed\n" : "");
}

}  // namespace ssdtlm
