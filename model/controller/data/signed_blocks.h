// SPDX-License-Identifier: Apache-2.0
// Signatures in place of data: the controller reads them from a logical block that the host wrote, and writes them into
// one that the host reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/report/error.h"
#include "controller/ports/host_read.h"
#include "nand/onfi/spare.h"
#include "protocol/signature.h"

namespace ssdtlm {

class SignedBlocks {
public:
    /// `check`: the host signs what it writes, and each block must have its own signature.
    SignedBlocks(const SpareCodec& codec, std::uint32_t lba_bytes, std::uint32_t blocks_per_unit, bool check)
        : codec_(codec), lba_bytes_(lba_bytes), blocks_per_unit_(blocks_per_unit), check_(check) {}

    /// The bytes of user data that have to be moved.
    ByteEnables moved() const { return signatures_of(lba_bytes_); }
    /// Version of what the host wrote to this block. A host that does not sign leaves whatever its buffer held. There
    /// is nothing to check then, and all blocks have version 0.
    std::uint32_t version_of(std::uint64_t lba, const std::uint8_t* data) const {
        const BlockSignature signature = BlockSignature::load(data);
        const bool is_signed = check_ && signature.magic == BlockSignature::kMagic;
        if (is_signed && signature.lba != lba) refuse(lba, signature.lba);
        return is_signed ? signature.version : 0;
    }
    /// Signs the `blocks` logical blocks of a read's part, from `lba` on, with the versions in its flash page or the
    /// buffer. Calls check(i) for each unit of a page.
    template <class Check>
    void sign(const HostRead& job, std::uint64_t lba, std::uint64_t blocks, std::uint8_t* out, Check check) const {
        const std::uint64_t end = lba + blocks;
        BlockSignature signature;  // zeros: deallocated
        if (job.source == HostRead::Source::zeros) {
            for (; lba < end; ++lba, out += lba_bytes_) signature.store(out);
            return;
        }
        signature.magic = BlockSignature::kMagic;
        for (std::uint32_t i = 0; i < job.units; ++i) {
            if (job.source == HostRead::Source::flash) {
                check(i);
                signature.version = codec_.version(job.txn.spare[job.slot[i]]);
            }
            if ((job.newer >> i & 1u) != 0) signature.version = job.version[i];
            const std::uint64_t stop = std::min(end, (std::uint64_t{job.first_unit} + i + 1) * blocks_per_unit_);
            for (; lba < stop; ++lba, out += lba_bytes_) {
                signature.lba = lba;
                signature.store(out);
            }
        }
    }

private:
    [[noreturn]] __attribute__((noinline, cold)) static void refuse(std::uint64_t lba, std::uint64_t found) {
        throw CheckFailed("integrity: write to LBA " + std::to_string(lba) + " brought the data of LBA " +
                          std::to_string(found));
    }

    SpareCodec codec_;
    std::uint32_t lba_bytes_;
    std::uint32_t blocks_per_unit_;
    bool check_;
};

}  // namespace ssdtlm
