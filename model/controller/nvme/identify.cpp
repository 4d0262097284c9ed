// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/identify.h"

#include <algorithm>

#include "common/units/units.h"

namespace ssdtlm {

using namespace nvme;

namespace {

/// ASCII field, left aligned, padded with spaces.
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

/// FNV-1a of the serial number, and of the NSID from 2 on: the changing part of the namespace's identifiers.
std::uint64_t hash_of(const Namespace& of, const DriveFacts& device) {
    std::uint64_t h = 0xCBF29CE484222325u;
    for (const char c : device.serial) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001B3u;
    if (of.id != 1) h = (h ^ of.id) * 0x100000001B3u;
    return h;
}

/// Big-endian byte string, as NGUID and EUI-64 are stored. The second bit of the first byte says "locally assigned".
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

}  // namespace

void identify_controller(const NvmeConfig& config, const DriveFacts& device, IdentifyData& out) {
    out.fill(0);
    std::uint8_t* d = out.data();
    const std::uint32_t atomic_blocks = std::max(device.unit_bytes / config.lba_bytes, 1u);
    store(d + IdCtrl::kVid, kPciVendor);
    store(d + IdCtrl::kSsvid, kPciVendor);
    put_ascii(d + IdCtrl::kSn, 20, device.serial);
    put_ascii(d + IdCtrl::kMn, 40, device.model);
    put_ascii(d + IdCtrl::kFr, 8, device.firmware);
    d[IdCtrl::kRab] = static_cast<std::uint8_t>(config.arbitration_burst);
    d[IdCtrl::kMdts] =
        config.max_transfer_bytes == 0 ? 0 : static_cast<std::uint8_t>(log2_of(config.max_transfer_bytes / kPageBytes));
    store(d + IdCtrl::kVer, kVersion14);
    store(d + IdCtrl::kRtd3e,
          static_cast<std::uint32_t>(std::min<std::int64_t>(device.shutdown_time / 1us, UINT32_MAX)));
    d[IdCtrl::kCntrltype] = 1;  // I/O controller
    store(d + IdCtrl::kOacs, config.streams != 0 ? IdCtrl::kOacsDirectives : std::uint16_t{0});
    d[IdCtrl::kAcl] = kAbortLimit;
    d[IdCtrl::kAerl] = kAsyncEventLimit;
    d[IdCtrl::kFrmw] = 1u << 1 | 1u;      // one slot, read only
    d[IdCtrl::kLpa] = 1u << 1 | 1u << 2;  // effects log, extended data (offsets)
    d[IdCtrl::kElpe] = kErrorLogEntries - 1;
    store(d + IdCtrl::kWctemp, kWarningTemperature);
    store(d + IdCtrl::kCctemp, kCriticalTemperature);
    store(d + IdCtrl::kTnvmcap, device.drive_bytes);
    d[IdCtrl::kSqes] = 0x66;
    d[IdCtrl::kCqes] = 0x44;
    store(d + IdCtrl::kNn, static_cast<std::uint32_t>(config.namespaces.size() + 1));
    store(d + IdCtrl::kOncs,
          static_cast<std::uint16_t>(IdCtrl::kOncsDsm | IdCtrl::kOncsWriteZeroes | IdCtrl::kOncsSaveSelect));
    d[IdCtrl::kVwc] = static_cast<std::uint8_t>((device.volatile_write_cache ? 1u : 0u) | 3u << 1);  // broadcast flush
    // One mapping unit is written as a whole; nothing is promised over a power loss beyond one logical block.
    store(d + IdCtrl::kAwun, static_cast<std::uint16_t>(atomic_blocks - 1));
    const std::string subnqn = "nqn.2024-01.org.ssdtlm:" + device.serial;
    std::copy_n(subnqn.begin(), std::min<std::size_t>(subnqn.size(), 255), d + IdCtrl::kSubnqn);
    store(d + IdCtrl::kPsd0, std::uint16_t{900});  // 9 W; assumed, power is not modelled
}

void identify_namespace(const Namespace& of, const DriveFacts& device, IdentifyData& out) {
    out.fill(0);
    std::uint8_t* d = out.data();
    const auto granule = static_cast<std::uint16_t>(std::max(device.unit_bytes / of.lba_bytes, 1u) - 1);
    store(d + IdNs::kNsze, of.blocks);
    store(d + IdNs::kNcap, of.blocks);
    store(d + IdNs::kNuse, of.blocks);     // not thin provisioned: NUSE is NCAP
    d[IdNs::kNsfeat] = 1u << 3 | 1u << 4;  // identifiers never reused, NPWG..NOWS valid
    d[IdNs::kDlfeat] = 1u | 1u << 3;       // deallocated blocks read zeros; Write Zeroes may deallocate
    store(d + IdNs::kNvmcap, of.bytes());
    for (const std::size_t at : {IdNs::kNpwg, IdNs::kNpwa, IdNs::kNpdg, IdNs::kNpda, IdNs::kNows})
        store(d + at, granule);
    put_nguid(d + IdNs::kNguid, of, device);
    put_eui64(d + IdNs::kEui64, of, device);
    store(d + IdNs::kLbaf0, std::uint32_t{log2_of(of.lba_bytes)} << 16);
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
}

}  // namespace ssdtlm
