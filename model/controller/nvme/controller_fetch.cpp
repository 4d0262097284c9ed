// SPDX-License-Identifier: Apache-2.0
// From the doorbell to the firmware: arbitration, SQE fetch, decode, PRP lists, DSM ranges.
#include <algorithm>

#include "controller/nvme/controller.h"

namespace ssdtlm {

using namespace nvme;

void NvmeController::fetch() {
    std::uint16_t qid = 0;
    std::uint32_t limit = 0;
    while (!free_fetches_.empty() && registers_.is_running() && arbiter_.next(qid, limit)) {
        SubmissionQueue& q = queues_.sq(qid);
        const std::uint64_t address = q.base + std::uint64_t{q.fetch} * kSqeBytes;
        const auto to_page_end = static_cast<std::uint32_t>((kPageBytes - (address & kPageMask)) / kSqeBytes);
        const std::uint32_t to_ring_end = q.entries - q.fetch;
        const std::uint32_t room = config_.fetch_window - q.in_flight;
        const std::uint32_t wanted = std::min(std::min(limit, q.waiting()), config_.fetch_burst);
        const std::uint32_t n = std::min(std::min(wanted, room), std::min(to_page_end, to_ring_end));

        const std::uint32_t index = free_fetches_.back();
        free_fetches_.pop_back();
        Fetch& f = fetches_[index];
        f.issued = agenda_.now();
        f.qid = qid;
        f.arrived = false;
        f.first = q.fetch;
        f.count = n;
        f.next = -1;
        if (q.newest_fetch >= 0)
            fetches_[q.newest_fetch].next = static_cast<std::int32_t>(index);
        else
            q.oldest_fetch = static_cast<std::int32_t>(index);
        q.newest_fetch = static_cast<std::int32_t>(index);
        q.fetch = q.fetch + n == q.entries ? 0 : q.fetch + n;
        q.in_flight += n;
        arbiter_.took(n);
        refresh(qid);
        ++counters_.fetches;
        counters_.sqes += n;
        const HostSegment segment{address, n * kSqeBytes};
        dma_.read_host(&segment, 1, reinterpret_cast<std::uint8_t*>(f.sqes.data()), this, cookie(Dma::fetch, index));
    }
}

void NvmeController::fetch_arrived(std::uint32_t index) {
    fetches_[index].arrived = true;
    const std::uint16_t qid = fetches_[index].qid;
    SubmissionQueue& q = queues_.sq(qid);
    // A read that overtook an older one of its queue waits for it: SQHD must not pass a slot that is still unread.
    while (q.oldest_fetch >= 0 && fetches_[q.oldest_fetch].arrived) {
        const auto oldest = static_cast<std::uint32_t>(q.oldest_fetch);
        Fetch& f = fetches_[oldest];
        q.oldest_fetch = f.next;
        if (q.oldest_fetch < 0) q.newest_fetch = -1;
        const std::uint32_t end = f.first + f.count;
        q.head = end == q.entries ? 0 : end;
        if (serving()) {
            for (std::uint32_t i = 0; i < f.count; ++i) {
                if (qid != 0)
                    accept_io(qid, f.sqes[i], q.rung_at(f.first + i), f.issued);
                else
                    accept_admin(f.sqes[i]);
            }
        } else {
            q.in_flight -= f.count;
            counters_.dropped += f.count;
        }
        free_fetches_.push_back(oldest);
    }
    pump();
    settle();
}

void NvmeController::accept_io(std::uint16_t qid, const Sqe& sqe, SimTime rung, SimTime issued) {
    SubmissionQueue& q = queues_.sq(qid);
    Command& command = acquire_command();
    command.sqid = qid;
    command.cid = sqe.cid;
    const bool conflict = q.cid_in_use(sqe.cid);
    PrpWalk walk;
    const IoDecoder::Next next = decoder_.decode(sqe, conflict, command, walk);
    if (__builtin_expect(conflict, 0)) {
        // The identifier and its timeline belong to the older command.
        ++counters_.refused;
        errors_.add(qid, sqe.cid, command.status, command.slba, sqe.nsid);
        const std::uint16_t status = command.status;
        release_command(command);
        post(qid, sqe.cid, status, 0);
        return;
    }
    q.take_cid(sqe.cid);
    command.timeline = &tracker_.at(qid, sqe.cid);
    command.timeline->charge(Stage::submit, rung);
    command.timeline->charge(Stage::arbitration, issued);
    command.timeline->charge(Stage::fetch, agenda_.now());
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
            errors_.add(qid, sqe.cid, command.status, command.slba, sqe.nsid);
            finish_io(command);
            break;
        case IoDecoder::Next::finished: finish_io(command); break;
    }
}

void NvmeController::hand_over(Command& command) {
    SSDTLM_CHECK(sink_ != nullptr, "NVMe controller has no command sink");
    if (in_firmware_++ == 0) busy_since_ = agenda_.now();
    sink_->submit(command);
}

/// Ends a command that its queue still counts: CQE, or nothing when the controller has been stopped meanwhile.
void NvmeController::finish_io(Command& command) {
    if (__builtin_expect(!serving(), 0)) {
        drop(command);
        return;
    }
    count_completion(command);
    const std::uint16_t sqid = command.sqid;
    const std::uint16_t cid = command.cid;
    const std::uint16_t status = command.status;
    queues_.sq(sqid).free_cid(cid);
    release_command(command);
    post(sqid, cid, status, 0);
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

Command& NvmeController::acquire_command() {
    if (free_commands_.empty()) {
        commands_.emplace_back();
        commands_.back().index = static_cast<std::uint32_t>(commands_.size() - 1);
        free_commands_.push_back(&commands_.back());
    }
    Command& c = *free_commands_.back();
    free_commands_.pop_back();
    return c;
}

void NvmeController::release_command(Command& command) {
    command.ranges.clear();
    command.pages.clear();
    free_commands_.push_back(&command);
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
