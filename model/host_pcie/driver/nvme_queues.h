// SPDX-License-Identifier: Apache-2.0
// The I/O queues of the NVMe driver. It makes entries of submission queues from requests, with PRPs of the slot's
// buffer, rings doorbells, and takes completions. Tags are command identifiers. Kernel-free, above MmioPort.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host_pcie/driver/bring_up.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/driver/mmio_port.h"
#include "host_pcie/driver/prp_builder.h"
#include "host_pcie/driver/queue_pair.h"
#include "host_pcie/ports/command_queues.h"

namespace ssdtlm {

class NvmeQueues final : public CommandQueues {
public:
    NvmeQueues(HostMemory& memory, const HostConfig& config, MmioPort& mmio)
        : memory_(memory), config_(config), mmio_(mmio) {}

    /// Takes the queues that bring-up has created. Bring-up keeps the addresses of doorbells in `info` up to date. Call
    /// it once.
    void take(const ControllerInfo& info, std::vector<QueuePair> pairs);

    /// The range of host memory in which completion entries are written, submission queues between them included.
    /// Precondition: take() was called.
    std::uint64_t completions_begin() const { return queues_.front().pair.cq_base(); }
    std::uint64_t completions_end() const {
        const QueuePair& last = queues_.back().pair;
        return last.cq_base() + std::uint64_t{last.entries()} * nvme::kCqeBytes;
    }
    /// The queue that has a completion entry at this address.
    std::uint16_t completing(std::uint64_t address) const;

    std::uint32_t count() const override { return static_cast<std::uint32_t>(queues_.size()); }
    bool has_room(std::uint16_t queue) const override { return pair(queue).has_room(); }
    Submitted submit(std::uint16_t queue, const HostRequest& request) override;
    void announce(std::uint16_t queue) override { ring(nvme::sq_tail_doorbell(queue), pair(queue).tail()); }
    bool has_ended(std::uint16_t queue) const override { return pair(queue).has_completion(); }
    std::uint16_t next_ended(std::uint16_t queue) const override { return pair(queue).next_completion(); }
    Ended take_ended(std::uint16_t queue) override;
    void acknowledge(std::uint16_t queue) override { ring(nvme::cq_head_doorbell(queue), pair(queue).head()); }
    std::uint32_t outstanding(std::uint16_t queue) const override { return pair(queue).outstanding(); }
    bool is_outstanding(std::uint16_t queue, std::uint16_t tag) const override { return pair(queue).outstanding(tag); }
    void forget(std::uint16_t queue) override { queues_[queue - 1u].pair.reset(); }
    std::string status_text(std::uint32_t code) const override;
    std::string dump(std::uint16_t queue) const override;

private:
    struct Slot {
        PrpPair prp;  // for the first prp_bytes bytes of the buffer
        std::uint32_t prp_bytes = 0;
        SlotBuffer buffer;
    };
    struct Queue {
        QueuePair pair;
        std::vector<Slot> slots;  // by CID, grown to the highest used
    };
    const QueuePair& pair(std::uint16_t queue) const { return queues_[queue - 1u].pair; }
    void ring(std::uint32_t doorbell, std::uint32_t value) {
        if (__builtin_expect(info_->shadows != 0, 0) && !shadow(doorbell, value)) return;
        mmio_.write32(doorbell, value);
    }
    bool shadow(std::uint32_t doorbell, std::uint32_t value);
    std::uint32_t in_namespace(const HostRequest& request, std::uint64_t& slba) const;
    void make_prp(Slot& slot, std::uint32_t bytes);

    HostMemory& memory_;
    const HostConfig& config_;
    MmioPort& mmio_;
    const ControllerInfo* info_ = nullptr;  // belongs to bring-up; set once there are queues
    std::vector<Queue> queues_;
    std::vector<DriveNamespace> namespaces_;
    unsigned lba_shift_ = 9;
};

}  // namespace ssdtlm
