// SPDX-License-Identifier: Apache-2.0
#include "unit/nvme/conformance_rows.h"

namespace ssdtlm::test {

using namespace nvme;
using Host = ConformanceHost;

namespace {

constexpr std::uint32_t kFirst = 1, kSecond = 2;    // FUSE
constexpr std::uint64_t kNowhere = 1u << 21;        // memory that does not answer
constexpr std::uint64_t kEnd = (256u << 10) / 512;  // of namespace 1, in blocks

Sqe plain(const Host& h, std::uint8_t opcode) {
    Sqe s = h.io(opcode, 0, 1);
    if (opcode == kIoDatasetMgmt) s.cdw10 = s.cdw12 = 0, s.cdw11 = kDsmDeallocate;
    return s;
}

/// A row whose command is one entry: `spoil` makes of a plain one what is refused.
ConformanceRow row(std::uint8_t opcode, std::uint16_t status, const char* how, std::function<void(Host&, Sqe&)> spoil) {
    return {true, opcode, status, how, [opcode, spoil](Host& h) {
                Sqe s = plain(h, opcode);
                std::fill_n(h.dma.memory.begin() + Host::kData, 4096, std::uint8_t{0});
                if (opcode == kIoDatasetMgmt) h.dma.put<std::uint32_t>(Host::kData + 4, 1);  // a block
                spoil(h, s);
                return h.ends(s);
            }};
}

/// What a data pointer is refused for.
void pointers(std::uint8_t opcode, std::vector<ConformanceRow>& all) {
    using D = SglDescriptor;
    all.push_back(row(opcode, kStInvalidPrpOffset, "PRP1 at an odd address", [](Host&, Sqe& s) { s.prp1 |= 1; }));
    all.push_back(row(opcode, kStInvalidSglSegment, "a last segment of 8 bytes",
                      [](Host&, Sqe& s) { set_sgl(s, D::of(D::kLastSegment, Host::kOther, 8)); }));
    all.push_back(row(opcode, kStInvalidSglCount, "a segment descriptor that is not the last one of its segment",
                      [](Host& h, Sqe& s) {
                          h.dma.put(Host::kOther, D::of(D::kLastSegment, Host::kOther, 16));
                          h.dma.put(Host::kOther + 16, D::of(D::kDataBlock, Host::kData, 512));
                          set_sgl(s, D::of(D::kSegment, Host::kOther, 32));
                      }));
    all.push_back(row(opcode, kStSglLengthInvalid, "data blocks of 4 bytes",
                      [](Host&, Sqe& s) { set_sgl(s, D::of(D::kDataBlock, Host::kData, 4)); }));
    all.push_back(row(opcode, kStSglTypeInvalid, "a keyed data block",
                      [](Host&, Sqe& s) { set_sgl(s, D::of(4, Host::kData, 512)); }));
    all.push_back(row(opcode, kStSglGranularity, "a data block at an odd address",
                      [](Host&, Sqe& s) { set_sgl(s, D::of(D::kDataBlock, Host::kData + 1, 512)); }));
}

ConformanceRow flash(std::uint8_t opcode, CommandStatus says, std::uint16_t status, const char* how) {
    return row(opcode, status, how, [says](Host& h, Sqe&) { h.drive.next = says; });
}

/// How the first, or the second, of two entries ends.
std::uint16_t of_two(Host& h, const Sqe& one, const Sqe& two, bool first) {
    Sqe a = one, b = two;
    a.cid = 1, b.cid = 2;
    h.push(h.p, a);
    h.push(h.p, b);
    h.ring(h.p);
    h.agenda.run();
    std::uint16_t status = 0xFFFF;
    while (h.has_cqe(h.p)) {
        const Cqe e = h.take(h.p);
        if (e.cid == (first ? 1 : 2)) status = e.status();
    }
    h.ring_head(h.p);
    return status;
}

Sqe fused(const Host& h, std::uint8_t opcode, std::uint32_t fuse, std::uint64_t slba = 0) {
    Sqe s = h.io(opcode, slba, 1);
    s.flags = static_cast<std::uint8_t>(fuse);
    return s;
}

/// The PRP list of 24 KiB is being read when the Abort comes.
ConformanceRow aborted(std::uint8_t opcode) {
    return {true, opcode, kStAbortRequested, "Abort while its PRP list is being read", [opcode](Host& h) {
                Sqe s = h.io(opcode, 0, 48);
                s.cid = 7;
                h.push(h.p, s);
                h.dma.read_times = {Ps{1us}, Ps{1ms}};  // the entry, and the list
                h.ring(h.p);
                h.agenda.run_until(h.agenda.now() + 5us);
                h.run_admin(h.admin_command(kAdminAbort, 0, 1 | 7u << 16));
                return h.take(h.p).status();
            }};
}

std::vector<ConformanceRow> transfers() {
    std::vector<ConformanceRow> all;
    for (const std::uint8_t opcode : {kIoRead, kIoWrite, kIoCompare}) {
        all.push_back(row(opcode, kStSuccess, "a block", [](Host&, Sqe&) {}));
        all.push_back(row(opcode, kStLbaOutOfRange, "behind the end", [](Host&, Sqe& s) { s.set_slba(kEnd); }));
        all.push_back(flash(
            opcode, CommandStatus::unrecovered_read, kStUnrecoveredRead,
            opcode == kIoWrite ? "the rest of a unit that it writes in part is lost" : "the flash has lost the data"));
        pointers(opcode, all);
        all.push_back(row(opcode, kStDataTransferError, "its PRP list does not answer",
                          [](Host&, Sqe& s) { s.cdw12 = 31, s.prp2 = kNowhere; }));
        all.push_back(aborted(opcode));
    }
    all.push_back(flash(kIoWrite, CommandStatus::read_only, kStReadOnlyRange, "the drive is read-only"));
    all.push_back(flash(kIoWrite, CommandStatus::write_fault, kStWriteFault, "the flash did not take the data"));
    all.push_back(
        row(kIoCompare, kStCompareFailure, "other data", [](Host& h, Sqe&) { h.dma.memory[Host::kData] = 1; }));
    return all;
}

std::vector<ConformanceRow> pairs() {
    return {
        {true, kIoWrite, kStAbortFailedFused, "second of a pair whose Compare fails",
         [](Host& h) {
             h.dma.memory[Host::kData] = 1;
             return of_two(h, fused(h, kIoCompare, kFirst), fused(h, kIoWrite, kSecond), false);
         }},
        {true, kIoWrite, kStAbortMissingFused, "second of a pair without a first",
         [](Host& h) { return h.ends(fused(h, kIoWrite, kSecond)); }},
        {true, kIoCompare, kStAbortFailedFused, "first of a pair whose Write is refused",
         [](Host& h) { return of_two(h, fused(h, kIoCompare, kFirst), fused(h, kIoWrite, kSecond, kEnd), true); }},
        {true, kIoCompare, kStAbortMissingFused, "first of a pair, and another command follows",
         [](Host& h) { return of_two(h, fused(h, kIoCompare, kFirst), fused(h, kIoRead, 0), true); }},
        {true, kIoCompare, kStAbortSqDeletion, "first of a pair when its queue is deleted",
         [](Host& h) {
             Sqe s = fused(h, kIoCompare, kFirst);
             h.push(h.p, s);
             h.ring(h.p);
             h.agenda.run();
             h.run_admin(h.admin_command(kAdminDeleteSq, 0, 1));
             return h.take(h.p).status();
         }},
    };
}

std::vector<ConformanceRow> blocks() {
    std::vector<ConformanceRow> all;
    for (const std::uint8_t opcode :
         {kIoFlush, kIoVerify, kIoWriteZeroes, kIoWriteUncorrectable, kIoDatasetMgmt, kIoCopy})
        all.push_back(row(opcode, kStSuccess, opcode == kIoFlush ? "the namespace" : "a block", [](Host&, Sqe&) {}));
    for (const std::uint8_t opcode : {kIoVerify, kIoWriteZeroes, kIoWriteUncorrectable})
        all.push_back(row(opcode, kStLbaOutOfRange, "behind the end", [](Host&, Sqe& s) { s.set_slba(kEnd); }));
    for (const std::uint8_t opcode : {kIoWriteZeroes, kIoWriteUncorrectable, kIoDatasetMgmt, kIoCopy})
        all.push_back(flash(opcode, CommandStatus::read_only, kStReadOnlyRange, "the drive is read-only"));
    for (const std::uint8_t opcode : {kIoFlush, kIoWriteZeroes, kIoCopy})
        all.push_back(flash(opcode, CommandStatus::write_fault, kStWriteFault, "the flash did not take the data"));
    for (const std::uint8_t opcode : {kIoFlush, kIoCopy})
        all.push_back(flash(opcode, CommandStatus::aborted, kStAbortRequested, "it waits for the flash"));
    for (const std::uint8_t opcode : {kIoDatasetMgmt, kIoCopy}) {
        pointers(opcode, all);
        all.push_back(row(opcode, kStDataTransferError, "its list of ranges does not answer",
                          [](Host&, Sqe& s) { s.prp1 = kNowhere; }));
        all.push_back(row(opcode, kStLbaOutOfRange, "a range behind the end",
                          [](Host& h, Sqe&) { h.dma.put(Host::kData + 8, kEnd); }));  // SLBA of both forms
    }
    all.push_back(flash(kIoVerify, CommandStatus::unrecovered_read, kStUnrecoveredRead, "the flash has lost the data"));
    all.push_back(flash(kIoCopy, CommandStatus::unrecovered_read, kStUnrecoveredRead, "the flash has lost the data"));
    all.push_back(flash(kIoWriteZeroes, CommandStatus::not_possible, kStInvalidField, "part of a mapping unit"));
    all.push_back(row(kIoCopy, kStInvalidField, "descriptors of format 1", [](Host&, Sqe& s) { s.cdw12 |= 1u << 8; }));
    all.push_back(row(kIoCopy, kStCommandSizeLimit, "17 ranges", [](Host&, Sqe& s) { s.cdw12 = 16; }));
    return all;
}

/// A command on a block of 512 bytes with protection information of type 1, whose tuple is wrong in one byte. `prinfo`
/// is what the command says; `spoil` may change it more.
ConformanceRow tuple(std::uint8_t opcode, std::uint16_t status, const char* how, std::uint32_t prinfo,
                     std::uint32_t wrong_byte, std::function<void(Host&, Sqe&)> spoil = nullptr) {
    return {true, opcode, status, how, [=](Host& h) {
                constexpr std::uint64_t kMetadata = 0xE0000;
                EXPECT_EQ(h.admin_ends(h.admin_command(kAdminFormat, 1, 2 | format_protection(1))), kStSuccess);
                std::fill_n(h.dma.memory.begin() + Host::kData, 4096, std::uint8_t{0});
                h.dma.put<std::uint64_t>(kMetadata, 0);  // of zeros at LBA 0
                h.dma.memory[kMetadata + wrong_byte] = 1;
                Sqe s = plain(h, kIoWrite);
                s.mptr = kMetadata;
                EXPECT_EQ(h.ends(s), kStSuccess);
                s.opc = opcode;
                s.cdw15 = 0xFFFF0000;
                if (opcode == kIoCopy) {
                    h.dma.put<std::uint16_t>(Host::kData + 30, 0xFFFF);  // ELBATM
                    s.cdw12 = prinfo << 12;
                } else {
                    s.cdw12 |= rw_protection(prinfo);
                }
                if (spoil) spoil(h, s);
                return h.ends(s);
            }};
}

std::vector<ConformanceRow> protection() {
    std::vector<ConformanceRow> all;
    for (const std::uint8_t opcode : {kIoRead, kIoWrite, kIoCompare, kIoVerify, kIoCopy}) {
        all.push_back(tuple(opcode, kStInvalidProtection,
                            opcode == kIoCopy ? "type 1, a range whose EILBRT is not its SLBA"
                                              : "type 1, a reference tag that is not the SLBA",
                            kPrCheckReference, 0, [opcode](Host& h, Sqe& s) {
                                s.cdw14 = 1;
                                if (opcode == kIoCopy) h.dma.put<std::uint32_t>(Host::kData + 24, 1);
                            }));
        all.push_back(tuple(opcode, kStGuardCheck, "the guard is not that of the data", kPrCheckGuard, 1));
        all.push_back(
            tuple(opcode, kStApplicationTagCheck, "another application tag is expected", kPrCheckApplication, 3));
        all.push_back(tuple(opcode, kStReferenceTagCheck, "another reference tag is expected", kPrCheckReference, 7));
    }
    for (const std::uint8_t opcode : {kIoRead, kIoWrite, kIoCompare})
        all.push_back(tuple(opcode, kStMetadataSglLength, "metadata by an SGL, in 4 bytes", 0, 0, [](Host& h, Sqe& s) {
            h.dma.put(Host::kOther, SglDescriptor::of(SglDescriptor::kDataBlock, 0xE0000, 4));
            set_sgl(s, SglDescriptor::of(SglDescriptor::kDataBlock, Host::kData, 512));
            set_metadata_sgl(s, Host::kOther);
        }));
    all.push_back(tuple(kIoWriteZeroes, kStInvalidProtection, "PRCHK is not 0", kPrCheckGuard, 0));
    return all;
}

}  // namespace

std::vector<ConformanceRow> io_rows() {
    std::vector<ConformanceRow> all;
    for (auto* const part : {transfers, pairs, blocks, protection})
        for (ConformanceRow& r : part()) all.push_back(std::move(r));
    return all;
}

}  // namespace ssdtlm::test
