// SPDX-License-Identifier: Apache-2.0
// Contents of the Identify data structures (NVMe 1.4 §5.15): one controller, namespaces with one LBA format, no
// metadata, no protection information.
#pragma once

#include <array>
#include <cstdint>

#include "controller/nvme/namespaces.h"
#include "controller/nvme/nvme_config.h"
#include "controller/ports/drive_facts.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// PCI vendor and subsystem vendor of Identify; assumed: not registered to anyone.
inline constexpr std::uint16_t kPciVendor = 0xFFFE;
inline constexpr std::uint32_t kAbortLimit = 3;             ///< ACL, 0-based
inline constexpr std::uint32_t kAsyncEventLimit = 3;        ///< AERL, 0-based
inline constexpr std::uint32_t kErrorLogEntries = 64;       ///< ELPE + 1
inline constexpr std::uint16_t kWarningTemperature = 343;   ///< WCTEMP in kelvin; assumed
inline constexpr std::uint16_t kCriticalTemperature = 353;  ///< CCTEMP in kelvin; assumed

using IdentifyData = std::array<std::uint8_t, nvme::kIdentifyBytes>;

void identify_controller(const NvmeConfig& config, const DriveFacts& device, IdentifyData& out);
void identify_namespace(const Namespace& of, const DriveFacts& device, IdentifyData& out);
/// CNS 03h: EUI-64 and NGUID of the namespace, both made from the serial number and the NSID.
void identify_descriptors(const Namespace& of, const DriveFacts& device, IdentifyData& out);

}  // namespace ssdtlm
