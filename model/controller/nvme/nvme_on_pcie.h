// SPDX-License-Identifier: Apache-2.0
// The front end "nvme": an NVMe controller with its DMA engine. The two modules are children of the module that is
// under construction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "controller/dma/dma_engine.h"
#include "controller/nvme/nvme_front_end.h"
#include "controller/nvme/transfers.h"
#include "controller/ports/front_end.h"

namespace ssdtlm {

class NvmeOnPcie final : public FrontEnd {
public:
    /// `read_window` is the number of bytes that DmaEngine may have under way in data reads. For `signed_data`, see
    /// NvmeController.
    NvmeOnPcie(Agenda& agenda, CommandTracker& stages, const NvmeConfig& config, const DriveFacts& drive,
               std::uint64_t read_window, bool signed_data = true);

    DmaEngine dma;
    NvmeFrontEnd controller;
    tlm::tlm_target_socket<>& mmio_target;       ///< BAR0; see NvmeFrontEnd
    tlm::tlm_initiator_socket<>& dma_initiator;  ///< address = host physical address; see DmaEngine

    /// Carries out a function-level reset (PCIe Base 5.0 §6.6.2, NVMe 1.4 §7.3.2). The registers and the table of MSI-X
    /// get their defaults at once, all queues are gone, and no request to the host begins any more. `done` is called,
    /// in an entry of the agenda, when the requests at the link have ended. What they wrote arrives before the
    /// completion of a register read that the host begins then. The standard allows 100 ms for it. The firmware ends
    /// what it has begun, and CSTS.RDY waits for that. A loss of power drops `done`. Precondition: the drive has power,
    /// and no other such reset is under way.
    void function_level_reset(std::function<void()> done);

    void bind(CommandSink& firmware) override { controller.bind(firmware); }
    CompletionSink& completions() override { return controller.completions(); }
    HostPort& data() override { return transfers_; }
    void host_is_gone() override;
    void lose_power(std::uint64_t host_commands) override;
    void drive_is_starting() override { controller.drive_is_starting(); }
    void drive_is_up() override { controller.drive_is_up(); }
    bool is_shut_down() const override { return controller.registers().is_shut_down(); }
    bool owns(const void* object) const override;
    void state(Snapshot& s) override { controller.state(s); }
    bool is_as_configured() const override { return controller.is_as_configured(); }
    FrontEndCounts counts() const override;
    void check_books() const override { controller.check_books(); }
    std::string dump() const override { return dma.dump() + controller.dump(); }
    void bind_health(std::function<DeviceHealth()> health) override { controller.bind_health(std::move(health)); }
    void health_changed() override { controller.health_changed(); }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override;
    std::vector<std::pair<const char*, std::uint64_t>> health_figures() const override;
    bool holds_back(std::uint16_t queue) const override { return controller.fetch().waits_for_window(queue); }
    double window_filled(std::uint16_t queue) const override { return controller.fetch().window_filled(queue); }
    bool fetches_wait() const override { return controller.fetch().waits_for_fetch(); }
    bool transfers_wait() const override { return dma.reads_wait(); }
    std::uint32_t transfers() const override { return static_cast<std::uint32_t>(dma.outstanding()); }
    void check_waiters() const override;

private:
    void quiet();
    void function_reset();

    Agenda& agenda_;
    NvmeTransfers transfers_;
    std::function<void()> reset_done_;
};

}  // namespace ssdtlm
