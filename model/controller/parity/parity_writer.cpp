// SPDX-License-Identifier: Apache-2.0
#include "controller/parity/parity_writer.h"

#include "common/report/error.h"

namespace ssdtlm {

std::unique_ptr<Organ> ParityWriter::make(const OrganPeers& peers) {
    auto* const parity = peers.ftl.feature<RowParity>();
    return parity != nullptr ? std::make_unique<ParityWriter>(peers, *parity) : nullptr;
}

ParityWriter::ParityWriter(const OrganPeers& peers, RowParity& parity)
    : geometry_(peers.ftl.geometry()), peers_(peers), parity_(parity), jobs_(peers.jobs) {
    parity_.on_due([this] { due(); });
}

/// Called within the step that completes a row. It begins afterwards, so that the row's data go first.
void ParityWriter::due() {
    if (asked_) return;
    asked_ = true;
    peers_.agenda.post(peers_.agenda.now(), Then::to<&ParityWriter::begin>(this));
}

// Steps of a die share a core, so that pages of a block are handed over in the order in which they were due.
void ParityWriter::begin() {
    asked_ = false;
    const std::uint32_t failed = parity_.take_due(due_);
    for (std::size_t next = 0; next != due_.size();) {
        const PageAddress first = due_[next].at;
        JobChain<ProgramJob> row;
        std::uint32_t pages = 0;
        for (; next != due_.size() && due_[next].at.block == first.block && due_[next].at.page == first.page;
             ++next, ++pages) {
            const RowParity::Page& page = due_[next];
            ProgramJob& job = jobs_.acquire();
            peers_.writer.set_up(job, {page.at, FlashClass::gc_write, FlashCause::parity, page.record},
                                 CoreStep::parity_done, Then::to<&ParityWriter::program_done>(this, job));
            row.add(job);
        }
        pages_ += pages;
        peers_.cores.run(idx(geometry_.die_of(first.plane)), std::uint64_t{peers_.costs.flash_issue} * pages,
                         CoreStep::parity_issue, Then::to<&ParityWriter::issue>(this, *row.first()));
    }
    if (failed == 0) return;
    peers_.gc.check_all();
    peers_.wait_queues.pages_changed();
}

void ParityWriter::issue(ProgramJob& row) {
    ProgramJob* job = &row;
    const bool has_failed = peers_.ftl.is_bad(peers_.ftl.shape().superblock_of(geometry_.block_of(job->txn.address)));
    while (job != nullptr) {
        ProgramJob& page = *job;
        job = next_of(page);  // the writer's from here on
        if (has_failed) {
            parity_.dropped(page.txn.address);
            ended(page);
        } else {
            peers_.writer.add_whole(page);
        }
    }
    peers_.writer.hand_over();
}

void ParityWriter::program_done(ProgramJob& job) {
    if (job.txn.status.result == FlashResult::ok)
        parity_.programmed(job.txn.address);
    else
        parity_.failed(job.txn.address);
    ended(job);
}

/// Its superblock may be a candidate now, or one to be emptied; and a shutdown may wait for this to end.
void ParityWriter::ended(ProgramJob& job) {
    const PlaneId plane = job.txn.address.plane;
    jobs_.release(job);
    --pages_;
    peers_.gc.check(plane);
    peers_.wait_queues.pages_changed();
}

void ParityWriter::check_waiters() const {
    if (parity_.any_due() && !asked_) throw CheckFailed("parity: pages are due, and nobody comes to program them");
}

std::string ParityWriter::dump() const {
    return "parity: " + std::to_string(pages_) + " pages being programmed" + (asked_ ? ", more are due\n" : "\n");
}

}  // namespace ssdtlm
