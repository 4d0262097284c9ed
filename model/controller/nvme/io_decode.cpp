// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/io_decode.h"

#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;

bool IoDecoder::name_stream(const Sqe& sqe, NvmeCommand& command) const {
    if (write_directive_type(sqe.cdw12) != kDirectiveStreams || !streams_.enabled()) return false;
    const std::uint16_t id = write_directive_specific(sqe.cdw13);
    if (id != 0) command.whose.stream = streams_.number_of(id);  // 0 names none
    return true;
}

IoDecoder::Next IoDecoder::decode_any(const Sqe& sqe, const Namespace* of, bool cid_in_use, NvmeCommand& command,
                                      DataWalk& walk) const {
    command.code = kStSuccess;
    command.status = CommandStatus::success;
    command.fua = false;
    command.slba = 0;
    command.first_block = 0;
    command.blocks = 0;
    command.bytes = 0;
    const IoKind* const kind = find_io(sqe.opc);
    command.kind = kind;
    if (kind == nullptr) return refuse(command, kStInvalidOpcode);
    command.op = kind->op;
    const bool broadcast = kind->broadcast && sqe.nsid == kNsidAll;
    if (broadcast && namespaces_.busy() != kStSuccess) return refuse(command, namespaces_.busy());
    if (of == nullptr && !broadcast) return refuse(command, namespaces_.refusal(sqe.nsid));
    if (cid_in_use) return refuse(command, kStCidConflict);
    if (!may_be_sgl(sqe) || (sqe.fuse() != 0 && sqe.fuse() != kind->fused_as)) return refuse(command, kStInvalidField);
    const Next next = kind->decode(*this, sqe, of, command, walk);
    if (sqe.fuse() != 0) {
        command.is_special = true;
        command.special.fuse = sqe.fuse();
    }
    return next;
}

IoDecoder::Next IoDecoder::parse_ranges(const std::uint8_t* list, std::uint32_t count, NvmeCommand& command) const {
    command.data.clear();
    command.bytes = 0;
    const Namespace* const reached = namespaces_.find(command.nsid);
    if (reached == nullptr) return refuse(command, namespaces_.refusal(command.nsid));  // a format has begun meanwhile
    const Namespace& of = *reached;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto range = load<DsmRange>(list + i * sizeof(DsmRange));
        if (!of.has(range.slba, range.blocks)) return refuse(command, kStLbaOutOfRange);
        if (range.blocks == 0) continue;
        command.ranges.push_back(LbaRange{of.first_block + (range.slba << of.shift), range.blocks << of.shift});
        command.bytes += std::uint64_t{range.blocks} * of.lba_bytes;
    }
    return command.ranges.empty() ? Next::finished : Next::submit;
}

}  // namespace ssdtlm
