// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/io_decode.h"

namespace ssdtlm {

using namespace nvme;

bool IoDecoder::name_stream(const Sqe& sqe, NvmeCommand& command) const {
    if (write_directive_type(sqe.cdw12) != kDirectiveStreams || !streams_.enabled()) return false;
    const std::uint16_t id = write_directive_specific(sqe.cdw13);
    if (id != 0) command.whose.stream = streams_.number_of(id);  // 0 names none
    return true;
}

IoDecoder::Next IoDecoder::decode_any(const Sqe& sqe, const Namespace* of, bool cid_in_use, NvmeCommand& command,
                                      PrpWalk& walk) const {
    command.code = kStSuccess;
    command.status = CommandStatus::success;
    command.fua = false;
    command.slba = 0;
    command.first_block = 0;
    command.blocks = 0;
    command.bytes = 0;
    switch (sqe.opc) {
        case kIoRead:
            command.op = IoOp::read;
            break;
        case kIoWrite:
            command.op = IoOp::write;
            break;
        case kIoFlush:
            command.op = IoOp::flush;
            break;
        case kIoWriteZeroes:
            command.op = IoOp::write_zeroes;
            break;
        case kIoDatasetMgmt:
            command.op = IoOp::deallocate;
            break;
        default:
            return refuse(command, kStInvalidOpcode);
    }
    // A broadcast NSID is for Flush only (Identify VWC [2:1] = 3).
    const bool broadcast = sqe.nsid == kNsidAll && command.op == IoOp::flush;
    if (of == nullptr && !broadcast) return refuse(command, kStInvalidNamespace);
    if (cid_in_use) return refuse(command, kStCidConflict);
    if (sqe.fuse() != 0 || sqe.psdt() != 0) return refuse(command, kStInvalidField);

    switch (command.op) {
        case IoOp::flush:
            return Next::submit;
        case IoOp::read:
        case IoOp::write:
            return decode_transfer(sqe, *of, command, walk);
        case IoOp::write_zeroes:
            command.slba = sqe.slba();
            command.blocks = (sqe.cdw12 & 0xFFFF) + 1;
            command.bytes = std::uint64_t{command.blocks} * of->lba_bytes;
            command.fua = (sqe.cdw12 & kRwFua) != 0 || write_through_;
            return place(*of, command, Next::submit);
        case IoOp::deallocate:
            break;
    }
    // Dataset Management: only deallocation acts; the integral read and write hints are accepted without effect.
    if ((sqe.cdw11 & kDsmDeallocate) == 0) return Next::finished;
    command.bytes = ((sqe.cdw10 & 0xFF) + 1) * sizeof(DsmRange);
    // At most 256 ranges fill one page, so two PRPs always suffice.
    if (walk.start(sqe.prp1, sqe.prp2, command.bytes, command.data) != PrpWalk::Step::done)
        return refuse(command, kStInvalidPrpOffset);
    return Next::ranges;
}

IoDecoder::Next IoDecoder::parse_ranges(const std::uint8_t* list, std::uint32_t count, NvmeCommand& command) const {
    command.data.clear();
    command.bytes = 0;
    const Namespace& of = *namespaces_.find(command.nsid);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto range = load<DsmRange>(list + i * sizeof(DsmRange));
        if (!of.has(range.slba, range.blocks)) return refuse(command, kStLbaOutOfRange);
        if (range.blocks == 0) continue;
        command.ranges.push_back(LbaRange{of.first_block + range.slba, range.blocks});
        command.bytes += std::uint64_t{range.blocks} * of.lba_bytes;
    }
    return command.ranges.empty() ? Next::finished : Next::submit;
}

}  // namespace ssdtlm
