// SPDX-License-Identifier: Apache-2.0
// Controller registers in BAR0 below the doorbells, with the states for start, fatal error and shutdown (NVMe 1.4 §3.1,
// §7.6). This class has no queues and no time: each write returns what the controller must now do. The controller
// reports when it is ready, stopped or shut down. Not modelled: CMB, PMR, boot partitions, subsystem reset.
#pragma once

#include <cstdint>

#include "controller/nvme/nvme_config.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class NvmeRegisters {
public:
    /// `scan_time` is the time that a start may take in addition to ready_time.
    explicit NvmeRegisters(const NvmeConfig& config, Ps scan_time = {});

    /// What a register write asks the controller to do.
    enum class Action : std::uint8_t {
        none,
        enable,    ///< CC.EN 0 -> 1 with good parameters: create the admin queues, then call ready()
        disable,   ///< CC.EN 1 -> 0: stop all work, drop all queues, then call stopped()
        shutdown,  ///< CC.SHN set: flush, then call shutdown_complete()
    };

    /// Aligned access of 4 or 8 bytes. Any other access reads 0 or is ignored.
    std::uint64_t read(std::uint32_t offset, std::uint32_t bytes) const;
    Action write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value);
    /// Carries out a function-level reset (NVMe 1.4 §7.3.2, PCIe Base 5.0 §6.6.2): all registers get their defaults,
    /// those of the admin queues too, which CC.EN leaves alone. As after `disable`, stopped() must follow.
    void reset_function();

    /// Sets CSTS.RDY to 1.
    void ready();
    /// Sets CSTS.RDY and CFS to 0, and SHST too, unless CC.SHN was set while stopping: that shutdown is yet to come.
    /// Returns `enable` if CC.EN was set again while stopping.
    Action stopped();
    void shutdown_complete();
    /// Sets CSTS.CFS to 1, unless a reset is under way. Only a reset clears it.
    void fatal() {
        if (!stopping_) csts_ |= nvme::Csts::kFatal;
    }

    bool is_ready() const { return (csts_ & nvme::Csts::kReady) != 0; }
    bool is_stopping() const { return stopping_; }
    bool is_shutting_down() const { return (csts_ & nvme::Csts::kShstMask) != 0; }
    bool is_asked_to_shut_down() const { return (csts_ & nvme::Csts::kShstMask) == nvme::Csts::kShstOccurring; }
    bool is_shut_down() const { return (csts_ & nvme::Csts::kShstMask) == nvme::Csts::kShstComplete; }
    /// True if ready, not fatal and not stopping. Commands already fetched still run, also while shutting down.
    bool is_serving() const {
        return (csts_ & (nvme::Csts::kReady | nvme::Csts::kFatal)) == nvme::Csts::kReady && !stopping_;
    }
    /// True if commands may be fetched: ready, not fatal, not stopping and not shut down.
    bool is_running() const { return csts_ == nvme::Csts::kReady && !stopping_; }

    std::uint64_t cap() const { return cap_; }
    std::uint32_t cc() const { return cc_; }
    std::uint32_t csts() const { return csts_; }
    std::uint32_t aqa() const { return aqa_; }
    std::uint64_t asq() const { return asq_; }
    std::uint64_t acq() const { return acq_; }

private:
    std::uint32_t read_dword(std::uint32_t offset) const;
    Action write_dword(std::uint32_t offset, std::uint32_t value);
    Action write_cc(std::uint32_t value);
    Action try_enable();

    std::uint64_t cap_ = 0;
    std::uint32_t cc_ = 0;
    std::uint32_t csts_ = 0;
    std::uint32_t aqa_ = 0;
    std::uint64_t asq_ = 0;
    std::uint64_t acq_ = 0;
    std::uint32_t interrupt_mask_ = 0;
    bool stopping_ = false;
    bool shuts_down_next_ = false;  // CC.SHN was set while stopping
};

}  // namespace ssdtlm
