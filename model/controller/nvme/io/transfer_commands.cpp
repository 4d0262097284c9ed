// SPDX-License-Identifier: Apache-2.0
// Read, Write, Compare and Verify (NVMe 1.4 §6.9, §6.15, §6.6, §6.14). Compare reads the flash and the host's memory,
// and the controller compares them. Verify only reads the flash.
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

IoDecoder::Next decode_transfer(const IoDecoder& decoder, const Sqe& sqe, const Namespace* of, NvmeCommand& command,
                                DataWalk& walk) {
    return decoder.decode_transfer(sqe, *of, command, walk);
}

IoDecoder::Next decode_compare(const IoDecoder& decoder, const Sqe& sqe, const Namespace* of, NvmeCommand& command,
                               DataWalk& walk) {
    command.is_special = true;
    command.special.data = SpecialCommand::Data::compare;
    return decoder.decode_transfer(sqe, *of, command, walk);
}

/// MDTS does not limit Verify, because it transfers nothing (Identify CNS 06h names no limit either). IoCommands reads
/// a long one in parts.
IoDecoder::Next decode_verify(const IoDecoder&, const Sqe& sqe, const Namespace* of, NvmeCommand& command, DataWalk&) {
    command.is_special = true;
    command.special.data = SpecialCommand::Data::nowhere;
    if (of->metadata.type == 0) return IoDecoder::decode_blocks(sqe, *of, command);
    const ProtectionTerms terms = ProtectionTerms::of(sqe);
    const std::uint16_t status =
        terms.acts ? kStInvalidProtection : refuse_terms(of->metadata, terms, sqe.slba());  // nothing is transferred
    if (status != kStSuccess) return IoDecoder::refuse(command, status);
    const IoDecoder::Next next = IoDecoder::decode_blocks(sqe, *of, command);
    if (next != IoDecoder::Next::refused) IoDecoder::attach_metadata(sqe, *of, command);
    return next;
}

}  // namespace

extern const IoKind kReadKind, kWriteKind, kCompareKind, kVerifyKind;
const IoKind kReadKind = IoKind(kIoRead, "Read", IoOp::read, decode_transfer, &NvmeCounters::reads,
                                {kStLbaOutOfRange, kStUnrecoveredRead, kStAbortRequested})
                             .has_protection()
                             .has_metadata()
                             .has_data();
const IoKind kWriteKind = IoKind(kIoWrite, "Write", IoOp::write, decode_transfer, &NvmeCounters::writes,
                                 {kStLbaOutOfRange, kStReadOnlyRange, kStWriteFault, kStUnrecoveredRead,
                                  kStAbortRequested, kStAbortFailedFused, kStAbortMissingFused})
                              .has_protection()
                              .has_metadata()
                              .has_data()
                              .changes(kEffectBlocks)
                              .may_be_fused(2);
const IoKind kCompareKind = IoKind(kIoCompare, "Compare", IoOp::read, decode_compare, &NvmeCounters::compares,
                                   {kStLbaOutOfRange, kStUnrecoveredRead, kStCompareFailure, kStAbortMissingFused,
                                    kStAbortRequested, kStAbortFailedFused, kStAbortSqDeletion})
                                .has_protection()
                                .has_metadata()
                                .has_data()
                                .identified_by(IdCtrl::kOncsCompare)
                                .may_be_fused(1);
const IoKind kVerifyKind = IoKind(kIoVerify, "Verify", IoOp::read, decode_verify, &NvmeCounters::verifies,
                                  {kStLbaOutOfRange, kStUnrecoveredRead})
                               .has_protection()
                               .identified_by(IdCtrl::kOncsVerify);

}  // namespace ssdtlm
