// SPDX-License-Identifier: Apache-2.0
// Copy (NVMe 1.4 TP4065, NVM command set 1.0 §3.2.2), with source ranges of format 0. The front end reads the ranges
// one after the other into its memory and writes them from there, with commands of its own (CopyWork).
#include "controller/nvme/identify.h"
#include "controller/nvme/io/copy.h"
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;
using Next = IoDecoder::Next;

namespace {

/// `bytes` holds the length of the list of ranges until the list has been read.
Next decode_copy(const IoDecoder& decoder, const Sqe& sqe, const Namespace* of, NvmeCommand& command, DataWalk& walk) {
    const std::uint32_t ranges = (sqe.cdw12 & 0xFF) + 1;
    const std::uint32_t format = sqe.cdw12 >> 8 & 0xFu;
    const std::uint32_t protection = (sqe.cdw12 >> 12 & 0xFu) | (sqe.cdw12 >> 26 & 0xFu);  // PRINFOR, PRINFOW
    if (format != 0 || protection != 0) return IoDecoder::refuse(command, kStInvalidField);
    if (ranges > kCopyRanges) return IoDecoder::refuse(command, kStCommandSizeLimit);
    command.is_special = true;
    command.slba = sqe.slba();  // the first block that is written
    command.first_block = of->first_block;
    command.shift = static_cast<std::uint8_t>(of->shift);
    command.fua = (sqe.cdw12 & kRwFua) != 0 || decoder.writes_through();
    command.bytes = ranges * kCopyRangeDescriptorBytes;
    return IoDecoder::decode_ranges(sqe, command, walk);
}

}  // namespace

Next parse_copy(const Namespaces& namespaces, const std::uint8_t* list, NvmeCommand& command) {
    const auto count = static_cast<std::uint32_t>(command.bytes / kCopyRangeDescriptorBytes);
    command.data.clear();
    command.bytes = 0;
    const Namespace* const of = namespaces.find(command.nsid);
    if (of == nullptr) return IoDecoder::refuse(command, namespaces.refusal(command.nsid));
    std::uint64_t blocks = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint8_t* const d = list + i * kCopyRangeDescriptorBytes;
        const auto slba = load<std::uint64_t>(d + 8);
        const std::uint32_t length = load<std::uint16_t>(d + 16) + 1u;
        if (length > kCopyRangeBytes / of->lba_bytes) return IoDecoder::refuse(command, kStCommandSizeLimit);
        if (!of->has(slba, length)) return IoDecoder::refuse(command, kStLbaOutOfRange);
        command.ranges.push_back(LbaRange{of->first_block + (slba << of->shift), length << of->shift});
        blocks += length;
    }
    if (blocks > kCopyBytes / of->lba_bytes) return IoDecoder::refuse(command, kStCommandSizeLimit);
    if (!of->has(command.slba, blocks)) return IoDecoder::refuse(command, kStLbaOutOfRange);
    command.slba = of->first_block + (command.slba << of->shift);
    command.blocks = static_cast<std::uint32_t>(blocks << of->shift);
    command.bytes = blocks * of->lba_bytes;
    return Next::submit;
}

extern const IoKind kCopyKind;
const IoKind kCopyKind = IoKind(kIoCopy, "Copy", IoOp::read, decode_copy, &NvmeCounters::copies,
                                {kStInvalidField, kStLbaOutOfRange, kStCommandSizeLimit, kStReadOnlyRange,
                                 kStWriteFault, kStUnrecoveredRead, kStAbortRequested})
                             .has_data()
                             .has_ranges()
                             .identified_by(IdCtrl::kOncsCopy)
                             .changes(kEffectBlocks);

}  // namespace ssdtlm
