// SPDX-License-Identifier: Apache-2.0
// One I/O command as the table has it (io_list.h). Read and Write have rows too, but IoDecoder decodes them itself for
// speed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "controller/nvme/counters.h"
#include "controller/nvme/io_decode.h"

namespace ssdtlm {

struct IoKind {
    /// Decodes a command that has passed the checks of all commands. `of` is null only for Flush to all namespaces.
    using Decode = IoDecoder::Next (*)(const IoDecoder&, const nvme::Sqe&, const Namespace* of, NvmeCommand&,
                                       DataWalk&);

    /// `may_end` holds the statuses that this command alone may end with. Success, the statuses of any command and
    /// those of has_data() are not in it.
    IoKind(std::uint8_t code, const char* text, IoOp firmware, Decode function, std::uint64_t NvmeCounters::*counted,
           std::vector<std::uint16_t> may_end)
        : opcode(code), name(text), op(firmware), decode(function), count(counted), statuses(std::move(may_end)) {}
    IoKind& identified_by(std::uint16_t oncs_bit) { return oncs = oncs_bit, *this; }
    IoKind& changes(std::uint32_t bits) { return effects = bits, *this; }
    /// The command uses its data pointer. So errors of that, and of the memory it names, may end the command too.
    IoKind& has_data() {
        for (const std::uint16_t s :
             {nvme::kStInvalidPrpOffset, nvme::kStInvalidSglSegment, nvme::kStInvalidSglCount,
              nvme::kStSglLengthInvalid, nvme::kStSglTypeInvalid, nvme::kStSglGranularity, nvme::kStDataTransferError})
            statuses.push_back(s);
        return *this;
    }
    /// Protection information of its blocks is checked.
    IoKind& has_protection() {
        for (const std::uint16_t s : {nvme::kStInvalidProtection, nvme::kStGuardCheck, nvme::kStApplicationTagCheck,
                                      nvme::kStReferenceTagCheck})
            statuses.push_back(s);
        return *this;
    }
    /// Its metadata may have a buffer of their own, which an SGL descriptor names.
    IoKind& has_metadata() { return statuses.push_back(nvme::kStMetadataSglLength), *this; }
    /// The data are ranges of blocks, which the controller reads before it begins.
    IoKind& has_ranges() { return reads_ranges = true, *this; }
    IoKind& for_all_namespaces() { return broadcast = true, *this; }
    /// CDW12 and CDW10-11 name blocks, as in Write Zeroes and commands that read.
    IoKind& may_be_fused(std::uint32_t fuse) { return fused_as = fuse, *this; }

    std::uint8_t opcode;
    const char* name;
    IoOp op;  ///< first operation for the firmware
    Decode decode;
    std::uint64_t NvmeCounters::*count;
    std::vector<std::uint16_t> statuses;
    std::uint16_t oncs = 0;     ///< bits of Identify ONCS
    std::uint32_t effects = 0;  ///< bits of log 05h besides CSUPP
    bool reads_ranges = false;
    bool broadcast = false;      ///< NSID FFFFFFFFh is allowed (Identify VWC [2:1] = 3)
    std::uint32_t fused_as = 0;  ///< 1 first, 2 second command of a pair; 0: it cannot be fused
};

}  // namespace ssdtlm
