// SPDX-License-Identifier: Apache-2.0
// The NVMe 1.4 interface as both ends see it: register offsets and fields, queue entries, opcodes, status codes,
// features, Identify offsets. Facts only: no state, no policy. Everything on the wire is little-endian, as is every
// host this builds on (checked below). "0-based" means the stored value is the count minus 1.
// Source: NVM Express Base Specification 1.4; values cross-checked with SPDK include/spdk/nvme_spec.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ssdtlm stores NVMe structures in host byte order and needs a little-endian host"
#endif

namespace ssdtlm::nvme {

// ---------------------------------------------------------------------------------------------------------------
// BAR0 layout (NVMe 1.4 §3.1). The MSI-X table and PBA have 4 KiB pages of their own behind the doorbells.
inline constexpr std::uint32_t kRegCap = 0x00;  ///< 8 bytes
inline constexpr std::uint32_t kRegVs = 0x08;
inline constexpr std::uint32_t kRegIntms = 0x0C;
inline constexpr std::uint32_t kRegIntmc = 0x10;
inline constexpr std::uint32_t kRegCc = 0x14;
inline constexpr std::uint32_t kRegCsts = 0x1C;
inline constexpr std::uint32_t kRegNssr = 0x20;
inline constexpr std::uint32_t kRegAqa = 0x24;
inline constexpr std::uint32_t kRegAsq = 0x28;  ///< 8 bytes
inline constexpr std::uint32_t kRegAcq = 0x30;  ///< 8 bytes
inline constexpr std::uint32_t kRegCmbloc = 0x38;
inline constexpr std::uint32_t kRegCmbsz = 0x3C;
inline constexpr std::uint32_t kRegDoorbells = 0x1000;
inline constexpr std::uint32_t kMsixTable = 0x2000;  ///< 16 bytes per vector
inline constexpr std::uint32_t kMsixPba = 0x3000;    ///< 1 bit per vector
inline constexpr std::uint32_t kBar0Bytes = 0x4000;

inline constexpr std::uint32_t kVersion14 = 0x00010400;

/// CAP.DSTRD is 0: doorbells are 4 bytes apart.
constexpr std::uint32_t sq_tail_doorbell(std::uint16_t qid) {
    return kRegDoorbells + 8u * qid;
}
constexpr std::uint32_t cq_head_doorbell(std::uint16_t qid) {
    return kRegDoorbells + 8u * qid + 4u;
}

/// MSI-X table entry (PCIe Base §7.7.2): offsets inside the 16-byte entry.
inline constexpr std::uint32_t kMsixEntryBytes = 16;
inline constexpr std::uint32_t kMsixAddressLow = 0;
inline constexpr std::uint32_t kMsixAddressHigh = 4;
inline constexpr std::uint32_t kMsixData = 8;
inline constexpr std::uint32_t kMsixControl = 12;  ///< bit 0: masked, reset value 1
constexpr std::uint32_t msix_entry(std::uint32_t vector) {
    return kMsixTable + kMsixEntryBytes * vector;
}

/// CAP (NVMe 1.4 §3.1.1).
struct Cap {
    static constexpr std::uint64_t kCqr = 1ull << 16;          ///< queues must be physically contiguous
    static constexpr std::uint64_t kAmsWeighted = 1ull << 17;  ///< weighted round robin with urgent priority class
    static constexpr std::uint64_t kCssNvm = 1ull << 37;       ///< NVM command set
    static constexpr unsigned kToShift = 24;                   ///< worst ready time, 500 ms units
    static constexpr std::uint32_t mqes(std::uint64_t cap) {
        return static_cast<std::uint32_t>(cap & 0xFFFF);
    }  ///< 0-based
    static constexpr std::uint32_t to(std::uint64_t cap) { return static_cast<std::uint32_t>(cap >> kToShift) & 0xFF; }
    static constexpr std::uint32_t dstrd(std::uint64_t cap) { return static_cast<std::uint32_t>(cap >> 32) & 0xF; }
    static constexpr std::uint32_t mps_min(std::uint64_t cap) { return static_cast<std::uint32_t>(cap >> 48) & 0xF; }
    static constexpr std::uint32_t mps_max(std::uint64_t cap) { return static_cast<std::uint32_t>(cap >> 52) & 0xF; }
};

/// CC (NVMe 1.4 §3.1.5).
struct Cc {
    static constexpr std::uint32_t kEnable = 1;
    static constexpr std::uint32_t kAmsWeighted = 1;  ///< of ams(); 0: round robin
    static constexpr std::uint32_t ams_field(std::uint32_t ams) { return ams << 11; }
    static constexpr std::uint32_t kShnNormal = 1u << 14;
    static constexpr std::uint32_t kShnAbrupt = 2u << 14;
    static constexpr std::uint32_t kShnMask = 3u << 14;
    static constexpr std::uint32_t kIosqes64 = 6u << 16;
    static constexpr std::uint32_t kIocqes16 = 4u << 20;
    /// The value that Linux writes with 4 KiB pages, NVM command set and round robin: 00460001h.
    static constexpr std::uint32_t kTypical = kEnable | kIosqes64 | kIocqes16;
    static constexpr bool en(std::uint32_t cc) { return (cc & kEnable) != 0; }
    static constexpr std::uint32_t css(std::uint32_t cc) { return (cc >> 4) & 7; }
    static constexpr std::uint32_t mps(std::uint32_t cc) { return (cc >> 7) & 15; }
    static constexpr std::uint32_t ams(std::uint32_t cc) { return (cc >> 11) & 7; }
    static constexpr std::uint32_t shn(std::uint32_t cc) { return (cc >> 14) & 3; }
    static constexpr std::uint32_t iosqes(std::uint32_t cc) { return (cc >> 16) & 15; }
    static constexpr std::uint32_t iocqes(std::uint32_t cc) { return (cc >> 20) & 15; }
};

/// Feature 01h (NVMe 1.4 §5.21.1.1): burst code and 0-based weights of the priority classes.
struct Arbitration {
    static constexpr std::uint32_t of(std::uint32_t burst_code, std::uint32_t high, std::uint32_t medium,
                                      std::uint32_t low) {
        return burst_code | low << 8 | medium << 16 | high << 24;
    }
    static constexpr std::uint32_t burst_code(std::uint32_t value) { return value & 7; }
    static constexpr std::uint32_t low(std::uint32_t value) { return value >> 8 & 0xFF; }
    static constexpr std::uint32_t medium(std::uint32_t value) { return value >> 16 & 0xFF; }
    static constexpr std::uint32_t high(std::uint32_t value) { return value >> 24; }
};

/// CSTS (NVMe 1.4 §3.1.6).
struct Csts {
    static constexpr std::uint32_t kReady = 1;
    static constexpr std::uint32_t kFatal = 2;
    static constexpr std::uint32_t kShstMask = 3u << 2;
    static constexpr std::uint32_t kShstNormal = 0;
    static constexpr std::uint32_t kShstOccurring = 1u << 2;
    static constexpr std::uint32_t kShstComplete = 2u << 2;
};

/// AQA (NVMe 1.4 §3.1.8): both sizes 0-based, 2..4096 entries.
struct Aqa {
    static constexpr std::uint32_t of(std::uint32_t sq_entries, std::uint32_t cq_entries) {
        return ((sq_entries - 1) & 0xFFF) | (((cq_entries - 1) & 0xFFF) << 16);
    }
    static constexpr std::uint32_t asqs(std::uint32_t aqa) { return aqa & 0xFFF; }
    static constexpr std::uint32_t acqs(std::uint32_t aqa) { return (aqa >> 16) & 0xFFF; }
};

// ---------------------------------------------------------------------------------------------------------------
// Queue entries (NVMe 1.4 §4.2, §4.6).

struct Sqe {
    std::uint8_t opc = 0;
    std::uint8_t flags = 0;  ///< [1:0] FUSE, [7:6] PSDT
    std::uint16_t cid = 0;
    std::uint32_t nsid = 0;
    std::uint32_t cdw2 = 0;
    std::uint32_t cdw3 = 0;
    std::uint64_t mptr = 0;
    std::uint64_t prp1 = 0;
    std::uint64_t prp2 = 0;
    std::uint32_t cdw10 = 0;
    std::uint32_t cdw11 = 0;
    std::uint32_t cdw12 = 0;
    std::uint32_t cdw13 = 0;
    std::uint32_t cdw14 = 0;
    std::uint32_t cdw15 = 0;

    std::uint32_t fuse() const { return flags & 3u; }
    std::uint32_t psdt() const { return flags >> 6; }
    /// CDW10-11 of Read, Write, Write Zeroes.
    std::uint64_t slba() const { return std::uint64_t{cdw11} << 32 | cdw10; }
    void set_slba(std::uint64_t lba) {
        cdw10 = static_cast<std::uint32_t>(lba);
        cdw11 = static_cast<std::uint32_t>(lba >> 32);
    }
};
/// Sqe::flags of a command whose data pointer is an SGL, and whose metadata pointer is an address: PSDT = 1.
inline constexpr std::uint8_t kFlagsSgl = 1u << 6;
/// Sqe::flags of a command whose data pointer is an SGL, and whose metadata pointer is the address of one: PSDT = 2.
inline constexpr std::uint8_t kFlagsSglMetadata = 2u << 6;
inline constexpr std::uint8_t kFlagsUsed = 0xC3;  ///< FUSE and PSDT; the others are reserved
static_assert(sizeof(Sqe) == 64 && std::is_trivially_copyable_v<Sqe>);
static_assert(offsetof(Sqe, nsid) == 4 && offsetof(Sqe, mptr) == 16 && offsetof(Sqe, prp1) == 24);
static_assert(offsetof(Sqe, prp2) == 32 && offsetof(Sqe, cdw10) == 40 && offsetof(Sqe, cdw15) == 60);

struct Cqe {
    std::uint32_t dw0 = 0;  ///< command specific result
    std::uint32_t dw1 = 0;
    std::uint16_t sqhd = 0;  ///< first SQ slot not yet fetched
    std::uint16_t sqid = 0;
    std::uint16_t cid = 0;
    std::uint16_t status_phase = 0;  ///< [0] P, [8:1] SC, [11:9] SCT, [13:12] CRD, [14] M, [15] DNR

    bool phase() const { return (status_phase & 1u) != 0; }
    /// SCT << 8 | SC, without DNR: compares with the kSt... constants.
    std::uint16_t status() const { return static_cast<std::uint16_t>((status_phase >> 1) & 0x7FFu); }
    bool dnr() const { return (status_phase & 0x8000u) != 0; }
    void set_status(std::uint16_t sct_sc, bool do_not_retry, bool p) {
        status_phase =
            static_cast<std::uint16_t>((do_not_retry ? 0x8000u : 0u) | ((sct_sc & 0x7FFu) << 1) | (p ? 1u : 0u));
    }
};
static_assert(sizeof(Cqe) == 16 && std::is_trivially_copyable_v<Cqe>);
static_assert(offsetof(Cqe, sqhd) == 8 && offsetof(Cqe, cid) == 12 && offsetof(Cqe, status_phase) == 14);

inline constexpr std::uint32_t kSqeBytes = sizeof(Sqe);
inline constexpr std::uint32_t kCqeBytes = sizeof(Cqe);

/// SGL descriptor (NVMe 1.4 §4.4).
struct SglDescriptor {
    static constexpr std::uint32_t kDataBlock = 0, kBitBucket = 1, kSegment = 2, kLastSegment = 3;

    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint8_t reserved[3] = {};
    std::uint8_t identifier = 0;  ///< [7:4] type, [3:0] subtype: 0, an address

    std::uint32_t type() const { return identifier >> 4; }
    std::uint32_t subtype() const { return identifier & 0xFu; }
    bool is_segment() const { return type() == kSegment || type() == kLastSegment; }
    static SglDescriptor of(std::uint32_t type, std::uint64_t address, std::uint32_t length) {
        return {address, length, {}, static_cast<std::uint8_t>(type << 4)};
    }
};
static_assert(sizeof(SglDescriptor) == 16 && std::is_trivially_copyable_v<SglDescriptor>);
static_assert(offsetof(SglDescriptor, length) == 8 && offsetof(SglDescriptor, identifier) == 15);
/// The one that stands in the entry, in place of PRP1 and PRP2.
inline SglDescriptor sgl_of(const Sqe& sqe) {
    return {sqe.prp1, static_cast<std::uint32_t>(sqe.prp2), {}, static_cast<std::uint8_t>(sqe.prp2 >> 56)};
}
inline void set_sgl(Sqe& sqe, const SglDescriptor& d) {
    sqe.flags = static_cast<std::uint8_t>((sqe.flags & 0x3Fu) | kFlagsSgl);
    sqe.prp1 = d.address;
    sqe.prp2 = std::uint64_t{d.identifier} << 56 | d.length;
}

/// The metadata of the command are what the descriptor at `address` names. Its data pointer is an SGL.
inline void set_metadata_sgl(Sqe& sqe, std::uint64_t address) {
    sqe.flags = static_cast<std::uint8_t>((sqe.flags & 0x3Fu) | kFlagsSglMetadata);
    sqe.mptr = address;
}

/// One range of Dataset Management (NVMe 1.4 §6.7.1.1).
struct DsmRange {
    std::uint32_t attributes = 0;
    std::uint32_t blocks = 0;
    std::uint64_t slba = 0;
};
static_assert(sizeof(DsmRange) == 16 && std::is_trivially_copyable_v<DsmRange>);
inline constexpr std::uint32_t kMaxDsmRanges = 256;
inline constexpr std::uint32_t kDsmDeallocate = 1u << 2;  ///< CDW11 AD

// CDW12 of Read, Write, Write Zeroes. [15:0] NLB, 0-based.
inline constexpr std::uint32_t kRwFua = 1u << 30;
inline constexpr std::uint32_t kRwLimitedRetry = 1u << 31;
inline constexpr std::uint32_t kWzDeallocate = 1u << 25;

// Protection information (NVMe 1.4 §8.3). PRINFO is CDW12 [29:26] of a command with blocks. CDW14 is the first
// reference tag, CDW15 the application tag [15:0] and the mask of its bits that are compared [31:16].
inline constexpr std::uint32_t kPrCheckReference = 1u << 0;
inline constexpr std::uint32_t kPrCheckApplication = 1u << 1;
inline constexpr std::uint32_t kPrCheckGuard = 1u << 2;
inline constexpr std::uint32_t kPrAct = 1u << 3;
constexpr std::uint32_t rw_protection(std::uint32_t prinfo) {
    return prinfo << 26;
}
/// Metadata of a logical block in the formats that have some.
inline constexpr std::uint32_t kMetadataBytes = 8;
// Format NVM, CDW10 (§5.23). LBAF [3:0], protection information [7:5], SES [11:9].
inline constexpr std::uint32_t kFormatExtended = 1u << 4;  ///< MSET
inline constexpr std::uint32_t kFormatFirst = 1u << 8;     ///< PIL
constexpr std::uint32_t format_protection(std::uint32_t type) {
    return type << 5;
}

// ---------------------------------------------------------------------------------------------------------------
// Opcodes (NVMe 1.4 §5, §6).

inline constexpr std::uint8_t kAdminDeleteSq = 0x00;
inline constexpr std::uint8_t kAdminCreateSq = 0x01;
inline constexpr std::uint8_t kAdminGetLogPage = 0x02;
inline constexpr std::uint8_t kAdminDeleteCq = 0x04;
inline constexpr std::uint8_t kAdminCreateCq = 0x05;
inline constexpr std::uint8_t kAdminIdentify = 0x06;
inline constexpr std::uint8_t kAdminAbort = 0x08;
inline constexpr std::uint8_t kAdminSetFeatures = 0x09;
inline constexpr std::uint8_t kAdminGetFeatures = 0x0A;
inline constexpr std::uint8_t kAdminAsyncEvent = 0x0C;
inline constexpr std::uint8_t kAdminNamespaceManagement = 0x0D;
inline constexpr std::uint8_t kAdminSelfTest = 0x14;
inline constexpr std::uint8_t kAdminNamespaceAttachment = 0x15;
inline constexpr std::uint8_t kAdminKeepAlive = 0x18;
inline constexpr std::uint8_t kAdminDirectiveSend = 0x19;
inline constexpr std::uint8_t kAdminDirectiveReceive = 0x1A;
inline constexpr std::uint8_t kAdminDoorbellBuffer = 0x7C;
inline constexpr std::uint8_t kAdminFormat = 0x80;
inline constexpr std::uint8_t kAdminSanitize = 0x84;

inline constexpr std::uint8_t kIoFlush = 0x00;
inline constexpr std::uint8_t kIoWrite = 0x01;
inline constexpr std::uint8_t kIoRead = 0x02;
inline constexpr std::uint8_t kIoWriteUncorrectable = 0x04;
inline constexpr std::uint8_t kIoCompare = 0x05;
inline constexpr std::uint8_t kIoWriteZeroes = 0x08;
inline constexpr std::uint8_t kIoDatasetMgmt = 0x09;
inline constexpr std::uint8_t kIoVerify = 0x0C;
inline constexpr std::uint8_t kIoCopy = 0x19;

inline constexpr std::uint32_t kNsidAll = 0xFFFFFFFFu;

// Create I/O queue (NVMe 1.4 §5.3, §5.4). CDW10: QID [15:0], QSIZE [31:16] 0-based (both kinds).
inline constexpr std::uint32_t kQueuePhysContig = 1;    ///< CDW11 PC, both kinds
inline constexpr std::uint32_t kCqInterruptEnable = 2;  ///< CDW11 IEN; IV in [31:16]
constexpr std::uint32_t queue_cdw10(std::uint16_t qid, std::uint32_t entries) {
    return qid | (entries - 1) << 16;
}
constexpr std::uint32_t create_cq_cdw11(std::uint16_t vector) {
    return kQueuePhysContig | kCqInterruptEnable | std::uint32_t{vector} << 16;
}
/// CDW11 for a queue that the host polls.
inline constexpr std::uint32_t kPolledCqCdw11 = kQueuePhysContig;
/// `priority`: QPRIO, 0 urgent to 3 low.
constexpr std::uint32_t create_sq_cdw11(std::uint16_t cqid, std::uint8_t priority = 0) {
    return kQueuePhysContig | (priority & 3u) << 1 | std::uint32_t{cqid} << 16;
}
constexpr std::uint8_t sq_priority(std::uint32_t cdw11) {
    return static_cast<std::uint8_t>(cdw11 >> 1 & 3u);
}
/// CDW12 of Create I/O Submission Queue: NVMSETID, the NVM Set that the queue is for. The NVMe interface of this model
/// has no NVM Sets, although the FTL may have some (ftl.nvm_sets). The host says there which tenant it will use the
/// queue for. The controller treats it as a name.
constexpr std::uint16_t sq_tenant(std::uint32_t cdw12) {
    return static_cast<std::uint16_t>(cdw12);
}

// ---------------------------------------------------------------------------------------------------------------
// Status: SCT << 8 | SC (NVMe 1.4 §4.6.1).

inline constexpr std::uint16_t kStSuccess = 0x000;
inline constexpr std::uint16_t kStInvalidOpcode = 0x001;
inline constexpr std::uint16_t kStInvalidField = 0x002;
inline constexpr std::uint16_t kStCidConflict = 0x003;
inline constexpr std::uint16_t kStDataTransferError = 0x004;
inline constexpr std::uint16_t kStInternalError = 0x006;
inline constexpr std::uint16_t kStAbortRequested = 0x007;
inline constexpr std::uint16_t kStAbortSqDeletion = 0x008;
inline constexpr std::uint16_t kStAbortFailedFused = 0x009;
inline constexpr std::uint16_t kStAbortMissingFused = 0x00A;
inline constexpr std::uint16_t kStInvalidNamespace = 0x00B;
inline constexpr std::uint16_t kStSequenceError = 0x00C;
inline constexpr std::uint16_t kStInvalidSglSegment = 0x00D;
inline constexpr std::uint16_t kStInvalidSglCount = 0x00E;
inline constexpr std::uint16_t kStSglLengthInvalid = 0x00F;
inline constexpr std::uint16_t kStMetadataSglLength = 0x010;
inline constexpr std::uint16_t kStSglTypeInvalid = 0x011;
inline constexpr std::uint16_t kStInvalidPrpOffset = 0x013;
inline constexpr std::uint16_t kStSanitizeFailed = 0x01C;
inline constexpr std::uint16_t kStSanitizeInProgress = 0x01D;
inline constexpr std::uint16_t kStSglGranularity = 0x01E;
inline constexpr std::uint16_t kStLbaOutOfRange = 0x080;
inline constexpr std::uint16_t kStCapacityExceeded = 0x081;
inline constexpr std::uint16_t kStNamespaceNotReady = 0x082;
inline constexpr std::uint16_t kStFormatInProgress = 0x084;
inline constexpr std::uint16_t kStInvalidCq = 0x100;
inline constexpr std::uint16_t kStInvalidQid = 0x101;
inline constexpr std::uint16_t kStInvalidQueueSize = 0x102;
inline constexpr std::uint16_t kStAbortLimit = 0x103;
inline constexpr std::uint16_t kStAsyncEventLimit = 0x105;
inline constexpr std::uint16_t kStInvalidVector = 0x108;
inline constexpr std::uint16_t kStInvalidLogPage = 0x109;
inline constexpr std::uint16_t kStInvalidQueueDeletion = 0x10C;
inline constexpr std::uint16_t kStFeatureNotSaveable = 0x10D;
inline constexpr std::uint16_t kStFeatureNotChangeable = 0x10E;
inline constexpr std::uint16_t kStFeatureNotNamespace = 0x10F;
inline constexpr std::uint16_t kStInvalidFormat = 0x10A;
inline constexpr std::uint16_t kStNamespaceCapacity = 0x115;
inline constexpr std::uint16_t kStNamespaceIdUnavailable = 0x116;
inline constexpr std::uint16_t kStNamespaceAttached = 0x118;
inline constexpr std::uint16_t kStNamespaceNotAttached = 0x11A;
inline constexpr std::uint16_t kStThinNotSupported = 0x11B;
inline constexpr std::uint16_t kStControllerListInvalid = 0x11C;
inline constexpr std::uint16_t kStSelfTestInProgress = 0x11D;
inline constexpr std::uint16_t kStStreamResource = 0x17F;
inline constexpr std::uint16_t kStConflictingAttributes = 0x180;
inline constexpr std::uint16_t kStInvalidProtection = 0x181;
inline constexpr std::uint16_t kStReadOnlyRange = 0x182;
inline constexpr std::uint16_t kStCommandSizeLimit = 0x183;
inline constexpr std::uint16_t kStWriteFault = 0x280;
inline constexpr std::uint16_t kStUnrecoveredRead = 0x281;
inline constexpr std::uint16_t kStGuardCheck = 0x282;
inline constexpr std::uint16_t kStApplicationTagCheck = 0x283;
inline constexpr std::uint16_t kStReferenceTagCheck = 0x284;
inline constexpr std::uint16_t kStCompareFailure = 0x285;

/// DNR of a status as this controller reports it: set for every fault that the same command would meet again.
constexpr bool do_not_retry(std::uint16_t status) {
    return status != kStSuccess && status != kStDataTransferError && status != kStInternalError &&
           status != kStAbortRequested && status != kStAbortSqDeletion && status != kStNamespaceNotReady &&
           status != kStWriteFault && status != kStFormatInProgress && status != kStSanitizeInProgress &&
           status != kStAbortFailedFused && status != kStAbortMissingFused && status != kStSelfTestInProgress;
}

// ---------------------------------------------------------------------------------------------------------------
// Features (NVMe 1.4 §5.21.1).

inline constexpr std::uint8_t kFeatArbitration = 0x01;
inline constexpr std::uint8_t kFeatPowerManagement = 0x02;
inline constexpr std::uint8_t kFeatTemperatureThreshold = 0x04;
inline constexpr std::uint8_t kFeatErrorRecovery = 0x05;
inline constexpr std::uint8_t kFeatVolatileWriteCache = 0x06;
inline constexpr std::uint8_t kFeatNumberOfQueues = 0x07;
inline constexpr std::uint8_t kFeatInterruptCoalescing = 0x08;
inline constexpr std::uint8_t kFeatInterruptVectorConfig = 0x09;
inline constexpr std::uint8_t kFeatWriteAtomicity = 0x0A;
inline constexpr std::uint8_t kFeatAsyncEventConfig = 0x0B;
inline constexpr std::uint8_t kFeatTimestamp = 0x0E;
inline constexpr std::uint8_t kFeatKeepAliveTimer = 0x0F;
inline constexpr std::uint32_t kFeatureSave = 1u << 31;  ///< Set Features CDW10 SV
constexpr std::uint32_t number_of_queues(std::uint32_t pairs) {
    return (pairs - 1) | (pairs - 1) << 16;
}

// Directives (NVMe 1.4 §9). CDW11 of Directive Send and Receive: DOPER [7:0], DTYPE [15:8], DSPEC [31:16].
struct Directive {
    std::uint8_t operation = 0;
    std::uint8_t type = 0;
    std::uint16_t specific = 0;
};
inline Directive directive(const Sqe& sqe) {
    return {static_cast<std::uint8_t>(sqe.cdw11), static_cast<std::uint8_t>(sqe.cdw11 >> 8),
            static_cast<std::uint16_t>(sqe.cdw11 >> 16)};
}
constexpr std::uint32_t directive_cdw11(std::uint8_t operation, std::uint8_t type, std::uint16_t specific = 0) {
    return operation | std::uint32_t{type} << 8 | std::uint32_t{specific} << 16;
}
inline constexpr std::uint8_t kDirectiveIdentify = 0x00, kDirectiveStreams = 0x01;  ///< types
inline constexpr std::uint8_t kDirectiveParameters = 0x01;                          ///< Receive, both types
inline constexpr std::uint8_t kDirectiveEnable = 0x01;  ///< Send, Identify; CDW12: ENDIR [0], target [15:8]
inline constexpr std::uint8_t kStreamsStatus = 0x02, kStreamsAllocate = 0x03;                     ///< Receive
inline constexpr std::uint8_t kStreamsReleaseIdentifier = 0x01, kStreamsReleaseResources = 0x02;  ///< Send
/// Return Parameters of Streams: offsets.
struct StreamsParameters {
    static constexpr std::size_t kMsl = 0, kNssa = 2, kNsso = 4, kNsa = 22, kNso = 24, kBytes = 32;
};
/// A write's directive: DTYPE in CDW12 [23:20], DSPEC in CDW13 [31:16].
constexpr std::uint32_t write_directive_type(std::uint32_t cdw12) {
    return cdw12 >> 20 & 0xFu;
}
constexpr std::uint16_t write_directive_specific(std::uint32_t cdw13) {
    return static_cast<std::uint16_t>(cdw13 >> 16);
}
inline constexpr std::uint32_t kRwStreams = std::uint32_t{kDirectiveStreams} << 20;

// Log pages (NVMe 1.4 §5.14.1).
inline constexpr std::uint8_t kLogError = 0x01;
inline constexpr std::uint8_t kLogSmart = 0x02;
inline constexpr std::uint8_t kLogFirmwareSlot = 0x03;
inline constexpr std::uint8_t kLogSupported = 0x00;
inline constexpr std::uint8_t kLogChangedNamespaces = 0x04;
inline constexpr std::uint8_t kLogEffects = 0x05;
inline constexpr std::uint8_t kLogSelfTest = 0x06;
inline constexpr std::uint8_t kLogTelemetryHost = 0x07;
inline constexpr std::uint8_t kLogTelemetryController = 0x08;
inline constexpr std::uint8_t kLogPersistentEvents = 0x0D;
inline constexpr std::uint8_t kLogSanitize = 0x81;

// Commands supported and effects, a double word each (NVMe 1.4 §5.14.1.5).
inline constexpr std::uint32_t kEffectSupported = 1u << 0;        ///< CSUPP
inline constexpr std::uint32_t kEffectBlocks = 1u << 1;           ///< LBCC: content of logical blocks
inline constexpr std::uint32_t kEffectNamespace = 1u << 2;        ///< NCC: capabilities of a namespace
inline constexpr std::uint32_t kEffectInventory = 1u << 3;        ///< NIC: which namespaces there are
inline constexpr std::uint32_t kEffectController = 1u << 4;       ///< CCC: capabilities of the controller
inline constexpr std::uint32_t kEffectOneInNamespace = 1u << 16;  ///< CSE 1: no other command to the namespace
inline constexpr std::uint32_t kEffectAlone = 2u << 16;           ///< CSE 2: no other command at all

// Identify CNS values and offsets of the fields this model fills (NVMe 1.4 §5.15, Figures 245, 247).
inline constexpr std::uint8_t kCnsNamespace = 0x00;
inline constexpr std::uint8_t kCnsController = 0x01;
inline constexpr std::uint8_t kCnsActiveNamespaces = 0x02;
inline constexpr std::uint8_t kCnsNamespaceDescriptors = 0x03;
inline constexpr std::uint8_t kCnsSetNamespace = 0x05;   ///< of an I/O command set (NVMe 2.0)
inline constexpr std::uint8_t kCnsSetController = 0x06;  ///< the same
inline constexpr std::uint8_t kCnsIndependent = 0x08;    ///< namespace, whatever its I/O command set (NVMe 2.0)
inline constexpr std::uint8_t kCnsAllocatedNamespaces = 0x10;
inline constexpr std::uint8_t kCnsAllocatedNamespace = 0x11;
inline constexpr std::uint8_t kCnsAttachedControllers = 0x12;
inline constexpr std::uint8_t kCnsControllers = 0x13;
inline constexpr std::uint32_t kIdentifyBytes = 4096;

struct IdCtrl {
    static constexpr std::size_t kVid = 0, kSsvid = 2, kSn = 4, kMn = 24, kFr = 64, kRab = 72, kIeee = 73, kCmic = 76;
    static constexpr std::size_t kMdts = 77, kCntlid = 78, kVer = 80, kRtd3r = 84, kRtd3e = 88, kOaes = 92,
                                 kCtratt = 96;
    static constexpr std::size_t kCntrltype = 111, kOacs = 256, kAcl = 258, kAerl = 259, kFrmw = 260, kLpa = 261;
    static constexpr std::size_t kElpe = 262, kNpss = 263, kWctemp = 266, kCctemp = 268, kTnvmcap = 280, kUnvmcap = 296;
    static constexpr std::size_t kSqes = 512, kCqes = 513, kMaxcmd = 514, kNn = 516, kOncs = 520, kFuses = 522;
    static constexpr std::size_t kFna = 524, kVwc = 525, kAwun = 526, kAwupf = 528, kAcwu = 532, kSgls = 536;
    static constexpr std::size_t kSubnqn = 768, kPsd0 = 2048;
    static constexpr std::size_t kEdstt = 316, kDsto = 318, kKas = 320, kSanicap = 328, kPels = 352, kOcfs = 534;
    static constexpr std::uint16_t kOacsFormat = 1u << 1, kOacsNamespaces = 1u << 3, kOacsSelfTest = 1u << 4,
                                   kOacsDirectives = 1u << 5, kOacsDoorbellBuffer = 1u << 8;
    static constexpr std::uint32_t kSglsDwords = 2, kSglsAny = 3, kSglsBitBucket = 1u << 16,
                                   kSglsMetadata = 1u << 19;  ///< PSDT may be 2
    static constexpr std::uint32_t kOaesNamespaceAttributes = 1u << 8;
    static constexpr std::uint16_t kOncsCompare = 1u << 0, kOncsWriteUncorrectable = 1u << 1, kOncsDsm = 1u << 2,
                                   kOncsWriteZeroes = 1u << 3, kOncsSaveSelect = 1u << 4, kOncsTimestamp = 1u << 6,
                                   kOncsVerify = 1u << 7, kOncsCopy = 1u << 8;
};

struct IdNs {
    static constexpr std::size_t kNsze = 0, kNcap = 8, kNuse = 16, kNsfeat = 24, kNlbaf = 25, kFlbas = 26, kDlfeat = 33;
    static constexpr std::size_t kMc = 27, kDpc = 28, kDps = 29, kNmic = 30, kFpi = 32, kMssrl = 74, kMcl = 76,
                                 kMsrc = 80;
    static constexpr std::size_t kNoiob = 46, kNvmcap = 48, kNpwg = 64, kNpwa = 66, kNpdg = 68, kNpda = 70, kNows = 72;
    static constexpr std::size_t kNguid = 104, kEui64 = 120, kLbaf0 = 128;
};

// ---------------------------------------------------------------------------------------------------------------
// PRP (NVMe 1.4 §4.3). Page size P = 2^(12 + CC.MPS); this model reports MPSMIN = MPSMAX = 0, so P is 4 KiB.
inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kPageMask = kPageBytes - 1;
inline constexpr std::uint32_t kPrpEntryBytes = 8;
inline constexpr std::uint32_t kPrpsPerPage = kPageBytes / kPrpEntryBytes;

/// Pages that `bytes` starting at `address` touch; PRP1 is the first.
constexpr std::uint64_t prp_pages(std::uint64_t address, std::uint64_t bytes) {
    return bytes == 0 ? 0 : ((address & kPageMask) + bytes + kPageMask) / kPageBytes;
}
/// Entries of the PRP list: none when PRP1 alone or PRP1 and PRP2 name all pages.
constexpr std::uint64_t prp_list_entries(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t pages = prp_pages(address, bytes);
    return pages <= 2 ? 0 : pages - 1;
}

/// Unaligned little-endian access to Identify data, logs, table entries.
template <class T>
T load(const std::uint8_t* p) {
    static_assert(std::is_trivially_copyable_v<T>);
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T>
void store(std::uint8_t* p, const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(p, &v, sizeof v);
}

}  // namespace ssdtlm::nvme
