// SPDX-License-Identifier: Apache-2.0
// Contents of log pages 01h, 02h, 03h and 05h (NVMe 1.4 §5.14.1). They come from the front end's own counters and from
// the health that the device reports. The temperature is constant unless the device reports another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/units/units.h"
#include "controller/nvme/counters.h"
#include "controller/nvme/features.h"
#include "controller/nvme/identify.h"
#include "controller/nvme/lifetime.h"
#include "controller/ports/drive_facts.h"

namespace ssdtlm {

/// The last commands that completed with an error, newest first when read.
class ErrorLog {
public:
    void add(std::uint16_t sqid, std::uint16_t cid, std::uint16_t status, std::uint64_t lba, std::uint32_t nsid);
    std::uint64_t total() const { return total_; }
    void write(std::vector<std::uint8_t>& page) const;
    void state(Snapshot& s) {
        s(total_);
        for (Entry& e : entries_) s(e.lba, e.nsid, e.sqid, e.cid, e.status_phase);
    }

private:
    struct Entry {
        std::uint64_t lba = 0;
        std::uint32_t nsid = 0;
        std::uint16_t sqid = 0;
        std::uint16_t cid = 0;
        std::uint16_t status_phase = 0;
    };
    std::array<Entry, kErrorLogEntries> entries_{};
    std::uint64_t total_ = 0;
};

/// Bits of SMART's critical warning and of Feature 0Bh.
inline constexpr std::uint8_t kHealthSpare = 1u << 0;        ///< available spare below its threshold
inline constexpr std::uint8_t kHealthTemperature = 1u << 1;  ///< at or beyond a threshold
inline constexpr std::uint8_t kHealthReadOnly = 1u << 3;     ///< the media is in read-only mode
std::uint8_t critical_warning(const DeviceHealth& health, const NvmeFeatures& features);

/// `former` is what lies before this run.
void smart_log(const NvmeCounters& counters, const DeviceHealth& health, const NvmeFeatures& features,
               std::uint64_t error_entries, SimTime now, std::vector<std::uint8_t>& page,
               const NvmeLifetime& former = {});
void firmware_log(const DriveFacts& device, std::vector<std::uint8_t>& page);
/// Writes log 05h from the tables of commands.
void effects_log(const NvmeConfig& config, const DriveFacts& device, std::vector<std::uint8_t>& page);

}  // namespace ssdtlm
