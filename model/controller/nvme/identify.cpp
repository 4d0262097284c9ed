// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/identify.h"

#include <algorithm>

#include "common/units/units.h"
#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

/// Writes an ASCII field, left aligned and padded with spaces.
void put_ascii(std::uint8_t* at, std::size_t bytes, const std::string& text) {
    std::fill(at, at + bytes, std::uint8_t{' '});
    std::copy_n(text.begin(), std::min(bytes, text.size()), at);
}

unsigned log2_of(std::uint64_t v) {
    unsigned n = 0;
    while (v > 1) {
        v >>= 1;
        ++n;
    }
    return n;
}

/// Returns FNV-1a of the serial number, and of the NSID if it is 2 or more. It is the variable part of the identifiers.
std::uint64_t hash_of(const Namespace& of, const DriveFacts& device) {
    std::uint64_t h = 0xCBF29CE484222325u;
    for (const char c : device.serial) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001B3u;
    if (of.id != 1) h = (h ^ of.id) * 0x100000001B3u;
    if (of.generation != 0) h = (h ^ of.generation) * 0x100000001B3u;  // a reused number names another namespace
    return h;
}

/// Writes the identifier as a big-endian byte string, as NGUID and EUI-64 are stored. The second bit of the first byte
/// says "locally assigned".
void put_eui64(std::uint8_t* at, const Namespace& of, const DriveFacts& device) {
    const std::uint64_t h = hash_of(of, device);
    for (unsigned i = 0; i < 8; ++i) at[i] = static_cast<std::uint8_t>(h >> (56 - 8 * i));
    at[0] = static_cast<std::uint8_t>((at[0] & 0xFC) | 0x02);
}

void put_nguid(std::uint8_t* at, const Namespace& of, const DriveFacts& device) {
    const std::uint64_t h = hash_of(of, device) * 0x9E3779B97F4A7C15u;
    for (unsigned i = 0; i < 8; ++i) at[i] = static_cast<std::uint8_t>(h >> (8 * i));
    put_eui64(at + 8, of, device);
}

/// Writes an identifier of version 8, which has a vendor's own format (RFC 9562 §5.8).
void put_uuid(std::uint8_t* at, const Namespace& of, const DriveFacts& device) {
    put_nguid(at, of, device);
    at[6] = static_cast<std::uint8_t>((at[6] & 0x0F) | 0x80);
    at[8] = static_cast<std::uint8_t>((at[8] & 0x3F) | 0x80);
}

}  // namespace

BlockFormat lba_format(std::uint32_t number, std::uint32_t drive_lba, bool with_metadata) {
    BlockFormat format;
    for (const std::uint32_t metadata : {0u, kMetadataBytes}) {
        format.metadata.bytes = static_cast<std::uint8_t>(metadata);
        for (const std::uint32_t bytes : kFormatBytes) {
            if (bytes < drive_lba || number-- != 0) continue;
            format.lba_bytes = bytes;
            return format;
        }
        if (!with_metadata) break;
    }
    return {};
}

BlockFormat block_format(const Namespaces& all, std::uint32_t number, bool extended, std::uint32_t protection,
                         bool first) {
    BlockFormat format = lba_format(number, all.drive_lba_bytes(), all.offers_metadata());
    const bool asks_for_metadata = extended || protection != 0;
    if (protection > 3 || (asks_for_metadata && format.metadata.bytes == 0)) return {};
    format.metadata.extended = extended;
    format.metadata.type = static_cast<std::uint8_t>(protection);
    format.metadata.first = first && protection != 0;
    return format;
}

void identify_controller(const NvmeConfig& config, const DriveFacts& device, IdentifyData& out) {
    out.fill(0);
    std::uint8_t* d = out.data();
    const std::uint32_t atomic_blocks = std::max(device.unit_bytes / config.lba_bytes, 1u);
    store(d + IdCtrl::kVid, device.pci_vendor);
    store(d + IdCtrl::kSsvid, device.pci_vendor);
    put_ascii(d + IdCtrl::kSn, 20, device.serial);
    put_ascii(d + IdCtrl::kMn, 40, device.model);
    put_ascii(d + IdCtrl::kFr, 8, device.firmware);
    d[IdCtrl::kRab] = static_cast<std::uint8_t>(config.arbitration_burst);
    d[IdCtrl::kMdts] =
        config.max_transfer_bytes == 0 ? 0 : static_cast<std::uint8_t>(log2_of(config.max_transfer_bytes / kPageBytes));
    store(d + IdCtrl::kVer, kVersion14);
    store(d + IdCtrl::kRtd3e,
          static_cast<std::uint32_t>(std::min<std::int64_t>(device.shutdown_time / 1us, UINT32_MAX)));
    store(d + IdCtrl::kCntlid, kControllerId);
    store(d + IdCtrl::kOaes, IdCtrl::kOaesNamespaceAttributes);
    d[IdCtrl::kCntrltype] = 1;  // I/O controller
    store(d + IdCtrl::kOacs, admin_oacs(config, device));
    d[IdCtrl::kAcl] = kAbortLimit;
    d[IdCtrl::kAerl] = kAsyncEventLimit;
    d[IdCtrl::kFrmw] = 1u << 1 | 1u;                          // one slot, read only
    d[IdCtrl::kLpa] = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4;  // effects, offsets, telemetry, persistent events
    d[IdCtrl::kElpe] = kErrorLogEntries - 1;
    store(d + IdCtrl::kWctemp, kWarningTemperature);
    store(d + IdCtrl::kCctemp, kCriticalTemperature);
    store(d + IdCtrl::kTnvmcap, device.drive_bytes);
    // The extended self-test reads all blocks, and takes a minute or more.
    constexpr std::uint64_t kAMinute = 60'000'000'000u;  // bytes, at 1 GB/s: assumed
    store(d + IdCtrl::kEdstt,
          static_cast<std::uint16_t>(std::min<std::uint64_t>(div_ceil(device.drive_bytes, kAMinute), UINT16_MAX)));
    d[IdCtrl::kDsto] = 1;  // one self-test at a time in the drive
    store(d + IdCtrl::kKas, kKeepAliveUnits);
    store(d + IdCtrl::kSanicap, kSanitizeCapabilities);
    store(d + IdCtrl::kPels, PersistentEvents::kUnits);
    d[IdCtrl::kSqes] = 0x66;
    d[IdCtrl::kCqes] = 0x44;
    store(d + IdCtrl::kNn, namespace_numbers(config));
    store(d + IdCtrl::kOncs, static_cast<std::uint16_t>(io_oncs() | IdCtrl::kOncsSaveSelect | IdCtrl::kOncsTimestamp));
    store(d + IdCtrl::kFuses, std::uint16_t{1});  // Compare and Write
    d[IdCtrl::kFna] = 1u << 2;                    // crypto erase is offered; a format concerns one namespace
    d[IdCtrl::kVwc] = static_cast<std::uint8_t>((device.volatile_write_cache ? 1u : 0u) | 3u << 1);  // broadcast flush
    // One mapping unit is written as a whole. A loss of power may cut a write at each logical block.
    store(d + IdCtrl::kAwun, static_cast<std::uint16_t>(atomic_blocks - 1));
    store(d + IdCtrl::kAcwu, static_cast<std::uint16_t>(atomic_blocks - 1));
    if (config.sgls)
        store(d + IdCtrl::kSgls,
              IdCtrl::kSglsDwords | IdCtrl::kSglsBitBucket | (config.metadata ? IdCtrl::kSglsMetadata : 0u));
    store(d + IdCtrl::kOcfs, std::uint16_t{1});  // Copy with source ranges of format 0
    const std::string subnqn = "nqn.2024-01.org.ssdtlm:" + device.serial;
    std::copy_n(subnqn.begin(), std::min<std::size_t>(subnqn.size(), 255), d + IdCtrl::kSubnqn);
    store(d + IdCtrl::kPsd0, std::uint16_t{900});  // 9 W; assumed, power is not modelled
}

void identify_common(const Namespaces& all, const DriveFacts& device, IdentifyData& out) {
    out.fill(0);
    std::uint8_t* d = out.data();
    const std::uint32_t lba = all.drive_lba_bytes();
    const auto granule = static_cast<std::uint16_t>(std::max(device.unit_bytes / lba, 1u) - 1);
    d[IdNs::kNsfeat] = 1u << 3 | 1u << 4;  // identifiers never reused, NPWG..NOWS valid
    d[IdNs::kDlfeat] = 1u | 1u << 3;       // deallocated blocks read zeros; Write Zeroes may deallocate
    for (const std::size_t at : {IdNs::kNpwg, IdNs::kNpwa, IdNs::kNpdg, IdNs::kNpda, IdNs::kNows})
        store(d + at, granule);
    if (all.offers_metadata()) {
        d[IdNs::kMc] = kMetadataPlaces;
        d[IdNs::kDpc] = kProtectionTypes;
    }
    std::uint32_t formats = 0;
    for (BlockFormat f; (f = lba_format(formats, lba, all.offers_metadata())).lba_bytes != 0; ++formats)
        store(d + IdNs::kLbaf0 + 4 * formats, std::uint32_t{log2_of(f.lba_bytes)} << 16 | f.metadata.bytes);
    d[IdNs::kNlbaf] = static_cast<std::uint8_t>(formats - 1);
}

void identify_namespace(const NvmeConfig& config, const Namespace& of, const Namespaces& all, const DriveFacts& device,
                        IdentifyData& out) {
    identify_common(all, device, out);
    std::uint8_t* d = out.data();
    const auto granule = static_cast<std::uint16_t>(std::max(device.unit_bytes / of.lba_bytes, 1u) - 1);
    store(d + IdNs::kNsze, of.blocks);
    store(d + IdNs::kNcap, of.blocks);
    store(d + IdNs::kNuse, of.blocks);  // not thin provisioned: NUSE is NCAP
    store(d + IdNs::kNvmcap, std::uint64_t{of.extent} * all.drive_lba_bytes());
    for (const std::size_t at : {IdNs::kNpwg, IdNs::kNpwa, IdNs::kNpdg, IdNs::kNpda, IdNs::kNows})
        store(d + at, granule);
    const CopyLimits copy(config.max_transfer_bytes);
    store(d + IdNs::kMssrl, static_cast<std::uint16_t>(copy.range_bytes / of.lba_bytes));
    store(d + IdNs::kMcl, copy.bytes / of.lba_bytes);
    d[IdNs::kMsrc] = kCopyRanges - 1;
    d[IdNs::kFpi] = static_cast<std::uint8_t>(1u << 7 | of.remaining);
    put_nguid(d + IdNs::kNguid, of, device);
    put_eui64(d + IdNs::kEui64, of, device);
    for (std::uint32_t number = 0; number <= d[IdNs::kNlbaf]; ++number) {
        const BlockFormat f = lba_format(number, all.drive_lba_bytes(), all.offers_metadata());
        if (f.lba_bytes == of.lba_bytes && f.metadata.bytes == of.metadata.bytes)
            d[IdNs::kFlbas] = static_cast<std::uint8_t>(number | (of.metadata.extended ? 1u << 4 : 0));
    }
    d[IdNs::kDps] = static_cast<std::uint8_t>(of.metadata.type | (of.metadata.first ? 1u << 3 : 0));
}

void identify_independent(IdentifyData& out) {
    out.fill(0);
    out[0] = 1u << 3;  // NSFEAT: identifiers never reused
    out[3] = 1u << 7;  // FPI, as in CNS 00h
    out[14] = 1;       // NSTAT: ready
}

void identify_descriptors(const Namespace& of, const DriveFacts& device, IdentifyData& out) {
    out.fill(0);
    std::uint8_t* d = out.data();
    d[0] = 1;  // NIDT: EUI-64
    d[1] = 8;
    put_eui64(d + 4, of, device);
    d += 12;
    d[0] = 2;  // NIDT: NGUID
    d[1] = 16;
    put_nguid(d + 4, of, device);
    d += 20;
    d[0] = 3;  // NIDT: UUID
    d[1] = 16;
    put_uuid(d + 4, of, device);
}

}  // namespace ssdtlm
