// SPDX-License-Identifier: Apache-2.0
// The part of the vfio-user protocol that is supported: commands, headers and payloads as they lie in a message (QEMU,
// docs/interop/vfio-user.rst; VFIO's own structures are those of <linux/vfio.h>). All numbers are in the byte order of
// the machine.
#pragma once

#include <cstdint>

namespace ssdtlm::vfio {

enum class Command : std::uint16_t {
    version = 1,
    dma_map = 2,
    dma_unmap = 3,
    device_get_info = 4,
    device_get_region_info = 5,
    device_get_region_io_fds = 6,
    device_get_irq_info = 7,
    device_set_irqs = 8,
    region_read = 9,
    region_write = 10,
    dma_read = 11,   ///< sent by the server
    dma_write = 12,  ///< sent by the server
    device_reset = 13,
    region_write_multi = 15,
    device_feature = 16,
    mig_data_read = 17,
    mig_data_write = 18
};

struct Header {
    std::uint16_t id = 0;
    std::uint16_t command = 0;
    std::uint32_t size = 0;  ///< size of the whole message
    std::uint32_t flags = 0;
    std::uint32_t error = 0;  ///< an errno, in a reply with kError
};
static_assert(sizeof(Header) == 16);
inline constexpr std::uint32_t kTypeMask = 0xF;  ///< part of the flags: 0 a command, 1 a reply
inline constexpr std::uint32_t kReply = 1;
inline constexpr std::uint32_t kNoReply = 1u << 4;
inline constexpr std::uint32_t kError = 1u << 5;

struct Version {
    std::uint16_t major = 0, minor = 0;  ///< JSON follows, with its NUL character
};
struct DmaMap {
    std::uint32_t argsz = 0, flags = 0;
    std::uint64_t offset = 0, address = 0, size = 0;
};
struct DmaUnmap {
    std::uint32_t argsz = 0, flags = 0;
    std::uint64_t address = 0, size = 0;
};
struct DeviceInfo {
    std::uint32_t argsz = 0, flags = 0, regions = 0, irqs = 0;
};
struct RegionInfo {
    std::uint32_t argsz = 0, flags = 0, index = 0, cap_offset = 0;
    std::uint64_t size = 0, offset = 0;
};
struct IrqInfo {
    std::uint32_t argsz = 0, flags = 0, index = 0, count = 0;
};
struct IrqSet {
    std::uint32_t argsz = 0, flags = 0, index = 0, start = 0, count = 0;
};
struct RegionAccess {
    std::uint64_t offset = 0;
    std::uint32_t region = 0, count = 0;
};
struct DmaAccess {
    std::uint64_t address = 0, count = 0;
};
static_assert(sizeof(DmaMap) == 32 && sizeof(DmaUnmap) == 24 && sizeof(DeviceInfo) == 16 && sizeof(RegionInfo) == 32 &&
              sizeof(IrqInfo) == 16 && sizeof(IrqSet) == 20 && sizeof(RegionAccess) == 16 && sizeof(DmaAccess) == 16);

inline constexpr std::uint32_t kDmaReadable = 1, kDmaWriteable = 2;              // DmaMap::flags
inline constexpr std::uint32_t kDeviceReset = 1, kDevicePci = 2;                 // DeviceInfo::flags
inline constexpr std::uint32_t kRegionRead = 1, kRegionWrite = 2;                // RegionInfo::flags
inline constexpr std::uint32_t kIrqEventfd = 1, kIrqMaskable = 2;                // IrqInfo::flags
inline constexpr std::uint32_t kIrqAutomasked = 4, kIrqNoResize = 8;             // IrqInfo::flags
inline constexpr std::uint32_t kSetNone = 1, kSetBool = 2, kSetFd = 4;           // IrqSet::flags: kind of data
inline constexpr std::uint32_t kSetMask = 8, kSetUnmask = 16, kSetTrigger = 32;  // IrqSet::flags: action

/// Regions and interrupts of a PCI device (VFIO_PCI_*_INDEX).
inline constexpr std::uint32_t kBar0 = 0, kConfigSpace = 7, kRegions = 9;
inline constexpr std::uint32_t kIntx = 0, kMsi = 1, kMsix = 2, kErr = 3, kReq = 4, kIrqs = 5;

/// Largest data of one transfer and largest message. The specification gives these defaults.
inline constexpr std::uint32_t kMostData = 1u << 20;
inline constexpr std::uint32_t kMostMessage = kMostData + 4096;
inline constexpr std::uint32_t kMostFds = 8;  ///< limit in one message; QEMU 11.1 refuses more than 16
inline constexpr std::uint32_t kMostDmaMaps = 65535;

}  // namespace ssdtlm::vfio
