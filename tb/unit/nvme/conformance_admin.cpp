// SPDX-License-Identifier: Apache-2.0
#include "unit/nvme/conformance_rows.h"

namespace ssdtlm::test {

using namespace nvme;
using Host = ConformanceHost;

NvmeConfig ConformanceHost::everything() {
    NvmeConfig c = NvmeBench::small();
    c.namespaces = {256u << 10, 256u << 10};
    c.streams = 4;
    c.shadow_doorbells = true;
    c.sgls = true;
    c.metadata = true;
    return c;
}

namespace {

/// A row whose command is one entry: `spoil` makes of a plain one what is refused.
ConformanceRow row(std::uint8_t opcode, std::uint16_t status, const char* how, std::function<void(Host&, Sqe&)> spoil) {
    return {false, opcode, status, how, [opcode, spoil](Host& h) {
                Sqe s = h.admin_command(opcode);
                spoil(h, s);
                return h.admin_ends(s);
            }};
}

Sqe create_cq(std::uint16_t qid, std::uint32_t entries = 16, std::uint16_t vector = 1) {
    Sqe s;
    s.opc = kAdminCreateCq;
    s.prp1 = 0x40000;
    s.cdw10 = queue_cdw10(qid, entries);
    s.cdw11 = create_cq_cdw11(vector);
    return s;
}

Sqe create_sq(std::uint16_t qid, std::uint32_t entries = 16, std::uint16_t cqid = 1) {
    Sqe s;
    s.opc = kAdminCreateSq;
    s.prp1 = 0x40000;
    s.cdw10 = queue_cdw10(qid, entries);
    s.cdw11 = create_sq_cdw11(cqid);
    return s;
}

/// Namespace Management, Create, with these fields in the host's buffer.
std::uint16_t create_namespace(Host& h, std::uint64_t size, std::uint64_t capacity, std::uint8_t flbas = 0) {
    std::fill_n(h.dma.memory.begin() + Host::kData, 4096, std::uint8_t{0});
    h.dma.put(Host::kData, size);
    h.dma.put(Host::kData + 8, capacity);
    h.dma.memory[Host::kData + 26] = flbas;
    return h.admin_ends(h.admin_command(kAdminNamespaceManagement));
}

std::uint16_t attach(Host& h, std::uint32_t nsid, std::uint32_t action, std::uint16_t controllers = 1) {
    h.dma.put(Host::kData, controllers);
    h.dma.put<std::uint16_t>(Host::kData + 2, 0);
    return h.admin_ends(h.admin_command(kAdminNamespaceAttachment, nsid, action));
}

Sqe stream_directive(std::uint8_t opcode, std::uint8_t operation, std::uint8_t type, std::uint32_t dw12 = 0) {
    Sqe s;
    s.opc = opcode;
    s.nsid = 1;
    s.prp1 = Host::kData;
    s.cdw10 = 7;
    s.cdw11 = directive_cdw11(operation, type);
    s.cdw12 = dw12;
    return s;
}

std::uint16_t enable_streams(Host& h) {
    return h.admin_ends(stream_directive(kAdminDirectiveSend, kDirectiveEnable, kDirectiveIdentify,
                                         std::uint32_t{kDirectiveStreams} << 8 | 1u));
}

ConformanceRow call(std::uint8_t opcode, std::uint16_t status, const char* how,
                    std::function<std::uint16_t(Host&)> run) {
    return {false, opcode, status, how, std::move(run)};
}

std::vector<ConformanceRow> queue_rows() {
    return {
        row(kAdminDeleteSq, kStSuccess, "an I/O queue", [](Host&, Sqe& s) { s.cdw10 = 1; }),
        row(kAdminDeleteSq, kStInvalidQid, "queue 0", [](Host&, Sqe&) {}),
        row(kAdminCreateSq, kStSuccess, "a new number", [](Host&, Sqe& s) { s = create_sq(2); }),
        row(kAdminCreateSq, kStInvalidField, "PC = 0", [](Host&, Sqe& s) { s = create_sq(2), s.cdw11 &= ~1u; }),
        row(kAdminCreateSq, kStInvalidCq, "a CQ that does not exist", [](Host&, Sqe& s) { s = create_sq(2, 16, 3); }),
        row(kAdminCreateSq, kStInvalidQid, "a number in use", [](Host&, Sqe& s) { s = create_sq(1); }),
        row(kAdminCreateSq, kStInvalidQueueSize, "one entry", [](Host&, Sqe& s) { s = create_sq(2, 1); }),
        row(kAdminCreateSq, kStInvalidPrpOffset, "PRP1 inside a page",
            [](Host&, Sqe& s) { s = create_sq(2), s.prp1 += 64; }),
        call(kAdminDeleteCq, kStSuccess, "no SQ is bound to it",
             [](Host& h) {
                 Sqe s = h.admin_command(kAdminDeleteSq, 0, 1);
                 h.admin_ends(s);
                 s.opc = kAdminDeleteCq;
                 return h.admin_ends(s);
             }),
        row(kAdminDeleteCq, kStInvalidQid, "queue 0", [](Host&, Sqe&) {}),
        row(kAdminDeleteCq, kStInvalidQueueDeletion, "an SQ is bound to it", [](Host&, Sqe& s) { s.cdw10 = 1; }),
        row(kAdminCreateCq, kStSuccess, "a new number", [](Host&, Sqe& s) { s = create_cq(2); }),
        row(kAdminCreateCq, kStInvalidField, "PC = 0", [](Host&, Sqe& s) { s = create_cq(2), s.cdw11 &= ~1u; }),
        row(kAdminCreateCq, kStInvalidQid, "more than granted", [](Host&, Sqe& s) { s = create_cq(5); }),
        row(kAdminCreateCq, kStInvalidQueueSize, "more than CAP.MQES", [](Host&, Sqe& s) { s = create_cq(2, 257); }),
        row(kAdminCreateCq, kStInvalidPrpOffset, "PRP1 inside a page",
            [](Host&, Sqe& s) { s = create_cq(2), s.prp1 += 64; }),
        row(kAdminCreateCq, kStInvalidVector, "a vector beyond the table",
            [](Host&, Sqe& s) { s = create_cq(2, 16, 9); }),
    };
}

std::vector<ConformanceRow> page_rows() {
    return {
        row(kAdminGetLogPage, kStSuccess, "SMART", [](Host&, Sqe& s) { s.cdw10 = kLogSmart | 127u << 16; }),
        row(kAdminGetLogPage, kStInvalidField, "an offset beyond the page",
            [](Host&, Sqe& s) { s.cdw10 = kLogSmart | 127u << 16, s.cdw12 = 516; }),
        row(kAdminGetLogPage, kStInvalidLogPage, "LID 09h", [](Host&, Sqe& s) { s.cdw10 = 9 | 127u << 16; }),
        row(kAdminGetLogPage, kStSequenceError, "persistent events without a context",
            [](Host&, Sqe& s) { s.cdw10 = kLogPersistentEvents | 127u << 16; }),
        row(kAdminGetLogPage, kStInvalidPrpOffset, "PRP1 at an odd address",
            [](Host&, Sqe& s) { s.cdw10 = kLogSmart | 127u << 16, s.prp1 |= 1; }),
        row(kAdminIdentify, kStSuccess, "controller", [](Host&, Sqe& s) { s.cdw10 = kCnsController; }),
        row(kAdminIdentify, kStInvalidField, "CNS 55h", [](Host&, Sqe& s) { s.cdw10 = 0x55; }),
        row(kAdminIdentify, kStInvalidNamespace, "an NSID beyond NN", [](Host&, Sqe& s) { s.nsid = 33; }),
        row(kAdminIdentify, kStInvalidPrpOffset, "PRP1 at an odd address",
            [](Host&, Sqe& s) { s.cdw10 = kCnsController, s.prp1 |= 1; }),
        row(kAdminSetFeatures, kStSuccess, "arbitration", [](Host&, Sqe& s) { s.cdw10 = kFeatArbitration; }),
        row(kAdminSetFeatures, kStInvalidField, "FID 7Fh", [](Host&, Sqe& s) { s.cdw10 = 0x7F; }),
        row(kAdminSetFeatures, kStInvalidNamespace, "an NSID beyond NN",
            [](Host&, Sqe& s) { s.cdw10 = kFeatErrorRecovery, s.nsid = 33; }),
        row(kAdminSetFeatures, kStSequenceError, "Number of Queues behind the first I/O queue",
            [](Host&, Sqe& s) { s.cdw10 = kFeatNumberOfQueues; }),
        row(kAdminSetFeatures, kStFeatureNotSaveable, "SV = 1",
            [](Host&, Sqe& s) { s.cdw10 = kFeatArbitration | kFeatureSave; }),
        row(kAdminSetFeatures, kStFeatureNotNamespace, "an NSID with a feature of the controller",
            [](Host&, Sqe& s) { s.cdw10 = kFeatArbitration, s.nsid = 1; }),
        row(kAdminSetFeatures, kStInvalidPrpOffset, "timestamp, PRP1 at an odd address",
            [](Host&, Sqe& s) { s.cdw10 = kFeatTimestamp, s.prp1 |= 1; }),
        row(kAdminGetFeatures, kStSuccess, "arbitration", [](Host&, Sqe& s) { s.cdw10 = kFeatArbitration; }),
        row(kAdminGetFeatures, kStInvalidField, "SEL 7", [](Host&, Sqe& s) { s.cdw10 = kFeatArbitration | 7u << 8; }),
        row(kAdminGetFeatures, kStInvalidNamespace, "error recovery of NSID 0",
            [](Host&, Sqe& s) { s.cdw10 = kFeatErrorRecovery; }),
        row(kAdminGetFeatures, kStInvalidPrpOffset, "timestamp, PRP1 at an odd address",
            [](Host&, Sqe& s) { s.cdw10 = kFeatTimestamp, s.prp1 |= 1; }),
    };
}

std::vector<ConformanceRow> event_rows() {
    return {
        row(kAdminAbort, kStSuccess, "no command of that identifier", [](Host&, Sqe& s) { s.cdw10 = 1 | 77u << 16; }),
        row(kAdminAbort, kStInvalidField, "an SQ that does not exist", [](Host&, Sqe& s) { s.cdw10 = 3; }),
        call(kAdminAsyncEvent, kStSuccess, "an event that comes",
             [](Host& h) {
                 h.begin(h.admin, h.admin_command(kAdminAsyncEvent));
                 h.write(sq_tail_doorbell(40), 1);  // a register of no queue
                 h.agenda.run();
                 return h.take(h.admin).status();
             }),
        call(kAdminAsyncEvent, kStAsyncEventLimit, "one more than AERL + 1",
             [](Host& h) {
                 for (std::uint16_t i = 0; i < 4; ++i) {
                     Sqe s = h.admin_command(kAdminAsyncEvent);
                     s.cid = i;
                     h.push(h.admin, s);
                 }
                 return h.admin_ends(h.admin_command(kAdminAsyncEvent));
             }),
        row(kAdminKeepAlive, kStSuccess, "always", [](Host&, Sqe&) {}),
        call(kAdminDirectiveSend, kStSuccess, "streams are enabled", enable_streams),
        row(kAdminDirectiveSend, kStInvalidField, "streams are not enabled",
            [](Host&, Sqe& s) { s = stream_directive(kAdminDirectiveSend, 1, kDirectiveStreams); }),
        row(kAdminDirectiveReceive, kStSuccess, "Identify, parameters",
            [](Host&, Sqe& s) { s = stream_directive(kAdminDirectiveReceive, 1, kDirectiveIdentify); }),
        row(kAdminDirectiveReceive, kStInvalidField, "streams are not enabled",
            [](Host&, Sqe& s) { s = stream_directive(kAdminDirectiveReceive, 1, kDirectiveStreams); }),
        call(kAdminDirectiveReceive, kStStreamResource, "resources are allocated already",
             [](Host& h) {
                 enable_streams(h);
                 const Sqe s = stream_directive(kAdminDirectiveReceive, kStreamsAllocate, kDirectiveStreams, 2);
                 h.admin_ends(s);
                 return h.admin_ends(s);
             }),
        row(kAdminDirectiveReceive, kStInvalidPrpOffset, "PRP1 at an odd address",
            [](Host&, Sqe& s) { s = stream_directive(kAdminDirectiveReceive, 1, kDirectiveIdentify), s.prp1 |= 1; }),
        row(kAdminDoorbellBuffer, kStSuccess, "two pages",
            [](Host& h, Sqe& s) {
                std::fill_n(h.dma.memory.begin() + Host::kOther, 0x2000, std::uint8_t{0});
                s.prp1 = Host::kOther, s.prp2 = Host::kOther + 0x1000;
            }),
        row(kAdminDoorbellBuffer, kStInvalidField, "PRP2 = 0", [](Host&, Sqe& s) { s.prp1 = Host::kOther; }),
        row(kAdminDoorbellBuffer, kStInvalidPrpOffset, "PRP2 inside a page",
            [](Host&, Sqe& s) { s.prp1 = Host::kOther, s.prp2 = Host::kOther + 0x1040; }),
    };
}

std::vector<ConformanceRow> media_rows() {
    return {
        row(kAdminSelfTest, kStSuccess, "the short one", [](Host&, Sqe& s) { s.nsid = kNsidAll, s.cdw10 = 1; }),
        row(kAdminSelfTest, kStInvalidField, "code 3", [](Host&, Sqe& s) { s.cdw10 = 3; }),
        row(kAdminSelfTest, kStInvalidNamespace, "an NSID beyond NN", [](Host&, Sqe& s) { s.nsid = 33, s.cdw10 = 1; }),
        call(kAdminSelfTest, kStSelfTestInProgress, "another one runs",
             [](Host& h) {
                 h.begin(h.admin, h.admin_command(kAdminSelfTest, kNsidAll, 2));
                 h.take_begun();
                 return h.admin_ends(h.admin_command(kAdminSelfTest, kNsidAll, 1));
             }),
        row(kAdminFormat, kStSuccess, "a namespace, 4,096 bytes", [](Host&, Sqe& s) { s.nsid = 2, s.cdw10 = 1; }),
        row(kAdminFormat, kStInvalidField, "SES 3", [](Host&, Sqe& s) { s.nsid = 1, s.cdw10 = 3u << 9; }),
        row(kAdminFormat, kStInvalidNamespace, "NSID 0", [](Host&, Sqe&) {}),
        row(kAdminFormat, kStInvalidFormat, "protection information in a format without metadata",
            [](Host&, Sqe& s) { s.nsid = 1, s.cdw10 = 1u << 5; }),
        row(kAdminFormat, kStFormatInProgress, "the namespace is being formatted",
            [](Host& h, Sqe& s) { s.nsid = kNsidAll, h.begin_format(1); }),
        row(kAdminFormat, kStInternalError, "the flash does not take the deallocation",
            [](Host& h, Sqe& s) { s.nsid = 1, h.drive.next = CommandStatus::write_fault; }),
        row(kAdminSanitize, kStSuccess, "crypto erase", [](Host&, Sqe& s) { s.cdw10 = 4; }),
        row(kAdminSanitize, kStInvalidField, "action 0", [](Host&, Sqe&) {}),
        row(kAdminSanitize, kStFormatInProgress, "a namespace is being formatted",
            [](Host& h, Sqe& s) { s.cdw10 = 4, h.begin_format(1); }),
        row(kAdminSanitize, kStSanitizeInProgress, "another one runs",
            [](Host& h, Sqe& s) { s.cdw10 = 2, h.begin_sanitize(); }),
        row(kAdminSanitize, kStSanitizeFailed, "the failure is to be left, and AUSE was 0",
            [](Host& h, Sqe& s) { s.cdw10 = 1, h.fail_sanitize(); }),
    };
}

std::vector<ConformanceRow> namespace_rows() {
    constexpr std::uint8_t m = kAdminNamespaceManagement, a = kAdminNamespaceAttachment;
    return {
        row(m, kStSuccess, "a namespace is deleted", [](Host&, Sqe& s) { s.nsid = 2, s.cdw10 = 1; }),
        row(m, kStInvalidField, "SEL 2", [](Host&, Sqe& s) { s.cdw10 = 2; }),
        row(m, kStInvalidNamespace, "an NSID beyond NN is deleted", [](Host&, Sqe& s) { s.nsid = 33, s.cdw10 = 1; }),
        call(m, kStInvalidFormat, "created with FLBAS 4", [](Host& h) { return create_namespace(h, 8, 8, 4); }),
        row(m, kStFormatInProgress, "deleted while it is formatted",
            [](Host& h, Sqe& s) { s.nsid = 1, s.cdw10 = 1, h.begin_format(1); }),
        call(m, kStNamespaceCapacity, "created without room", [](Host& h) { return create_namespace(h, 8, 8); }),
        call(m, kStNamespaceIdUnavailable, "created when NN namespaces are there",
             [](Host& h) {
                 h.admin_ends(h.admin_command(kAdminNamespaceManagement, 3, 1));
                 for (int i = 3; i <= 32; ++i) EXPECT_EQ(create_namespace(h, 8, 8), kStSuccess);
                 return create_namespace(h, 8, 8);
             }),
        call(m, kStThinNotSupported, "created with NCAP below NSZE", [](Host& h) { return create_namespace(h, 8, 4); }),
        row(m, kStInternalError, "the flash does not take the deallocation",
            [](Host& h, Sqe& s) { s.nsid = 1, s.cdw10 = 1, h.drive.next = CommandStatus::write_fault; }),
        row(m, kStInvalidPrpOffset, "PRP1 at an odd address", [](Host&, Sqe& s) { s.prp1 |= 1; }),
        call(a, kStSuccess, "a namespace is detached", [](Host& h) { return attach(h, 1, 1); }),
        call(a, kStInvalidField, "SEL 2", [](Host& h) { return attach(h, 1, 2); }),
        call(a, kStInvalidNamespace, "an NSID beyond NN", [](Host& h) { return attach(h, 33, 0); }),
        call(a, kStFormatInProgress, "detached while it is formatted",
             [](Host& h) {
                 h.begin_format(1);
                 return attach(h, 1, 1);
             }),
        call(a, kStNamespaceAttached, "attached twice", [](Host& h) { return attach(h, 1, 0); }),
        call(a, kStNamespaceNotAttached, "detached twice",
             [](Host& h) {
                 attach(h, 1, 1);
                 return attach(h, 1, 1);
             }),
        call(a, kStControllerListInvalid, "a list of two controllers", [](Host& h) { return attach(h, 1, 1, 2); }),
        row(a, kStInvalidPrpOffset, "PRP1 at an odd address", [](Host&, Sqe& s) { s.nsid = 1, s.prp1 |= 1; }),
    };
}

}  // namespace

std::vector<ConformanceRow> admin_rows() {
    std::vector<ConformanceRow> all;
    for (auto* const part : {queue_rows, page_rows, event_rows, media_rows, namespace_rows})
        for (ConformanceRow& r : part()) all.push_back(std::move(r));
    return all;
}

}  // namespace ssdtlm::test
