// SPDX-License-Identifier: Apache-2.0
// Copy (NVMe 1.4 TP4065, NVM command set 1.0 §3.2.2), with source ranges of format 0. The front end reads the ranges
// one after the other into its memory and writes them from there, with commands of its own. With protection
// information, PRINFOR says how each range is checked and PRINFOW how the target is; either both act on it or neither.
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
    const std::uint32_t reading = sqe.cdw12 >> 12 & 0xFu, writing = sqe.cdw12 >> 26 & 0xFu;  // PRINFOR, PRINFOW
    if (format != 0) return IoDecoder::refuse(command, kStInvalidField);
    if (of->metadata.type == 0 ? (reading | writing) != 0 : ((reading ^ writing) & kPrAct) != 0)
        return IoDecoder::refuse(command, kStInvalidField);
    if (ranges > kCopyRanges) return IoDecoder::refuse(command, kStCommandSizeLimit);
    command.is_special = true;
    command.slba = sqe.slba();  // the first block that is written
    command.first_block = of->first_block;
    command.shift = static_cast<std::uint8_t>(of->shift);
    command.fua = (sqe.cdw12 & kRwFua) != 0 || decoder.writes_through();
    command.bytes = ranges * kCopyRangeDescriptorBytes;
    if (of->metadata.bytes != 0) {
        const ProtectionTerms terms = ProtectionTerms::of(sqe);
        const std::uint16_t status = refuse_terms(of->metadata, terms, command.slba);
        if (status != kStSuccess) return IoDecoder::refuse(command, status);
        command.special.metadata = std::make_unique<CommandMetadata>(*of, 0, terms, 0);
        command.special.metadata->ranges.assign(ranges, ProtectionTerms::of(reading, 0, 0, 0));
    }
    return IoDecoder::decode_ranges(sqe, command, walk);
}

}  // namespace

Next parse_copy(const IoDecoder& decoder, const std::uint8_t* list, NvmeCommand& command) {
    const Namespaces& namespaces = decoder.namespaces();
    const CopyLimits most(decoder.max_transfer_bytes());
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
        if (length > most.range_bytes / of->lba_bytes) return IoDecoder::refuse(command, kStCommandSizeLimit);
        if (!of->has(slba, length)) return IoDecoder::refuse(command, kStLbaOutOfRange);
        if (command.special.metadata != nullptr) {
            ProtectionTerms& terms = command.special.metadata->ranges[i];
            terms.reference = load<std::uint32_t>(d + 24);
            terms.application = load<std::uint16_t>(d + 28);
            terms.mask = load<std::uint16_t>(d + 30);
            const std::uint16_t status = refuse_terms(of->metadata, terms, slba);
            if (status != kStSuccess) return IoDecoder::refuse(command, status);
        }
        command.ranges.push_back(LbaRange{of->first_block + (slba << of->shift), length << of->shift});
        blocks += length;
    }
    if (blocks > most.bytes / of->lba_bytes) return IoDecoder::refuse(command, kStCommandSizeLimit);
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
                             .has_protection()
                             .has_data()
                             .has_ranges()
                             .identified_by(IdCtrl::kOncsCopy)
                             .changes(kEffectBlocks);

}  // namespace ssdtlm
