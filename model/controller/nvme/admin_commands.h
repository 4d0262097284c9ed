// SPDX-License-Identifier: Apache-2.0
// Finds the function of an admin command in the table (admin/admin_list.h), makes the checks that all commands share,
// and holds the state that the functions share.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

class AdminCommands {
public:
    AdminCommands(const NvmeConfig& config, const DriveFacts& device, const NvmeRegisters& registers, QueueSet& queues,
                  NvmeFeatures& features, AsyncEvents& events, NvmeMemory& memory, const NvmeCounters& counters)
        : context_{config, device, registers, queues, features, events, counters, memory, Streams(config.streams)} {}
    AdminCommands(const AdminCommands&) = delete;
    AdminCommands& operator=(const AdminCommands&) = delete;

    /// Sets the function that gives the SMART log the device's health. Without it the log describes a new drive.
    void set_health(std::function<DeviceHealth()> health) { context_.health = std::move(health); }
    DeviceHealth health() const { return context_.healthy(); }
    void bind(MediaWork& media) { context_.media = &media; }
    void bind(ShadowDoorbells& shadows) { context_.shadows = &shadows; }

    Streams& streams() { return context_.streams; }
    AdminContext& context() { return context_; }
    /// Number of bytes that the host must have sent before execute(). It is 0 if the command will be refused.
    std::uint32_t host_bytes(const nvme::Sqe& sqe, bool cid_in_use) const;
    /// `data` holds what the host has sent. If the result says send_data, it holds the reply afterwards. `token` names
    /// a command that ends later.
    AdminResult execute(const nvme::Sqe& sqe, bool cid_in_use, SimTime now, std::vector<std::uint8_t>& data,
                        std::uint64_t token = 0);
    /// Carries out a controller reset.
    void reset();

private:
    /// Returns success if the command may be carried out.
    std::uint16_t refusal(const nvme::Sqe& sqe, bool cid_in_use, const AdminKind* kind) const;

    AdminContext context_;
};

}  // namespace ssdtlm
