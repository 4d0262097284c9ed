// SPDX-License-Identifier: Apache-2.0
// I/O commands that move no user data: Flush, Write Zeroes, Dataset Management, Write Uncorrectable (NVMe 1.4 §6.8,
// §6.17, §6.7, §6.16). Blocks marked as uncorrectable are deallocated where they fill whole mapping units. Reads of
// them fail until they are written again.
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;
using Next = IoDecoder::Next;

namespace {

Next decode_flush(const IoDecoder&, const Sqe&, const Namespace*, NvmeCommand&, DataWalk&) {
    return Next::submit;
}

/// The blocks are deallocated, whatever DEAC and PRACT say. So their protection information reads FFh (§6.7), and
/// there is nothing to check (PRCHK shall be 000b).
Next decode_write_zeroes(const IoDecoder& decoder, const Sqe& sqe, const Namespace* of, NvmeCommand& command,
                         DataWalk&) {
    command.fua = (sqe.cdw12 & kRwFua) != 0 || decoder.writes_through();
    if (of->metadata.type != 0 && ProtectionTerms::of(sqe).checks())
        return IoDecoder::refuse(command, kStInvalidProtection);
    return IoDecoder::decode_blocks(sqe, *of, command);
}

/// Only deallocation has an effect. The integral read and write hints are accepted and ignored.
Next decode_dataset_management(const IoDecoder&, const Sqe& sqe, const Namespace* of, NvmeCommand& command,
                               DataWalk& walk) {
    if ((sqe.cdw11 & kDsmDeallocate) == 0) return Next::finished;
    command.shift = static_cast<std::uint8_t>(of->shift);
    command.bytes = ((sqe.cdw10 & 0xFF) + 1) * sizeof(DsmRange);
    return IoDecoder::decode_ranges(sqe, command, walk);  // 256 entries fill one page
}

Next decode_write_uncorrectable(const IoDecoder&, const Sqe& sqe, const Namespace* of, NvmeCommand& command,
                                DataWalk&) {
    command.is_special = true;
    const Next next = IoDecoder::decode_blocks(sqe, *of, command);
    if (next == Next::submit) command.ranges.push_back(LbaRange{command.slba, command.blocks});
    return next;
}

}  // namespace

extern const IoKind kFlushKind, kWriteZeroesKind, kDatasetManagementKind, kWriteUncorrectableKind;
const IoKind kFlushKind =
    IoKind(kIoFlush, "Flush", IoOp::flush, decode_flush, &NvmeCounters::flushes, {kStWriteFault, kStAbortRequested})
        .for_all_namespaces();
const IoKind kWriteZeroesKind =
    IoKind(kIoWriteZeroes, "Write Zeroes", IoOp::write_zeroes, decode_write_zeroes, &NvmeCounters::write_zeroes,
           {kStInvalidField, kStLbaOutOfRange, kStInvalidProtection, kStReadOnlyRange, kStWriteFault})
        .identified_by(IdCtrl::kOncsWriteZeroes)
        .changes(kEffectBlocks);
const IoKind kDatasetManagementKind =
    IoKind(kIoDatasetMgmt, "Dataset Management", IoOp::deallocate, decode_dataset_management,
           &NvmeCounters::deallocates, {kStLbaOutOfRange, kStReadOnlyRange})
        .has_data()
        .has_ranges()
        .identified_by(IdCtrl::kOncsDsm)
        .changes(kEffectBlocks);
const IoKind kWriteUncorrectableKind =
    IoKind(kIoWriteUncorrectable, "Write Uncorrectable", IoOp::deallocate, decode_write_uncorrectable,
           &NvmeCounters::write_uncorrectables, {kStLbaOutOfRange, kStReadOnlyRange})
        .identified_by(IdCtrl::kOncsWriteUncorrectable)
        .changes(kEffectBlocks);

}  // namespace ssdtlm
