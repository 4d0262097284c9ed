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

void IoDecoder::attach_metadata(const Sqe& sqe, const Namespace& of, NvmeCommand& command) {
    command.is_special = true;
    command.special.metadata =
        std::make_unique<CommandMetadata>(of, command.blocks >> of.shift, ProtectionTerms::of(sqe), sqe.mptr);
    command.metadata = command.special.metadata->kept();
}

/// MDTS counts metadata that are transferred with the data (Identify, NVMe 1.4 §5.15). Metadata that are protection
/// information alone are not transferred if the controller acts on it (§8.3).
__attribute__((noinline)) IoDecoder::Next IoDecoder::decode_with_metadata(const Sqe& sqe, const Namespace& of,
                                                                          NvmeCommand& command, DataWalk& walk) const {
    const ProtectionTerms terms = ProtectionTerms::of(sqe);
    const bool moves = of.metadata.type == 0 || !terms.acts;
    const std::uint64_t behind_data =
        moves && of.metadata.extended ? std::uint64_t{command.blocks} * kMetadataBytes : 0;
    command.fua = (sqe.cdw12 & kRwFua) != 0 || (write_through_ && command.op == IoOp::write);
    if (max_transfer_bytes_ != 0 && command.bytes + behind_data > max_transfer_bytes_)
        return refuse(command, kStInvalidField);
    if (command.op == IoOp::write && write_directive_type(sqe.cdw12) != 0 && !name_stream(sqe, command))
        return refuse(command, kStInvalidField);
    const bool has_buffer = moves && !of.metadata.extended, by_sgl = has_buffer && sqe.psdt() == 2;
    if (has_buffer && (sqe.mptr & (by_sgl ? 7u : 3u)) != 0) return refuse(command, kStInvalidField);
    // A Compare has nothing to insert or strip.
    const std::uint16_t status =
        sqe.opc == kIoCompare && !moves ? kStInvalidProtection : refuse_terms(of.metadata, terms, sqe.slba());
    if (status != kStSuccess) return refuse(command, status);
    const WalkStep step = walk.start(sqe, command.bytes + behind_data, sqe.opc == kIoRead, command.data);
    if (step == WalkStep::refused) return refuse(command, walk.status());
    const Next known = by_sgl ? Next::metadata : Next::submit;
    const Next next = place(of, command, step == WalkStep::done ? known : Next::data_list);
    if (next == Next::refused) return next;
    attach_metadata(sqe, of, command);
    if (by_sgl) command.special.metadata->await_pointer();
    return next;
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
