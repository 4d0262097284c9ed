// SPDX-License-Identifier: Apache-2.0
// Decodes an entry of an I/O submission queue into a command, or returns the status that refuses it. Checks are made in
// the order opcode, NSID, fields (CID, FUSE, PSDT, MDTS, PRP1 and PRP2), LBA range, and the first error decides. Read
// and Write are decoded here, all others by their row of the table (io/io_list.h). Streams is the only directive.
#pragma once

#include <cstdint>

#include "controller/nvme/data_walk.h"
#include "controller/nvme/namespaces.h"
#include "controller/nvme/nvme_command.h"
#include "controller/nvme/streams.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class IoDecoder {
public:
    /// `namespaces` and `streams` must outlive it. With `sgls`, PSDT may be 1, and 2 if there are formats with
    /// metadata.
    IoDecoder(const Namespaces& namespaces, std::uint32_t max_transfer_bytes, Streams& streams, bool sgls = false)
        : namespaces_(namespaces),
          max_transfer_bytes_(max_transfer_bytes),
          streams_(streams),
          sgl_flags_(sgls ? nvme::kFlagsSgl : std::uint8_t{0}),
          most_psdt_(!sgls                          ? 0u
                     : namespaces.offers_metadata() ? 2u
                                                    : 1u) {}

    /// Sets Feature 06h: with WCE = 0 every write is carried out as FUA.
    void set_write_through(bool on) { write_through_ = on; }
    bool writes_through() const { return write_through_; }
    const Namespaces& namespaces() const { return namespaces_; }
    /// 0: no limit.
    std::uint32_t max_transfer_bytes() const { return max_transfer_bytes_; }

    enum class Next : std::uint8_t {
        submit,     ///< hand the command to the firmware
        data_list,  ///< read the rest of NvmeCommand::data (DataWalk::feed), then read ranges or submit
        ranges,     ///< first read the ranges from NvmeCommand::data, then parse_ranges()
        metadata,   ///< read the descriptor of the metadata (CommandMetadata::awaits_pointer()), then submit
        finished,   ///< nothing to do: complete with success
        refused     ///< complete with NvmeCommand::code
    };

    /// Fills `command`, whose ranges and data must be empty. If it returns data_list, the walk waits for its list.
    Next decode(const nvme::Sqe& sqe, bool cid_in_use, NvmeCommand& command, DataWalk& walk) const {
        const bool transfer = sqe.opc == nvme::kIoRead || sqe.opc == nvme::kIoWrite;
        const Namespace* const of = namespaces_.find(sqe.nsid);
        const unsigned flags = sqe.flags & nvme::kFlagsUsed;
        const bool plain = of != nullptr && !cid_in_use && (flags == 0 || flags == sgl_flags_);
        command.nsid = sqe.nsid;
        if (__builtin_expect(!transfer || !plain, 0)) return decode_any(sqe, of, cid_in_use, command, walk);
        command.op = sqe.opc == nvme::kIoRead ? IoOp::read : IoOp::write;
        command.code = nvme::kStSuccess;
        command.status = CommandStatus::success;
        return decode_transfer(sqe, *of, command, walk);
    }

    /// Call it after `ranges`; until then Command::bytes holds the length of the list. It fills Command::ranges from
    /// the list of `count` entries of Dataset Management and clears NvmeCommand::data. Returns submit, finished or
    /// refused.
    Next parse_ranges(const std::uint8_t* list, std::uint32_t count, NvmeCommand& command) const;

    static Next refuse(NvmeCommand& command, std::uint16_t status) {
        command.code = status;
        return Next::refused;
    }
    /// Translates the blocks of the command to blocks of the drive.
    static Next place(const Namespace& of, NvmeCommand& command, Next next) {
        command.first_block = of.first_block;
        command.shift = static_cast<std::uint8_t>(of.shift);
        if (!of.has(command.slba, command.blocks)) return refuse(command, nvme::kStLbaOutOfRange);
        command.slba = of.first_block + (command.slba << of.shift);
        command.blocks <<= of.shift;
        return next;
    }
    /// Decodes a command that names blocks and has no data.
    static Next decode_blocks(const nvme::Sqe& sqe, const Namespace& of, NvmeCommand& command) {
        command.slba = sqe.slba();
        command.blocks = (sqe.cdw12 & 0xFFFF) + 1;
        command.bytes = std::uint64_t{command.blocks} * of.lba_bytes;
        return place(of, command, Next::submit);
    }
    /// Decodes a Read or Write that has passed the checks common to all commands.
    Next decode_transfer(const nvme::Sqe& sqe, const Namespace& of, NvmeCommand& command, DataWalk& walk) const {
        command.slba = sqe.slba();
        command.blocks = (sqe.cdw12 & 0xFFFF) + 1;
        command.bytes = std::uint64_t{command.blocks} * of.lba_bytes;
        if (__builtin_expect(of.metadata.bytes != 0, 0)) return decode_with_metadata(sqe, of, command, walk);
        command.fua = (sqe.cdw12 & nvme::kRwFua) != 0 || (write_through_ && command.op == IoOp::write);
        if (max_transfer_bytes_ != 0 && command.bytes > max_transfer_bytes_)
            return refuse(command, nvme::kStInvalidField);
        if (__builtin_expect(command.op == IoOp::write && nvme::write_directive_type(sqe.cdw12) != 0, 0) &&
            !name_stream(sqe, command))
            return refuse(command, nvme::kStInvalidField);
        const WalkStep step = walk.start(sqe, command.bytes, sqe.opc == nvme::kIoRead, command.data);
        if (step == WalkStep::refused) return refuse(command, walk.status());
        if (__builtin_expect(command.data.skips(), 0)) command.is_special = true;
        return place(of, command, step == WalkStep::done ? Next::submit : Next::data_list);
    }
    /// Gives a command its metadata. It has been placed, and the terms have been checked.
    static void attach_metadata(const nvme::Sqe& sqe, const Namespace& of, NvmeCommand& command);
    /// Begins to read a list of ranges of `command.bytes` bytes.
    static Next decode_ranges(const nvme::Sqe& sqe, NvmeCommand& command, DataWalk& walk) {
        switch (walk.start(sqe, command.bytes, false, command.data)) {
            case WalkStep::done:
                return Next::ranges;
            case WalkStep::need_list:
                return Next::data_list;
            case WalkStep::refused:
                break;
        }
        return refuse(command, walk.status());
    }
    bool may_be_sgl(const nvme::Sqe& sqe) const { return sqe.psdt() <= most_psdt_; }

private:
    /// Decodes a write that names a directive. Returns false if that directive is not enabled.
    bool name_stream(const nvme::Sqe& sqe, NvmeCommand& command) const;
    /// Decodes a Read, Write or Compare of blocks with metadata, from the check of MDTS on.
    Next decode_with_metadata(const nvme::Sqe& sqe, const Namespace& of, NvmeCommand& command, DataWalk& walk) const;
    /// Decodes any entry, also faulty ones.
    Next decode_any(const nvme::Sqe& sqe, const Namespace* of, bool cid_in_use, NvmeCommand& command,
                    DataWalk& walk) const;

    const Namespaces& namespaces_;
    std::uint32_t max_transfer_bytes_;
    Streams& streams_;
    std::uint8_t sgl_flags_;  // 0: there are no SGLs
    std::uint32_t most_psdt_;
    bool write_through_ = false;
};

}  // namespace ssdtlm
