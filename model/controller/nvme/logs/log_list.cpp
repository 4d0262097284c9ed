// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/logs/log_list.h"

#include <algorithm>

#include "controller/nvme/identify.h"
#include "controller/nvme/log_pages.h"
#include "controller/nvme/logs/telemetry.h"

namespace ssdtlm {

using namespace nvme;

namespace {

using Page = std::vector<std::uint8_t>;

/// NVMe 2.0 §5.16.1.1: the page has a double word for each log page. Bit 0 says that it is supported, bit 1 that
/// offsets may be in its own units.
std::uint16_t supported_pages(AdminContext&, const Sqe&, Page& page) {
    page.assign(1024, 0);
    for (const LogKind& kind : log_kinds()) store(page.data() + 4 * kind.lid, 1u);
    return kStSuccess;
}

std::uint16_t error_page(AdminContext& c, const Sqe&, Page& page) {
    c.memory.errors.write(page);
    return kStSuccess;
}

std::uint16_t smart_page(AdminContext& c, const Sqe& sqe, Page& page) {
    if (sqe.nsid != 0 && sqe.nsid != kNsidAll) return kStInvalidField;  // LPA bit 0 is 0: no log by namespace
    smart_log(c.counters, c.healthy(), c.features, c.memory.errors.total(), c.now, page, c.memory.former);
    return kStSuccess;
}

std::uint16_t firmware_page(AdminContext& c, const Sqe&, Page& page) {
    firmware_log(c.device, page);
    return kStSuccess;
}

/// NVMe 1.4 §5.14.1.4: the numbers are in rising order. The list has room for 1,024, and there are fewer namespaces.
std::uint16_t changed_page(AdminContext& c, const Sqe&, Page& page) {
    page.assign(4096, 0);
    std::sort(c.memory.changed.begin(), c.memory.changed.end());
    for (std::size_t i = 0; i < c.memory.changed.size(); ++i) store(page.data() + 4 * i, c.memory.changed[i]);
    return kStSuccess;
}

void changes_read(AdminContext& c) {
    c.memory.changed.clear();
}

std::uint16_t effects_page(AdminContext& c, const Sqe&, Page& page) {
    effects_log(c.config, c.device, page);
    return kStSuccess;
}

std::uint16_t self_test_page(AdminContext& c, const Sqe&, Page& page) {
    c.memory.self_tests.write(page);
    return kStSuccess;
}

std::uint16_t telemetry_host_page(AdminContext& c, const Sqe& sqe, Page& page) {
    const bool create = (sqe.cdw10 >> 8 & 1u) != 0;
    if (create || c.telemetry.empty()) write_telemetry(c, kLogTelemetryHost, c.telemetry);
    page = c.telemetry;
    return kStSuccess;
}

/// The controller never captures data by itself: an internal error ends the simulation.
std::uint16_t telemetry_controller_page(AdminContext& c, const Sqe&, Page& page) {
    write_telemetry(c, kLogTelemetryController, page);
    page.resize(512);
    return kStSuccess;
}

/// NVMe 1.4 §5.14.1.13, LSP: 0 reads, 1 opens a context and reads, 2 closes it.
std::uint16_t persistent_page(AdminContext& c, const Sqe& sqe, Page& page) {
    const std::uint32_t action = sqe.cdw10 >> 8 & 3u;
    if (action == 3) return kStInvalidField;
    if (action == 2) {
        c.context_open = false;
        page.clear();
        return kStSuccess;
    }
    if (c.context_open == (action == 1)) return kStSequenceError;
    if (action == 1) {
        c.context_open = true;
        c.memory.events.write(c.reported);
        IdentifyData id;
        identify_controller(c.config, c.device, id);
        std::uint8_t* const d = c.reported.data();
        store(d + 20, c.memory.clock.field(c.now));
        store(d + 28, c.hours());
        store(d + 44, c.memory.former.power_cycles + c.counters.power_cycles);
        std::copy_n(id.data() + IdCtrl::kVid, 4, d + 52);
        std::copy_n(id.data() + IdCtrl::kSn, 60, d + 56);  // serial and model number
        std::copy_n(id.data() + IdCtrl::kSubnqn, 256, d + 116);
    }
    page = c.reported;
    return kStSuccess;
}

std::uint16_t sanitize_page(AdminContext& c, const Sqe&, Page& page) {
    c.memory.sanitize.write(c.memory.former.writes + c.counters.writes, page);
    return kStSuccess;
}

}  // namespace

const std::vector<LogKind>& log_kinds() {
    static const std::vector<LogKind> all{
        {kLogSupported, "Supported Log Pages", supported_pages},
        {kLogError, "Error Information", error_page},
        {kLogSmart, "SMART / Health Information", smart_page},
        {kLogFirmwareSlot, "Firmware Slot Information", firmware_page},
        {kLogChangedNamespaces, "Changed Namespace List", changed_page, changes_read},
        {kLogEffects, "Commands Supported and Effects", effects_page},
        {kLogSelfTest, "Device Self-test", self_test_page},
        {kLogTelemetryHost, "Telemetry Host-Initiated", telemetry_host_page},
        {kLogTelemetryController, "Telemetry Controller-Initiated", telemetry_controller_page},
        {kLogPersistentEvents, "Persistent Event Log", persistent_page},
        {kLogSanitize, "Sanitize Status", sanitize_page}};
    return all;
}

const LogKind* find_log(std::uint8_t lid) {
    for (const LogKind& kind : log_kinds())
        if (kind.lid == lid) return &kind;
    return nullptr;
}

}  // namespace ssdtlm
