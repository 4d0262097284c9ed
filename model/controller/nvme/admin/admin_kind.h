// SPDX-License-Identifier: Apache-2.0
// One admin command as the table has it (admin_list.h), and what its function may read and change. A function takes no
// time and does not touch host memory. `data` holds what the host has sent before the call, and what the host gets
// after it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "controller/nvme/async_events.h"
#include "controller/nvme/features.h"
#include "controller/nvme/media/media_work.h"
#include "controller/nvme/memory.h"
#include "controller/nvme/queues.h"
#include "controller/nvme/registers.h"
#include "controller/nvme/shadow_doorbells.h"
#include "controller/nvme/streams.h"
#include "controller/ports/drive_facts.h"

namespace ssdtlm {

struct AdminResult {
    enum class Then : std::uint8_t {
        complete,       ///< post the CQE
        send_data,      ///< write `data` to the host, then post the CQE
        hold,           ///< no CQE now (asynchronous event request)
        later,          ///< no CQE before work on the flash has ended
        delete_sq,      ///< stop SQ `qid`, post the CQE when nothing of it is in flight
        abort_event,    ///< first complete the held request `aborted_cid` with status 07h, then post the CQE
        abort_command,  ///< abort `aborted_cid` of SQ `qid` if it has not begun (see `dw0`), post the CQE
    };
    std::uint16_t status = nvme::kStSuccess;
    std::uint32_t dw0 = 0;
    Then then = Then::complete;
    std::uint16_t qid = 0;
    std::uint16_t aborted_cid = 0;
};

class SelfTestJob;

struct AdminContext {
    const NvmeConfig& config;
    const DriveFacts& device;
    const NvmeRegisters& registers;
    QueueSet& queues;
    NvmeFeatures& features;
    AsyncEvents& events;
    const NvmeCounters& counters;
    NvmeMemory& memory;
    Streams streams;
    MediaWork* media = nullptr;          ///< null: there is no media behind the controller
    ShadowDoorbells* shadows = nullptr;  ///< null: none
    SelfTestJob* self_test = nullptr;    ///< the one that runs; null: none
    std::function<DeviceHealth()> health{};
    // These fields belong to the command that is being executed.
    SimTime now{};
    std::uint64_t token = 0;                ///< MediaWork::ended() is called with it
    bool context_open = false;              ///< of the persistent event log
    std::vector<std::uint8_t> reported{};   ///< what the log held when its context was opened
    std::vector<std::uint8_t> telemetry{};  ///< as the host has asked for it last

    DeviceHealth healthy() const { return health ? health() : DeviceHealth{}; }
    std::uint64_t hours() const { return memory.former.power_on_hours(now); }
    void record(PersistentEvents::Type type, std::vector<std::uint8_t> event) const {
        memory.events.add(type, std::move(event), memory.clock.field(now));
    }
    /// Adds the namespace to log 04h and raises the notice about it.
    void tell_change(std::uint32_t nsid);
};

struct AdminKind {
    using Offered = bool (*)(const NvmeConfig&, const DriveFacts&);
    using Execute = AdminResult (*)(AdminContext&, const nvme::Sqe&, std::vector<std::uint8_t>& data);
    using HostBytes = std::uint32_t (*)(const AdminContext&, const nvme::Sqe&);

    /// `may_end` holds the statuses that this command alone may end with. Success, the statuses of any command and
    /// those of the data transfer are not in it.
    AdminKind(std::uint8_t code, const char* text, Execute function, std::vector<std::uint16_t> may_end)
        : opcode(code), name(text), execute(function), statuses(std::move(may_end)) {}
    AdminKind& if_offered(Offered function) { return offered = function, *this; }
    AdminKind& identified_by(std::uint16_t oacs_bit) { return oacs = oacs_bit, *this; }
    AdminKind& changes(std::uint32_t bits) { return effects = bits, *this; }
    AdminKind& takes(HostBytes function) { return host_bytes = function, *this; }
    AdminKind& also_in_sanitize() { return in_sanitize = true, *this; }

    std::uint8_t opcode;
    const char* name;
    Execute execute;
    std::vector<std::uint16_t> statuses;
    Offered offered = nullptr;       ///< null: always
    std::uint16_t oacs = 0;          ///< with which Identify says so
    std::uint32_t effects = 0;       ///< bits of log 05h besides CSUPP
    HostBytes host_bytes = nullptr;  ///< bytes that the host must send first, one page at most; null: none
    bool in_sanitize = false;        ///< carried out during a sanitize operation, and after a failed one
};

inline AdminResult admin_status(std::uint16_t status) {
    AdminResult r;
    r.status = status;
    return r;
}
/// Result of a command that returns data to the host when it succeeds.
inline AdminResult admin_data(std::uint16_t status) {
    AdminResult r = admin_status(status);
    if (status == nvme::kStSuccess) r.then = AdminResult::Then::send_data;
    return r;
}

}  // namespace ssdtlm
