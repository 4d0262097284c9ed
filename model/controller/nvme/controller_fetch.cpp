// SPDX-License-Identifier: Apache-2.0
// From the doorbell to the firmware: arbitration, SQE fetch, decode, PRP lists, DSM ranges.
#include <algorithm>

#include "controller/nvme/controller.h"

namespace ssdtlm {

using namespace nvme;

/// Precondition: a queue is ready.
void NvmeController::fetch() {
    std::uint16_t qid = 0;
    do {
        if (free_fetch_ < 0 || !registers_.is_running() || !arbiter_.next(qid)) return;
        SubmissionQueue& q = queues_.sq(qid);
        const std::uint64_t address = q.base + std::uint64_t{q.fetch} * kSqeBytes;
        const std::uint32_t waiting = q.waiting();
        const std::uint32_t room = config_.fetch_window - q.in_flight;
        std::uint32_t n = 1;
        if (waiting != 1) {
            const auto to_page_end = static_cast<std::uint32_t>((kPageBytes - (address & kPageMask)) / kSqeBytes);
            const std::uint32_t to_ring_end = q.entries - q.fetch;
            const std::uint32_t wanted = std::min(std::min(arbiter_.limit(), waiting), config_.fetch_burst);
            n = std::min(std::min(wanted, room), std::min(to_page_end, to_ring_end));
        }

        const std::int32_t index = free_fetch_;
        Fetch& f = fetches_[static_cast<std::uint32_t>(index)];
        free_fetch_ = f.next;
        f.issued = agenda_.now();
        f.qid = qid;
        f.arrived = false;
        f.first = q.fetch;
        f.next = -1;
        f.count = n;
        counters_.sqes += n;
        if (q.newest_fetch >= 0)
            fetches_[static_cast<std::uint32_t>(q.newest_fetch)].next = index;
        else
            q.oldest_fetch = index;
        q.newest_fetch = index;
        q.fetch = q.fetch + n == q.entries ? 0 : q.fetch + n;
        q.in_flight += n;
        arbiter_.took(n);
        if (n == waiting || n == room) arbiter_.set_ready(qid, false);
        ++counters_.fetches;
        const HostSegment segment{address, n * kSqeBytes};
        dma_.read_host(&segment, 1, reinterpret_cast<std::uint8_t*>(f.sqes.get()), this,
                       cookie(Dma::fetch, static_cast<std::uint32_t>(index)));
    } while (arbiter_.any());
}

inline __attribute__((always_inline)) void NvmeController::accept_io(std::uint16_t qid, SubmissionQueue& q, const Sqe& sqe,
                                                                     SimTime rung, SimTime issued) {
    Command& command = acquire_command();
    command.sqid = qid;
    command.cid = sqe.cid;
    const bool conflict = q.cid_in_use(sqe.cid);
    PrpWalk walk;
    const IoDecoder::Next next = decoder_.decode(sqe, conflict, command, walk);
    if (__builtin_expect(conflict, 0)) return accept_other(next, command, walk, sqe, conflict);
    q.take_cid(sqe.cid);
    Timeline& line = timeline(qid, sqe.cid);
    command.timeline = &line;
    line.charge(Stage::submit, rung);
    line.charge(Stage::arbitration, issued);
    line.charge(Stage::fetch, agenda_.now());
    if (__builtin_expect(next != IoDecoder::Next::submit, 0)) return accept_other(next, command, walk, sqe, conflict);
    hand_over(command);
}

/// A command that cannot go to the firmware as it is.
__attribute__((noinline)) void NvmeController::accept_other(IoDecoder::Next next, Command& command, const PrpWalk& walk,
                                                            const Sqe& sqe, bool conflict) {
    if (conflict) {
        // The identifier and its timeline belong to the older command.
        const std::uint16_t qid = command.sqid;
        const std::uint16_t status = command.status;
        ++counters_.refused;
        errors_.add(qid, sqe.cid, status, command.slba, sqe.nsid);
        release_command(command);
        post(qid, sqe.cid, status, 0);
        return;
    }
    switch (next) {
        case IoDecoder::Next::submit: hand_over(command); break;
        case IoDecoder::Next::prp_list: {
            const std::uint32_t index = acquire_list(&command, nullptr);
            lists_[index]->walk = walk;
            read_list(index);
            break;
        }
        case IoDecoder::Next::ranges: {
            const std::uint32_t index = acquire_list(&command, nullptr);
            make_segments(command.pages, static_cast<std::uint32_t>(command.bytes));
            ++counters_.list_reads;
            dma_.read_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()),
                           reinterpret_cast<std::uint8_t*>(lists_[index]->buffer.data()), this,
                           cookie(Dma::ranges, index));
            break;
        }
        case IoDecoder::Next::refused:
            ++counters_.refused;
            errors_.add(command.sqid, sqe.cid, command.status, command.slba, sqe.nsid);
            finish_io(command);
            break;
        case IoDecoder::Next::finished: finish_io(command); break;
    }
}

void NvmeController::fetch_arrived(std::uint32_t index) {
    fetches_[index].arrived = true;
    const std::uint16_t qid = fetches_[index].qid;
    SubmissionQueue& q = queues_.sq(qid);
    // A read that overtook an older one of its queue waits for it: SQHD must not pass a slot that is still unread.
    while (q.oldest_fetch >= 0 && fetches_[static_cast<std::uint32_t>(q.oldest_fetch)].arrived) {
        const std::int32_t oldest = q.oldest_fetch;
        Fetch& f = fetches_[static_cast<std::uint32_t>(oldest)];
        q.oldest_fetch = f.next;
        if (q.oldest_fetch < 0) q.newest_fetch = -1;
        const std::uint32_t end = f.first + f.count;
        q.head = end == q.entries ? 0 : end;
        if (serving()) {
            const Sqe* sqe = f.sqes.get();
            for (std::uint32_t slot = f.first; slot != end; ++slot, ++sqe) {
                if (qid != 0)
                    accept_io(qid, q, *sqe, q.rung_at(slot), f.issued);
                else
                    accept_admin(*sqe);
            }
        } else {
            q.in_flight -= f.count;
            counters_.dropped += f.count;
        }
        f.next = free_fetch_;
        free_fetch_ = oldest;
    }
    pump();
    settle();
}

void NvmeController::drop(Command& command) {
    SubmissionQueue& q = queues_.sq(command.sqid);
    q.free_cid(command.cid);
    --q.in_flight;
    ++counters_.dropped;
    release_command(command);
}

void NvmeController::read_list(std::uint32_t index) {
    ListOp& op = *lists_[index];
    const HostSegment segment{op.walk.list_address(), op.walk.list_bytes()};
    ++counters_.list_reads;
    dma_.read_host(&segment, 1, reinterpret_cast<std::uint8_t*>(op.buffer.data()), this, cookie(Dma::list, index));
}

void NvmeController::list_arrived(std::uint32_t index) {
    ListOp& op = *lists_[index];
    const PrpWalk::Step step = op.walk.feed(op.buffer.data(), op.command ? op.command->pages : op.admin->pages);
    if (step == PrpWalk::Step::bad_offset) {
        list_failed(index, kStInvalidPrpOffset);
        return;
    }
    if (step == PrpWalk::Step::need_list) {
        read_list(index);
        return;
    }
    Command* command = op.command;
    AdminOp* admin = op.admin;
    release_list(index);
    if (command != nullptr) {
        command->timeline->charge(Stage::fetch, agenda_.now());
        if (serving())
            hand_over(*command);
        else
            drop(*command);
    } else if (serving()) {
        send_admin_data(*admin);
    } else {
        drop_admin(*admin);
    }
    settle();
}

void NvmeController::ranges_arrived(std::uint32_t index) {
    ListOp& op = *lists_[index];
    Command& command = *op.command;
    const auto count = static_cast<std::uint32_t>(command.bytes / sizeof(DsmRange));
    const IoDecoder::Next next =
        decoder_.parse_ranges(reinterpret_cast<const std::uint8_t*>(op.buffer.data()), count, command);
    release_list(index);
    command.timeline->charge(Stage::fetch, agenda_.now());
    if (next == IoDecoder::Next::refused) {
        ++counters_.refused;
        errors_.add(command.sqid, command.cid, command.status, 0, 1);
    }
    if (next == IoDecoder::Next::submit && serving())
        hand_over(command);
    else
        finish_io(command);
    settle();
}

void NvmeController::list_failed(std::uint32_t index, std::uint16_t status) {
    Command* command = lists_[index]->command;
    AdminOp* admin = lists_[index]->admin;
    release_list(index);
    ++counters_.refused;
    if (command != nullptr) {
        command->status = status;
        command->timeline->charge(Stage::fetch, agenda_.now());
        errors_.add(command->sqid, command->cid, status, command->slba, 1);
        finish_io(*command);
    } else {
        const std::uint16_t cid = admin->cid;
        errors_.add(0, cid, status, 0, 0);
        if (serving()) {
            release_admin_op(*admin);
            queues_.sq(0).free_cid(cid);
            post(0, cid, status, 0);
        } else {
            drop_admin(*admin);
        }
    }
    settle();
}

void NvmeController::make_segments(const std::vector<std::uint64_t>& pages, std::uint32_t bytes) {
    segments_.clear();
    for (const std::uint64_t page : pages) {
        const std::uint32_t n = std::min(bytes, static_cast<std::uint32_t>(kPageBytes - (page & kPageMask)));
        segments_.push_back(HostSegment{page, n});
        bytes -= n;
    }
}

void NvmeController::add_command() {
    commands_.emplace_back();
    commands_.back().index = static_cast<std::uint32_t>(commands_.size() - 1);
    free_commands_.resize(commands_.size());
    free_commands_[free_command_count_++] = &commands_.back();
}

Timeline& NvmeController::find_timelines(std::uint16_t qid, std::uint16_t cid) {
    std::vector<Timeline*>& known = timelines_[qid];
    while (known.size() <= cid) known.push_back(&tracker_.at(qid, static_cast<std::uint16_t>(known.size())));
    return *known[cid];
}

std::uint32_t NvmeController::acquire_list(Command* command, AdminOp* admin) {
    if (free_lists_.empty()) {
        free_lists_.push_back(static_cast<std::uint32_t>(lists_.size()));
        lists_.push_back(std::make_unique<ListOp>());
        lists_.back()->buffer.resize(kPrpsPerPage);
    }
    const std::uint32_t index = free_lists_.back();
    free_lists_.pop_back();
    lists_[index]->command = command;
    lists_[index]->admin = admin;
    return index;
}

void NvmeController::release_list(std::uint32_t index) { free_lists_.push_back(index); }

}  // namespace ssdtlm
