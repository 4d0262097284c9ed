// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/log_pages.h"

#include <algorithm>

#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

constexpr std::size_t kErrorEntryBytes = 64;
constexpr std::size_t kSmartBytes = 512;
constexpr std::size_t kFirmwareBytes = 512;
constexpr std::size_t kEffectsBytes = 4096;
constexpr std::uint8_t kSpareThreshold = 10;  // percent; assumed

/// Converts to SMART data units of 1000 blocks of 512 bytes, rounded up.
std::uint64_t data_units(std::uint64_t bytes) {
    return div_ceil(bytes, 512'000);
}

}  // namespace

void ErrorLog::add(std::uint16_t sqid, std::uint16_t cid, std::uint16_t status, std::uint64_t lba, std::uint32_t nsid) {
    Cqe e;
    e.set_status(status, do_not_retry(status), false);
    entries_[total_ % entries_.size()] = Entry{lba, nsid, sqid, cid, e.status_phase};
    ++total_;
}

void ErrorLog::write(std::vector<std::uint8_t>& page) const {
    page.assign(entries_.size() * kErrorEntryBytes, 0);
    const std::uint64_t known = std::min<std::uint64_t>(total_, entries_.size());
    for (std::uint64_t i = 0; i < known; ++i) {
        const std::uint64_t number = total_ - i;  // 1-based, newest first
        const Entry& e = entries_[(number - 1) % entries_.size()];
        std::uint8_t* d = page.data() + i * kErrorEntryBytes;
        store(d, number);
        store(d + 8, e.sqid);
        store(d + 10, e.cid);
        store(d + 12, e.status_phase);
        store(d + 14, std::uint16_t{0xFFFF});  // parameter location not named
        store(d + 16, e.lba);
        store(d + 24, e.nsid);
    }
}

std::uint8_t critical_warning(const DeviceHealth& health, const NvmeFeatures& features) {
    std::uint8_t warning = 0;
    if (health.available_spare < kSpareThreshold) warning |= kHealthSpare;
    if (health.temperature >= features.over_temperature() || health.temperature <= features.under_temperature())
        warning |= kHealthTemperature;
    if (health.read_only) warning |= kHealthReadOnly;
    return warning;
}

void smart_log(const NvmeCounters& counters, const DeviceHealth& health, const NvmeFeatures& features,
               std::uint64_t error_entries, SimTime now, std::vector<std::uint8_t>& page, const NvmeLifetime& former) {
    constexpr std::uint64_t kMinute = 60'000;  // ms
    const NvmeLifetime all = former.with(counters, now);
    page.assign(kSmartBytes, 0);
    std::uint8_t* d = page.data();
    d[0] = critical_warning(health, features);
    store(d + 1, health.temperature);
    d[3] = health.available_spare;
    d[4] = kSpareThreshold;
    d[5] = health.percentage_used;
    store(d + 32, data_units(all.bytes_read));
    store(d + 48, data_units(all.bytes_written));
    store(d + 64, all.reads);
    store(d + 80, all.writes);
    store(d + 96, all.busy_ms / kMinute);
    store(d + 112, all.power_cycles);
    store(d + 128, former.power_on_hours(now));
    store(d + 144, all.unsafe_shutdowns);
    store(d + 160, all.media_errors);
    store(d + 176, error_entries);
    store(d + 200, health.temperature);  // sensor 1
}

void firmware_log(const DriveFacts& device, std::vector<std::uint8_t>& page) {
    page.assign(kFirmwareBytes, 0);
    page[0] = 1;  // slot 1 is active
    std::fill_n(page.begin() + 8, 8, std::uint8_t{' '});
    std::copy_n(device.firmware.begin(), std::min<std::size_t>(device.firmware.size(), 8), page.begin() + 8);
}

void effects_log(const NvmeConfig& config, const DriveFacts& device, std::vector<std::uint8_t>& page) {
    page.assign(kEffectsBytes, 0);
    for (const AdminKind* const kind : admin_kinds())
        if (kind->offered == nullptr || kind->offered(config, device))
            store(page.data() + 4 * kind->opcode, kEffectSupported | kind->effects);
    for (const IoKind* const kind : io_kinds())
        store(page.data() + 1024 + 4 * kind->opcode, kEffectSupported | kind->effects);
}

}  // namespace ssdtlm
