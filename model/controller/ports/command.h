// SPDX-License-Identifier: Apache-2.0
// One I/O command inside the controller, from fetch to completion. Owned by the front end's pool.
#pragma once

#include <cstdint>
#include <vector>

#include "common/latency/timeline.h"
#include "controller/ports/command_status.h"
#include "controller/ports/work_tag.h"

namespace ssdtlm {

enum class IoOp : std::uint8_t { read, write, flush, deallocate, write_zeroes };

/// Contiguous range of logical blocks.
struct LbaRange {
    std::uint64_t slba = 0;
    std::uint32_t blocks = 0;
};

struct Command {
    std::uint32_t index = 0;  ///< dense pool index; firmware keeps its own per-command state by it
    IoOp op = IoOp::read;
    bool fua = false;
    bool ends_work = false;                         ///< the flush of a shutdown
    CommandStatus status = CommandStatus::success;  ///< written by firmware before complete()
    std::uint16_t queue = 0;  ///< number of the host's queue, from 1 on; 0: the front end's own command
    std::uint16_t tag = 0;    ///< number among the commands of its queue
    std::uint64_t slba = 0;
    std::uint32_t blocks = 0;      ///< 1-based; read, write, write zeroes
    std::uint64_t bytes = 0;       ///< blocks * lba_bytes
    std::vector<LbaRange> ranges;  ///< deallocate
    /// Bytes that have been written although the command ends as aborted, read_only or transfer_error. It is set by
    /// firmware before complete() of such a write.
    std::uint64_t written = 0;
    std::uint64_t result = 0;  ///< what the host is told besides the status; written by firmware before complete()
    /// Metadata of its blocks, kept in the order of the blocks beside the data: the same number of bytes for each block
    /// (NandGeometry::metadata_bytes). A write gives them, a read takes them. Null: the blocks get zeros, or nobody
    /// asks.
    std::uint8_t* metadata = nullptr;
    WorkTag whose;
    Timeline* timeline = nullptr;  ///< never null while the command lives
};

/// Front end -> firmware. The command's timeline is marked up to now (end of `fetch`).
class CommandSink {
public:
    virtual void submit(Command& command) = 0;
    /// `aborts` = true: the controller is being reset. Until a call with false, a command that would have to wait for
    /// room is aborted; those that wait for room already are aborted at once. Commands that have room go on. Those that
    /// then wait only for the flash are named to CompletionSink::let_go().
    virtual void abort_waits(bool aborts) = 0;

protected:
    ~CommandSink() = default;
};

/// Firmware -> front end: tell the host. The timeline must be charged up to a mark that is <= the time at which that
/// can reach the host; the rest is charged to `completion` by the host side. The command is freed.
class CompletionSink {
public:
    virtual void complete(Command& command) = 0;
    /// The controller is being reset, and the command can no longer do anything that the host could see. It still waits
    /// for the flash, which may take longer than a reset. complete() follows when the flash has finished. A front end
    /// that can wait for complete() may ignore this call.
    virtual void let_go(Command&) {}

protected:
    ~CompletionSink() = default;
};

}  // namespace ssdtlm
