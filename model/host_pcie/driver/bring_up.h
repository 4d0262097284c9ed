// SPDX-License-Identifier: Apache-2.0
// Brings the controller from power-on to running I/O queues, and shuts it down. It uses register accesses and admin
// commands in the order of Linux drivers/nvme/host (pci.c, core.c), as far as the model's controller has them. If a
// controller refuses a step, the run ends.
//
// Start: CSTS (present?), MSI-X entry 0, CAP, VS, CC.EN=0, CSTS.RDY=0, AQA, ASQ, ACQ, CC, CC.EN=1, CSTS.RDY=1, Identify
// Controller, Set Features Arbitration (for weighted round robin alone) and Number of Queues, MSI-X entries 1..n (not
// for a host that polls), Create I/O CQ and SQ of each pair, Identify active namespaces, Identify Namespace. 64-bit
// registers are accessed as two 32-bit halves, low first. Shutdown: Delete I/O SQs, Delete I/O CQs, CC.SHN=1,
// CSTS.SHST=2. Before a loss of power, if asked for: CC.SHN=1, CSTS.SHST=2. When the power is back, the start is done
// again with the same rings. Reset: CC.SHN=1 and CSTS.SHST=2 if asked for, CC.EN=0, CSTS.RDY=0, then the start from AQA
// on, with the same rings. Reset of the function: the same, with the function-level reset between two reads of CSTS
// instead of CC.EN=0, and then MSI-X entry 0.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/driver/host_memory.h"
#include "host_pcie/driver/mmio_port.h"
#include "host_pcie/driver/queue_pair.h"
#include "host_pcie/driver/queue_plan.h"
#include "host_pcie/ports/command_queues.h"

namespace ssdtlm {

/// The address to which MSI-X vector v writes v: in the x86 interrupt window each vector has a local APIC.
constexpr std::uint64_t msi_address(std::uint16_t vector) {
    return 0xFEE00000u + (std::uint64_t{vector} << 12);
}

/// A namespace, as the drive describes it.
struct DriveNamespace {
    std::uint32_t nsid = 0;
    std::uint64_t first_block = 0;  ///< in the addresses of requests
    std::uint64_t blocks = 0;
    std::uint32_t metadata_bytes = 0;  ///< of each block
};

/// Facts that bring-up has found, and resources that it has set up.
struct ControllerInfo : DriveInfo {
    std::uint32_t version = 0;
    bool sgls = false;                       ///< for I/O commands
    std::vector<DriveNamespace> namespaces;  ///< by number; the addresses of requests have them one behind the other
    std::uint64_t shadows = 0;  ///< doorbells in memory, a page, and behind it the event indices; 0: registers alone
};

class BringUp : private MmioClient {
public:
    /// `plan`: is dealt out when the controller has granted queue pairs.
    BringUp(Agenda& agenda, HostMemory& memory, const HostConfig& config, QueuePlan& plan, MmioPort& mmio);

    /// Returns at once; `done` is called when the I/O queues exist and the namespace is known.
    /// Throws CheckFailed (from an event) when the controller misbehaves, UserError when the configuration does not
    /// fit the controller.
    void start(std::function<void()> done);
    /// Precondition: started, no I/O outstanding.
    void shutdown(std::function<void()> done);
    /// Only does a normal shutdown. The queues stay, for a start after the power was off. Precondition: as for reset().
    void stop(std::function<void()> done);
    /// Stops the controller in any state, and starts it again. `stopped` is called in between, when the controller has
    /// lost all commands and queues and no longer accesses host memory. `done` is called when the I/O queues exist
    /// again. With `shutdown_first` a normal shutdown comes first. An admin command of pass_through() that has not
    /// ended before `stopped` is given up. Precondition: started.
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done);
    /// The same by a function-level reset, which `function` does, as Device::function_level_reset().
    using ResetFunction = std::function<void(std::function<void()> done)>;
    void reset_function(const ResetFunction& function, bool shutdown_first, std::function<void()> stopped,
                        std::function<void()> done);
    /// The drive has lost its power. Operations under way are given up without a call of their callbacks. start()
    /// begins again, with the same rings.
    void power_lost();
    /// Sends an admin command of the user, as nvme-cli does. Precondition: the drive has started, and no other admin
    /// command is under way.
    void pass_through(nvme::Sqe& sqe, std::function<void(std::uint16_t status)> ended);
    /// The handler of vector 0.
    void admin_interrupt();

    const ControllerInfo& info() const { return info_; }
    /// Hands the I/O queue pairs to the I/O path.
    std::vector<QueuePair> take_queues() { return std::move(queues_); }
    /// Returns the present step, as text for the watchdog.
    const char* doing() const { return doing_; }

private:
    using Next = void (BringUp::*)(std::uint32_t);
    static constexpr Ps kPollStep{1'000'000'000};              // Linux: usleep_range(1000, 2000)
    static constexpr Ps kFunctionResetLimit{100'000'000'000};  // PCI Express Base Specification 5.0, 6.6.2: 100 ms
    static constexpr Ps kShutdownLimit{
        5'000'000'000'000};  // Linux: shutdown_timeout = 5 s, unless RTD3E says more; after 60 s it takes the power
                             // away, which is not what a run ends with

    void read(std::uint32_t offset, Next next);
    void mmio_read_done(std::uint32_t value) override;
    void poll(std::uint32_t mask, std::uint32_t expected, Ps limit, const char* doing, Next next);
    void read_status();
    void polled(std::uint32_t csts);
    void admin(nvme::Sqe& sqe, const char* doing, Next next);
    void identify(std::uint8_t cns, std::uint32_t nsid, const char* doing, Next next);
    void program_vector(std::uint16_t vector);
    bool weighted() const { return config_.arbitration == QueueArbitration::weighted; }
    bool polls() const { return config_.completion == CompletionBy::poll; }
    [[noreturn]] void fail(const std::string& what) const;

    void present(std::uint32_t csts);
    void cap_low(std::uint32_t value);
    void cap_high(std::uint32_t value);
    void version(std::uint32_t value);
    void disabled(std::uint32_t);
    void enabled(std::uint32_t);
    void controller_identified(std::uint32_t);
    void arbitration_set(std::uint32_t);
    void queues_granted(std::uint32_t granted);
    void make_queues();
    void create_cq(std::uint32_t);
    void create_sq(std::uint32_t);
    void sq_created(std::uint32_t);
    void namespaces_listed(std::uint32_t);
    void namespace_identified(std::uint32_t);
    void identify_next();
    void streams_enabled(std::uint32_t);
    void shadows_set(std::uint32_t);
    void delete_sq(std::uint32_t);
    void delete_cq(std::uint32_t);
    void shut_down(std::uint32_t);
    void begin_shutdown(Next next);
    void disable(std::uint32_t);
    void begin_function_reset(std::uint32_t);
    void function_reset();
    void function_stopped(std::uint32_t csts);
    void stopped(std::uint32_t);

    Agenda& agenda_;
    HostMemory& memory_;
    const HostConfig& config_;
    QueuePlan& plan_;
    MmioPort& mmio_;
    QueuePair admin_;
    std::uint64_t buffer_;       // one page for Identify data
    std::uint64_t shadows_ = 0;  // two pages for doorbells; 0: not allocated
    bool offers_shadows_ = false;
    std::vector<std::uint32_t> listed_;  // namespaces, while they are asked for
    ControllerInfo info_;
    struct Rings {
        std::uint64_t sq = 0;
        std::uint64_t cq = 0;
    };
    std::vector<Rings> rings_;  // rings of the I/O queues, which keep their places over all starts
    std::vector<QueuePair> queues_;
    std::function<void()> done_;
    std::function<void(std::uint16_t)> passed_;
    std::function<void()> stopped_;
    ResetFunction function_;  // of the reset under way; null: CC.EN
    SimTime function_reset_began_{};

    Next after_read_ = nullptr;
    Next after_poll_ = nullptr;
    Next after_admin_ = nullptr;
    const char* doing_ = "off";
    std::uint64_t cap_ = 0;
    std::uint32_t cc_ = 0;
    std::uint32_t poll_mask_ = 0;
    std::uint32_t poll_expected_ = 0;
    SimTime poll_limit_{};
    Agenda::Entry next_poll_;
    Ps shutdown_limit_ = kShutdownLimit;
    std::uint16_t pair_ = 0;  // queue identifier being created or deleted
};

}  // namespace ssdtlm
