// SPDX-License-Identifier: Apache-2.0
// Commands to blocks that have metadata, or that are marked as uncorrectable.
#include "controller/nvme/io/io_list.h"
#include "controller/nvme/io_commands.h"

namespace ssdtlm {

using namespace nvme;

// --- Blocks with metadata ---

/// A write fails if its data cannot be taken. The firmware does not know whether a check is the reason. It knows why a
/// read has failed, and that comes before checks of other blocks.
std::uint16_t IoCommands::failure_of(const NvmeCommand& command) {
    const CommandMetadata* const metadata = command.special.metadata.get();
    const bool by_check = metadata != nullptr && metadata->status() != kStSuccess && command.op == IoOp::write &&
                          command.status == CommandStatus::transfer_error;
    return by_check ? metadata->status() : nvme_status(command.status);
}

/// `code` is known.
std::uint64_t IoCommands::failed_lba(const NvmeCommand& command) {
    const CommandMetadata* const metadata = command.special.metadata.get();
    const bool by_check = metadata != nullptr && metadata->status() == command.code;
    const std::uint32_t before = command.special.before >> command.shift;  // the part at hand of a Verify
    return host_lba(command) + (by_check ? metadata->failed_block() - before : 0);
}

/// A read, Verify or Compare ends by what the checks of its blocks have found.
void IoCommands::check_metadata(NvmeCommand& command) {
    CommandMetadata& metadata = *command.special.metadata;
    if (command.special.data == SpecialCommand::Data::compare) command.special.differs = !metadata.compare();
    if (metadata.status() == kStSuccess) return;
    command.code = metadata.status();
    ++counters_.failed;
    ++counters_.media_errors;
    errors_.add(command.queue, command.tag, command.code, failed_lba(command), command.nsid);
}

// --- Blocks that are marked as uncorrectable (Write Uncorrectable) ---

/// Marks the blocks before they are deallocated. At any time in between, they hold the old data or cannot be read.
void IoCommands::mark(NvmeCommand& command) {
    BlockMarks& marks = memory_.uncorrectable;
    marks.for_each_gap(command.slba, command.blocks, [&](std::uint64_t first, std::uint64_t count) {
        command.special.marked.push_back({first, static_cast<std::uint32_t>(count)});
    });
    marks.add(command.slba, command.blocks);
}

/// A write of marked blocks removes the marks at its end, for good. So it is carried out as FUA, and its data survive a
/// loss of power as well. A read may find the old data of a marked block and end after such a write. So it fails if the
/// block was marked at its beginning.
void IoCommands::meet_marks(NvmeCommand& command) const {
    const BlockMarks& marks = memory_.uncorrectable;
    if (!marks.any(command.slba, command.blocks)) return;
    if (command.op == IoOp::write || command.op == IoOp::write_zeroes) command.fua = true;
    if (command.op != IoOp::read) return;
    command.is_special = true;
    command.special.marked_block = marks.first_in(command.slba, command.blocks);
}

/// The firmware may have ended a write behind some of its pieces, which it has written as FUA.
void IoCommands::unmark_written(const NvmeCommand& command) {
    if (saves()) return;
    std::uint64_t blocks = command.status == CommandStatus::success ? command.blocks : 0;
    const bool ended_early = command.status == CommandStatus::aborted ||
                             command.status == CommandStatus::transfer_error ||
                             command.status == CommandStatus::read_only;
    if (command.op == IoOp::write && ended_early) blocks = command.written / memory_.namespaces.drive_lba_bytes();
    if (blocks != 0) memory_.uncorrectable.remove(command.slba, blocks);
}

void IoCommands::settle_marks(NvmeCommand& command) {
    BlockMarks& marks = memory_.uncorrectable;
    if (command.kind != nullptr && command.kind->opcode == kIoWriteUncorrectable) {
        if (command.code != kStSuccess)
            for (const LbaRange& r : command.special.marked) marks.remove(r.slba, r.blocks);
        return;
    }
    switch (command.op) {
        case IoOp::read: {
            std::uint64_t block = command.special.marked_block;
            if (block == SpecialCommand::kNoBlock && marks.any(command.slba, command.blocks))
                block = marks.first_in(command.slba, command.blocks);
            if (command.code != kStSuccess || block == SpecialCommand::kNoBlock) return;
            command.code = kStUnrecoveredRead;
            ++counters_.failed;
            ++counters_.media_errors;
            errors_.add(command.queue, command.tag, command.code, (block - command.first_block) >> command.shift,
                        command.nsid);
            return;
        }
        case IoOp::write:
        case IoOp::write_zeroes:
            unmark_written(command);
            return;
        case IoOp::deallocate:  // only a write makes the blocks readable again (NVMe 1.4 §6.16)
        case IoOp::flush:
            return;
    }
}

}  // namespace ssdtlm
