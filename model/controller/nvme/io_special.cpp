// SPDX-License-Identifier: Apache-2.0
// I/O commands that are not exactly one command of the firmware: fused Compare and Write, Copy, a long Verify, and the
// controller's own commands. Blocks with metadata, and those that are marked as uncorrectable, are in io_blocks.cpp.
#include <algorithm>
#include <utility>

#include "controller/nvme/io/io_list.h"
#include "controller/nvme/io_commands.h"
#include "protocol/signature.h"

namespace ssdtlm {

using namespace nvme;

namespace {
/// Returns the number of the pair, or of a Write Uncorrectable, in the order of arrival. All commands before it must
/// end first.
std::uint64_t place_of(const NvmeCommand& first) {
    const NvmeCommand* const second = first.special.partner;
    return second == nullptr ? first.number : std::min(first.number, second->number);
}

/// Inserts the pair by its number. Each pair waits for those before it, and the list of an earlier one may arrive
/// later.
void put_in_order(std::vector<NvmeCommand*>& pairs, NvmeCommand& first) {
    pairs.insert(
        std::upper_bound(pairs.begin(), pairs.end(), &first,
                         [](const NvmeCommand* a, const NvmeCommand* b) { return place_of(*a) < place_of(*b); }),
        &first);
}
}  // namespace

void IoCommands::clear(NvmeCommand& command) {
    command.kind = nullptr;
    command.is_special = false;
    command.metadata = nullptr;
    std::vector<std::uint8_t> memory = std::move(command.special.kept);
    memory.clear();
    command.special = SpecialCommand{};
    command.special.kept = std::move(memory);
}

// --- Commands of the controller's own ---

/// Removes queue, identifier and blocks of the host's last command that used this object.
void IoCommands::make_nobodys(NvmeCommand& c) {
    c.queue = 0;
    c.tag = 0;
    c.number = 0;
    c.code = kStSuccess;
    c.status = CommandStatus::success;
    c.fua = false;
    c.slba = c.bytes = 0;
    c.nsid = 0;
    c.first_block = 0;
    c.blocks = 0;
    c.shift = 0;
    c.reads_list = false;
    c.whose = WorkTag{};
}

NvmeCommand& IoCommands::begin_own(OwnClient& client) {
    NvmeCommand& c = commands_.acquire();
    c.index = Pool<NvmeCommand>::index_of(c);
    make_nobodys(c);
    c.is_special = true;
    c.special.own = &client;
    if (nobodys_.size() <= c.index) nobodys_.resize(c.index + 1u);
    c.timeline = &nobodys_[c.index];
    c.timeline->begin(agenda_.now());
    return c;
}

/// Counts also the host's commands that a reset did not wait for: a write that ends later would make blocks readable
/// that a Write Uncorrectable has marked meanwhile.
bool IoCommands::have_ended(std::uint64_t number) {
    bool all = true;
    commands_.for_each([&](const NvmeCommand& c) {
        const bool waits_itself = c.special.fuse == 1 && c.special.partner == nullptr;
        if (c.number != 0 && c.number <= number && !waits_itself) all = false;
    });
    if (!all) ends_matter_ = true;
    return all;
}

/// Called when a command has been released.
__attribute__((noinline)) void IoCommands::an_end() {
    ends_matter_ = false;  // have_ended() sets it again if somebody still waits
    begin_pairs();
    media_.pump();
}

// --- Aborted before they began ---

void IoCommands::end_with(NvmeCommand& command, std::uint16_t status) {
    command.code = status;
    ++counters_.refused;
    if (state_.serving()) errors_.add(command.queue, command.tag, status, host_lba(command), command.nsid);
    finish(command);
}

/// Ends the command now, although the read of its list continues. Until that ends, the object belongs to no queue.
void IoCommands::give_up_list(NvmeCommand& command, std::uint16_t status) {
    const std::uint16_t qid = command.queue, cid = command.tag;
    command.code = status;
    ++counters_.refused;
    errors_.add(qid, cid, status, 0, command.nsid);
    count(command);
    queues_.sq(qid).free_cid(cid);
    command.queue = 0;
    posting_.post(qid, cid, status, 0);
}

bool IoCommands::abort(std::uint16_t qid, std::uint16_t cid) {
    NvmeCommand* found = nullptr;
    commands_.for_each([&](const NvmeCommand& c) {
        if (c.queue == qid && c.tag == cid) found = &const_cast<NvmeCommand&>(c);
    });
    if (found == nullptr) return false;
    NvmeCommand& c = *found;
    if (c.reads_list) {
        if (c.special.fuse != 0) return false;
        give_up_list(c, kStAbortRequested);
        return true;
    }
    const auto out = std::find(locked_out_.begin(), locked_out_.end(), found);
    if (out != locked_out_.end()) {
        locked_out_.erase(out);
    } else if (firsts_[qid] == found) {
        firsts_[qid] = nullptr;
        --firsts_waiting_;
    } else {
        return false;
    }
    c.timeline->charge(Stage::arbitration, agenda_.now());
    end_with(c, kStAbortRequested);
    return true;
}

void IoCommands::queue_deleting(std::uint16_t qid) {
    if (firsts_[qid] == nullptr || firsts_[qid]->reads_list) return;
    NvmeCommand& first = *firsts_[qid];
    firsts_[qid] = nullptr;
    --firsts_waiting_;
    first.timeline->charge(Stage::arbitration, agenda_.now());
    end_with(first, kStAbortSqDeletion);
}

void IoCommands::reset() {
    ends_matter_ = false;
    for (NvmeCommand* const c : locked_out_) release(*c);
    for (NvmeCommand* const first : pairs_) {
        if (first->special.partner != nullptr) release(*first->special.partner);
        release(*first);
    }
    for (NvmeCommand*& first : firsts_) {
        if (first != nullptr) release(*first);
        first = nullptr;
    }
    first_failed_.assign(first_failed_.size(), false);
    locked_out_.clear();
    pairs_.clear();
    locks_.clear();
    firsts_waiting_ = 0;
}

// --- Fused Compare and Write (NVMe 1.4 §6.2): the pair has its blocks for itself ---

/// `command` follows a first command in its queue, or belongs to a pair itself. Returns false if it has ended.
bool IoCommands::fuses(NvmeCommand& command, std::uint32_t fuse, bool refused) {
    const std::uint16_t qid = command.queue;
    NvmeCommand* const first = firsts_[qid];
    const bool first_failed = first_failed_[qid];
    firsts_[qid] = nullptr;
    first_failed_[qid] = false;
    if (first != nullptr) --firsts_waiting_;
    const bool is_pair = fuse == 2 && !refused && first != nullptr && first->slba == command.slba &&
                         first->blocks == command.blocks && first->nsid == command.nsid;
    if (is_pair) {
        first->special.partner = &command;
        command.special.partner = first;
        return true;
    }
    const bool both_here = fuse == 2 && !refused && first != nullptr;  // both have come, but name different blocks
    if (first != nullptr) {
        // The read of its list may be under way. Its result is then discarded.
        const std::uint16_t status = both_here   ? kStInvalidField
                                     : fuse == 2 ? kStAbortFailedFused
                                                 : kStAbortMissingFused;
        if (first->reads_list) {
            give_up_list(*first, status);
        } else {
            first->timeline->charge(Stage::arbitration, agenda_.now());
            end_with(*first, status);
        }
    }
    if (fuse == 1 && refused) first_failed_[qid] = true;
    if (fuse == 1 && !refused) {
        firsts_[qid] = &command;
        ++firsts_waiting_;
    }
    if (fuse != 2 || refused) return true;
    end_with(command, both_here ? kStInvalidField : first_failed ? kStAbortFailedFused : kStAbortMissingFused);
    return false;
}

/// Removes a command that ends before the pair begins, so that the other one does not wait for it.
void IoCommands::leave_pair(NvmeCommand& command) {
    NvmeCommand* const partner = command.special.partner;
    if (firsts_[command.queue] == &command) {
        firsts_[command.queue] = nullptr;
        --firsts_waiting_;
        first_failed_[command.queue] = true;
    }
    command.special.partner = nullptr;
    if (partner == nullptr) return;
    partner->special.partner = nullptr;
    if (partner->reads_list) {
        if (state_.serving()) give_up_list(*partner, kStAbortFailedFused);
    } else if (state_.serving()) {
        partner->timeline->charge(Stage::arbitration, agenda_.now());
        end_with(*partner, kStAbortFailedFused);
    } else {
        drop(*partner);
    }
}

bool IoCommands::is_locked(const NvmeCommand& command) const {
    const auto meets = [&](std::uint64_t first, std::uint64_t blocks) {
        return std::any_of(locks_.begin(), locks_.end(), [&](const Lock& l) {
            return l.number < command.number && first < l.first + l.blocks && l.first < first + blocks;
        });
    };
    if (command.op == IoOp::flush) return false;
    if (meets(command.slba, command.blocks)) return true;
    return std::any_of(command.ranges.begin(), command.ranges.end(),
                       [&](const LbaRange& r) { return meets(r.slba, r.blocks); });
}

__attribute__((noinline)) void IoCommands::hand_over_special(NvmeCommand& command) {
    if (command.special.fuse != 0) {
        // Both commands have come, and the places of their data are known. So the pair gets its number in the order of
        // commands.
        NvmeCommand* const partner = command.special.partner;
        command.special.at = 1;
        if (partner == nullptr || partner->special.at == 0) return;
        NvmeCommand& first = command.special.fuse == 1 ? command : *partner;
        first.timeline->charge(Stage::arbitration, agenda_.now());
        first.special.partner->timeline->charge(Stage::arbitration, agenda_.now());
        // Commands that follow the pair now wait for it.
        locks_.push_back({first.slba, first.blocks, place_of(first), first.special.partner});
        put_in_order(pairs_, first);
        return begin_pairs();
    }
    if (!locks_.empty() && is_locked(command)) {
        locked_out_.push_back(&command);
        return;
    }
    if (command.kind != nullptr && command.kind->opcode == kIoWriteUncorrectable) {
        // The command locks its blocks, as a pair does. A write beside it could otherwise seem to have come both before
        // and after it.
        command.timeline->charge(Stage::arbitration, agenda_.now());
        locks_.push_back({command.slba, command.blocks, command.number, &command});
        put_in_order(pairs_, command);
        return begin_pairs();
    }
    command.timeline->set_number(++handed_over_);
    if (command.kind != nullptr && command.kind->opcode == kIoVerify) {
        command.special.behind = std::exchange(command.blocks, 0);
        return verify_next(command);
    }
    meet_marks(command);
    if (command.kind != nullptr && command.kind->opcode == kIoCopy) {
        command.special.at = 0;
        command.special.target = command.slba;
        return copy_next(command);
    }
    to_firmware(command);
}

/// Begins a pair, or a Write Uncorrectable, when all commands before it have ended. They begin in their order.
void IoCommands::begin_pairs() {
    while (!pairs_.empty() && state_.serving()) {
        NvmeCommand& first = *pairs_.front();
        NvmeCommand* const second = first.special.partner;
        if (!have_ended(place_of(first) - 1)) return;
        pairs_.erase(pairs_.begin());
        first.timeline->set_number(++handed_over_);
        if (second != nullptr) second->timeline->set_number(++handed_over_);
        first.timeline->charge(Stage::firmware_wait, agenda_.now());
        if (second == nullptr) mark(first);
        to_firmware(first);
    }
}

void IoCommands::compare_ended(NvmeCommand& first) {
    NvmeCommand& second = *first.special.partner;
    const bool equal = first.code == kStSuccess;
    second.special.partner = nullptr;
    second.timeline->charge(Stage::firmware_wait, agenda_.now());
    finish(first);
    if (equal && state_.serving()) {
        meet_marks(second);
        to_firmware(second);
        return;
    }
    unlock(second);
    if (state_.serving())
        end_with(second, kStAbortFailedFused);
    else
        drop(second);
}

void IoCommands::unlock(const NvmeCommand& second) {
    const auto lock = std::find_if(locks_.begin(), locks_.end(), [&](const Lock& l) { return l.second == &second; });
    if (lock != locks_.end()) locks_.erase(lock);
    std::vector<NvmeCommand*> waiting;
    waiting.swap(locked_out_);
    for (NvmeCommand* const c : waiting) {
        c->timeline->charge(Stage::firmware_wait, agenda_.now());
        if (state_.serving())
            hand_over(*c);
        else
            drop(*c);
    }
}

// --- Copy ---

void IoCommands::copy_next(NvmeCommand& parent) {
    if (parent.special.at == parent.ranges.size()) return copy_ended(parent, kStSuccess);
    const LbaRange& range = parent.ranges[parent.special.at];
    NvmeCommand& read = begin_own(*this);
    read.op = IoOp::read;
    read.slba = range.slba;
    read.blocks = range.blocks;
    read.bytes = std::uint64_t{range.blocks} * memory_.namespaces.drive_lba_bytes();
    read.whose = parent.whose;
    read.special.data = SpecialCommand::Data::kept;
    read.special.kept.resize(read.bytes);
    read.special.partner = &parent;
    if (parent.special.metadata != nullptr) {
        read.special.metadata =
            std::make_unique<CommandMetadata>(*parent.special.metadata, range.blocks >> parent.shift);
        read.metadata = read.special.metadata->kept();
    }
    meet_marks(read);
    to_firmware(read);
}

/// One range of a Copy has been read or written.
void IoCommands::own_ended(NvmeCommand& part) {
    NvmeCommand& parent = *part.special.partner;
    // Also if a reset has come meanwhile: the blocks have been written.
    if (part.op == IoOp::write && part.status == CommandStatus::success && !saves())
        memory_.uncorrectable.remove(part.slba, part.blocks);
    parent.timeline->append(*part.timeline);
    if (parent.timeline->last() < agenda_.now()) parent.timeline->charge(Stage::firmware, agenda_.now());
    if (!state_.serving()) return drop(parent);
    if (part.status != CommandStatus::success) {
        ++counters_.failed;
        return copy_ended(parent, nvme_status(part.status));
    }
    const std::uint32_t lba_bytes = memory_.namespaces.drive_lba_bytes();
    if (part.op == IoOp::write) {
        parent.special.target += part.blocks;
        ++parent.special.at;
        return copy_next(parent);
    }
    if (part.special.marked_block != SpecialCommand::kNoBlock || memory_.uncorrectable.any(part.slba, part.blocks)) {
        ++counters_.failed;
        return copy_ended(parent, kStUnrecoveredRead);
    }
    CommandMetadata* const metadata = part.special.metadata.get();
    if (metadata != nullptr) {
        const std::uint64_t written = (parent.special.target - parent.slba) >> parent.shift;
        const std::uint8_t* const data = part.special.kept.data();
        if (!metadata->check_copy(data, parent.special.metadata->ranges[parent.special.at]) ||
            !metadata->prepare_copy(data, parent.special.metadata->terms(), written)) {
            ++counters_.failed;
            return copy_ended(parent, metadata->status());
        }
    }
    NvmeCommand& write = begin_own(*this);
    write.op = IoOp::write;
    write.slba = parent.special.target;
    write.blocks = part.blocks;
    write.bytes = part.bytes;
    write.fua = parent.fua;
    write.whose = parent.whose;
    write.special.data = SpecialCommand::Data::kept;
    write.special.kept.swap(part.special.kept);
    if (metadata != nullptr) {
        write.special.metadata = std::move(part.special.metadata);
        write.metadata = metadata->kept();
    }
    write.special.partner = &parent;
    meet_marks(write);
    // The signature of a block names the block that it belongs to.
    for (std::uint32_t i = 0; signed_data_ && i < write.blocks; ++i) {
        std::uint8_t* const block = write.special.kept.data() + std::size_t{i} * lba_bytes;
        BlockSignature signature = BlockSignature::load(block);
        if (signature.magic != BlockSignature::kMagic) continue;
        signature.lba = write.slba + i;
        signature.store(block);
    }
    to_firmware(write);
}

void IoCommands::copy_ended(NvmeCommand& parent, std::uint16_t code) {
    parent.code = code;
    if (code != kStSuccess) {
        if (code >> 8 == 2) ++counters_.media_errors;
        errors_.add(parent.queue, parent.tag, code, host_lba(parent), parent.nsid);
    }
    // Dword 0 is the number of source ranges that were copied, if some were not (NVM command set 1.0 §3.2.2.1).
    parent.result = code == kStSuccess ? 0 : parent.special.at;
    finish(parent);
    state_.settle();
}

// --- Verify ---

/// MDTS does not limit Verify. So it reads its blocks in parts, one after the other. A part that fails ends it.
void IoCommands::verify_next(NvmeCommand& command) {
    SpecialCommand& s = command.special;
    const std::uint32_t lba_bytes = memory_.namespaces.drive_lba_bytes();
    const std::uint32_t most =
        decoder_.max_transfer_bytes() == 0 ? s.behind : decoder_.max_transfer_bytes() / lba_bytes;
    s.before += command.blocks;
    command.slba += command.blocks;
    command.blocks = std::min(most, s.behind);
    s.behind -= command.blocks;
    command.bytes = std::uint64_t{command.blocks} * lba_bytes;
    if (s.metadata != nullptr) command.metadata = s.metadata->kept() + std::size_t{s.before} * kMetadataBytes;
    meet_marks(command);
    to_firmware(command);
}

/// A part has ended. Returns true if another one follows. Else, if none has failed, the command is whole again.
bool IoCommands::verify_goes_on(NvmeCommand& command) {
    SpecialCommand& s = command.special;
    if (command.code != kStSuccess || !state_.serving()) return false;
    if (s.behind != 0) {
        if (command.timeline->last() < agenda_.now()) command.timeline->charge(Stage::firmware, agenda_.now());
        verify_next(command);
        return true;
    }
    command.bytes += command.bytes / command.blocks * s.before;
    command.slba -= s.before;
    command.blocks += std::exchange(s.before, 0);
    return false;
}

// --- Ends ---

/// The firmware has carried out a command that is not a plain Read or Write, or some blocks are marked.
__attribute__((noinline)) void IoCommands::part_ended(NvmeCommand& command) {
    settle_marks(command);
    if (command.special.metadata != nullptr && command.op == IoOp::read && command.code == kStSuccess)
        check_metadata(command);
    if (command.special.data == SpecialCommand::Data::nowhere && verify_goes_on(command)) return;
    if (command.special.data == SpecialCommand::Data::compare && command.code == kStSuccess &&
        command.special.differs) {
        command.code = kStCompareFailure;
        ++counters_.failed;
        ++counters_.media_errors;
        errors_.add(command.queue, command.tag, command.code, host_lba(command), command.nsid);
    }
    if (command.special.fuse == 1) {
        compare_ended(command);
    } else {
        const bool alone = command.kind != nullptr && command.kind->opcode == kIoWriteUncorrectable;
        if (command.special.fuse == 2 || alone) {
            const NvmeCommand& last = command;
            finish(command);
            unlock(last);  // matched by its address alone
        } else {
            finish(command);
        }
    }
    state_.settle();
}

}  // namespace ssdtlm
