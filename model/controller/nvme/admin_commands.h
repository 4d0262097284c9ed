// SPDX-License-Identifier: Apache-2.0
// Executes admin commands (NVMe 1.4 §5) on the queues, features and logs, without time and without host memory: data
// for the host is returned as bytes. Supported: queue creation and deletion, Identify, Get Log Page, Set and Get
// Features, Abort, Asynchronous Event Request, and Directive Send and Receive where the drive has streams. Everything
// else is an invalid opcode.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "controller/nvme/async_events.h"
#include "controller/nvme/features.h"
#include "controller/nvme/log_pages.h"
#include "controller/nvme/namespaces.h"
#include "controller/nvme/queues.h"
#include "controller/nvme/registers.h"
#include "controller/nvme/streams.h"
#include "controller/ports/drive_facts.h"

namespace ssdtlm {

struct AdminResult {
    enum class Then : std::uint8_t {
        complete,     ///< post the CQE
        send_data,    ///< write `data` to the host, then post the CQE
        hold,         ///< no CQE now (asynchronous event request)
        delete_sq,    ///< stop SQ `qid`, post the CQE when nothing of it is in flight
        abort_event,  ///< first complete the held request `aborted_cid` with status 07h, then post the CQE
    };
    std::uint16_t status = nvme::kStSuccess;
    std::uint32_t dw0 = 0;
    Then then = Then::complete;
    std::uint16_t qid = 0;
    std::uint16_t aborted_cid = 0;
};

class AdminCommands {
public:
    AdminCommands(const NvmeConfig& config, const DriveFacts& device, const NvmeRegisters& registers, QueueSet& queues,
                  NvmeFeatures& features, AsyncEvents& events, const ErrorLog& errors, const NvmeCounters& counters);

    /// Where the SMART log takes the device's health from; without it a new drive is assumed.
    void set_health(std::function<DeviceHealth()> health) { health_ = std::move(health); }
    DeviceHealth health() const { return health_ ? health_() : DeviceHealth{}; }

    Streams& streams() { return streams_; }
    /// `data` is filled when the result says send_data.
    AdminResult execute(const nvme::Sqe& sqe, bool cid_in_use, SimTime now, std::vector<std::uint8_t>& data);

private:
    std::uint16_t create_cq(const nvme::Sqe& sqe);
    std::uint16_t create_sq(const nvme::Sqe& sqe);
    AdminResult delete_sq(const nvme::Sqe& sqe) const;
    std::uint16_t delete_cq(const nvme::Sqe& sqe);
    std::uint16_t identify(const nvme::Sqe& sqe, std::vector<std::uint8_t>& data) const;
    std::uint16_t get_log(const nvme::Sqe& sqe, SimTime now, std::vector<std::uint8_t>& data);
    AdminResult abort(const nvme::Sqe& sqe);
    AdminResult receive_directive(const nvme::Sqe& sqe, std::vector<std::uint8_t>& data);

    const NvmeConfig& config_;
    const DriveFacts& device_;
    const Namespaces namespaces_;
    const NvmeRegisters& registers_;
    QueueSet& queues_;
    NvmeFeatures& features_;
    AsyncEvents& events_;
    const ErrorLog& errors_;
    const NvmeCounters& counters_;
    Streams streams_;
    std::function<DeviceHealth()> health_;
};

}  // namespace ssdtlm
