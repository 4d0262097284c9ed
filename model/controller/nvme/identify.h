// SPDX-License-Identifier: Apache-2.0
// Contents of the Identify data structures (NVMe 1.4 §5.15). There are one controller and LBA formats of 512 and 4,096
// bytes, with nvme.metadata also those with eight bytes of metadata.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "controller/nvme/namespaces.h"
#include "controller/nvme/nvme_config.h"
#include "controller/ports/drive_facts.h"
#include "protocol/nvme.h"

namespace ssdtlm {

inline constexpr std::uint32_t kAbortLimit = 3;             ///< ACL, 0-based
inline constexpr std::uint32_t kAsyncEventLimit = 3;        ///< AERL, 0-based
inline constexpr std::uint32_t kErrorLogEntries = 64;       ///< ELPE + 1
inline constexpr std::uint16_t kWarningTemperature = 343;   ///< WCTEMP in kelvin; assumed
inline constexpr std::uint16_t kCriticalTemperature = 353;  ///< CCTEMP in kelvin; assumed

using IdentifyData = std::array<std::uint8_t, nvme::kIdentifyBytes>;

inline constexpr std::uint16_t kKeepAliveUnits = 10;          ///< KAS, of 100 ms: granularity of the timer; assumed
inline constexpr std::uint32_t kSanitizeCapabilities = 7;     ///< SANICAP: crypto erase, block erase, overwrite
inline constexpr std::uint16_t kControllerId = 0;             ///< CNTLID: the only one
inline constexpr std::uint32_t kManagedNamespaces = 32;       ///< NN with namespace management; assumed
inline constexpr std::uint32_t kFormatBytes[] = {512, 4096};  ///< LBA formats, from the drive's block size on
// Limits of Copy, assumed: bytes of the longest source range, bytes of all ranges of a command, and number of ranges.
inline constexpr std::uint32_t kCopyRangeBytes = 1u << 17, kCopyBytes = 1u << 20, kCopyRanges = 16;

/// What a Copy may name. One command of the firmware reads a range, and another one writes it.
struct CopyLimits {
    /// `max_transfer`: bytes, 0 is no limit.
    explicit CopyLimits(std::uint32_t max_transfer)
        : range_bytes(firmware_command_bytes(kCopyRangeBytes, max_transfer)),
          bytes(std::min(kCopyBytes, kCopyRanges * range_bytes)) {}

    std::uint32_t range_bytes;  ///< of the longest source range (Identify MSSRL)
    std::uint32_t bytes;        ///< of all ranges of a command (Identify MCL)
};

/// With several namespaces the host may delete and create them.
inline bool manages_namespaces(const NvmeConfig& config) {
    return !config.namespaces.empty();
}
/// Returns Identify NN.
inline std::uint32_t namespace_numbers(const NvmeConfig& config) {
    const auto given = static_cast<std::uint32_t>(config.namespaces.size() + 1);
    return manages_namespaces(config) && given < kManagedNamespaces ? kManagedNamespaces : given;
}
/// Bits of Identify MC and DPC if there are formats with metadata: both places of metadata; all types of protection
/// information, in the first and in the last eight bytes.
inline constexpr std::uint8_t kMetadataPlaces = 3, kProtectionTypes = 0x1F;

/// Returns the LBA format of this number of a drive whose own block is `drive_lba`, or none (lba_bytes = 0). Those with
/// metadata follow the others. Only `metadata.bytes` is set of its metadata.
BlockFormat lba_format(std::uint32_t number, std::uint32_t drive_lba, bool with_metadata);
/// Returns the form of blocks that Format NVM, or the creation of a namespace, asks for: LBA format `number`, extended
/// blocks, type of protection information, and whether it is first. lba_bytes = 0: there is none.
BlockFormat block_format(const Namespaces& all, std::uint32_t number, bool extended, std::uint32_t protection,
                         bool first);

void identify_controller(const NvmeConfig& config, const DriveFacts& device, IdentifyData& out);
void identify_namespace(const NvmeConfig& config, const Namespace& of, const Namespaces& all, const DriveFacts& device,
                        IdentifyData& out);
/// Answers Identify with the broadcast NSID: the fields that are the same for all namespaces that are created.
void identify_common(const Namespaces& all, const DriveFacts& device, IdentifyData& out);
/// Writes CNS 08h (NVMe 2.0), the namespace independent of its command set.
void identify_independent(IdentifyData& out);
/// Writes CNS 03h: EUI-64, NGUID and UUID of the namespace, made from the serial number and the NSID.
void identify_descriptors(const Namespace& of, const DriveFacts& device, IdentifyData& out);

}  // namespace ssdtlm
