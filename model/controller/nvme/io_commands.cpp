// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/io_commands.h"

#include <algorithm>

#include "controller/nvme/io/copy.h"
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {
bool awaits_metadata_pointer(const NvmeCommand& command) {
    return command.special.metadata != nullptr && command.special.metadata->awaits_pointer();
}
}  // namespace

IoCommands::IoCommands(const Peers& peers, const std::vector<Ps>& latency_targets, const IoDecoder& decoder)
    : agenda_(peers.agenda),
      tracker_(peers.tracker),
      state_(peers.state),
      queues_(peers.queues),
      posting_(peers.posting),
      lists_(peers.lists),
      memory_(peers.memory),
      errors_(peers.memory.errors),
      counters_(peers.counters),
      media_(peers.media),
      signed_data_(peers.signed_data),
      decoder_(decoder),
      timelines_(peers.queues.count()),
      firsts_(peers.queues.count()),
      first_failed_(peers.queues.count()) {
    SSDTLM_CHECK(latency_targets.size() <= target_.size(), "more latency targets than priorities");
    target_.fill(kNoTarget);
    std::copy(latency_targets.begin(), latency_targets.end(), target_.begin());
}

inline NvmeCommand& IoCommands::acquire() {
    NvmeCommand& command = commands_.acquire();
    command.index = Pool<NvmeCommand>::index_of(command);
    return command;
}

void IoCommands::release(NvmeCommand& command) {
    command.ranges.clear();
    command.data.clear();
    command.ends_work = false;
    command.result = 0;
    if (__builtin_expect(command.is_special || command.kind != nullptr, 0)) clear(command);
    commands_.release(command);
    if (__builtin_expect(ends_matter_, 0)) an_end();
}

void IoCommands::accept(const FetchedEntries& fetched, SubmissionQueue& queue) {
    const Sqe* sqe = fetched.entries;
    const std::uint32_t end = fetched.first + fetched.count;
    for (std::uint32_t slot = fetched.first; slot != end; ++slot, ++sqe)
        accept_one(fetched.qid, queue, *sqe, queue.rung_at(slot), fetched.asked);
}

inline __attribute__((always_inline)) void IoCommands::accept_one(std::uint16_t qid, SubmissionQueue& queue,
                                                                  const Sqe& sqe, SimTime rung, SimTime asked) {
    NvmeCommand& command = acquire();
    command.queue = qid;
    command.tag = sqe.cid;
    command.number = ++arrived_;
    command.whose = tag_of(queue, rung);
    const bool conflict = queue.cid_in_use(sqe.cid);
    DataWalk walk;
    const IoDecoder::Next next = decoder_.decode(sqe, conflict, command, walk);
    if (__builtin_expect(conflict, 0)) return accept_other(next, command, walk, sqe, conflict);
    queue.take_cid(sqe.cid);
    Timeline& line = timeline(qid, sqe.cid);
    command.timeline = &line;
    line.begin(rung);
    line.charge(Stage::arbitration, asked);
    line.charge(Stage::fetch, agenda_.now());
    if (__builtin_expect(next != IoDecoder::Next::submit || firsts_waiting_ != 0 || sqe.fuse() != 0, 0))
        return accept_other(next, command, walk, sqe, conflict);
    hand_over(command);
}

/// Handles a command that cannot go to the firmware unchanged.
__attribute__((noinline)) void IoCommands::accept_other(IoDecoder::Next next, NvmeCommand& command,
                                                        const DataWalk& walk, const Sqe& sqe, bool conflict) {
    if (conflict) {
        // The identifier and its timeline belong to the older command.
        const std::uint16_t qid = command.queue;
        const std::uint16_t status = command.code;
        refuse(command);
        release(command);
        posting_.post(qid, sqe.cid, status, 0);
        return;
    }
    if ((firsts_[command.queue] != nullptr || sqe.fuse() != 0) &&
        !fuses(command, sqe.fuse(), next == IoDecoder::Next::refused))
        return;
    const std::uint64_t token = Pool<NvmeCommand>::handle_of(command).number();
    command.reads_list =
        next == IoDecoder::Next::data_list || next == IoDecoder::Next::ranges || next == IoDecoder::Next::metadata;
    switch (next) {
        case IoDecoder::Next::submit:
            hand_over(command);
            break;
        case IoDecoder::Next::data_list:
            lists_.read_list(walk, command.data, *this, token);
            break;
        case IoDecoder::Next::ranges:
            lists_.read_bytes(command.data, *this, token);
            break;
        case IoDecoder::Next::metadata:
            read_metadata_pointer(command, token);
            break;
        case IoDecoder::Next::refused:
            refuse(command);
            finish(command);
            break;
        case IoDecoder::Next::finished:
            finish(command);
            break;
    }
}

void IoCommands::refuse(NvmeCommand& command) {
    ++counters_.refused;
    errors_.add(command.queue, command.tag, command.code, command.slba, command.nsid);
}

void IoCommands::read_metadata_pointer(const NvmeCommand& command, std::uint64_t token) {
    HostData descriptor;
    descriptor.add(command.special.metadata->pointer(), sizeof(SglDescriptor));
    lists_.read_bytes(descriptor, *this, token);
}

void IoCommands::list_known(std::uint64_t token) {
    NvmeCommand& command = commands_.at(token);
    if (__builtin_expect(command.queue == 0, 0)) return release(command);  // aborted meanwhile
    if (__builtin_expect(command.kind != nullptr && command.kind->reads_ranges, 0))
        return lists_.read_bytes(command.data, *this, token);
    if (__builtin_expect(awaits_metadata_pointer(command), 0)) return read_metadata_pointer(command, token);
    lists_known(command);
}

/// The command knows where its data and its metadata are.
void IoCommands::lists_known(NvmeCommand& command) {
    command.reads_list = false;
    if (__builtin_expect(command.data.skips(), 0)) command.is_special = true;
    command.timeline->charge(Stage::fetch, agenda_.now());
    if (state_.serving()) return hand_over(command);
    if (__builtin_expect(command.special.fuse != 0, 0)) leave_pair(command);
    drop(command);
}

void IoCommands::bytes_known(std::uint64_t token, const std::uint8_t* bytes) {
    NvmeCommand& command = commands_.at(token);
    if (__builtin_expect(command.queue == 0, 0)) return release(command);  // aborted meanwhile
    if (awaits_metadata_pointer(command)) {
        const std::uint16_t status = command.special.metadata->take_pointer(load<SglDescriptor>(bytes));
        return status == kStSuccess ? lists_known(command) : list_failed(token, status);
    }
    command.reads_list = false;
    const auto count = static_cast<std::uint32_t>(command.bytes / sizeof(DsmRange));
    const IoDecoder::Next next = command.kind->opcode == kIoCopy ? parse_copy(decoder_, bytes, command)
                                                                 : decoder_.parse_ranges(bytes, count, command);
    command.timeline->charge(Stage::fetch, agenda_.now());
    if (next == IoDecoder::Next::refused) {
        ++counters_.refused;
        errors_.add(command.queue, command.tag, command.code, 0, command.nsid);
    }
    if (next == IoDecoder::Next::submit && state_.serving())
        hand_over(command);
    else
        finish(command);
}

void IoCommands::list_failed(std::uint64_t token, std::uint16_t status) {
    NvmeCommand& command = commands_.at(token);
    if (__builtin_expect(command.queue == 0, 0)) return release(command);  // aborted meanwhile
    command.reads_list = false;
    command.timeline->charge(Stage::fetch, agenda_.now());
    if (command.kind != nullptr && command.kind->opcode == kIoCopy) command.slba = command.first_block;
    if (__builtin_expect(command.special.fuse != 0, 0)) leave_pair(command);
    end_with(command, status);
}

void IoCommands::forget(NvmeCommand& command) {
    SubmissionQueue& q = queues_.sq(command.queue);
    q.free_cid(command.tag);
    --q.in_flight;
    ++counters_.dropped;
}

void IoCommands::drop(NvmeCommand& command) {
    forget(command);
    release(command);
}

/// A reset does not wait for this command. When it ends its queue is gone, and its timeline may be another command's.
void IoCommands::let_go(Command& ended) {
    auto& command = static_cast<NvmeCommand&>(ended);
    if (command.queue == 0) return;
    SSDTLM_CHECK(!state_.serving(), "firmware lets a command go while the controller serves the host");
    forget(command);
    command.queue = 0;
    if (nobodys_.size() <= command.index) nobodys_.resize(command.index + 1u);
    nobodys_[command.index] = *command.timeline;
    command.timeline = &nobodys_[command.index];
    left_firmware();
    state_.settle();
}

/// Completes the flush of a shutdown, or a command that let_go() has released.
__attribute__((noinline)) void IoCommands::complete_own(NvmeCommand& command) {
    const bool flush = command.ends_work;
    OwnClient* const own = command.special.own;
    if (own != nullptr) {
        own->own_ended(command);
    } else if (!flush && command.op != IoOp::read) {  // let_go() has released it, and it was carried out
        command.code = nvme_status(command.status);
        settle_marks(command);
    }
    release(command);
    if (!flush && own == nullptr) return;
    left_firmware();
    if (flush) state_.flushed();
    state_.settle();
    media_.pump();
}

void IoCommands::count(const NvmeCommand& command) {
    if (command.code == kStInvalidOpcode) return;  // there is no operation to count
    if (__builtin_expect(command.kind != nullptr, 0)) {
        ++(counters_.*command.kind->count);
        if (command.code != kStSuccess) return;
        if (command.op == IoOp::read && command.kind->opcode != kIoCopy) counters_.bytes_read += command.bytes;
        if (command.op == IoOp::write) counters_.bytes_written += command.bytes;
        return;
    }
    const std::uint64_t bytes = command.code == kStSuccess ? command.bytes : 0;
    if (command.op == IoOp::read) {
        ++counters_.reads;
        counters_.bytes_read += bytes;
        return;
    }
    switch (command.op) {
        case IoOp::read:
            break;
        case IoOp::write:
            ++counters_.writes;
            counters_.bytes_written += bytes;
            break;
        case IoOp::flush:
            ++counters_.flushes;
            break;
        case IoOp::deallocate:
            ++counters_.deallocates;
            break;
        case IoOp::write_zeroes:
            ++counters_.write_zeroes;
            break;
    }
}

void IoCommands::finish(NvmeCommand& command) {
    if (__builtin_expect(!state_.serving(), 0)) {
        drop(command);
        return;
    }
    count(command);
    Cqe cqe;
    cqe.dw0 = static_cast<std::uint32_t>(command.result);
    cqe.dw1 = static_cast<std::uint32_t>(command.result >> 32);
    cqe.sqid = command.queue;
    cqe.cid = command.tag;
    if (__builtin_expect(command.code != kStSuccess, 0))
        cqe.set_status(command.code, do_not_retry(command.code), false);
    SubmissionQueue& sq = queues_.sq(command.queue);
    sq.free_cid(command.tag);
    release(command);
    posting_.post(sq, cqe);
}

void IoCommands::complete(Command& ended) {
    auto& command = static_cast<NvmeCommand&>(ended);
    if (__builtin_expect(command.queue == 0, 0)) return complete_own(command);
    left_firmware();
    if (__builtin_expect(command.status != CommandStatus::success, 0)) {
        command.code = failure_of(command);
        ++counters_.failed;
        if (command.code >> 8 == 2) ++counters_.media_errors;
        // A command that a reset drops is not completed, so it has no entry.
        if (state_.serving()) errors_.add(command.queue, command.tag, command.code, failed_lba(command), command.nsid);
    }
    if (__builtin_expect(command.is_special || command.kind != nullptr || !memory_.uncorrectable.empty(), 0))
        return part_ended(command);
    finish(command);
    state_.settle();
}

void IoCommands::flush_for_shutdown() {
    NvmeCommand& flush = acquire();
    make_nobodys(flush);
    flush.op = IoOp::flush;
    flush.ends_work = true;
    flush_timeline_.begin(agenda_.now());
    flush.timeline = &flush_timeline_;
    to_firmware(flush);
}

Timeline& IoCommands::find_timelines(std::uint16_t qid, std::uint16_t cid) {
    std::vector<Timeline*>& known = timelines_[qid];
    while (known.size() <= cid) known.push_back(&tracker_.at(qid, static_cast<std::uint16_t>(known.size())));
    return *known[cid];
}

}  // namespace ssdtlm
